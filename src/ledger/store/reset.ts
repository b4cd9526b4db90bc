import type { Disk } from '../../core/disk.js';
import { fixedFile } from '../../core/paths.js';
import type { ArchiveManifest } from '../rules/problem.js';
import { byNumber, type Tier } from '../rules/record.js';
import { dropFromFixed, type Line, planArchive, readFolded, readLines } from './archive.js';
import { describeContainer, listContainers } from './files.js';
import { findHidden } from './hidden.js';
import { readRedacted } from './redacted.js';

/** What stays when a tier is reset: its beginning, what says what was reset, and bytes that are no record. */
const STAYING: ReadonlySet<string> = new Set(['', 'genesis', 'reset']);

/**
 * All records of a tier, as they go into the archive of a reset; null when there are none. What an earlier reset sealed
 * is no part of it. The caller holds the lock and has folded; in a dry run nothing was, so the segments are read too.
 */
export function planReset(disk: Disk, tier: Tier): { manifest: ArchiveManifest; bytes: Buffer } | null {
  const sealed = sealedByReset(disk, tier);
  const graves = readRedacted(disk.layout);
  const lines = new Map<string, Line>();
  for (const line of readFolded(disk, tier)) {
    if (STAYING.has(line.kind) || sealed.has(line.id)) continue;
    const bytes = graves.get(line.id) ?? line.bytes;
    // A tombstone wins over its record.
    if (!lines.has(line.id) || line.kind === 'tombstone') lines.set(line.id, { ...line, bytes });
  }
  return lines.size === 0 ? null : planArchive([...lines.values()].sort(byNumber));
}

/** Takes what resets have sealed out of the fixed file. How many lines went. The caller holds the lock. */
export function dropReset(disk: Disk, tier: Tier): number {
  const sealed = sealedByReset(disk, tier);
  const isGone = ({ id, kind }: Line): boolean => !STAYING.has(kind) && sealed.has(id);
  const count = readLines(describeContainer(fixedFile(disk.layout, tier))).filter(isGone).length;
  if (count > 0) dropFromFixed(disk, tier, isGone);
  return count;
}

/** What the archives of resets hold. */
function sealedByReset({ layout }: Disk, tier: Tier): Set<string> {
  return findHidden(layout, listContainers(layout, tier)).reset;
}
