import { refused, usage } from '../core/error.js';
import { sameHolder } from '../core/holder.js';
import { focusFile, progressFile, sessionFile } from '../core/paths.js';
import { encodeDocument } from '../core/schema.js';
import { describeOthersClaims } from '../events/local-claims.js';
import { queueEvent } from '../events/outbox.js';
import { selectNext, taskLine } from '../feature/tasks.js';
import { kfrWrites, readAnyKfr, readKfr, readKfrFile } from '../kfr/kfr.js';
import { type Kfr, NO_KFR, requireResolved } from '../kfr/rules.js';
import { type Context, timestamp } from '../project/project.js';
import { bestSkill } from '../skill/skill.js';
import type { State as MemoryState } from './briefing.js';
import {
  type ArchivedSession,
  addEntry,
  type Focus,
  focusIn,
  handoversOf,
  holdsWork,
  isCalled,
  NO_FOCUS,
  planFocus,
  RUNNING_SESSION,
  type RunningSession,
  resumable,
  resumeStep,
  type SessionStartInput,
  sessionName,
  startProgress,
} from './rules.js';
import {
  allocateSessionId,
  holderHere,
  isLeftBehind,
  judgeRunning,
  ownSessions,
  readRunning,
  sessionHeld,
  showFocus,
} from './running.js';
import {
  archivedIds,
  changeArchive,
  clearShortTerm,
  finishSession,
  forgetEmpty,
  hasWork,
  kfrToResume,
  progressIn,
  readProgressText,
  recentArchives,
  requireInterrupted,
} from './store.js';

/** The options of a session start that decide which session it opens. */
type Wanted = Pick<SessionStartInput, 'goal' | 'resume' | 'join' | 'takeOver'>;

/** `started`, or `running` if it was already ours, or `joined`. */
export type Opened = 'started' | 'running' | 'joined';

type StartFacts = Pick<RunningSession, 'branch' | 'head'> & {
  /** For the event. */
  person: string | null;
  memory: Pick<MemoryState, 'features' | 'issues'>;
};

const isMeant = ({ id }: { id: string }, wanted: string): boolean =>
  wanted === 'latest' || isCalled(id, wanted);

/** Only a person decides that another agent loses its session. */
const heldHint = ({ world }: Context): string =>
  world.terminal
    ? 'forge start --join   # work in it too\nforge start --take-over --resume latest   # archive it and go on from there'
    : 'forge start --join   # work in it too; ask the user first';

/** Settles the recorded session, and opens the wanted one. The caller holds the lock. */
export function openSession(
  context: Context,
  input: Wanted,
  facts: StartFacts,
): { running: RunningSession; state: Opened; focus: Focus } {
  const { resume, goal } = input;
  const running = readRunning(context);
  const archives = recentArchives(context);
  const isNamed = running !== null && resume !== undefined && isCalled(running.id, resume);
  // A wrong id fails before anything is archived.
  if (resume !== undefined && resume !== 'latest' && !isNamed) requireResumable(context, archives, resume);
  const state = running && stateFor(context, running, input);
  if (running && state) return takePlace(context, running, state);
  const left = running ? leaveRunning(context, running, resume) : clearLeftovers(context, archives, resume);
  if (resume === undefined) {
    refuseToForget(context, archives);
    return createSession(context, goal, facts, archives, null);
  }
  // A dry run has not written the session that it would archive.
  const resumed = left && isMeant(left, resume) ? left : requireResumable(context, archives, resume);
  return createSession(context, goal, facts, archives, resumed);
}

/** How a start goes on in the recorded session. Null if it leaves it. Exit 3 `session.held` if it is another agent's. */
function stateFor(
  context: Context,
  running: RunningSession,
  { resume, join, takeOver }: Wanted,
): 'running' | 'joined' | null {
  const { state } = judgeRunning(context, running);
  if (state === 'held' && join) return 'joined';
  if (state === 'held' && !takeOver) throw sessionHeld(context, running, heldHint(context));
  if (state !== 'same') return null;
  if (resume === undefined || isCalled(running.id, resume)) return 'running';
  // One that has just started is replaced by the one to resume.
  if (!hasWork(context)) {
    requireResumable(context, recentArchives(context), resume);
    return null;
  }
  if (resume === 'latest') return 'running';
  throw refused(
    'session.running',
    `Session ${sessionName(running.id)} is running; end it before resuming another.`,
    { hint: 'forge end\nforge session discard' },
  );
}

