import { latestCheckpoint, readCheckpoints, requireCheckpoint } from '../checkpoint/read.js';
import type { Checkpoint as FoundCheckpoint } from '../checkpoint/rules.js';
import { refused } from '../core/error.js';
import { shownFrom } from '../core/paths.js';
import { listFeatures } from '../feature/feature.js';
import type { Git } from '../git/client.js';
import type { Repository } from '../git/repository.js';
import { glanceAtMemory } from '../ledger/integrity.js';
import { readHalt } from '../project/halt.js';
import { type Context, readConfig } from '../project/project.js';
import { measureDivergence } from './diverge.js';
import { type Decision, type Divergence, decide, judgeDivergence, NEVER, type Rule } from './rules.js';

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

/** GIT-06: the last good checkpoint (or `to`), what lies between, and what follows. Writes nothing. */
export async function planRecovery(context: Context, { to }: { to?: string } = {}): Promise<RecoveryPlan> {
  const place = requirePlace(context);
  const { recover } = readConfig(context);
  const { target, state } = await chooseTarget(context, to);
  const [measured, ledger] = await Promise.all([
    measureDivergence(place, target?.commit ?? null),
    ledgerState(context),
  ]);
  const { head, isShallow, ...numbers } = measured;
  const divergence: Divergence = { ...numbers, ledger, features_lost: lostFeatures(context, target) };
  const rules = judgeDivergence({ divergence, checkpoint: state, isShallow }, recover);
  return { checkpoint: target, head, divergence, decision: decide(rules), rules };
}

/** One that cannot be relied on is no target: the table says why. */
async function chooseTarget(
  context: Context,
  to: string | undefined,
): Promise<{ target: Target | null; state: string }> {
  const found = to === undefined ? await latestCheckpoint(context) : await requireCheckpoint(context, to);
  if (!found) {
    const [newest] = await readCheckpoints(context);
    return { target: null, state: newest ? `none that is good (${describe(newest)})` : NEVER };
  }
  const { manifest, state, tag } = found;
  if (state !== 'ok' || !manifest) return { target: null, state: describe(found) };
  if (!manifest.can_rollback_to) return { target: null, state: `${tag} is not to be gone back to` };
  const { commit, timestamp, features_passing } = manifest;
  return { target: { tag, commit, timestamp, features_passing }, state: 'ok' };
}

const describe = ({ tag, state, why, manifest }: FoundCheckpoint): string =>
  `${tag} is ${state === 'ok' && manifest?.can_rollback_to === false ? 'not to be gone back to' : state}${why ? `: ${why}` : ''}`;

/** What git took from the working tree comes back by itself, and is no damage. */
async function ledgerState(context: Context): Promise<Divergence['ledger']> {
  if (readHalt(context.disk)) return 'halted';
  return (await glanceAtMemory(context)).state === 'corrupted' ? 'corrupted' : 'intact';
}

function lostFeatures(context: Context, target: Target | null): string[] {
  if (!target || target.features_passing.length === 0) return [];
  const { features } = listFeatures(context);
  const passing = new Set(features.filter(({ status }) => status === 'passing').map(({ id }) => id));
  return target.features_passing.filter((id) => !passing.has(id));
}
