import { ForgeError } from '../domain/error.js';
import { TIERS, type Tier } from '../domain/ledger.js';
import { journalStamp } from '../store/journal.js';
import { type Around, loadState } from '../store/ledger.js';
import { type Container, listArchives, listContainers } from '../store/ledger-files.js';
import { digestContainers } from '../store/ledger-scan.js';
import { emptyState, type LedgerState, type OpenSegment, type TierState } from '../store/ledger-state.js';
import type { Context } from './context.js';

/** Everything that holds records, at one moment. */
export interface Cut {
  around: Around;
  state: LedgerState;
  tiers: Record<Tier, Container[]>;
  archives: Container[];
  journal: { size: number; stat: string };
}

/** Lists under the lock, so that no append is in the middle; reading goes on without it, up to these sizes. */
export function takeCut(context: Context, around: Around): Cut {
  const { disk, layout } = context;
  const list = (state: LedgerState): Cut => ({
    around,
    state,
    tiers: Object.fromEntries(TIERS.map((tier) => [tier, listContainers(layout, tier)])) as Cut['tiers'],
    archives: listArchives(layout),
    journal: journalStamp(layout),
  });
  try {
    return disk.withLock(() => list(loadState(disk, around)));
  } catch (error) {
    // Where nothing can be written, nobody appends either.
    if (error instanceof ForgeError && /^disk\.(erofs|eacces|eperm)$/.test(error.code))
      return list(emptyState(around.home));
    throw error;
  }
}

/** A change within this time of the last look may have left every stamp the same. */
const CLOCK_TICK_MS = 20;

/**
 * Whether the last verification still holds: for the whole set or not at all. Every container, archive and the journal
 * are the same files, untouched, and HEAD has not moved (docs/format.md, "Start-up").
 */
export function isTrusted({ around, state, tiers, archives, journal }: Cut): boolean {
  const { verdict } = state;
  if (verdict === null || verdict.head !== around.head || verdict.journal !== journal.stat) return false;
  if (verdict.archives !== digestContainers(archives)) return false;
  return TIERS.every((tier) => isSame(tiers[tier], state.tiers[tier], state.at));
}

function isSame(containers: readonly Container[], known: TierState | undefined, at: number): boolean {
  if (!known) return false;
  const { open } = known;
  const isThat = ({ path }: Container): boolean => open !== null && path.endsWith(`/${open.name}`);
  const current = containers.find(isThat);
  if (open !== null && current?.stat !== open.stat) return false;
  const closed = containers.filter((container) => !isThat(container));
  return (
    digestContainers(closed) === known.closed &&
    !closed.some(({ changedAt }) => changedAt > at - CLOCK_TICK_MS)
  );
}

/** The open segment, if it is still the file that the last append left. */
export function stillOpen(
  known: TierState | undefined,
  containers: readonly Container[],
): OpenSegment | null {
  const open = known?.open ?? null;
  const file = containers.find(({ path }) => open !== null && path.endsWith(`/${open.name}`));
  return open !== null && file?.stat === open.stat ? open : null;
}

/** True when nobody touched, added or removed anything since. Caller holds the lock. */
export function isUnchanged({ layout }: Context, cut: Cut): boolean {
  const isSameSet = (before: readonly Container[], now: readonly Container[]): boolean =>
    digestContainers(before) === digestContainers(now);
  return (
    TIERS.every((tier) => isSameSet(cut.tiers[tier], listContainers(layout, tier))) &&
    isSameSet(cut.archives, listArchives(layout))
  );
}
