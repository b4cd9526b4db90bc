import { refused, usage } from '../core/error.js';
import { doneIssueFile, doneIssuesFolder } from '../core/paths.js';
import { checkId, encodeDocument } from '../core/schema.js';
import { oneLine } from '../core/text.js';
import { changeActive, readActive } from '../feature/store.js';
import { UNIT } from '../feature/tasks.js';
import type { Context } from '../project/project.js';
import { type Issue, toIssue } from './rules.js';

/** Active issues, without forge's own investigations. */
export const activeIssues = (context: Context): Issue[] =>
  readActive(context)
    .filter(({ type }) => type !== 'investigation')
    .map(toIssue);

export const doneIds = ({ disk, layout }: Context): string[] =>
  disk.list(doneIssuesFolder(layout)).flatMap((name) => /^(.+)\.json$/.exec(name)?.[1] ?? []);

export const readDone = ({ disk, layout }: Context, id: string): Issue | null => {
  const unit = disk.readDocument(UNIT, doneIssueFile(layout, id), null).value;
  return unit === null ? null : toIssue(unit);
};

/** A done issue without what describes its end. */
export const asActive = ({ schema_version: _, summary: _summary, ...issue }: Issue): Issue => issue as Issue;

/** An issue by its id, in any case; exit 2 when nobody knows it. */
export function requireIssue(context: Context, id: string): { issue: Issue; isActive: boolean } {
  checkId(id, 'issue id');
  const isMeant = (other: string): boolean => other.toLowerCase() === id.toLowerCase();
  const active = activeIssues(context).find(({ linear_id }) => isMeant(linear_id));
  if (active) return { issue: active, isActive: true };
  const done = doneIds(context).find(isMeant);
  const issue = done === undefined ? null : readDone(context, done);
  if (issue) return { issue, isActive: false };
  throw usage('linear.unknown', `There is no issue ${oneLine(id, 80)} here.`, {
    hint: 'forge linear list\nforge linear pull   # gets those that are assigned to you',
  });
}

export function requireActive(context: Context, id: string): Issue {
  const { issue, isActive } = requireIssue(context, id);
  if (isActive) return issue;
  throw refused('linear.done', `Issue ${issue.linear_id} is done.`, {
    hint: `forge linear start ${issue.linear_id}   # makes it active again`,
  });
}

/** Puts a done issue back among the active ones. Its file in the history goes last, so a crash loses nothing. */
export function reopenIssue(context: Context, done: Issue): void {
  const { disk, layout } = context;
  disk.withLock(() => {
    changeActive(context, (units) => [...units, { ...asActive(done), state: 'unstarted' }]);
    disk.replaceAll([{ path: doneIssueFile(layout, done.linear_id), bytes: null }]);
  });
}

/** Replaces one active issue. Caller holds the lock. */
export const replaceIssue = (context: Context, id: string, change: (issue: Issue) => Issue): void =>
  changeActive(context, (units) =>
    units.map((unit) => (unit.linear_id === id ? change(toIssue(unit)) : unit)),
  );

export interface IssueList {
  issues: Issue[];
  /** Issues that are done, the last id first. */
  done: string[];
  /** Active ones that were started, and that no commit names (LIN-04). `status` has the commits that name no issue. */
  without_commits: string[];
}

export async function listIssues(context: Context): Promise<IssueList> {
  const issues = activeIssues(context);
  const idle = issues.filter(({ state, git_refs }) => state === 'started' && git_refs.commits.length === 0);
  return {
    issues,
    done: doneIds(context).reverse(),
    without_commits: idle.map(({ linear_id }) => linear_id),
  };
}

export const showIssue = async (context: Context, { id }: { id: string }): Promise<Issue> =>
  requireIssue(context, id).issue;

/** The file comes first: a crash in between leaves the issue in both places, and the next move completes it. */
export function moveToHistory(context: Context, done: Issue): void {
  const { disk, layout } = context;
  disk.withLock(() => {
    const file = doneIssueFile(layout, done.linear_id);
    disk.makeFolder(doneIssuesFolder(layout));
    disk.replace(file, encodeDocument({ schema_version: UNIT.version, ...done }));
    changeActive(context, (units) => units.filter(({ linear_id }) => linear_id !== done.linear_id));
  });
}
