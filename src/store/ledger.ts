import { basename, join } from 'node:path';
import { outside } from '../domain/error.js';
import { genesisLine, paddingLines, type Tier } from '../domain/ledger.js';
import { type Draft, type PlannedLine, planLines, type Tip } from '../domain/segment.js';
import { makeToken } from '../domain/token.js';
import type { Disk } from './disk.js';
import { appendJournal, journalStamp } from './journal.js';
import { fixedFile, segmentFolder } from './layout.js';
import { appendLines } from './ledger-append.js';
import { describeContainer, folderStamp, listArchives, listContainers } from './ledger-files.js';
import { digestContainers, refuseDamaged, type Scanned, scanTier } from './ledger-scan.js';
import {
  emptyState,
  type LedgerState,
  type OpenSegment,
  readLedgerState,
  type TierState,
  writeLedgerState,
} from './ledger-state.js';

/** What an append must know of the surroundings. */
export interface Around {
  /** Which folder this is, and which git dir. */
  home: string;
  /** The running session's id; null without one. */
  session: string | null;
  /** As readGitState has it; empty without git. */
  head: string;
  index: string;
  /** Whether git may know a segment by now. */
  gitMayKnow(name: string): boolean;
  /** The id of a tier's ledger, when nothing here says it. */
  ledger(tier: Tier): string;
}

export interface AppendOptions {
  /** Keep it out of the page cache's mercy; default true. */
  sync?: boolean;
  /** Repairs go on where the ledger is damaged. */
  despite?: boolean;
}

export interface Stored {
  lines: PlannedLine[];
  /** Why the journal could not be written; the records are stored. */
  journalFailure: string | null;
}

/**
 * Appends records to a tier: all of them or none, in one write with one fsync. On return they are on the disk and in
 * the journal. Takes the lock; `prepare` runs under it and may leave records out (those stored already).
 */
