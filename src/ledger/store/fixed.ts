import type { Disk } from '../../core/disk.js';
import { extendFile } from '../../core/files.js';
import { fixedFile } from '../../core/paths.js';
import type { Tier } from '../rules/record.js';
import type { Plan, PlannedLine } from '../rules/segment.js';
import { listContainers } from './files.js';
import { knowFolded } from './fold.js';
import { appendJournal } from './journal.js';
import type { TierState } from './state.js';

export const encodeLines = (lines: readonly PlannedLine[]): Buffer =>
  Buffer.from(lines.map(({ line }) => `${line}\n`).join(''), 'utf8');

/** True when there are no segments. */
export const isFolded = ({ layout }: Disk, tier: Tier): boolean =>
  listContainers(layout, tier).every(({ path }) => path === fixedFile(layout, tier));

/**
 * What a segment and a fold of it would lead to, with one file written in place of two. `known` is the tier without these
 * lines, and folded. The caller holds the lock, and knows that a fold is allowed.
 */
export function appendFixed(
  disk: Disk,
  tier: Tier,
  known: TierState,
  { lines, tip: { heads, maxN } }: Plan,
): { lines: PlannedLine[]; journalFailure: string | null } {
  const path = fixedFile(disk.layout, tier);
  const bytes = encodeLines(lines);
  disk.checkContent(path, bytes);
  disk.note(path);
  if (disk.dryRun) return { lines, journalFailure: null };
  disk.checkHeld();
  extendFile(path, bytes);
  const journalFailure = appendJournal(disk.layout, bytes);
  knowFolded(disk, tier, { ...known, heads, maxN, records: known.records + lines.length });
  return { lines, journalFailure };
}
