import type { Disk } from '../core/disk.js';
import { corrupted } from '../core/error.js';
import { haltFile, shown } from '../core/paths.js';
import { encodeDocument } from '../core/schema.js';

/** Why nothing is written here until a human has acted (LTM-05). Machine-local. */
interface Halt {
  at: string;
  /** What verification found, shortest first. */
  reasons: string[];
  /** False when a refused secret halts and memory itself is intact. */
  isDamage?: boolean;
}

/** Null when writing is not halted. An unreadable file halts as well. */
export function readHalt(disk: Disk): Halt | null {
  const path = haltFile(disk.layout);
  const bytes = disk.read(path);
  if (!bytes) return null;
  try {
    const { at, reasons, isDamage } = JSON.parse(bytes.toString('utf8')) as Halt;
    if (typeof at === 'string' && reasons.every((reason) => typeof reason === 'string'))
      return { at, reasons, ...(isDamage === undefined ? {} : { isDamage }) };
  } catch {
    // Reported below.
  }
  return { at: '', reasons: [`${shown(disk.layout, path)} cannot be read`] };
}

/** Takes the lock. An existing halt keeps its first reasons. */
export function writeHalt(disk: Disk, halt: Halt): void {
  disk.withLock(() => {
    if (!isHalted(disk)) disk.replace(haltFile(disk.layout), encodeDocument(halt));
  });
}

export const clearHalt = (disk: Disk): void => disk.remove(haltFile(disk.layout));

export const isHalted = (disk: Disk): boolean => disk.exists(haltFile(disk.layout));

/** Exit 4 `memory.corrupted` for every writing command during a halt. */
export function refuseHalted(disk: Disk): void {
  const halt = readHalt(disk);
  if (!halt) return;
  throw corrupted('memory.corrupted', `Memory is halted: ${halt.reasons[0] ?? 'it was found damaged'}.`, {
    hint: 'forge memory verify   # says what it means and what a person can run',
  });
}
