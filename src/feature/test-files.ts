import { join } from 'node:path';
import { readTarget } from '../core/files.js';
import { parseJson } from '../core/json.js';
import type { Feature } from './rules.js';

const MAX_BYTES = 8 * 1024 * 1024;

/** The files that the tests' commands name, and the scripts of package.json. */
export function readTestFiles(root: string, features: readonly Feature[]): Readonly<Record<string, Buffer>> {
  const names = features.flatMap(({ tests = [] }) =>
    tests.flatMap((test) => {
      const words = test.split(/[\s'"=;&|()]+/);
      return [...words, ...words.map((word) => `${folderOf(test)}${word}`)].filter(isPath);
    }),
  );
  const files: Record<string, Buffer> = {};
  for (const name of new Set(names)) {
    const bytes = tryRead(join(root, name));
    if (bytes) files[name] = bytes;
  }
  const manifest = tryRead(join(root, 'package.json'));
  if (manifest) files['the scripts of package.json'] = Buffer.from(scriptsIn(manifest.toString('utf8')));
  return files;
}

/** `npm test -w packages/b`, `--prefix=web`, `cd api &&`: where a command looks for its files. */
const IN_FOLDER = /(?:^|[\s'"])(?:-w|--workspace|-F|--filter|--prefix|-C|--cwd|--dir|cd)[\s=]+([^\s'"]+)/;

export function folderOf(command: string): string {
  const folder = IN_FOLDER.exec(command)?.[1];
  return folder === undefined ? '' : join(folder, '/');
}

const isPath = (word: string): boolean =>
  word !== '' && !word.startsWith('-') && !word.startsWith('/') && !word.split('/').includes('..');

/** Null also for a file that cannot be read. */
export function tryRead(path: string): Buffer | null {
  try {
    return readTarget(path, MAX_BYTES);
  } catch {
    return null;
  }
}

function scriptsIn(manifest: string): string {
  try {
    return JSON.stringify((parseJson(manifest) as { scripts?: unknown }).scripts ?? null);
  } catch {
    return '';
  }
}

const TEST_FILE =
  /(?:^|\/)(?:tests?|specs?|__tests__)\/|\.(?:test|spec)\.[^/]+$|_(?:test|spec)\.[^/]+$|(?:^|\/)test_[^/]+$/i;
/** Settings and hooks of test runners, which can make any test pass. */
const RUNNER_FILE =
  /(?:^|\/)(?:conftest\.py|pytest\.ini|tox\.ini|noxfile\.py|\.rspec|phpunit\.xml(?:\.dist)?|\.mocharc[^/]*|(?:jest|vitest|playwright|cypress|karma|ava)\.config\.[^/]+)$/;

export const isTestFile = (path: string): boolean => TEST_FILE.test(path) || RUNNER_FILE.test(path);
