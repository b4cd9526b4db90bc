import type { Disk } from '../../core/disk.js';
import { formatJson } from '../../core/json.js';
import { pendingFile, pendingFolder } from '../../core/paths.js';

/** Keeps input that could not be recorded, for the next command (LTM-16). False when even that failed. */
export function keepPending(disk: Disk, key: string, input: unknown): boolean {
  try {
    disk.withLock(() => disk.replace(pendingFile(disk.layout, key), Buffer.from(formatJson(input))));
    return true;
  } catch {
    return false;
  }
}

/** What waits to be recorded, in name order. Caller holds the lock. */
export function readPending(disk: Disk): { key: string; input: unknown }[] {
  return disk
    .list(pendingFolder(disk.layout))
    .filter((name) => /^[0-9a-f]{16}\.json$/.test(name))
    .map((name) => ({
      key: name.slice(0, 16),
      input: parse(disk.read(pendingFile(disk.layout, name.slice(0, 16)))),
    }));
}

function parse(bytes: Buffer | null): unknown {
  try {
    return JSON.parse(bytes?.toString('utf8') ?? 'null');
  } catch {
    return null;
  }
}

export const dropPending = (disk: Disk, key: string): void => disk.remove(pendingFile(disk.layout, key));
