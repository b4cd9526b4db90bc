import { join } from 'node:path';
import type { Disk } from '../../core/disk.js';
import { outside } from '../../core/error.js';
import { fixedFile, segmentFolder } from '../../core/paths.js';
import { makeToken } from '../../core/text.js';
import { genesisLine, paddingLines, TIERS, type Tier } from '../rules/record.js';
import { type Draft, type PlannedLine, planLines, type Tip } from '../rules/segment.js';
import { appendLines } from './append.js';
import { folderStamp, listArchives, listContainers } from './files.js';
import { appendFixed, encodeLines, isFolded } from './fixed.js';
import { appendJournal } from './journal.js';
import { refuseDamaged, scanTier } from './scan.js';
import {
  emptyState,
  foreignState,
  forgetTier,
  knownStates,
  knowTier,
  type OpenSegment,
  savedState,
  saveState,
  type TierState,
} from './state.js';
import { digestClosed, refreshTier, toState } from './tip.js';

/** What an append must know of the surroundings. */
export interface Around {
  /** Which folder this is, and which git dir. */
  home: string;
  /** The running session's id; null without one. */
  session: string | null;
  /** As readGitState has it; empty without git. */
  head: string;
  index: string;
  /** Looks at git again: true when `head` or `index` changed, which are as they are now. */
  hasMoved(): boolean;
  /** Whether git may know a segment by now. */
  gitMayKnow(name: string): boolean;
  /** The id of a tier's ledger, when nothing here says it. */
  ledger(tier: Tier): string;
}

export interface AppendOptions {
  /** Keep it out of the page cache's mercy; default true. Only the benchmark does without. */
  sync?: boolean;
  /** Repairs go on where the ledger is damaged. */
  despite?: boolean;
  /**
   * Straight into the fixed file, where nothing else has to be folded first: what a fold right behind would lead to, in
   * one file in place of two. Only where a fold is allowed.
   */
  fixed?: boolean;
}

export interface Stored {
  lines: PlannedLine[];
  /** Why the journal could not be written; the records are stored. */
  journalFailure: string | null;
}

/**
 * Appends records to a tier: all of them or none, in one write with one fsync. On return they are on the disk and in
 * the journal. Takes the lock.
 */
export function appendRecords(
  disk: Disk,
  around: Around,
  tier: Tier,
  drafts: readonly Draft[],
  options: AppendOptions = {},
): Stored {
  return disk.withLock(() => {
    for (let attempt = 1; ; attempt++) {
      const known = tierState(disk, around, tier, options.despite ?? false);
      if (options.fixed && isFolded(disk, tier))
        return appendFixed(disk, tier, known, planLines(tier, tipOf(known), null, drafts, makeSalt()));
      const stored = appendOnce(disk, around, tier, known, drafts, options);
      if (stored) return stored;
      // Somebody took the segment away or wrote to it: what was known does not hold.
      forgetTier(disk, tier);
      if (attempt === 3)
        throw outside('ledger.moved', `The ${tier} ledger was changed three times while it was written.`, {
          hint: 'Run the command again when the other program has finished.',
        });
    }
  });
}

function appendOnce(
  disk: Disk,
  around: Around,
  tier: Tier,
  known: TierState,
  drafts: readonly Draft[],
  options: AppendOptions,
): Stored | null {
  const open = isOpen(around, known.open) ? known.open : null;
  const plan = planLines(tier, tipOf(known), open?.last ?? null, drafts, open ? '' : makeSalt());
  const last = plan.lines.at(-1)?.id;
  if (last === undefined) return { lines: plan.lines, journalFailure: null };
  // In a dry run all appends to a tier name one new segment, as they would go into one.
  const name = open?.name ?? `${around.session ?? 'solo'}-${disk.dryRun ? '…' : makeToken(8)}.jsonl`;
  const path = join(segmentFolder(disk.layout, tier), name);
  const bytes = encodeLines(plan.lines);
  disk.checkContent(path, bytes);
  // Looking took its time. What git has staged meanwhile is continued no more.
  if (open && around.hasMoved()) return appendOnce(disk, around, tier, known, drafts, options);
  disk.note(path);
  if (disk.dryRun) return { lines: plan.lines, journalFailure: null };
  disk.checkHeld();
  const file = appendLines(path, bytes, open?.size ?? 0, options.sync ?? true);
  if (!file) return null;
  const journalFailure = appendJournal(disk.layout, bytes);
  const { session, head, index } = around;
  const grown = {
    ...known,
    heads: plan.tip.heads,
    maxN: plan.tip.maxN,
    records: known.records + plan.lines.length,
    bytes: known.bytes + bytes.length,
    open: { name, stat: file.stat, size: file.size, last, session, head, index },
  };
  remember(disk, around, tier, grown, open === null, (open?.size ?? 0) + bytes.length);
  return { lines: plan.lines, journalFailure };
}

/** The records are stored: what fails here, or shows that somebody wrote beside us, costs the next look a reading. */
function remember(
  disk: Disk,
  around: Around,
  tier: Tier,
  grown: TierState & { open: OpenSegment },
  isNew: boolean,
  size: number,
): void {
  try {
    if (grown.open.size !== size) throw new Error(`${grown.open.name} was written to by somebody else`);
    const after = isNew ? { ...grown, ...stampsWithNew(disk, tier, grown.open.name) } : grown;
    knowTier(disk, around.home, tier, after, isNew);
  } catch {
    forgetTier(disk, tier);
  }
}

