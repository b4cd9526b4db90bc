import * as fs from 'node:fs';
import { join } from 'node:path';
import type { Disk } from '../disk.js';
import { diskError } from '../durable.js';

const { O_APPEND, O_NOFOLLOW = 0, O_RDWR } = fs.constants;

/** Ends a torn last line with a line feed, so that it is a line that a repair record can vouch for. Takes the lock. */
export function endTornLine(disk: Disk, file: string): void {
  disk.withLock(() => {
    const path = join(disk.layout.root, file);
    disk.note(path);
    if (disk.dryRun) return;
    try {
      const fd = fs.openSync(path, O_RDWR | O_APPEND | O_NOFOLLOW);
      try {
        fs.writeSync(fd, '\n');
        fs.fsyncSync(fd);
      } finally {
        fs.closeSync(fd);
      }
    } catch (error) {
      throw diskError(error, path);
    }
  });
}

/** Bytes of a container; at most 64 MB, for longer ones hold nothing worth saving. */
export function readSlice(disk: Disk, file: string, offset: number, length: number): Buffer {
  const bytes = Buffer.alloc(Math.min(length, 64 * 1024 * 1024));
  const fd = fs.openSync(join(disk.layout.root, file), 'r');
  try {
    return bytes.subarray(0, fs.readSync(fd, bytes, 0, bytes.length, offset));
  } finally {
    fs.closeSync(fd);
  }
}
