import { hash } from 'node:crypto';
import * as fs from 'node:fs';
import { elapsed } from '../../core/clock.js';
import type { Disk } from '../../core/disk.js';
import { makeFolder } from '../../core/files.js';
import { type Layout, ledgerStateFile } from '../../core/paths.js';
import type { Finding } from '../rules/finding.js';
import type { Tier } from '../rules/record.js';

/** The segment that the next append continues. */
export interface OpenSegment {
  name: string;
  /** As listContainers has it, after the last append. */
  stat: string;
  size: number;
  /** The id of its last record. */
  last: string;
  session: string | null;
  /** HEAD and the index, as they were when git was last seen not to know the segment. */
  head: string;
  index: string;
}

/** What is known of one tier, as long as its containers are the same. */
export interface TierState {
  ledger: string;
  /** Stamp of the segment folder, and the fixed file: what an append compares. */
  folder: string;
  fixed: string;
  /** Digest over every container but the open segment: what a verification compares. */
  closed: string;
  records: number;
  bytes: number;
  heads: string[];
  maxN: number;
  open: OpenSegment | null;
}

const { O_CREAT, O_NOFOLLOW = 0, O_WRONLY } = fs.constants;

/** What the last whole verification saw around the containers; the same again means the same verdict. */
export interface Verdict {
  head: string;
  archives: string;
  redacted: string;
  notes: string[];
  /** Knowledge whose evidence is not here, for people and by the ids of its records; missing in what older versions wrote. */
  unproven?: Finding[];
  doubtful?: string[];
}

/** `<git dir>/forge/ledger.json`: only a cache. Whoever removes it causes one full verification. */
export interface LedgerState {
  v: 1;
  /** Which folder this is; a copy of it is another one. */
  home: string;
  /** Milliseconds since 1970. */
  at: number;
  tiers: Partial<Record<Tier, TierState>>;
  verdict: Verdict | null;
}

export const emptyState = (home: string): LedgerState => ({ v: 1, home, at: 0, tiers: {}, verdict: null });

/** What this process knows, ahead of the file: in a loop of appends the file is not written for each of them. */
const memos = new Map<string, { state: LedgerState; unsaved: Set<Tier>; savedAt: number }>();
const SAVE_EVERY_MS = 20;

/** What the file says, read when it is first asked for and not again. */
export function savedState({ layout }: Disk): () => LedgerState | null {
  let state: LedgerState | null | undefined;
  return () => {
    if (state === undefined) state = readLedgerState(layout);
    return state;
  };
}
type Saved = ReturnType<typeof savedState>;

/** What may be known of a tier, the newest first. Each has to be compared with the disk. The caller holds the lock. */
export function* knownStates({ layout }: Disk, home: string, tier: Tier, saved: Saved): Generator<TierState> {
  const memo = memos.get(ledgerStateFile(layout))?.state;
  if (memo?.home === home && memo.tiers[tier]) yield memo.tiers[tier];
  const state = saved();
  if (state?.home === home && state.tiers[tier]) yield state.tiers[tier];
}

/** The state of another folder: this one is a copy of it, or it was moved. */
export function foreignState({ layout }: Disk, home: string, saved: Saved): LedgerState | null {
  if (memos.get(ledgerStateFile(layout))?.state.home === home) return null;
  const state = saved();
  return state && state.home !== home ? state : null;
}

/**
 * After an append. What is not written now, the next process reads from the segment itself; a segment that is new is
 * told at once. Caller holds the lock.
 */
export function knowTier({ layout }: Disk, home: string, tier: Tier, known: TierState, isNew: boolean): void {
  const path = ledgerStateFile(layout);
  let memo = memos.get(path);
  if (memo?.state.home !== home) {
    memo = { state: emptyState(home), unsaved: new Set(), savedAt: Number.NEGATIVE_INFINITY };
    memos.set(path, memo);
  }
  memo.state.tiers[tier] = known;
  memo.unsaved.add(tier);
  // Of knowledge nothing is believed that the file does not know.
  if (!isNew && tier !== 'knowledge' && elapsed() - memo.savedAt < SAVE_EVERY_MS) return;
  const state = readLedgerState(layout);
  const base = state?.home === home ? state : emptyState(home);
  for (const changed of memo.unsaved) base.tiers[changed] = memo.state.tiers[changed] as TierState;
  writeLedgerState(layout, base);
  memo.unsaved.clear();
  memo.savedAt = elapsed();
}

/** The next look reads the tier anew. Caller holds the lock. */
export function forgetTier({ layout }: Disk, tier: Tier): void {
  delete memos.get(ledgerStateFile(layout))?.state.tiers[tier];
  const state = readLedgerState(layout);
  if (!state) return;
  delete state.tiers[tier];
  writeLedgerState(layout, { ...state, verdict: null });
}

/** Replaces all that is known. Caller holds the lock. */
export function saveState({ layout }: Disk, state: LedgerState): void {
  memos.delete(ledgerStateFile(layout));
  writeLedgerState(layout, state);
}

/** Null when there is none that can be used: then everything is looked at anew. */
export function readLedgerState(layout: Layout): LedgerState | null {
  try {
    const bytes = fs.readFileSync(ledgerStateFile(layout));
    const body = bytes.subarray(65);
    if (hash('sha256', body) !== bytes.toString('latin1', 0, 64)) return null;
    const state = JSON.parse(body.toString('utf8')) as LedgerState;
    return state.v === 1 ? state : null;
  } catch {
    return null;
  }
}

/**
 * The digest of the rest, then the state. Written in place and not synced: one that a crash or a full disk spoils
 * does not fit its digest. In place, because emptying a file first makes some file systems flush it when it is
 * closed, which costs more than all the rest of an append. The caller holds the lock.
 */
function writeLedgerState(layout: Layout, state: LedgerState): void {
  const body = JSON.stringify({ ...state, at: Date.now() });
  const bytes = Buffer.from(`${hash('sha256', body)}\n${body}`, 'utf8');
  try {
    makeFolder(layout.state);
    const fd = fs.openSync(ledgerStateFile(layout), O_WRONLY | O_CREAT | O_NOFOLLOW, 0o666);
    try {
      fs.writeSync(fd, bytes, 0, bytes.length, 0);
      if (fs.fstatSync(fd).size !== bytes.length) fs.ftruncateSync(fd, bytes.length);
    } finally {
      fs.closeSync(fd);
    }
  } catch {
    forgetState(layout);
  }
}

/** Where even that fails, what it says of the files is not what they are, and it is not used. */
function forgetState(layout: Layout): void {
  try {
    fs.rmSync(ledgerStateFile(layout), { force: true });
  } catch {
    // See above.
  }
}