/** A new segment changes the folder, and the one that was open before is a closed one now. */
const stampsWithNew = (disk: Disk, tier: Tier, name: string): Pick<TierState, 'folder' | 'closed'> => ({
  folder: folderStamp(segmentFolder(disk.layout, tier)),
  closed: digestClosed(disk, tier, name),
});

/**
 * Puts lines that were records before into a new segment, byte for byte, beside some padding; on the disk and in the journal
 * on return. Takes the lock.
 */
export function appendVerbatim(disk: Disk, tier: Tier, lines: readonly Buffer[]): void {
  const bytes = joinLines(lines);
  disk.withLock(() => {
    for (let attempt = 1; !appendAnew(disk, tier, bytes); attempt++)
      if (attempt === 3)
        throw outside('ledger.moved', `The ${tier} ledger was taken away three times while it was written.`, {
          hint: 'Run the command again when the other program has finished.',
        });
  });
}

function appendAnew(disk: Disk, tier: Tier, bytes: Buffer): boolean {
  const path = join(segmentFolder(disk.layout, tier), `restored-${makeToken(8)}.jsonl`);
  disk.note(path);
  if (disk.dryRun) return true;
  disk.checkHeld();
  if (!appendLines(path, Buffer.concat([paddingLines(bytes.length, makeToken(32)), bytes]), 0)) return false;
  appendJournal(disk.layout, bytes);
  return true;
}

const joinLines = (lines: readonly Buffer[]): Buffer => Buffer.concat(lines.flatMap((line) => [line, LF]));

const LF = Buffer.from('\n');

/** 1 to 62 digits. */
const makeSalt = (): string => makeToken(62).slice(Math.floor(Math.random() * 62));

const tipOf = ({ ledger, heads, maxN }: TierState): Tip => ({ ledger, heads, maxN });

/** Every ledger as it stands. Exit 4 where one is damaged. Takes the lock. */
export function readTips(
  disk: Disk,
  around: Around,
): Record<Tier, { ledger: string; heads: string[]; records: number }> {
  return disk.withLock(() => {
    const saved = savedState(disk);
    const tips = TIERS.map((tier) => {
      const { ledger, heads, records } = tierState(disk, around, tier, false, saved);
      return [tier, { ledger, heads: [...heads], records }];
    });
    return Object.fromEntries(tips);
  });
}

/** A segment is closed for good as soon as git may know it, or it is another folder, session or branch. */
function isOpen(around: Around, open: OpenSegment | null): boolean {
  if (!open || open.session !== around.session || open.head !== around.head) return false;
  return open.index === around.index || !around.gitMayKnow(open.name);
}

/** The heads of a tier as it stands: the same heads are the same records. The caller holds the lock. */
export const tierHeads = (disk: Disk, around: Around, tier: Tier): string[] =>
  tierState(disk, around, tier, true).heads;

/** What is known of a tier, by this process or by the last one; else all of its containers are read. */
function tierState(
  disk: Disk,
  around: Around,
  tier: Tier,
  despite: boolean,
  saved = savedState(disk),
): TierState {
  const { layout } = disk;
  leaveCopied(disk, around, saved);
  for (const known of knownStates(disk, around.home, tier, saved)) {
    const fresh = refreshTier(disk, tier, known);
    if (fresh) return fresh;
  }
  const containers = listContainers(layout, tier);
  if (!containers.some(({ size }) => size > 0)) return begin(disk, around, tier);
  const scanned = scanTier(layout, tier, containers, listArchives(layout));
  if (!despite) refuseDamaged(scanned);
  return toState(disk, tier, scanned, around.ledger(tier));
}

/**
 * In a copied folder the original goes on with its open segments. So that one name never has two contents, those that
 * git does not know get another name here: same lines, same records. The caller holds the lock.
 */
export function leaveCopied(disk: Disk, around: Around, saved = savedState(disk)): void {
  const state = foreignState(disk, around.home, saved);
  if (!state || disk.dryRun) return;
  for (const [tier, { open }] of Object.entries(state.tiers) as [Tier, TierState][]) {
    if (!open || around.gitMayKnow(open.name)) continue;
    const folder = segmentFolder(disk.layout, tier);
    if (disk.exists(join(folder, open.name)))
      disk.rename(join(folder, open.name), join(folder, `copied-${makeToken(8)}.jsonl`));
  }
  saveState(disk, emptyState(around.home));
}

/** The fixed file with its genesis: what `init` does, or a repository from before the ledgers needs. Caller holds the lock. */
export function beginLedger(disk: Disk, tier: Tier, ledger: string): boolean {
  const line = Buffer.from(`${genesisLine(tier, ledger)}\n`);
  const path = fixedFile(disk.layout, tier);
  disk.makeFolder(segmentFolder(disk.layout, tier));
  if (disk.exists(path)) return false;
  // As a whole: half a line would be a ledger that is damaged before it has a record.
  disk.replace(path, line, null);
  if (!disk.dryRun) appendJournal(disk.layout, line);
  return true;
}

function begin(disk: Disk, around: Around, tier: Tier): TierState {
  const ledger = around.ledger(tier);
  beginLedger(disk, tier, ledger);
  const scanned = scanTier(disk.layout, tier, listContainers(disk.layout, tier), []);
  return toState(disk, tier, scanned, ledger);
}
