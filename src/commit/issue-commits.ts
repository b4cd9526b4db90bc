import { ForgeError } from '../core/error.js';
import { activeIssuesFile, doneIssueFile } from '../core/paths.js';
import { encodeDocument } from '../core/schema.js';
import { ACTIVE_ISSUES, UNIT, type Unit } from '../feature/tasks.js';
import { type Git, must } from '../git/client.js';
import { commitAt, readLog } from '../git/read.js';
import { changeActive } from '../learning/knowledge.js';
import { doneIds } from '../linear/issue.js';
import type { Context } from '../project/project.js';
import { parseMessage } from './message.js';

const activeUnits = ({ disk, layout }: Context): Unit[] =>
  disk.readDocument(ACTIVE_ISSUES, activeIssuesFile(layout), { issues: [] }).value.issues;

/** Whether an issue of this id is active or done here. */
export const isIssue = (context: Context, id: string): boolean =>
  activeUnits(context).some(({ linear_id }) => linear_id === id) ||
  context.disk.exists(doneIssueFile(context.layout, id));

/**
 * LIN-04: records the commits that name an issue in its `git_refs`, and drops those that a rebase or an amend replaced.
 * Runs just before forge commits `.forge/`, so nothing is left uncommitted. Failures are warnings.
 */
export async function linkCommits(context: Context): Promise<void> {
  const { git, disk } = context;
  if (!git || disk.dryRun) return;
  try {
    await link(context, git);
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind === 'secret') throw error;
    context.warnings.push(`Commits were not added to the issues they name: ${error.message}`);
  }
}

async function link(context: Context, git: Git): Promise<void> {
  const { disk, layout } = context;
  const issues = activeUnits(context);
  const active = new Set(issues.map(({ linear_id }) => linear_id));
  const past = doneIds(context).filter((id) => !active.has(id));
  const known = new Set([...active, ...past]);
  if (known.size === 0 || (await commitAt(git, 'HEAD')) === null) return;
  const named = await commitsByIssue(git, known);
  const done = past
    .filter((id) => named.has(id))
    .map((id) => disk.requireDocument(UNIT, doneIssueFile(layout, id)));
  const gone = await unreachable(git, [...issues, ...done.map(({ value }) => value)].flatMap(commitsOf));
  /** Returns the same object if nothing changes. */
  const update = (unit: Unit): Unit => {
    const before = commitsOf(unit);
    const kept = before.filter((hash) => !gone.has(hash));
    const fresh = (named.get(unit.linear_id) ?? []).filter((hash) => !before.includes(hash));
    if (kept.length === before.length && fresh.length === 0) return unit;
    return { ...unit, git_refs: { branch: null, ...unit.git_refs, commits: [...kept, ...fresh] } };
  };
  disk.withLock(() => {
    changeActive(context, (all) => all.map(update));
    for (const { path, value, bytes } of done) {
      const unit = update(value);
      if (unit !== value) disk.replace(path, encodeDocument(unit), bytes);
    }
  });
}

const commitsOf = ({ git_refs }: Unit): string[] => git_refs?.commits ?? [];

/** More commits than are made between two session ends. */
const MAX_COMMITS = 1000;
const WORD = /[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?/g;

/** For each issue, the commits that name it as a word of the subject or as `Linear` of the Backtrace; oldest first. */
async function commitsByIssue(git: Git, known: ReadonlySet<string>): Promise<Map<string, string[]>> {
  const named = new Map<string, string[]>();
  for (const { hash, subject, body, parents } of (await readLog(git, MAX_COMMITS)).reverse()) {
    if (parents > 1) continue;
    const { linear } = parseMessage(`${subject}\n\n${body}`).backtrace;
    for (const id of new Set([...(subject.slice(0, 1000).match(WORD) ?? []), linear]))
      if (known.has(id)) named.set(id, [...(named.get(id) ?? []), hash]);
  }
  return named;
}

const FULL_HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const NO_BRANCHES = ['--exclude=refs/stash', '--exclude=refs/forge/*', '--exclude=refs/notes/*'];

/** Commits of this clone that no branch, tag or HEAD leads to. Commits of other clones are unknown here, and stay. */
async function unreachable(git: Git, hashes: readonly string[]): Promise<Set<string>> {
  const input = hashes.filter((hash) => FULL_HASH.test(hash)).join('\n');
  if (input === '') return new Set();
  const args = ['rev-list', '--ignore-missing', '--stdin', '--not', ...NO_BRANCHES, '--all', 'HEAD'];
  return new Set((await must(git, args, { input: `${input}\n` })).split('\n'));
}
