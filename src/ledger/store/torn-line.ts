import * as fs from 'node:fs';
import { join } from 'node:path';
import type { Disk } from '../../core/disk.js';
import { diskError } from '../../core/files.js';
import { readRange } from './files.js';

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

/** Bytes of a container, the first 64 MB of them: there is hardly a record in longer ones. */
export const readSlice = (disk: Disk, file: string, offset: number, length: number): Buffer =>
  readRange(join(disk.layout.root, file), offset, offset + Math.min(length, 64 * 1024 * 1024));
