import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { type ForgeError, outside, systemCode } from '../../core/error.js';
import { diskError, makeFolder, syncFolder } from '../../core/files.js';
import { type Container, describeContainer } from './files.js';

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_WRONLY } = fs.constants;

/**
 * Appends whole lines to a segment: one buffer, one write, its count checked, fsynced, and the folder too for a new
 * file. `size` is what the file must have now (0: it is made). When it returns the file, the lines are on the disk under that name; on null
 * somebody else changed the file or took it away, and nothing that counts was written: plan again.
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
    const before = sizeOf(fd, path);
    if (before.size !== size) return null;
    writeWhole(fd, bytes, size, path);
    return confirm(path, () => {
      if (sync) fs.fsyncSync(fd);
      if (sync && size === 0) syncFolder(dirname(path));
      const now = describeContainer(path);
      if (!now?.stat.startsWith(`${before.dev}:${before.ino}:`)) return null;
      if (now.size < size + bytes.length) throw new Error('the file did not grow');
      return now;
    });
  } finally {
    closeQuietly(fd);
  }
}

function sizeOf(fd: number, path: string): fs.Stats {
  try {
    return fs.fstatSync(fd);
  } catch (error) {
    throw diskError(error, path);
  }
}

/** What counts was said before: by the fsync, or by an error that must not be hidden by this one. */
function closeQuietly(fd: number): void {
  try {
    fs.closeSync(fd);
  } catch {
    // The descriptor is gone all the same.
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
  const isCut = cutBack(fd, path, before, bytes.length);
  const error = diskError(failure ?? Object.assign(new Error('short write'), { code: 'ENOSPC' }), path);
  if (isCut) throw error;
  throw outside(error.code, `${error.message} A part of the record may have been left behind.`, {
    file: path,
    hint: 'forge memory verify',
    cause: error,
  });
}

/**
 * Takes away what was written, however much the failed call wrote; a new file goes as a whole. False when a torn line
 * may stay.
 */
function cutBack(fd: number, path: string, before: number, length: number): boolean {
  try {
    const { size } = fs.fstatSync(fd);
    if (size > before && size <= before + length) fs.ftruncateSync(fd, before);
    if (before === 0) fs.rmSync(path, { force: true });
    return true;
  } catch {
    return false;
  }
}

/** Once the bytes are written, no failure means that they are not there. */
function confirm<T>(path: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw unconfirmed(error, path);
  }
}

/** Exit 6, outcome unknown. */
export function unconfirmed(error: unknown, path: string): ForgeError {
  return outside(
    'disk.sync',
    `${path}: the disk did not confirm the write; whether it was stored is unknown.`,
    { file: path, hint: 'forge memory verify', cause: error },
  );
}
