import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { outside } from '../domain/error.js';
import { diskError, makeFolder, syncFolder } from './durable.js';

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_RDWR } = fs.constants;

/**
 * Appends whole lines to a segment: one buffer, one write, its count checked, fsynced, and the folder too for a new
 * file. On return the lines are on the disk under that name. The caller holds the lock.
 *
 * A short write (full disk, size limit) is cut back, which only the process that made it may do, and thrown as exit 6:
 * nothing was stored. A failed fsync is never retried: the kernel may have dropped the pages, so the outcome is
 * unknown, and says so. When git or a clean-up took the file away meanwhile, the lines are written again.
 */
export function appendLines(path: string, lines: readonly string[]): void {
  const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''), 'utf8');
  makeFolder(dirname(path));
  for (let attempt = 1; ; attempt++) {
    const ino = appendOnce(path, bytes);
    if (fs.lstatSync(path, { throwIfNoEntry: false })?.ino === ino) return;
    if (attempt === 3)
      throw outside('ledger.moved', `${path} was taken away three times while it was written.`, {
        file: path,
      });
  }
}

/** Returns the inode that has the bytes. */
function appendOnce(path: string, bytes: Buffer): number {
  const isNew = !fs.lstatSync(path, { throwIfNoEntry: false });
  const fd = open(path, isNew);
  try {
    const { size, ino } = fs.fstatSync(fd);
    writeWhole(fd, bytes, size, path);
    sync(fd, path);
    if (isNew) syncFolder(dirname(path));
    return ino;
  } finally {
    fs.closeSync(fd);
  }
}

function open(path: string, isNew: boolean): number {
  try {
    return fs.openSync(path, O_RDWR | O_APPEND | O_NOFOLLOW | (isNew ? O_CREAT | O_EXCL : 0), 0o666);
  } catch (error) {
    throw diskError(error, path);
  }
}

function writeWhole(fd: number, bytes: Buffer, before: number, path: string): void {
  let written = 0;
  let failure: unknown;
  try {
    written = fs.writeSync(fd, bytes);
    // What a short count means shows only at the next write.
    if (written < bytes.length) written += fs.writeSync(fd, bytes, written);
  } catch (error) {
    failure = error;
  }
  if (written === bytes.length) return;
  fs.ftruncateSync(fd, before);
  throw diskError(failure ?? Object.assign(new Error('short write'), { code: 'ENOSPC' }), path);
}

function sync(fd: number, path: string): void {
  try {
    fs.fsyncSync(fd);
  } catch (error) {
    throw outside(
      'disk.sync',
      `${path}: the disk did not confirm the write; whether it was stored is unknown.`,
      {
        file: path,
        hint: 'forge memory verify',
        cause: error,
      },
    );
  }
}
