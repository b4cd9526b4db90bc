import { TIERS, type Tier, type Tombstone } from '../domain/ledger.js';
import { redactedIn } from '../domain/tombstone.js';
import type { Disk } from './disk.js';
import { type Layout, redactedFile } from './layout.js';
import { describeContainer, eachLine } from './ledger-files.js';

/**
 * What was redacted in this repository, by id: the line of its tombstone. It lies where all worktrees see it and no
 * checkout reaches, so that content which an older commit or another branch brings back is known for what it is.
 */
export function readRedacted(layout: Layout): Map<string, Buffer> {
  const found = new Map<string, Buffer>();
  const file = describeContainer(redactedFile(layout));
  eachLine(file ? [file] : [], (bytes) => {
    const id = redactedIn(bytes);
    if (id !== null) found.set(id, Buffer.from(bytes));
  });
  return found;
}

/** Tells whether it is as it was at an earlier look; empty when nothing was ever redacted. */
export const redactedStamp = (layout: Layout): string => describeContainer(redactedFile(layout))?.stat ?? '';

/** Adds what is new; on the disk on return. The caller holds the lock. */
export function keepRedacted(disk: Disk, tombstones: readonly Tombstone[]): void {
  const known = readRedacted(disk.layout);
  const fresh = tombstones.filter(({ redacted }) => !known.has(redacted));
  if (fresh.length === 0) return;
  for (const tombstone of fresh) known.set(tombstone.redacted, lineOf(tombstone));
  disk.replace(redactedFile(disk.layout), Buffer.concat([...known.values()].flatMap((line) => [line, LF])));
}

export const lineOf = (tombstone: Tombstone): Buffer => Buffer.from(JSON.stringify(tombstone));

/** The ledger that a tombstone's line names. */
export function tierOfGrave(line: Buffer): Tier | undefined {
  const { tier } = JSON.parse(line.toString('utf8')) as Tombstone;
  return TIERS.find((name) => name === tier);
}

const LF = Buffer.from('\n');
