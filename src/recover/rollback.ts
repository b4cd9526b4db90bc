import { issueOf, nameIn } from '../checkpoint/rules.js';
import { idHere } from '../commit/check.js';
import { formatCommitMessage } from '../commit/message.js';
import { refused } from '../core/error.js';
import { makeToken, oneLine, plural } from '../core/text.js';
import { requireNoCycle } from '../cycle/mark.js';
import { listFeatures } from '../feature/feature.js';
import { unproved } from '../feature/rules.js';
import { makeBackup } from '../git/backup.js';
import { type Bench, toBytes, toText } from '../git/bytes.js';
import { whyNoCommit } from '../git/commit.js';
import { findFiltered } from '../git/filtered.js';
import { isEmpty, type Move, planMove, requireObjects, requireUntouched } from '../git/move.js';
import { commitTree, hasLeftOut, restoredIndex, restoreTree } from '../git/restore.js';
import { operationInProgress, readBranch } from '../git/state.js';
import { type Context, timestamp } from '../project/project.js';
import { sessionName } from '../session/rules.js';
import { readRunning } from '../session/running.js';
import { beginMove, benchAt, finishMove, nameBackup, noteOf } from './move.js';
import { type Place, type RecoveryPlan, requirePlace, type Target } from './plan.js';

/** What a rollback did. */
interface RolledBack {
  /** Where everything is that it changed; null when there was nothing to change. */
  backup_ref: string | null;
  /** The commit that restores the checkpoint; null when HEAD was it already. */
  commit: string | null;
}

/**
 * The checkpoint's tree outside `.forge/`, as a commit on top of HEAD and on the disk. Before the first file is touched all
 * that it changes is on a ref of its own.
 */
export async function rollBack(context: Context, plan: RecoveryPlan): Promise<RolledBack> {
  const place = requirePlace(context);
  await requireRest(context, place);
  const [target, head] = [plan.checkpoint as Target, plan.head as string];
  return benchAt(context, place, async (bench) => {
    const commit = await makeRestoreCommit(context, bench, plan);
    const move = await planMove(bench, commit, toBytes(place.folder));
    if (isEmpty(move) && commit === head) return { backup_ref: null, commit: null };
    await requireUnfiltered(place, [...move.write.keys()].map(toText), {
      source: ['--cached'],
      env: { GIT_INDEX_FILE: restoredIndex(bench) },
    });
    await requireObjects(bench, move, { commit: target.commit.slice(0, 12) });
    tellLeft(context, move.left);
    const ref = nameBackup(context);
    const features = unproved(listFeatures(context).features, new Set(target.features_passing));
    const vouched = target.features_passing;
    const note = {
      ...noteOf(place, 'rollback'),
      checkpoint: target.tag,
      restored: commit,
      vouched,
      features,
    };
    const subject = `Before the rollback to ${target.tag}`;
    await makeBackup(bench, move, { ref, head, subject, note });
    requireUntouched(bench, move);
    const intent = beginMove(context, {
      op: 'rollback',
      at: timestamp(context),
      head,
      commit,
      tree: commit,
      backup: ref,
      kept: null,
      vouched,
      record: {
        move: makeToken(8),
        action: 'rollback',
        ...about(plan),
        from: head,
        to: commit,
        backup: ref,
      },
    });
    await finishMove(context, { place, bench, move }, intent);
    tellRest(context, await planMove(bench, commit, toBytes(place.folder), [ref]));
    await tellDetached(context, place, commit);
    return { backup_ref: ref, commit: commit === head ? null : commit };
  });
}

/** What the audit ledger keeps of a decision. */
export const about = ({ checkpoint, rules, checks }: RecoveryPlan): Record<string, unknown> => ({
  checkpoint: checkpoint?.tag ?? null,
  ...(checkpoint ? { checkpoint_commit: checkpoint.commit } : {}),
  rules: rules.map(({ rule, value, limit, holds }) => ({ rule, value, limit, holds })),
  failed: checks.flatMap(({ name, state }) => (state === 'failed' ? [name] : [])),
});

/** B-39: exit 3 in the middle of a merge, rebase, pick, revert or bisect: its end, or its abort, comes first. */
export function requireNoOperation({ repository }: Place): void {
  const operation = operationInProgress(repository);
  if (operation) throw notNow(`${operation} is in progress`);
}

