import type { Disk } from '../core/disk.js';
import { corrupted } from '../core/error.js';
import { haltFile, shown } from '../core/paths.js';
import { encodeDocument } from '../core/schema.js';

/** Why nothing is written here until a human has acted (LTM-05). Machine-local. */
interface Halt {
  at: string;
  /** What verification found, shortest first. */
  reasons: string[];
  /** False where a refused secret halts, and memory itself is as it was. */
  isDamage?: boolean;
}

/** Null when writing is not halted. What cannot be read halts as well. */
export function readHalt(disk: Disk): Halt | null {
  const bytes = disk.read(haltFile(disk.layout));
  if (!bytes) return null;
  return parse(bytes) ?? { at: '', reasons: [`${shown(disk.layout, haltFile(disk.layout))} cannot be read`] };
}

function parse(bytes: Buffer): Halt | null {
  try {
    const { at, reasons, isDamage } = JSON.parse(bytes.toString('utf8')) as Halt;
    const isWhole = typeof at === 'string' && reasons.every((reason) => typeof reason === 'string');
    return isWhole ? { at, reasons, ...(isDamage === undefined ? {} : { isDamage }) } : null;
  } catch {
    return null;
  }
}

/** Takes the lock. A halt that stands keeps its first reasons. */
export function writeHalt(disk: Disk, halt: Halt): void {
  disk.withLock(() => {
    if (!isHalted(disk)) disk.replace(haltFile(disk.layout), encodeDocument(halt));
  });
}

export const clearHalt = (disk: Disk): void => disk.remove(haltFile(disk.layout));

/** One look at one name. */
export const isHalted = (disk: Disk): boolean => disk.exists(haltFile(disk.layout));

/** Exit 4 `memory.corrupted` for every writing command while a halt stands. */
export function refuseHalted(disk: Disk): void {
  if (!isHalted(disk)) return;
  const { reasons } = readHalt(disk) as Halt;
  throw corrupted('memory.corrupted', `Memory is halted: ${reasons[0] ?? 'it was found damaged'}.`, {
    hint: 'forge memory verify   # says what it means and what a person can run',
  });
}
