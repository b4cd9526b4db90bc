import { basename, join } from 'node:path';
import type { Disk } from '../../core/disk.js';
import { fixedFile, segmentFolder } from '../../core/paths.js';
import { parseLine, recordId, type Tier } from '../rules/record.js';
import { type Container, describeContainer, folderStamp, listContainers, readRange } from './files.js';
import { digestContainers, type Scanned } from './scan.js';
import type { OpenSegment, TierState } from './state.js';

/**
 * What is known of a tier, brought up to the present: null when its containers are others than they were, so that all
 * must be read. Lines that other writers added to the open segment meanwhile are read and followed.
 */
export function refreshTier(disk: Disk, tier: Tier, known: TierState): TierState | null {
  const folder = segmentFolder(disk.layout, tier);
  if (known.folder !== folderStamp(folder)) return null;
  if (known.fixed !== stampOf(fixedFile(disk.layout, tier))) return null;
  if (!known.open) return known;
  const now = describeContainer(join(folder, known.open.name));
  return now && followOpen(known, now);
}

/** The same for the open segment alone, given its file as it is. */
export function followOpen(known: TierState, now: Container): TierState | null {
  const { open } = known;
  if (!open || now.stat === open.stat) return known;
  if (sameFile(now.stat) !== sameFile(open.stat) || now.size <= open.size) return null;
  if (now.size - open.size > MAX_CATCH_UP) return null;
  return followLines(known, open, now, readRange(now.path, open.size, now.size));
}

/** More than that is read with all the rest. */
const MAX_CATCH_UP = 8 * 1024 * 1024;

/** Device and inode. */
const sameFile = (stat: string): string => stat.split(':', 2).join(':');

function followLines(known: TierState, open: OpenSegment, now: Container, bytes: Buffer): TierState | null {
  let { maxN, records } = known;
  let { last } = open;
  const heads = new Set(known.heads);
  let start = 0;
  for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, start)) {
    const line = bytes.subarray(start, end);
    const parsed = parseLine(line.toString('utf8'));
    if (parsed.kind !== 'record' || parsed.record.prev !== last || parsed.record.n <= maxN) return null;
    for (const parent of [last, ...parsed.record.seen]) heads.delete(parent);
    last = recordId(line);
    heads.add(last);
    maxN = parsed.record.n;
    records++;
    start = end + 1;
  }
  if (start !== bytes.length) return null;
  const grown = { ...open, last, stat: now.stat, size: now.size };
  return {
    ...known,
    maxN,
    records,
    heads: [...heads].sort(),
    bytes: known.bytes + bytes.length,
    open: grown,
  };
}

/**
 * Whether an open segment still begins with what was verified: each line holds the id of the one before it, so the
 * id at the end of that part vouches for all of it.
 */
export function isSamePrefix(open: OpenSegment, now: Container): boolean {
  if (now.size < open.size || now.size > MAX_CATCH_UP) return false;
  const bytes = readRange(now.path, 0, open.size);
  let last: string | null = null;
  let start = 0;
  for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, start)) {
    const line = bytes.subarray(start, end);
    const parsed = parseLine(line.toString('utf8'));
    if (parsed.kind !== 'record' || parsed.record.prev !== last) return false;
    last = recordId(line);
    start = end + 1;
  }
  return start === bytes.length && last === open.last;
}

const stampOf = (path: string): string => describeContainer(path)?.stat ?? '';

export const digestClosed = (disk: Disk, tier: Tier, open: string | null): string =>
  digestContainers(listContainers(disk.layout, tier).filter(({ path }) => basename(path) !== open));

/** A tier's state after all of it was read. `open` survives if its file is the same. */
export function toState(
  disk: Disk,
  tier: Tier,
  { result, bytes }: Scanned,
  ledger: string,
  open: OpenSegment | null = null,
): TierState {
  const { layout } = disk;
  // The fixed file is read first, and begins with ours.
  const ids = [...result.ledgers.keys()];
  return {
    ledger: ids.includes(ledger) ? ledger : (ids[0] ?? ledger),
    folder: folderStamp(segmentFolder(layout, tier)),
    fixed: stampOf(fixedFile(layout, tier)),
    closed: digestClosed(disk, tier, open?.name ?? null),
    records: result.records,
    bytes,
    heads: result.heads,
    maxN: result.maxN,
    open,
  };
}
