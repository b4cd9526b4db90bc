import type { Disk } from '../core/disk.js';
import { cycleFile, loopFile } from '../core/paths.js';
import { encodeDocument } from '../core/schema.js';
import { LOOP_STATE, type LoopState } from './loop-rules.js';
import { CYCLE_MARK, type CycleMark, withoutCycles } from './mark-rules.js';

/** The cycle that is under way here, or was cut off; null without one. */
export const readMark = (disk: Disk): CycleMark | null =>
  disk.readDocument(CYCLE_MARK, cycleFile(disk.layout), null).value;

/** Without the lock but to take it: while its cycle runs, nobody else writes it. */
export const writeMark = (disk: Disk, mark: CycleMark): void =>
  disk.replace(cycleFile(disk.layout), encodeDocument(mark));

/** Takes out of it what it says of these cycles; whether it said anything. While its cycle runs, that may write it too. */
export function purgeMark(disk: Disk, isGone: (key: string) => boolean): boolean {
  const path = cycleFile(disk.layout);
  const { value, bytes } = disk.readDocument(CYCLE_MARK, path, null);
  const purged = value && withoutCycles(value, isGone);
  if (!purged || purged === value) return false;
  disk.replace(path, encodeDocument(purged), bytes);
  return true;
}

export const clearMark = (disk: Disk): void => disk.remove(cycleFile(disk.layout));

export const readLoop = (disk: Disk): LoopState | null =>
  disk.readDocument(LOOP_STATE, loopFile(disk.layout), null).value;

export const writeLoop = (disk: Disk, state: LoopState): void =>
  disk.withLock(() => disk.replace(loopFile(disk.layout), encodeDocument(state)));
