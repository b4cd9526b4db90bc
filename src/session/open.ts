import { refused } from '../core/error.js';
import { sameHolder } from '../core/holder.js';
import { archiveFile, focusFile, progressFile, sessionFile } from '../core/paths.js';
import { encodeDocument } from '../core/schema.js';
import { describeHeld } from '../events/held.js';
import { queueEvent } from '../events/outbox.js';
import { selectNext, taskLine } from '../feature/tasks.js';
import { kfrWrites, readKfr } from '../kfr/kfr.js';
import { NO_KFR, openEntries, requireResolved } from '../kfr/rules.js';
import { type Context, timestamp } from '../project/project.js';
import { bestSkill } from '../skill/skill.js';
import type { State as MemoryState } from './briefing.js';
import { closeSession } from './end.js';
import { showFocus } from './focus.js';
import {
  type ArchivedSession,
  addEntry,
  type Focus,
  isCalled,
  NO_FOCUS,
  planFocus,
  RUNNING_SESSION,
  type RunningSession,
  type SessionStartInput,
  sessionName,
  startProgress,
} from './rules.js';
import {
  holderHere,
  isLeftBehind,
  isLeftByPerson,
  judgeRunning,
  readRunning,
  sessionHeld,
  warnLost,
} from './running.js';
import {
  archiveInterrupted,
  archiveLeft,
  clearShortTerm,
  focusIn,
  forgetEmpty,
  isEmpty,
  isWorth,
  kfrToResume,
  newSessionId,
  progressIn,
  recentArchives,
  refuseToForget,
  requireResumable,
  updateArchive,
} from './store.js';

/** The options of a session start that decide which session it opens. */
export type Wanted = Pick<SessionStartInput, 'goal' | 'resume' | 'join' | 'takeOver'>;

/** `started`, or `running` if it was already ours, or `joined`. */
export type Opened = 'started' | 'running' | 'joined';

/** The state of git and memory when a session opens. */
interface Around {
  branch: string | null;
  head: string | null;
  memory: Pick<MemoryState, 'features' | 'issues'>;
}

const HELD_HINT =
  'forge start --join   # work in it too\nforge start --take-over --resume latest   # archive it and go on from there';

/** What a start would do: open a session, use the running one, or be refused because it is `held`. Changes nothing. */
export function foreseeStart(context: Context, input: Wanted): Opened | 'held' {
  const running = readRunning(context);
  // A wrong id fails before anything is archived. After archiving, the running one can be resumed.
  if (input.resume !== undefined && input.resume !== 'latest' && !(running && isMeant(running, input.resume)))
    requireResumable(context, input.resume);
  if (!running) return 'started';
  const { state } = judgeRunning(context, running);
  if (state === 'held' && input.join) return 'joined';
  if (state === 'held' && !input.takeOver) return 'held';
  if (state !== 'same') return 'started';
  return goesOn(context, running, input) ? 'running' : 'started';
}

/** Our own session goes on, except if another one is resumed, or if a person comes back to another task. */
function goesOn(context: Context, running: RunningSession, { resume, goal }: Wanted): boolean {
  const isLeft = isLeftByPerson(context, running);
  if (resume !== undefined) return isLeft && isMeant(running, resume);
  // Open questions are never left behind (KFR-09).
  if (!isLeft || openEntries(readKfr(context)).length > 0) return true;
  const { task } = showFocus(context);
  return goal === undefined || task === null || task === goal;
}

/** Settles the recorded session, and opens the wanted one. The caller holds the lock. */
export function openSession(
  context: Context,
  input: Wanted,
  around: Around,
): { running: RunningSession; state: Opened; focus: Focus } {
  const state = foreseeStart(context, input);
  const running = readRunning(context);
  if (running && state === 'held') throw sessionHeld(context, running, HELD_HINT);
  if (running && (state === 'running' || state === 'joined')) return takePlace(context, running, state);
  let left: ArchivedSession | null = null;
  if (running) left = leaveRunning(context, running, input);
  else {
    warnLost(context);
    if (isLeftBehind(context)) clearShortTerm(context);
    else left = archiveLeft(context, input.resume);
  }
  if (input.resume === undefined && !readRunning(context)) refuseToForget(context);
  const { resume, goal } = input;
  if (resume === undefined) return createSession(context, goal, around, null);
  // A dry run has not written the session that it would archive.
  const resumed = left && isMeant(left, resume) ? left : requireResumable(context, resume);
  return createSession(context, goal, around, resumed);
}

