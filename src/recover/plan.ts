import { brokenSince, latestCheckpoint, requireCheckpoint } from '../checkpoint/read.js';
import type { Checkpoint as FoundCheckpoint, Manifest } from '../checkpoint/rules.js';
import { type CheckpointWatch, type ProvedCheck, runProved } from '../checkpoint/run.js';
import { objectsIn } from '../core/json.js';
import { type Git, must, words } from '../git/client.js';
import { findFiltered } from '../git/config.js';
import { type Distance, isSameOutside, leadsTo, outsideOf, readDistance } from '../git/read.js';
import { isShallow, operationInProgress } from '../git/repository.js';
import { readTreeStatus } from '../git/status.js';
import { damageOf, verifyReadOnly } from '../ledger/integrity.js';
import { readRecords } from '../ledger/memory.js';
import { textIn } from '../ledger/record.js';
import { type Context, type Place, readHalt, requireRepository } from '../project/project.js';
import {
  ASKED,
  type Divergence,
  decide,
  judgeDivergence,
  judgePlace,
  NEVER,
  type Relation,
} from './rules.js';

/** The situation and the decision of the rules. */
export type RecoveryPlan = Awaited<ReturnType<typeof planRecovery>>;

/**
 * GIT-06: the last checkpoint (or `to`), the changes since, the current results of its checks, and the decision.
 * forge writes nothing, and runs only commands that affect the decision.
 */
export async function planRecovery(
  context: Context,
  { to, rollback = false }: { to?: string | undefined; rollback?: boolean | undefined } = {},
  watch: CheckpointWatch = {},
) {
  const place = requireRepository(context);
  const { manifest, state } = await chooseTarget(context, to);
  const [measured, ledger] = await Promise.all([
    measureDivergence(place, manifest?.commit ?? null),
    ledgerState(context),
  ]);
  const { head, isHeadSame, filtered, ...numbers } = measured;
  if (filtered)
    context.warnings.push(`${filtered.what}, so it cannot compare them. Set it up: ${filtered.hint}`);
  const isCutOff = isShallow(place.repository);
  const divergence: Divergence = { ...numbers, ledger, features_lost: [] };
  const facts = { divergence, checkpoint: state, isShallow: isCutOff, isHeadSame };
  const isKnown = judgePlace(facts).every(({ holds }) => holds);
  const checks = isKnown && manifest ? await runChecks(context, manifest, watch) : [];
  for (const { kind, state: shown, name } of checks)
    if (kind === 'feature' && shown === 'failed') divergence.features_lost.push(name);
  const rules = [...judgeDivergence({ ...facts, checks }), ...(rollback ? [ASKED] : [])];
  return { checkpoint: manifest, head, divergence, checks, decision: decide(rules), rules };
}

/** Adds what is known about a broken feature at HEAD. */
async function runChecks(context: Context, manifest: Manifest, watch: CheckpointWatch) {
  const { git, folder } = requireRepository(context);
  const checks = await runProved(context, manifest, watch);
  return Promise.all(
    checks.map(async ({ feature, ...check }): Promise<ProvedCheck> => {
      if (check.state !== 'failed' || feature?.status !== 'passing') return check;
      const commit = lastPassed(context, feature.id);
      // An older run proves less than the checkpoint.
      const isNewer =
        commit !== null && (await git(['merge-base', '--is-ancestor', manifest.commit, commit])).code === 0;
      const isAtHead = isNewer && (await isSameOutside(git, commit, 'HEAD', folder));
      return isAtHead ? { ...check, passedAtHead: true } : check;
    }),
  );
}

/** The commit at which its tests last passed without uncommitted files. */
function lastPassed(context: Context, id: string): string | null {
  const passed = readRecords(context, 'evaluation').findLast(
    ({ record: { kind, dirty, runs } }) =>
      kind === 'verification' &&
      dirty !== true &&
      objectsIn(runs).some(({ feature, status }) => feature === id && status === 'passing'),
  );
  return textIn(passed?.record.commit);
}

