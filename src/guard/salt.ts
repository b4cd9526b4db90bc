import { randomBytes } from 'node:crypto';
import type { Disk } from '../core/disk.js';
import { saltFile } from '../core/paths.js';

/**
 * The key of this repository's fingerprints (32 bytes), made on first use. It stays on this machine: whoever
 * reads a fingerprint elsewhere cannot try out what it is of. The same in all worktrees.
 */
export function readSalt(disk: Disk): Buffer {
  const path = saltFile(disk.layout);
  const known = disk.read(path, 64);
  if (known?.length === 32) return known;
  const salt = randomBytes(32);
  if (disk.dryRun) return salt;
  // Nothing to look at: it is random. Somebody may have made it meanwhile: then theirs counts.
  if (disk.createMoved(path, salt)) return salt;
  return disk.read(path, 64) ?? salt;
}