export function appendRecords(
  disk: Disk,
  around: Around,
  tier: Tier,
  drafts: readonly Draft[],
  options: AppendOptions = {},
): Stored {
  return disk.withLock(() => {
    const state = loadState(disk, around);
    for (let attempt = 1; ; attempt++) {
      const known = tierState(disk, state, around, tier, options.despite ?? false);
      const stored = appendOnce(disk, around, state, tier, known, drafts, options);
      if (stored) return stored;
      // Somebody took the segment away or wrote to it: what was known does not hold.
      delete state.tiers[tier];
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
  state: LedgerState,
  tier: Tier,
  known: TierState,
  drafts: readonly Draft[],
  { sync = true }: AppendOptions,
): Stored | null {
  const open = isOpen(disk, around, tier, known.open) ? known.open : null;
  const plan = planLines(tier, tipOf(known), open?.last ?? null, drafts);
  const last = plan.lines.at(-1);
  if (!last || disk.dryRun) return { lines: plan.lines, journalFailure: null };
  const name = open?.name ?? `${around.session ?? 'solo'}-${makeToken(8)}.jsonl`;
  const path = join(segmentFolder(disk.layout, tier), name);
  const bytes = Buffer.from(plan.lines.map(({ line }) => `${line}\n`).join(''), 'utf8');
  disk.note(path);
  if (!appendLines(path, bytes, open?.size ?? 0, sync)) return null;
  const journalFailure = appendJournal(disk.layout, bytes);
  remember(disk, around, state, tier, {
    known,
    plan: plan.tip,
    added: plan.lines.length,
    name,
    last: last.id,
    bytes: bytes.length,
    isNew: open === null,
  });
  return { lines: plan.lines, journalFailure };
}

/**
 * Puts lines that were records before into a new segment, byte for byte, beside some padding; on the disk and in the journal on return.
 * Takes the lock.
 */
export function appendVerbatim(disk: Disk, tier: Tier, lines: readonly Buffer[]): void {
  const bytes = Buffer.concat(lines.flatMap((line) => [line, LF]));
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
  if (!appendLines(path, Buffer.concat([paddingLines(bytes.length), bytes]), 0)) return false;
  appendJournal(disk.layout, bytes);
  return true;
}

const LF = Buffer.from('\n');

const tipOf = ({ ledger, heads, maxN }: TierState): Tip => ({ ledger, heads, maxN });

/** A segment is closed for good as soon as git may know it, or it is another folder, session, branch or file. */
function isOpen(disk: Disk, around: Around, tier: Tier, open: OpenSegment | null): boolean {
  if (!open || open.session !== around.session || open.head !== around.head) return false;
  const now = describeContainer(join(segmentFolder(disk.layout, tier), open.name));
  if (now?.stat !== open.stat) return false;
  return open.index === around.index || !around.gitMayKnow(open.name);
}

interface Change {
  known: TierState;
  plan: Tip;
  added: number;
  name: string;
  last: string;
  bytes: number;
  isNew: boolean;
}

function remember(disk: Disk, around: Around, state: LedgerState, tier: Tier, change: Change): void {
  const { layout } = disk;
  const { known, plan, name } = change;
  const folder = segmentFolder(layout, tier);
  const now = describeContainer(join(folder, name));
  const open = now && {
    name,
    stat: now.stat,
    size: now.size,
    last: change.last,
    session: around.session,
    head: around.head,
    index: around.index,
  };
  state.tiers[tier] = {
    ...known,
    heads: plan.heads,
    maxN: plan.maxN,
    records: known.records + change.added,
    bytes: known.bytes + change.bytes,
    open,
    ...(change.isNew ? { folder: folderStamp(folder), closed: digestClosed(disk, tier, name) } : {}),
  };
  if (state.verdict) state.verdict.journal = journalStamp(layout).stat;
  writeLedgerState(layout, state);
}

const digestClosed = (disk: Disk, tier: Tier, open: string | null): string =>
  digestContainers(listContainers(disk.layout, tier).filter(({ path }) => basename(path) !== open));

/** The cache, or none of it in a copy of the folder it was made in. */
export function loadState(disk: Disk, around: Around): LedgerState {
  const state = readLedgerState(disk.layout);
  if (state?.home === around.home) return state;
  if (state) renameCopied(disk, around, state);
  return emptyState(around.home);
}

/**
 * In a copied folder the original goes on with its open segments. So that one name never has two contents, those that
 * git does not know get another name here: same lines, same records.
 */
function renameCopied(disk: Disk, around: Around, state: LedgerState): void {
  for (const [tier, { open }] of Object.entries(state.tiers) as [Tier, TierState][]) {
    if (!open || around.gitMayKnow(open.name)) continue;
    const folder = segmentFolder(disk.layout, tier);
    disk.rename(join(folder, open.name), join(folder, `copied-${makeToken(8)}.jsonl`));
  }
}

/** What is known of a tier when its containers are the same as at the last look; else they are read. */
function tierState(disk: Disk, state: LedgerState, around: Around, tier: Tier, despite: boolean): TierState {
  const { layout } = disk;
  const known = state.tiers[tier];
  const fixed = describeContainer(fixedFile(layout, tier));
  if (
    known &&
    known.folder === folderStamp(segmentFolder(layout, tier)) &&
    known.fixed === (fixed?.stat ?? '')
  )
    if (!known.open || isUntouched(disk, tier, known.open)) return known;
  const containers = listContainers(layout, tier);
  if (!containers.some(({ size }) => size > 0)) return begin(disk, around, tier);
  const scanned = scanTier(layout, tier, containers, listArchives(layout));
  if (!despite) refuseDamaged(layout, scanned);
  return toState(disk, tier, scanned, known?.ledger ?? around.ledger(tier));
}

function isUntouched(disk: Disk, tier: Tier, open: OpenSegment): boolean {
  return describeContainer(join(segmentFolder(disk.layout, tier), open.name))?.stat === open.stat;
}

/** A tier's state after all of it was read. `open` survives if its file is the same. */
export function toState(
  disk: Disk,
  tier: Tier,
  { result, bytes }: Scanned,
  ledger: string,
  open: OpenSegment | null = null,
): TierState {
  const { layout } = disk;
  const ids = [...result.ledgers.keys()].sort();
  return {
    ledger: ids.includes(ledger) ? ledger : (ids[0] ?? ledger),
    folder: folderStamp(segmentFolder(layout, tier)),
    fixed: describeContainer(fixedFile(layout, tier))?.stat ?? '',
    closed: digestClosed(disk, tier, open?.name ?? null),
    records: result.records,
    bytes,
    heads: result.heads,
    maxN: result.maxN,
    open,
  };
}

/** The fixed file with its genesis: what `init` does, or a repository from before the ledgers needs. Caller holds the lock. */
export function beginLedger(disk: Disk, tier: Tier, ledger: string): boolean {
  const line = Buffer.from(`${genesisLine(tier, ledger)}\n`);
  if (!disk.create(join(segmentFolder(disk.layout, tier), '.gitkeep'), Buffer.alloc(0)))
    disk.makeFolder(segmentFolder(disk.layout, tier));
  const made = disk.create(fixedFile(disk.layout, tier), line);
  if (made && !disk.dryRun) appendJournal(disk.layout, line);
  return made;
}

function begin(disk: Disk, around: Around, tier: Tier): TierState {
  const ledger = around.ledger(tier);
  beginLedger(disk, tier, ledger);
  const scanned = scanTier(disk.layout, tier, listContainers(disk.layout, tier), []);
  return toState(disk, tier, scanned, ledger);
}