/** An unreliable checkpoint is not a target, and a newer unreliable one must not silently lead to an older one. */
export async function chooseTarget(context: Context, to: string | undefined) {
  const found = to === undefined ? await latestCheckpoint(context) : await requireCheckpoint(context, to);
  const newer = to === undefined ? await brokenSince(context, found) : null;
  if (newer) return { manifest: null, state: describe(newer) };
  if (!found) return { manifest: null, state: NEVER };
  return found.can_rollback_to
    ? { manifest: found.manifest, state: 'ok' }
    : { manifest: null, state: describe(found) };
}

const describe = ({ tag, state, why }: FoundCheckpoint): string =>
  `${tag} is ${state === 'ok' ? 'not meant for rollback' : state}${why ? `: ${why}` : ''}`;

/** Records that git removed from the working tree are restored automatically and are not damage. */
async function ledgerState(context: Context): Promise<Divergence['ledger']> {
  if (readHalt(context.disk)) return 'halted';
  return damageOf(await verifyReadOnly(context)).length > 0 ? 'corrupted' : 'intact';
}

const MAX_NAMED = 20;

/** Where git does not have the checkpoint's commit. */
const NOT_COMPARED = {
  ...{ commits: 0, branch: 'missing' as Relation },
  ...{ files: 0, changed_files: [] as string[], insertions: 0, deletions: 0, isHeadSame: false },
};

/** Git's part of the divergence, and the files that cannot be compared. Reads concurrently. Writes nothing. */
async function measureDivergence({ repository, git, folder }: Place, commit: string | null) {
  const distance = commit === null ? null : await readDistance(git, commit);
  const [{ head, files }, compared] = await Promise.all([
    readTreeStatus(git, folder, 'all'),
    commit && distance ? compareWith(git, commit, folder, distance) : NOT_COMPARED,
  ]);
  const changed = files.flatMap(({ kind, path }) => (kind === 'untracked' ? [] : [path]));
  const fresh = files.flatMap(({ kind, path }) => (kind === 'untracked' ? [path] : []));
  const filtered = await findFiltered(git, changed);
  const isUnmerged = files.some(({ kind }) => kind === 'unmerged');
  return {
    ...compared,
    untracked: fresh.length,
    untracked_files: fresh.slice(0, MAX_NAMED),
    uncommitted: files.length - (filtered?.paths.length ?? 0),
    filtered,
    branch: head === null ? ('unborn' as const) : compared.branch,
    operation: operationInProgress(repository) ?? (isUnmerged ? 'an unresolved conflict' : null),
    head,
  };
}

async function compareWith(git: Git, commit: string, folder: string, distance: Distance) {
  const outside = (...args: string[]): Promise<string> =>
    must(git, ['--no-literal-pathspecs', ...args, ...outsideOf(folder)]);
  const diff = ['diff', '--numstat', '-z', '--no-renames', '--no-ext-diff', '--no-textconv', '--no-color'];
  const [branch, isHeadSame, commits, numbers] = await Promise.all([
    relate(git, commit, folder, distance),
    isSameOutside(git, commit, 'HEAD', folder),
    outside('rev-list', '--count', '--first-parent', '--no-merges', `${commit}..HEAD`),
    outside(...diff, '--no-relative', '--ignore-submodules=none', commit),
  ]);
  const rows = words(numbers).map((line) => line.split('\t'));
  // A binary file has dashes.
  const sum = (column: number): number => rows.reduce((total, row) => total + (Number(row[column]) || 0), 0);
  return {
    ...{ commits: Number(commits), branch },
    ...{ files: rows.length, changed_files: rows.slice(0, MAX_NAMED).map(([, , path = '']) => path) },
    ...{ insertions: sum(0), deletions: sum(1), isHeadSame },
  };
}

async function relate(
  git: Git,
  commit: string,
  folder: string,
  { behind, ahead }: Distance,
): Promise<Relation> {
  if (behind === 0) return 'descendant';
  if (ahead === 0) return 'behind';
  return (await leadsTo(git, commit, folder)) ? 'descendant' : 'diverged';
}
