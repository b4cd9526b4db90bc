import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { outside, systemCode } from '../domain/error.js';
import { diskError, makeFolder, syncFolder } from './durable.js';
import { type Container, describeContainer } from './ledger-files.js';

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_WRONLY } = fs.constants;

/**
 * Appends whole lines to a segment: one buffer, one write, its count checked, fsynced, and the folder too for a new
 * file. `size` is what the file must have now (0: it is made). When it returns the file, the lines are on the disk under that name;
 * on null somebody else changed the file or took it away, and nothing that counts was written: plan again.
 * The caller holds the lock.
 *
 * A short write (full disk, size limit) is cut back, which only the process that made it may do, and thrown as exit 6:
 * nothing was stored. A failed fsync is never retried: the kernel may have dropped the pages, so the outcome is
 * unknown, and says so. A kill leaves nothing, all, or a last line without LF.
 */
export function appendLines(path: string, bytes: Buffer, size: number, sync = true): Container | null {
  if (size === 0) makeFolder(dirname(path));
  const fd = open(path, size === 0);
  if (fd === null) return null;
  try {
    const before = fs.fstatSync(fd);
    if (before.size !== size) return null;
    writeWhole(fd, bytes, size, path);
    if (sync) syncFile(fd, path);
    if (sync && size === 0) syncFolder(dirname(path));
    const after = describeContainer(path);
    return after?.stat.startsWith(`${before.dev}:${before.ino}:`) ? after : null;
  } finally {
    fs.closeSync(fd);
  }
}

/** Null when the file is not what it was: gone, or there already. */
function open(path: string, isNew: boolean): number | null {
  try {
    return fs.openSync(path, O_WRONLY | O_APPEND | O_NOFOLLOW | (isNew ? O_CREAT | O_EXCL : 0), 0o666);
  } catch (error) {
    if (systemCode(error) === (isNew ? 'EEXIST' : 'ENOENT')) return null;
    throw diskError(error, path);
  }
}

function writeWhole(fd: number, bytes: Buffer, before: number, path: string): void {
  let written = 0;
  let failure: unknown;
  try {
    written = fs.writeSync(fd, bytes);
    // What a short count means shows only at the next write.
    while (written < bytes.length) {
      const more = fs.writeSync(fd, bytes, written);
      if (more === 0) break;
      written += more;
    }
  } catch (error) {
    failure = error;
  }
  if (written === bytes.length) return;
  cutBack(fd, path, before, written);
  throw diskError(failure ?? Object.assign(new Error('short write'), { code: 'ENOSPC' }), path);
}

/** A new file goes as a whole: an empty one would be left otherwise. */
function cutBack(fd: number, path: string, before: number, written: number): void {
  try {
    if (written > 0) fs.ftruncateSync(fd, before);
    if (before === 0) fs.rmSync(path, { force: true });
  } catch {
    // What cannot be cut back is a torn line; the error that is thrown says that writing failed.
  }
}

function syncFile(fd: number, path: string): void {
  try {
    fs.fsyncSync(fd);
  } catch (error) {
    throw outside(
      'disk.sync',
      `${path}: the disk did not confirm the write; whether it was stored is unknown.`,
      { file: path, hint: 'forge memory verify', cause: error },
    );
  }
}
