import { brokenSince, latestCheckpoint, requireCheckpoint } from '../checkpoint/read.js';
import { type CheckpointWatch, type ProvedCheck, runProved } from '../checkpoint/run.js';
import type { Checkpoint as FoundCheckpoint, Manifest } from '../checkpoint/rules.js';
import { refused } from '../core/error.js';
import { shownFrom } from '../core/paths.js';
import type { Feature } from '../feature/rules.js';
import type { Git } from '../git/client.js';
import { isSameOutside } from '../git/outside.js';
import type { Repository } from '../git/repository.js';
import { glanceAtMemory } from '../ledger/integrity.js';
import { readRecords } from '../ledger/memory.js';
import { readHalt } from '../project/halt.js';
import type { Context } from '../project/project.js';
import { measureDivergence } from './diverge.js';
import {
  type Decision,
  type Divergence,
  decide,
  judgeDivergence,
  judgePlace,
  NEVER,
  type Rule,
} from './rules.js';

/** A state to come back to, as far as recovery is concerned. */
export interface Target {
  tag: string;
  commit: string;
  timestamp: string;
  features_passing: string[];
}

/** What there is to decide, and what the rules say. */
export interface RecoveryPlan {
  checkpoint: Target | null;
  /** The commit that was looked at. */
  head: string | null;
  divergence: Divergence;
  /** What the checkpoint proved, as it is now. */
  checks: ProvedCheck[];
  decision: Decision;
  rules: Rule[];
}

export interface Place {
  repository: Repository;
  git: Git;
  /** `.forge/` from the repository's top. */
  folder: string;
}

export function requirePlace({ repository, git, layout }: Context): Place {
  if (!repository || !git)
    throw refused('recover.place', 'There is nothing to recover: this folder is no git repository.', {
      hint: 'git init',
    });
  return { repository, git, folder: shownFrom(repository.root, layout.dir) };
}

/**
 * GIT-06: the last checkpoint (or `to`), what lies between, what its commands and features show now, and what follows. forge
 * writes nothing. Nothing is run where the decision does not depend on it.
 */
export async function planRecovery(
  context: Context,
  { to }: { to?: string } = {},
  watch: CheckpointWatch = {},
): Promise<RecoveryPlan> {
  const place = requirePlace(context);
  const { manifest, state } = await chooseTarget(context, to);
  const [measured, ledger] = await Promise.all([
    measureDivergence(place, manifest?.commit ?? null),
    ledgerState(context),
  ]);
  const { head, isShallow, isHeadSame, gone, filtered, ...numbers } = measured;
  if (filtered) context.warnings.push(`${filtered.what}, so it cannot compare them. ${filtered.hint}`);
  const divergence: Divergence = { ...numbers, ledger, features_lost: [] };
  const facts = { divergence, checkpoint: state, isShallow, isHeadSame };
  const isKnown = judgePlace(facts).every(({ holds }) => holds);
  const checks = isKnown && manifest ? await runChecks(context, manifest, gone, watch) : [];
  for (const { kind, state: shown, name } of checks)
    if (kind === 'feature' && shown === 'failed') divergence.features_lost.push(name);
  const rules = judgeDivergence({ ...facts, checks });
  return {
    checkpoint: manifest && targetOf(manifest),
    head,
    divergence,
    checks,
    decision: decide(rules),
    rules,
  };
}

/** With what is known of a broken feature at HEAD. */
async function runChecks(
  context: Context,
  manifest: Manifest,
  gone: ReadonlySet<string>,
  watch: CheckpointWatch,
): Promise<ProvedCheck[]> {
  const { git, folder } = requirePlace(context);
  const checks = await runProved(context, manifest, gone, watch);
  return Promise.all(
    checks.map(async ({ feature, ...check }): Promise<ProvedCheck> => {
      if (check.state !== 'failed' || feature?.status !== 'passing') return check;
      const commit = lastPassed(context, feature);
      const isAtHead = commit !== null && (await isSameOutside(git, commit, 'HEAD', folder));
      return isAtHead ? { ...check, passedAtHead: true } : check;
    }),
  );
}

interface Verification {
  commit?: string | null;
  runs?: { feature: string; status: string }[];
}

/** The commit at which its tests passed last. A run that changed no status is remembered in the evaluation tier alone. */
function lastPassed(context: Context, { id, verified_commit = null }: Feature): string | null {
  const passed = readRecords(context, 'evaluation').findLast(
    ({ record: { kind, runs } }) =>
      kind === 'verification' &&
      ((runs ?? []) as Verification['runs'])?.some((run) => run.feature === id && run.status === 'passing'),
  );
  return (passed?.record as Verification | undefined)?.commit ?? verified_commit;
}

export const targetOf = ({ tag, commit, timestamp, features_passing }: Manifest): Target => ({
  tag,
  commit,
  timestamp,
  features_passing,
});

/** One that cannot be relied on is no target, and a newer one that cannot be is no reason to take an older one in silence. */
export async function chooseTarget(
  context: Context,
  to: string | undefined,
): Promise<{ manifest: Manifest | null; state: string }> {
  const found = to === undefined ? await latestCheckpoint(context) : await requireCheckpoint(context, to);
  const newer = to === undefined ? await brokenSince(context, found) : null;
  if (newer) return { manifest: null, state: describe(newer) };
  if (!found) return { manifest: null, state: NEVER };
  const { manifest, state } = found;
  return state === 'ok' && manifest?.can_rollback_to
    ? { manifest, state: 'ok' }
    : { manifest: null, state: describe(found) };
}

const describe = ({ tag, state, why, manifest }: FoundCheckpoint): string =>
  `${tag} is ${state === 'ok' && manifest?.can_rollback_to === false ? 'not to be gone back to' : state}${why ? `: ${why}` : ''}`;

/** What git took from the working tree comes back by itself, and is no damage. */
async function ledgerState(context: Context): Promise<Divergence['ledger']> {
  if (readHalt(context.disk)) return 'halted';
  return (await glanceAtMemory(context)).state === 'corrupted' ? 'corrupted' : 'intact';
}
