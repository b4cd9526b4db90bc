import {
  closeSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { refused, systemCode } from '../core/error.js';

const prepared = (gitDir: string): string => join(gitDir, 'index.forge');

/** By git's own rule: whoever makes `index.lock` may replace the index. It is whole before it is there. */
export function installIndex(gitDir: string, from: string): void {
  const [own, lock] = [prepared(gitDir), join(gitDir, 'index.lock')];
  // It may be the index itself under a second name: it is never written into.
  rmSync(own, { force: true });
  const file = openSync(own, 'wx', 0o644);
  try {
    writeFileSync(file, readFileSync(from));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  try {
    linkSync(own, lock);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    throw refused('git.busy', `Another git is at work (${lock} exists).`, {
      hint: 'wait for it (or remove the file if none runs), then: forge recover',
    });
  }
  renameSync(lock, join(gitDir, 'index'));
  rmSync(own, { force: true });
}

/** The lock of an installation that was cut off: the same file under two names. */
export function removeOwnLock(gitDir: string): void {
  const [own, lock] = [prepared(gitDir), join(gitDir, 'index.lock')].map((path) =>
    lstatSync(path, { bigint: true, throwIfNoEntry: false }),
  );
  if (own && lock && own.ino === lock.ino && own.dev === lock.dev) rmSync(join(gitDir, 'index.lock'));
}