const isMeant = ({ id }: { id: string }, wanted: string): boolean =>
  wanted === 'latest' || isCalled(id, wanted);

/** Archives or removes the recorded session before another one starts. */
function leaveRunning(context: Context, running: RunningSession, { resume }: Wanted): ArchivedSession | null {
  const verdict = judgeRunning(context, running);
  const name = sessionName(running.id);
  if (verdict.state === 'same' && resume === undefined) {
    closeSession(context, running);
    return null;
  }
  if (verdict.state === 'same') {
    // A session that has just started is replaced by the one to resume.
    if (isWorth(context))
      throw refused('session.running', `Session ${name} is running; end it before resuming another.`, {
        hint: 'forge end\nforge session discard',
      });
    requireResumable(context, resume as string);
    clearShortTerm(context);
    return null;
  }
  if (resume === undefined || !isMeant(running, resume))
    requireResolved(
      readKfr(context),
      `Session ${name} was interrupted and cannot be left`,
      `forge start --resume ${name}   # takes them along\nforge kfr clear --yes --dismiss-all "why they no longer matter"`,
    );
  // SES-14: an empty session cannot be resumed.
  if (resume === undefined && isEmpty(context, running)) {
    forgetEmpty(context, running);
    return null;
  }
  const why = verdict.state === 'held' ? 'taken over' : verdict.why;
  if (resume === undefined)
    context.warnings.push(
      `Session ${name} was interrupted (${why}). Pick it up with: forge start --resume ${name}`,
    );
  return archiveInterrupted(context, running);
}

/** Joins, or takes its own session back in another process or terminal. */
function takePlace(context: Context, running: RunningSession, state: 'running' | 'joined') {
  const me = holderHere(context);
  const { parked: _, ...rest } = running;
  const isMoved = sameHolder(running.holder, me)
    ? me.agent !== undefined
    : me.terminal === true && isLeftByPerson(context, running);
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
  { branch, head, memory }: Around,
  resumed: ArchivedSession | null,
) {
  const { disk, layout, world } = context;
  const from = resumed ? { resumed_from: resumed.id } : {};
  const running: RunningSession = {
    schema_version: RUNNING_SESSION.version,
    ...newSessionId(context),
    started_at: timestamp(context),
    branch,
    head,
    goal: goal ?? resumed?.goal ?? null,
    ...from,
    holder: holderHere(context),
  };
  warnAboutClock(context, running);
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
    { path: sessionFile(layout), bytes: encodeDocument(running) },
  ]);
  queueEvent(context, 'session_start', running.id, { branch, head, task: focus.task, ...from }, running.id);
  // In a dry run the archive may not exist yet.
  if (resumed && disk.exists(archiveFile(layout, resumed.id)))
    updateArchive(context, resumed.id, { resumed_by: running.id });
  return { running, state: 'started' as const, focus };
}

/** Keeps a focus that was set before the start, else the next task. */
function chooseFocus(
  context: Context,
  { features, issues }: Around['memory'],
  goal: string | undefined,
  now: string,
): Focus {
  const standing = showFocus(context);
  if (goal === undefined && standing.task !== null) return standing;
  const { task, candidates } = selectNext(features, issues, describeHeld(context));
  const chosen = goal === undefined ? task : candidates.find((candidate) => taskLine(candidate) === goal);
  const line = goal ?? (task && taskLine(task));
  if (line === null) return NO_FOCUS;
  const planned = planFocus(standing, { task: line, linear_issue: chosen?.linear_issue }, now);
  // SKL-06
  return { ...planned, skill: planned.skill ?? bestSkill(context, planned)?.name ?? null };
}

function warnAboutClock(context: Context, running: RunningSession): void {
  const newest = recentArchives(context).at(-1);
  const last = newest?.ended_at ?? newest?.started_at;
  if (last && last > running.started_at)
    context.warnings.push(
      `clock.skew: the clock says ${running.started_at}, but the last session was at ${last}.`,
    );
}
