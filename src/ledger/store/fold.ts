import type { Disk } from '../../core/disk.js';
import { extendFile } from '../../core/files.js';
import { fixedFile, segmentFolder } from '../../core/paths.js';
import { byNumber, parseLine, recordId, type Tier } from '../rules/record.js';
import {
  type Container,
  describeContainer,
  eachLine,
  folderStamp,
  listArchives,
  listContainers,
} from './files.js';
import { refuseDamaged, scanTier } from './scan.js';
import { forgetTier, readLedgerState, saveState, type TierState } from './state.js';

export interface Folded {
  tier: Tier;
  records: number;
  segments: number;
}

/**
 * Moves a tier's segments into its fixed file: the lines that it lacks, in order of (n, id), then the segments go. The
 * fixed file is replaced whole, so that no crash leaves half a line in it; one before the segments are removed leaves
 * records twice, which are one. Takes the lock. Refused (exit 4) where the tier is damaged.
 */
export function foldTier(disk: Disk, tier: Tier): Folded {
  return disk.withLock(() => {
    const { layout } = disk;
    const fixed = fixedFile(layout, tier);
    const containers = listContainers(layout, tier);
    const segments = containers.filter(({ path }) => path !== fixed);
    if (segments.length === 0) return { tier, records: 0, segments: 0 };
    const lines = linesToMove(disk, tier, containers, fixed);
    disk.note(fixed);
    if (disk.dryRun) return { tier, records: lines.length, segments: segments.length };
    if (lines.length > 0) extendFile(fixed, Buffer.concat(lines));
    for (const { path } of segments) disk.remove(path);
    knowFolded(disk, tier, readLedgerState(layout)?.tiers[tier]);
    return { tier, records: lines.length, segments: segments.length };
  });
}

function linesToMove(disk: Disk, tier: Tier, containers: readonly Container[], fixed: string): Buffer[] {
  const { layout } = disk;
  const scanned = scanTier(layout, tier, containers, listArchives(layout));
  refuseDamaged(scanned);
  const there = new Set<string>();
  eachLine(
    containers.filter(({ path }) => path === fixed),
    (bytes) => there.add(recordId(bytes)),
  );
  const found: { id: string; n: number; bytes: Buffer }[] = [];
  let n = 0;
  eachLine(
    containers.filter(({ path }) => path !== fixed),
    (bytes) => {
      const id = recordId(bytes);
      if (there.has(id)) return;
      const parsed = parseLine(bytes.toString('utf8'));
      // Padding has no use in a file that grows.
      if (parsed.kind === 'padding') return;
      there.add(id);
      // What a repair vouched for moves along, behind the record that it stood behind.
      if (parsed.kind !== 'bad') ({ n } = parsed.kind === 'record' ? parsed.record : parsed.tombstone);
      found.push({ id, n, bytes: Buffer.concat([bytes, LF]) });
    },
  );
  return found.sort(byNumber).map(({ bytes }) => bytes);
}

const LF = Buffer.from('\n');

/** `known` of records that are all in the fixed file now: heads stay known, the files have to be verified again. */
export function knowFolded(disk: Disk, tier: Tier, known?: TierState): void {
  const { layout } = disk;
  const state = readLedgerState(layout);
  if (!state || !known) {
    forgetTier(disk, tier);
    return;
  }
  const fixed = describeContainer(fixedFile(layout, tier));
  const folder = folderStamp(segmentFolder(layout, tier));
  state.tiers[tier] = {
    ...known,
    folder,
    fixed: fixed?.stat ?? '',
    closed: '',
    bytes: fixed?.size ?? 0,
    open: null,
  };
  saveState(disk, { ...state, verdict: null });
}