/** Ends the recorded session before another one starts. Returns it if it was archived as interrupted. */
function leaveRunning(
  context: Context,
  running: RunningSession,
  resume: string | undefined,
): ArchivedSession | null {
  const { state } = judgeRunning(context, running);
  const isHeld = state === 'held';
  const what = isHeld ? 'belongs to another agent' : running.parked ? 'was parked' : 'was interrupted';
  if (resume === undefined || !isMeant(running, resume))
    requireTaken(context, readKfr(context), running, what, isHeld ? heldHint(context) : undefined);
  if (state === 'same') {
    clearShortTerm(context);
    return null;
  }
  // SES-14: an empty session cannot be resumed.
  if (resume === undefined && forgetEmpty(context, running)) return null;
  return finishSession(context, running, { status: 'interrupted' });
}

/**
 * Files without a record of this clone: another clone's, or somebody removed the record. If they hold work, it is
 * archived under a new id. Open questions can only be carried over.
 */
function clearLeftovers(
  context: Context,
  archives: readonly ArchivedSession[],
  resume: string | undefined,
): ArchivedSession | null {
  if (isLeftBehind(context)) {
    clearShortTerm(context);
    return null;
  }
  const kfr = readAnyKfr(context);
  if (resume !== 'latest')
    requireResolved(
      readKfrFile(context),
      'Working memory of a session whose record is gone cannot be left',
      'forge start --resume latest   # takes it along',
    );
  const hasProgress = holdsWork(readProgressText(context));
  if (!hasProgress && kfr.entries.length === 0) return null;
  const started_at = timestamp(context);
  const left = {
    schema_version: '1.0',
    ...newSessionId(context, archives),
    started_at,
    branch: null,
    head: null,
  };
  const what = hasProgress ? 'Progress' : 'Working memory';
  const show = kfr.entries.length > 0 ? ` To read it: forge session show ${sessionName(left.id)}` : '';
  context.warnings.push(`${what} without a session was found; it is kept as ${left.id}.${show}`);
  return finishSession(context, left, { status: 'interrupted', ...(kfr.entries.length > 0 ? { kfr } : {}) });
}

/** Refuses to forget the open questions of an interrupted session (KFR-09). */
function refuseToForget(context: Context, archives: readonly ArchivedSession[]): void {
  for (const session of resumable(archives))
    requireTaken(context, kfrToResume(context, session), session, 'was interrupted');
}

function requireTaken(
  { world }: Context,
  kfr: Kfr,
  { id }: { id: string },
  what: string,
  hint?: string,
): void {
  const name = sessionName(id);
  const resume = `${resumeStep(world.tool, name)}   # takes them along`;
  requireResolved(kfr, `Session ${name} ${what} and cannot be left`, hint ?? resume);
}

/** The archive to resume: an id, or `latest`, which prefers those of this clone. Exit 2 without one. */
function requireResumable(
  context: Context,
  archives: readonly ArchivedSession[],
  wanted: string,
): ArchivedSession {
  if (wanted !== 'latest') return requireInterrupted(context, wanted);
  const waiting = resumable(archives);
  const isOwn = ownSessions(context);
  const latest = waiting.find(({ id }) => isOwn(id)) ?? waiting[0];
  if (latest) return latest;
  throw usage('session.none_to_resume', 'No interrupted session is waiting to be resumed.', {
    hint: 'forge session list',
  });
}