/** Git at rest, with a name for the commit, and no cycle in progress. */
export async function requireRest(context: Context, { repository, git }: Place): Promise<void> {
  requireNoCycle(context);
  const reason = await whyNoCommit({ repository, git, outerIndex: context.world.env.GIT_INDEX_FILE });
  if (reason) throw notNow(reason);
}

const notNow = (reason: string): Error =>
  refused('recover.place', `Nothing can be recovered now: ${reason}.`, {
    hint: 'finish or abort it first; or: forge recover --worktree DIR  (the checkpoint, in a folder of its own)',
  });

/** Without its filter git would write a pointer, or encrypted bytes, where a file was. */
export async function requireUnfiltered(
  { git }: Place,
  paths: readonly string[],
  from?: Parameters<typeof findFiltered>[2],
): Promise<void> {
  const filtered = await findFiltered(git, paths, from);
  if (!filtered) return;
  throw refused('recover.filter', `${filtered.what}, so it cannot write them; nothing was changed.`, {
    hint: filtered.hint,
  });
}

interface RestoreCommit {
  head: string;
  /** The commit whose files come back. */
  of: string;
  id: string;
  subject: string;
  what: string[];
  why: string;
  parentNote?: string;
}

/** A commit on HEAD with the files of another commit, and `.forge/` as HEAD has it. HEAD itself where nothing differs. */
export async function commitRestored(
  context: Context,
  bench: Bench,
  { head, of, parentNote, ...said }: RestoreCommit,
): Promise<string> {
  const folder = toBytes(requirePlace(context).folder);
  const tree = await restoreTree(bench, { commit: of, head, folder });
  const running = readRunning(context);
  const message = formatCommitMessage({
    ...said,
    learned: [],
    updated: [],
    backtrace: {
      parent: head.slice(0, 12),
      ...(parentNote === undefined ? {} : { parentNote }),
      linear: 'none',
      session: running ? sessionName(running.id) : 'none',
    },
  });
  return commitTree(bench, { tree, head, message });
}

async function makeRestoreCommit(context: Context, bench: Bench, plan: RecoveryPlan): Promise<string> {
  const [target, head] = [plan.checkpoint as Target, plan.head as string];
  if (await hasLeftOut(bench))
    throw refused(
      'recover.sparse',
      'This checkout leaves files out, so it cannot be made a whole checkpoint.',
      { hint: 'forge recover --worktree DIR   or   git sparse-checkout disable' },
    );
  const { files, commits } = plan.divergence;
  const failed = plan.checks.filter(({ state }) => state === 'failed');
  const short = target.commit.slice(0, 12);
  return commitRestored(context, bench, {
    head,
    of: target.commit,
    id: idHere(context, issueOf(nameIn(target.tag) ?? 'FORGE')),
    subject: `Roll back to ${target.tag}`,
    what: [
      `Everything outside .forge/ as in ${short}`,
      `Left behind: ${plural(commits, 'commit')}, ${plural(files, 'changed file')}`,
    ],
    why: failed.map(({ name, why }) => `- ${name}: ${why}`).join('\n'),
    parentNote: `the verified state is ${short}`,
  });
}

export function tellLeft({ warnings }: Context, left: readonly string[]): void {
  if (left.length === 0) return;
  warnings.push(
    `Submodules and repositories inside this one were left as they are: ${named(left)}. Look at: git status  and  git submodule update`,
  );
}

/** The first of them. */
const named = (paths: readonly string[]): string =>
  [
    ...paths.slice(0, 5).map((path) => oneLine(toText(path), 100)),
    ...(paths.length > 5 ? [`and ${paths.length - 5} more`] : []),
  ].join(', ');

/** A filter or another program may make another file of what git wrote; the checkpoint may ignore less. */
function tellRest({ warnings }: Context, { write, remove, spared }: Move): void {
  const rest = [...write.keys(), ...remove];
  if (rest.length > 0)
    warnings.push(`Not as the checkpoint has it, by a filter or another program: ${named(rest)}.`);
  if (spared.length > 0)
    warnings.push(
      `Left where they are, though the checkpoint's .gitignore does not name them: ${named(spared)}. Commit none of them by accident.`,
    );
}

export async function tellDetached(
  { warnings }: Context,
  { repository, git }: Place,
  commit: string,
): Promise<void> {
  if ((await readBranch(repository, git)) === null)
    warnings.push(
      `HEAD is detached: no branch holds this commit. Keep it with: git branch NAME ${commit.slice(0, 12)}`,
    );
}
