import { isOwnSubject } from '../commit/message.js';
import { ForgeError, refused } from '../core/error.js';
import { archiveFile, sessionsFolder, shownFrom } from '../core/paths.js';
import { readFeatures } from '../feature/store.js';
import { newFileAuthors, readPerson } from '../git/read.js';
import { isShallow } from '../git/repository.js';
import { readKfr } from '../kfr/kfr.js';
import { answersIn, openEntries, requireResolved } from '../kfr/rules.js';
import { listKnowledge } from '../knowledge/knowledge.js';
import { type Context, timestamp } from '../project/project.js';
import {
  type ArchivedSession,
  focusIn,
  isCalled,
  parseProgress,
  type RunningSession,
  sessionName,
  shownId,
} from './rules.js';
import { judgeRunning, ownSessions, readRunning, showFocus } from './running.js';
import {
  archivedIds,
  changeArchive,
  clearShortTerm,
  displayId,
  finishSession,
  hasWork,
  kfrIn,
  kfrToResume,
  progressIn,
  readArchives,
  readProgress,
  recentArchives,
  requireArchive,
  requireInterrupted,
  runningArchive,
} from './store.js';

/** One row of `session list`. `by`: who committed it at its end. Missing if another commit brought it. */
export type SessionRow = ReturnType<typeof row> & { by?: string };
export type SessionOverview = Awaited<ReturnType<typeof listSessions>>;

const DEFAULT_LIMIT = 20;

/** SES-08: the running session, and the last ones. */
export async function listSessions(context: Context, input: { limit?: number } = {}) {
  const ids = archivedIds(context);
  const limit = input.limit ?? DEFAULT_LIMIT;
  const running = readRunning(context);
  const all = running ? [...ids, running.id] : ids;
  const archives = readArchives(context, limit);
  const authors = await authorsOf(context, archives);
  return {
    active: running ? activeRow(context, running, all) : null,
    sessions: archives
      .reverse()
      .map((session): SessionRow => ({ ...row(session, all), ...authors(session) })),
    /** True when older ones are left out. */
    more: ids.length > limit,
  };
}

/**
 * Names come from git: memory has no personal data. Only forge's own commit has the person of the session: a squash has
 * the author of the merge, and in a shallow clone the oldest commit seems to add every file.
 */
async function authorsOf(
  { git, repository, layout }: Context,
  archives: readonly ArchivedSession[],
): Promise<(session: ArchivedSession) => { by?: string }> {
  const [first] = archives;
  if (!git || !repository || !first || isShallow(repository)) return () => ({});
  const folder = shownFrom(repository.root, sessionsFolder(layout));
  const authors = await newFileAuthors(git, [folder, first.started_at], isOwnSubject);
  return ({ id }: ArchivedSession): { by?: string } => {
    const by = authors.get(shownFrom(repository.root, archiveFile(layout, id)));
    return by === undefined ? {} : { by };
  };
}

/**
 * SES-03: the sessions whose next steps end with this one, because it leaves another, or a feature began to pass in it.
 * Those of other people stay until they leave another.
 */
export async function replacedSteps(context: Context, given: string | undefined): Promise<string[]> {
  const { after, started_at } = readRunning(context) ?? {};
  if (!after || !started_at) return [];
  const hasNext = (given ?? readProgress(context).next) !== undefined;
  if (!hasNext && !hasPassedSince(context, started_at)) return [];
  const isOwn = ownSessions(context);
  const others = recentArchives(context).filter(({ id }) => after.includes(id) && !isOwn(id));
  const authors = await authorsOf(context, others);
  const person = others.length > 0 && context.git ? await readPerson(context.git) : null;
  const theirs = others.filter((session) => authors(session).by !== person).map(({ id }) => id);
  return after.filter((id) => !theirs.includes(id));
}

function hasPassedSince(context: Context, start: string): boolean {
  try {
    return readFeatures(context).some(
      ({ status, verified_at: at }) => status === 'passing' && !!at && at > start,
    );
  } catch (error) {
    // Features that are damaged do not keep a session open.
    if (error instanceof ForgeError && error.kind === 'corrupted') return false;
    throw error;
  }
}

