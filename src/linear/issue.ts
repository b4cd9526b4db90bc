import * as z from 'zod/mini';
import { refused, usage } from '../core/error.js';
import { doneIssueFile, doneIssuesFolder, linearQueueFile } from '../core/paths.js';
import { checkId, encodeDocument, type Format, isSameId } from '../core/schema.js';
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
  const isMeant = (other: string): boolean => isSameId(other, id);
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

const Pending = z.looseObject({
  kind: z.enum(['comment', 'state']),
  /** `APP-7` and Linear's own id of the issue. */
  issue: z.string(),
  uuid: z.string(),
  /** The id of the comment: Linear refuses a second one. */
  id: z.optional(z.string()),
  body: z.optional(z.string()),
  type: z.optional(z.string()),
  /** The state is sent even if the issue has ended in Linear. */
  reopens: z.optional(z.boolean()),
});
export type Pending = z.infer<typeof Pending>;

const Queue = z.looseObject({
  schema_version: z.optional(z.string()),
  pending: z.array(Pending),
  /** ISO time before which Linear asked not to be called. */
  not_before: z.optional(z.nullable(z.string())),
  error: z.optional(z.nullable(z.string())),
});
type Queue = z.infer<typeof Queue>;

const QUEUE: Format<Queue> = { name: 'linear-queue', version: '1.0', schema: Queue };

export const readQueue = ({ disk, layout }: Context): Queue =>
  disk.readDocument(QUEUE, linearQueueFile(layout), { pending: [] }).value;

export function changeQueue(context: Context, change: (queue: Queue) => Queue): void {
  const { disk, layout } = context;
  disk.withLock(() => {
    const file = linearQueueFile(layout);
    const none = { schema_version: QUEUE.version, pending: [] };
    const { value, bytes } = disk.readDocument(QUEUE, file, none);
    const after = encodeDocument(change(value));
    if (!bytes?.equals(after)) disk.replace(file, after, bytes);
  });
}

/** A later state of an issue is the same thing as an earlier one; a comment has an id. */
export const isSame = (one: Pending, other: Pending): boolean =>
  one.kind === other.kind && one.uuid === other.uuid && one.id === other.id;

export const enqueue = (context: Context, entry: Pending): void =>
  changeQueue(context, (queue) => ({
    ...queue,
    pending: [...queue.pending.filter((other) => !isSame(other, entry)), entry],
  }));
