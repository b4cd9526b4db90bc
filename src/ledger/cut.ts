import { ForgeError } from '../core/error.js';
import { identifyGitDir, readGitState } from '../git/state.js';
import type { Context } from '../project/project.js';
import { TIERS, type Tier } from './rules/record.js';
import { type Container, listArchives, listContainers } from './store/files.js';
import { journalStamp } from './store/journal.js';
import { type Around, leaveCopied } from './store/ledger.js';
import { redactedStamp } from './store/redacted.js';
import { digestContainers } from './store/scan.js';
import {
  emptyState,
  type LedgerState,
  type OpenSegment,
  readLedgerState,
  type TierState,
  type Verdict,
} from './store/state.js';
import { followOpen, isSamePrefix } from './store/tip.js';

/** Everything that holds records, at one moment. */
export interface Cut {
  around: Around;
  state: LedgerState;
  tiers: Record<Tier, Container[]>;
  archives: Container[];
  journal: { size: number; stat: string };
  /** As redactedStamp has it. */
  redacted: string;
}

/** Lists under the lock, so that no append is in the middle; reading goes on without it, up to these sizes. */
export function takeCut(context: Context, around: Around): Cut {
  const { disk, layout } = context;
  const list = (): Cut => ({
    around,
    state: ownState(readLedgerState(layout), around),
    ...listAll(layout),
    journal: journalStamp(layout),
  });
  try {
    return disk.withLock(() => {
      leaveCopied(disk, around);
      return list();
    });
  } catch (error) {
    // Where nothing can be written, nobody appends either.
    if (error instanceof ForgeError && /^disk\.(erofs|eacces|eperm)$/.test(error.code)) return list();
    throw error;
  }
}

const listAll = (layout: Context['layout']): Pick<Cut, 'tiers' | 'archives' | 'redacted'> => ({
  tiers: Object.fromEntries(TIERS.map((tier) => [tier, listContainers(layout, tier)])) as Cut['tiers'],
  archives: listArchives(layout),
  redacted: redactedStamp(layout),
});

const ownState = (state: LedgerState | null, { home }: Around): LedgerState =>
  state?.home === home ? state : emptyState(home);

/** A change within this time of the last look may have left every stamp the same. */
const CLOCK_TICK_MS = 20;

/**
 * Whether the last verification still holds: for the whole set or not at all. Every container and archive is the same
 * file, untouched but for what forge itself appended, and HEAD has not moved (docs/format.md, "Start-up"). Brings the
 * state up to the present.
 */
export const isTrusted = (cut: Cut): boolean =>
  cut.state.verdict?.head === cut.around.head && isUntouched(cut);

/** What the last verification saw of the ledgers, where nothing was touched since. HEAD does not matter. Takes no lock. */
export function trustedVerdict({ disk, layout, repository }: Context): Verdict | null {
  const home = repository ? identifyGitDir(repository) : `${layout.dir}:${disk.inode(layout.dir)}`;
  const state = readLedgerState(layout);
  if (state?.home !== home) return null;
  return isUntouched({ state, ...listAll(layout) }) ? state.verdict : null;
}

function isUntouched({ state, tiers, archives, redacted }: Omit<Cut, 'around' | 'journal'>): boolean {
  const { verdict } = state;
  // Another version of forge looked at less.
  if (verdict?.doubtful === undefined || verdict.redacted !== redacted) return false;
  if (verdict.archives !== digestContainers(archives)) return false;
  return TIERS.every((tier) => {
    const known = trustTier(tiers[tier], state.tiers[tier], state.at, tier === 'knowledge');
    if (known) state.tiers[tier] = known;
    return known !== null;
  });
}

function trustTier(
  containers: readonly Container[],
  known: TierState | undefined,
  at: number,
  isStrict: boolean,
): TierState | null {
  if (!known) return null;
  const current = containers.find(isOpenSegment(known));
  const closed = containers.filter((container) => container !== current);
  if (digestContainers(closed) !== known.closed) return null;
  if (closed.some(({ changedAt }) => changedAt > at - CLOCK_TICK_MS)) return null;
  if (known.open === null) return known;
  // What forge adds to knowledge it tells at once: all else that came is looked into before it is believed.
  if (isStrict) return current?.stat === known.open.stat ? known : null;
  return trustOpen(known, known.open, current);
}

/** The open segment as the state has it, or grown: then its lines are read, which prove what stands before them. */
function trustOpen(known: TierState, open: OpenSegment, now: Container | undefined): TierState | null {
  if (now?.stat === open.stat) return known;
  return now && isSamePrefix(open, now) ? followOpen(known, now) : null;
}

const isOpenSegment =
  ({ open }: TierState) =>
  ({ path }: Container): boolean =>
    open !== null && path.endsWith(`/${open.name}`);

/** The open segment, if the last append is the last thing that happened to it. */
export function stillOpen(
  known: TierState | undefined,
  containers: readonly Container[],
): OpenSegment | null {
  const now = known && containers.find(isOpenSegment(known));
  return (known && now && followOpen(known, now)?.open) ?? null;
}

/** True when nothing came, went or was touched since, HEAD included. Caller holds the lock. */
export function isUnchanged({ layout, repository }: Context, cut: Cut): boolean {
  const same = (now: readonly Container[], then: readonly Container[]): boolean =>
    digestContainers(now) === digestContainers(then);
  const head = repository ? readGitState(repository).head : '';
  return (
    head === cut.around.head &&
    journalStamp(layout).stat === cut.journal.stat &&
    same(listArchives(layout), cut.archives) &&
    TIERS.every((tier) => same(listContainers(layout, tier), cut.tiers[tier]))
  );
}