/** Joins, or takes its own session back in another process or terminal. */
function takePlace(context: Context, running: RunningSession, state: 'running' | 'joined') {
  const me = holderHere(context);
  const { parked: _, ...rest } = running;
  const isMoved = me.terminal === true || (me.agent !== undefined && sameHolder(running.holder, me));
  const moved = isMoved ? ({ ...rest, holder: me } as RunningSession) : running;
  const place = state === 'joined' ? { ...running, joined: [...(running.joined ?? []), me] } : moved;
  const bytes = encodeDocument(place);
  if (!bytes.equals(encodeDocument(running))) context.disk.replace(sessionFile(context.layout), bytes);
  return { running: place, state, focus: showFocus(context) };
}

/** The record goes last: progress without one is archived as an orphan, but a record without progress is wrong. */
function createSession(
  context: Context,
  goal: string | undefined,
  { branch, head, person, memory }: StartFacts,
  archives: readonly ArchivedSession[],
  resumed: ArchivedSession | null,
) {
  const { disk, layout, world } = context;
  const from = resumed ? { resumed_from: resumed.id } : {};
  const after = handoversOf(archives, ownSessions(context)).map(({ id }) => id);
  const running: RunningSession = {
    schema_version: RUNNING_SESSION.version,
    ...newSessionId(context, archives),
    started_at: timestamp(context),
    branch,
    head,
    goal: goal ?? resumed?.goal ?? null,
    ...from,
    ...(after.length > 0 ? { after } : {}),
    holder: holderHere(context),
  };
  warnAboutClock(context, running, archives.at(-1));
  const place = branch ?? (context.repository ? '(detached)' : '(no git)');
  // A resumed session continues the log, the focus and the working memory of the earlier one (KFR-13).
  const progress = resumed
    ? addEntry(progressIn(resumed), world.now(), `Resumed ${sessionName(resumed.id)}`)
    : startProgress(world.now(), place, memory.issues.length);
  const focus = resumed ? focusIn(resumed) : chooseFocus(context, memory, goal, running.started_at);
  const left = resumed ? kfrToResume(context, resumed) : NO_KFR;
  disk.replaceAll([
    { path: progressFile(layout), bytes: Buffer.from(progress, 'utf8') },
    { path: focusFile(layout), bytes: encodeDocument(focus) },
    ...(left.entries.length > 0 ? kfrWrites(context, { ...left, session: running.id }) : []),
    ...(resumed ? changeArchive(context, resumed.id, { resumed_by: running.id }) : []),
    { path: sessionFile(layout), bytes: encodeDocument(running) },
  ]);
  const news = { branch, head, person, task: focus.task, ...from };
  queueEvent(context, 'session_start', running.id, news, running.id);
  return { running, state: 'started' as const, focus };
}

/** Keeps a focus that was set before the start, else the next task. */
function chooseFocus(
  context: Context,
  { features, issues }: StartFacts['memory'],
  goal: string | undefined,
  now: string,
): Focus {
  const standing = showFocus(context);
  if (goal === undefined && standing.task !== null) return standing;
  const { task, candidates, reason } = selectNext(features, issues, describeOthersClaims(context));
  if (goal === undefined && task === null && candidates.length > 0)
    context.warnings.push(`No task is set: ${reason}.`);
  const chosen = goal === undefined ? task : candidates.find((candidate) => taskLine(candidate) === goal);
  const line = goal ?? (task && taskLine(task));
  if (line === null) return NO_FOCUS;
  const planned = planFocus(standing, { task: line, linear_issue: chosen?.linear_issue }, now);
  // SKL-06
  return { ...planned, skill: planned.skill ?? bestSkill(context, planned)?.name ?? null };
}

function warnAboutClock(context: Context, running: RunningSession, newest?: ArchivedSession): void {
  const last = newest?.ended_at ?? newest?.started_at;
  if (last && last > running.started_at)
    context.warnings.push(
      `clock.skew: the clock says ${running.started_at}, but the last session was at ${last}.`,
    );
}

/** The next id and counter of this repository. */
function newSessionId(context: Context, archives: readonly ArchivedSession[]): { id: string; seq: number } {
  const { layout, world, disk } = context;
  const ids = archivedIds(context);
  const seq = Math.max(0, ...archives.map((session) => session.seq));
  const date = timestamp(context).slice(0, 10);
  return allocateSessionId(layout, world, date, { ids, seq }, disk.dryRun);
}
