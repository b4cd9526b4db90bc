import { statSync } from 'node:fs';
import { join } from 'node:path';
import { readTarget } from '../core/files.js';
import { parseJson } from '../core/json.js';
import type { Feature } from './rules.js';

const MAX_BYTES = 8 * 1024 * 1024;
const SCRIPTS = 'the scripts of package.json';

/** The files that the tests' commands name, and the scripts of package.json. A folder ends with a slash and has no bytes. */
export function readTestFiles(root: string, features: readonly Feature[]): Readonly<Record<string, Buffer>> {
  const words = features.flatMap(({ tests = [] }) => tests.flatMap((test) => test.split(/[\s'"=;&|()]+/)));
  const files: Record<string, Buffer> = {};
  for (const name of new Set(words.filter(isPath))) {
    const bytes = tryRead(join(root, name));
    if (bytes) files[name] = bytes;
    else if (isFolder(join(root, name))) files[`${name.replace(/\/+$/, '')}/`] = Buffer.alloc(0);
  }
  const manifest = tryRead(join(root, 'package.json'));
  return manifest ? { ...files, [SCRIPTS]: Buffer.from(scriptsIn(manifest)) } : files;
}

const isPath = (word: string): boolean =>
  word !== '' && !word.startsWith('-') && !word.startsWith('/') && !word.split('/').includes('..');

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** Null also for a file that cannot be read. */
export function tryRead(path: string): Buffer | null {
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

export const isTestFile = (path: string): boolean => TEST_FILE.test(path);
