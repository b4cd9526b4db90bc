import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { readTarget } from '../core/files.js';
import { parseJson } from '../core/json.js';
import type { Feature } from '../feature/rules.js';

/** Digests of what the tests consist of, as far as their commands tell: files they name, and the scripts of package.json. */
export type TestFiles = Readonly<Record<string, string>>;

const MAX_BYTES = 8 * 1024 * 1024;
const SCRIPTS = 'the scripts of package.json';
const digest = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');

export function readTestFiles(root: string, features: readonly Feature[]): TestFiles {
  const words = features.flatMap(({ tests = [] }) => tests.flatMap((test) => test.split(/[\s'"=;&|()]+/)));
  const files: Record<string, string> = {};
  for (const name of new Set(words.filter(isPath))) {
    const bytes = tryRead(join(root, name));
    if (bytes) files[name] = digest(bytes);
  }
  const manifest = tryRead(join(root, 'package.json'));
  return manifest ? { ...files, [SCRIPTS]: digest(scriptsIn(manifest)) } : files;
}

const isPath = (word: string): boolean =>
  word !== '' && !word.startsWith('-') && !word.startsWith('/') && !word.split('/').includes('..');

function tryRead(path: string): Buffer | null {
  try {
    return readTarget(path, MAX_BYTES);
  } catch {
    return null;
  }
}

function scriptsIn(manifest: Buffer): string {
  try {
    return JSON.stringify((parseJson(manifest.toString('utf8')) as { scripts?: unknown }).scripts ?? null);
  } catch {
    return '';
  }
}

const TEST_FILE =
  /(?:^|\/)(?:tests?|specs?|__tests__)\/|\.(?:test|spec)\.[^/]+$|_(?:test|spec)\.[^/]+$|(?:^|\/)test_[^/]+$/i;

/** GOV-05: what judges the work, and changed while the work was done. A file that is new and that a test names is the work. */
export function changedTests(before: TestFiles, after: TestFiles, changed: readonly string[]): string[] {
  const named = Object.keys(before).filter((name) => before[name] !== after[name]);
  return [...new Set([...named, ...changed.filter((path) => TEST_FILE.test(path))])].sort();
}
