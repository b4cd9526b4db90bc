import { refused } from '../core/error.js';
import { sameHolder, sameProcess } from '../core/holder.js';
import { archiveFile, focusFile, progressFile, sessionFile } from '../core/paths.js';
import { encodeDocument } from '../core/schema.js';
import { plural } from '../core/text.js';
import { describeHeld } from '../events/held.js';
import { queueEvent } from '../events/outbox.js';
import { selectNext, taskLine } from '../feature/tasks.js';
import { readKfr, writeKfr } from '../kfr/kfr.js';
import { NO_KFR, requireResolved } from '../kfr/rules.js';
import { type Context, lockPolicy, readConfig, timestamp } from '../project/project.js';
import { bestSkill } from '../skill/skill.js';
import {
  archivedIds,
  archiveInterrupted,
  archiveLeft,
  clearShortTerm,
  focusIn,
  forgetEmpty,
  forgetLeftKfr,
  holdsWork,
  isEmpty,
  readLeftKfr,
  recentArchives,
  refuseToForget,
  requireResumable,
  updateArchive,
} from './archive.js';
import type { Memory } from './briefing.js';
import { showFocus } from './focus.js';
import { type Focus, NO_FOCUS, planFocus } from './focus-rules.js';
import { allocateSessionId } from './ids.js';
import { readProgressText } from './progress.js';
import { addEntry, setNext, startProgress } from './progress-rules.js';
import {
  type ArchivedSession,
  RUNNING_SESSION,
  type RunningSession,
  type SessionStartInput,
  sessionName,
} from './rules.js';
import { holderHere, isLeftBehind, judgeRunning, readRunning, warnLost } from './running.js';

/** The options of a session start. */
export type Wanted = Pick<SessionStartInput, 'goal' | 'resume' | 'join' | 'takeOver'>;

/** `started`, or `running` if it was already ours, or `joined`. */
export type State = 'started' | 'running' | 'joined';

export interface Opened {
  running: RunningSession;
  state: State;
  focus: Focus;
}

/** Settles the recorded session, and opens the wanted one. Under the lock. */
export function openSession(context: Context, input: Wanted, around: Around): Opened {
  const running = readRunning(context);
  let left: ArchivedSession | null = null;
  if (running) {
    const settled = settleRunning(context, running, input);
    if (typeof settled === 'string') return takePlace(context, running, settled);
    left = settled;
  } else {
    warnLost(context);
    if (isLeftBehind(context)) clearShortTerm(context);
    else left = archiveLeft(context, input.resume, () => allocate(context));
  }
  if (input.resume === undefined && !readRunning(context)) refuseToForget(context);
  const resumed = input.resume === undefined ? null : findResumed(context, input.resume, left);
  return createSession(context, input.goal, around, resumed);
}

/** Leftovers have just been archived. In a dry run they have not. */
function findResumed(context: Context, wanted: string, left: ArchivedSession | null): ArchivedSession {
  const isLeft = left !== null && isMeant(left, wanted);
  return context.disk.dryRun && isLeft ? left : requireResumable(context, wanted);
}

const isMeant = ({ id }: { id: string }, wanted: string): boolean =>
  ['latest', id, sessionName(id)].includes(wanted);

/** Settles the session recorded as running. Before a new one starts it is archived or removed. */
function settleRunning(
  context: Context,
  running: RunningSession,
  input: Wanted,
): State | ArchivedSession | null {
  const verdict = judgeRunning(context, running, readConfig(context));
  const name = sessionName(running.id);
  if (verdict.state === 'same')
    return input.resume === undefined ? 'running' : makeRoom(context, running, input.resume);
  if (verdict.state === 'held' && input.join) return 'joined';
  if (verdict.state === 'held' && !input.takeOver)
    throw refused('session.held', `Session ${name} belongs to another agent: ${verdict.why}.`, {
      hint: 'forge start --join   # work in it too\nforge start --take-over --resume latest   # archive it and go on from there',
      data: { session: name, holder: { pid: running.holder.pid, host: running.holder.host } },
    });
  // A wrong id must fail before anything is archived. After archiving, `latest` and this session can be resumed.
  const own = isMeant(running, input.resume ?? 'latest');
  if (input.resume !== undefined && !own) requireResumable(context, input.resume);
  if (!own || input.resume === undefined)
    requireResolved(
      readKfr(context),
      `Session ${name} was interrupted and cannot be left`,
      `forge start --resume ${name}   # takes them along\nforge kfr clear --yes --dismiss-all "why they no longer matter"`,
    );
  // SES-14: an empty session cannot be resumed.
  if (input.resume === undefined && isEmpty(context, running)) {
    forgetEmpty(context, running);
    return null;
  }
  const left = readKfr(context).entries.length;
  const archived = archiveInterrupted(context, running);
  const why = verdict.state === 'held' ? 'taken over' : verdict.why;
  if (input.resume === undefined)
    context.warnings.push(
      `Session ${name} was interrupted (${why}). Pick it up${left === 0 ? '' : `, with its working memory (${plural(left, 'entry', 'entries')}),`} with: forge start --resume ${name}`,
    );
  return archived;
}

