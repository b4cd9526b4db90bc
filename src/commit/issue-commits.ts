import { ForgeError } from '../core/error.js';
import { activeIssuesFile, doneIssueFile, doneIssuesFolder } from '../core/paths.js';
import { encodeDocument, type Format } from '../core/schema.js';
import { ACTIVE_ISSUES, Unit } from '../feature/issue.js';
import type { Git } from '../git/client.js';
import { changeActive } from '../learning/investigation.js';
import type { Context } from '../project/project.js';
import { commitsByIssue, commitsOf, withCommits } from './issues.js';
import { readMessagesOfHead, unreachableOf } from './linked.js';

/** How far back commits are looked at: more are not made between two ends of a session. */
const RECENT = 1000;

const DONE_ISSUE: Format<Unit> = { name: 'issue', version: ACTIVE_ISSUES.version, schema: Unit };

/**
 * LIN-04: commits that name an issue stand in its `git_refs`, whoever made them; those that an amend or a rebase replaced
 * stand there no more. Asked of git itself, just before forge commits `.forge/`: it leaves nothing to be committed, and
 * keeps no list of its own. What hinders it is told, not thrown.
 */
export async function linkCommits(context: Context): Promise<void> {
  const { git, disk } = context;
  if (!git || disk.dryRun) return;
  try {
    await link(context, git);
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind === 'secret') throw error;
    context.warnings.push(`Commits were not added to the issues that they name: ${error.message}`);
  }
}

async function link(context: Context, git: Git): Promise<void> {
  const { disk, layout } = context;
  const { issues } = disk.readDocument(ACTIVE_ISSUES, activeIssuesFile(layout), { issues: [] }).value;
  const past = disk.list(doneIssuesFolder(layout)).flatMap((name) => /^(.+)\.json$/.exec(name)?.[1] ?? []);
  if (issues.length + past.length === 0) return;
  const active = new Set(issues.map(({ linear_id }) => linear_id));
  const named = commitsByIssue(await readMessagesOfHead(git, RECENT), new Set([...active, ...past]));
  // Of those that are done, which may be thousands, only the ones that a recent commit names.
  const done = past
    .filter((id) => named.has(id) && !active.has(id))
    .map((id) => disk.requireDocument(DONE_ISSUE, doneIssueFile(layout, id)));
  const listed = [...issues, ...done.map(({ value }) => value)].flatMap(commitsOf);
  const gone = await unreachableOf(git, listed);
  const linked = (unit: Unit): Unit => withCommits(unit, named.get(unit.linear_id) ?? [], gone);
  disk.withLock(() => {
    changeActive(context, (units) => units.map(linked));
    for (const { path, value, bytes } of done) {
      const unit = linked(value);
      if (unit !== value) disk.replace(path, encodeDocument(unit), bytes);
    }
  });
}