const taskIn = (session: ArchivedSession): string | null => focusIn(session).task ?? session.goal ?? null;

function row(session: ArchivedSession, all: readonly string[]) {
  const { status, started_at, ended_at, branch, next, resumed_from: from, resumed_by: by } = session;
  return {
    ...{ id: shownId(session.id, all), status, started_at, ended_at, branch, task: taskIn(session), next },
    ...(from ? { resumed_from: shownId(from, all) } : {}),
    ...(by ? { resumed_by: shownId(by, all) } : {}),
  };
}

/** Nobody works in an interrupted one any more. */
function runningRow(context: Context, running: RunningSession, all: readonly string[]): SessionRow {
  const isOver = judgeRunning(context, running).state === 'interrupted';
  return { ...row(runningArchive(context, running), all), ...(isOver ? { status: 'interrupted' } : {}) };
}

function activeRow(context: Context, running: RunningSession, all: readonly string[]) {
  const verdict = judgeRunning(context, running);
  return {
    ...runningRow(context, running, all),
    task: showFocus(context).task,
    holder: verdict.state === 'same' ? 'you' : verdict.why,
    open_questions: openEntries(readKfr(context)).length,
  };
}

export type SessionDetail = ReturnType<typeof showSession>;

/** The running session or an archived one, by its shown or stored id, its number, or `latest`. */
export function showSession(context: Context, input: { id: string }) {
  const running = readRunning(context);
  const latest = input.id === 'latest' ? (running ?? recentArchives(context).at(-1))?.id : undefined;
  const id = latest ?? input.id;
  const live = running && isCalled(running.id, id) ? running : null;
  const session = live ? runningArchive(context, live) : requireArchive(context, id);
  const ids = new Set(session.learned);
  const lessons = listKnowledge(context).learnings.filter(
    (learning) => ids.has(learning.id) || learning.session === session.id,
  );
  return {
    session: {
      ...(live ? runningRow(context, live, archivedIds(context)) : row(session, archivedIds(context))),
      learned: lessons.flatMap((entry) => (entry.kind === 'success' ? [entry.approach] : [])),
      failed: lessons.flatMap((entry) => (entry.kind === 'failure' ? [entry.issue] : [])),
      goal: session.goal ?? null,
    },
    focus: focusIn(session),
    /** Working memory at its end. `--resume` carries it over. */
    kfr: kfrIn(session).entries,
    /** Its questions that were answered. */
    answers: answersIn(kfrIn(session)).map(({ text }) => text),
    progress: parseProgress(progressIn(session)),
    /** What was learned in it that is still known. */
    lessons,
  };
}

/** Ends the running session without a commit, or takes an interrupted one off the list. Its archive is kept. */
export function discardSession(
  context: Context,
  input: { id?: string | undefined } = {},
): { session: { id: string; status: 'discarded' } } {
  return context.disk.withLock(() => {
    const running = readRunning(context);
    const id =
      running && (input.id === undefined || isCalled(running.id, input.id))
        ? discardRunning(context, running)
        : discardArchived(context, input.id);
    return { session: { id: displayId(context, id), status: 'discarded' as const } };
  });
}

function discardRunning(context: Context, running: RunningSession): string {
  requireResolved(readKfr(context), 'The session cannot be discarded');
  if (hasWork(context))
    finishSession(context, running, { status: 'discarded', ended_at: timestamp(context) });
  else clearShortTerm(context);
  return running.id;
}

function discardArchived(context: Context, wanted: string | undefined): string {
  if (wanted === undefined)
    throw refused('session.none', 'No session is running.', { hint: 'forge session list' });
  const found = requireInterrupted(context, wanted);
  const name = sessionName(found.id);
  requireResolved(
    kfrToResume(context, found),
    `Session ${name} cannot be discarded`,
    `forge start --resume ${name}   # brings them back; then resolve or dismiss them`,
  );
  context.disk.replaceAll(changeArchive(context, found.id, { status: 'discarded' }));
  return found.id;
}