/** A session that has just started is replaced by the one to resume. A session with work in it is not. */
function makeRoom(context: Context, running: RunningSession, wanted: string): null {
  if (holdsWork(readProgressText(context)) || readKfr(context).entries.length > 0)
    throw refused(
      'session.running',
      `Session ${sessionName(running.id)} is running; end it before resuming another.`,
      {
        hint: 'forge end\nforge session discard',
      },
    );
  // A wrong id must fail before anything is removed.
  requireResumable(context, wanted);
  clearShortTerm(context);
  return null;
}

/** Joins, or takes back its own session if the agent was gone meanwhile or continues in another process. */
function takePlace(context: Context, running: RunningSession, state: State): Opened {
  const me = holderHere(context);
  const { parked, ...rest } = running;
  const isMine = sameHolder(running.holder, me);
  const isMoved =
    me.agent !== undefined && !(running.holder.agent === me.agent && sameProcess(running.holder, me));
  const isBack = isMine && (isMoved || parked !== undefined);
  let place = running;
  if (state === 'joined') place = { ...running, joined: [...(running.joined ?? []), me] };
  else if (isBack) place = { ...rest, holder: me };
  if (place !== running) context.disk.replace(sessionFile(context.layout), encodeDocument(place));
  return { running: place, state, focus: showFocus(context) };
}

/** The state of git and memory when a session opens. */
interface Around {
  branch: string | null;
  head: string | null;
  memory: Memory;
}

/** The next id and counter of this repository. */
function allocate(context: Context): { id: string; seq: number } {
  const { layout, world, disk } = context;
  const ids = archivedIds(context);
  const seq = Math.max(0, ...recentArchives(context).map((session) => session.seq));
  const date = timestamp(context).slice(0, 10);
  return allocateSessionId(layout, lockPolicy(world), date, { ids, seq }, disk.dryRun);
}

/** The record goes last: progress without one is archived as an orphan, but a record without progress is wrong. */
function createSession(
  context: Context,
  goal: string | undefined,
  { branch, head, memory }: Around,
  resumed: ArchivedSession | null,
): Opened {
  const { disk, layout, world } = context;
  const running: RunningSession = {
    schema_version: RUNNING_SESSION.version,
    ...allocate(context),
    started_at: timestamp(context),
    branch,
    head,
    goal: goal ?? resumed?.goal ?? null,
    ...(resumed ? { resumed_from: resumed.id } : {}),
    holder: holderHere(context),
  };
  warnAboutClock(context, running);
  let progress = startProgress(
    world.now(),
    branch ?? (context.repository ? '(detached)' : '(no git)'),
    memory.issues.length,
  );
  if (resumed) {
    progress = addEntry(progress, world.now(), `Resumed ${sessionName(resumed.id)}`);
    if (resumed.next !== null) progress = setNext(progress, resumed.next);
  }
  const focus = resumed ? focusIn(resumed) : chooseFocus(context, memory, goal, running.started_at);
  const left = resumed ? readLeftKfr(context, resumed.id) : NO_KFR;
  disk.replaceAll([
    { path: progressFile(layout), bytes: Buffer.from(progress, 'utf8') },
    { path: focusFile(layout), bytes: encodeDocument(focus) },
    // The working memory of the resumed session continues in this one (KFR-13).
    ...(left.entries.length > 0 ? writeKfr(context, { ...left, session: running.id }) : []),
    { path: sessionFile(layout), bytes: encodeDocument(running) },
  ]);
  const from = running.resumed_from === undefined ? {} : { resumed_from: running.resumed_from };
  queueEvent(context, 'session_start', running.id, { branch, head, task: focus.task, ...from }, running.id);
  // In a dry run the archive may not exist yet.
  if (resumed && disk.exists(archiveFile(layout, resumed.id))) {
    updateArchive(context, resumed.id, (session) => ({ ...session, resumed_by: running.id }));
    forgetLeftKfr(context, resumed.id);
  }
  return { running, state: 'started', focus };
}

/** Keeps a focus that was set before the start, else the next task. */
function chooseFocus(context: Context, memory: Memory, goal: string | undefined, now: string): Focus {
  const standing = showFocus(context);
  const { task, candidates } = selectNext(memory.features, memory.issues, describeHeld(context));
  if (goal !== undefined) {
    const known = candidates.find((candidate) => taskLine(candidate) === goal);
    return withSkill(context, planFocus(standing, { task: goal, linear_issue: known?.linear_issue }, now));
  }
  if (standing.task !== null) return standing;
  if (!task) return NO_FOCUS;
  const chosen = planFocus(NO_FOCUS, { task: taskLine(task), linear_issue: task.linear_issue }, now);
  return withSkill(context, chosen);
}

/** SKL-06 */
const withSkill = (context: Context, focus: Focus): Focus => ({
  ...focus,
  skill: focus.skill ?? bestSkill(context, focus)?.name ?? null,
});

function warnAboutClock(context: Context, running: RunningSession): void {
  const newest = recentArchives(context).at(-1);
  const last = newest?.ended_at ?? newest?.started_at;
  if (last && last > running.started_at)
    context.warnings.push(
      `clock.skew: the clock says ${running.started_at}, but the last session was at ${last}.`,
    );
}
