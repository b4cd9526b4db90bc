import * as fs from 'node:fs';
import { TIERS, type Tier } from '../domain/ledger.js';
import { makeFolder } from './durable.js';
import { type Layout, ledgerStateFile } from './layout.js';

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

/** What the last whole verification saw around the containers; the same again means the same verdict. */
export interface Verdict {
  head: string;
  journal: string;
  archives: string;
  notes: string[];
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

/** Null when there is none that can be used: then everything is looked at anew. */
export function readLedgerState(layout: Layout): LedgerState | null {
  try {
    const state = JSON.parse(fs.readFileSync(ledgerStateFile(layout), 'utf8')) as LedgerState;
    const whole =
      state.v === 1 && typeof state.home === 'string' && TIERS.every((tier) => isWhole(state.tiers[tier]));
    return whole ? state : null;
  } catch {
    return null;
  }
}

const isWhole = (tier: TierState | undefined): boolean =>
  tier === undefined || (Array.isArray(tier.heads) && typeof tier.maxN === 'number');

/** Not synced and not checked: a state that a crash or a full disk spoils is not used. The caller holds the lock. */
export function writeLedgerState(layout: Layout, state: LedgerState): void {
  try {
    makeFolder(layout.state);
    fs.writeFileSync(ledgerStateFile(layout), JSON.stringify({ ...state, at: Date.now() }));
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
