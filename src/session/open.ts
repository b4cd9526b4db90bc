import { refused, usage } from '../core/error.js';
import { sameHolder } from '../core/holder.js';
import { focusFile, progressFile, sessionFile } from '../core/paths.js';
import { encodeDocument } from '../core/schema.js';
import { describeOthersClaims } from '../events/local-claims.js';
import { queueEvent } from '../events/outbox.js';
import { selectNext, taskLine } from '../feature/tasks.js';
import { kfrWrites, readKfr, readKfrFile } from '../kfr/kfr.js';
import { type Entry, NO_KFR, openEntries, requireResolved } from '../kfr/rules.js';
import { type Context, lockPolicy, timestamp } from '../project/project.js';
import { bestSkill } from '../skill/skill.js';
import type { State as MemoryState } from './briefing.js';
import { closeSession } from './end.js';
import {
  type ArchivedSession,
  addEntry,
  type Focus,
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
  isLeftByPerson,
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
  focusIn,
  forgetEmpty,
  hasWork,
  kfrIn,
  kfrToResume,
  progressIn,
  readArchives,
  readProgressText,
  recentArchives,
  requireArchive,
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

/** What a start does with the recorded session: uses it, is refused, finds none, or ends it in one of three ways. */
type Step = 'running' | 'joined' | 'refused' | 'none' | 'close' | 'replace' | 'archive';

/** Decides what a start does with the recorded session. Changes nothing. */
export function planStart(context: Context, { resume, goal, join, takeOver }: Wanted): Step {
  const running = readRunning(context);
  const isNamed = running !== null && resume !== undefined && isMeant(running, resume);
  // A wrong id fails before anything is archived. After archiving, the running one can be resumed.
  if (resume !== undefined && resume !== 'latest' && !isNamed) requireResumable(context, resume);
  if (!running) return 'none';
  const { state } = judgeRunning(context, running);
  if (state === 'held' && join) return 'joined';
  if (state === 'held' && !takeOver) return 'refused';
  if (state !== 'same') return 'archive';
  const isLeft = isLeftByPerson(context, running);
  if (resume !== undefined) return isLeft && isNamed ? 'running' : 'replace';
  // Open questions are never left behind (KFR-09).
  if (!isLeft || openEntries(readKfr(context)).length > 0) return 'running';
  // A person comes back to another task.
  const { task } = showFocus(context);
  return goal === undefined || task === null || task === goal ? 'running' : 'close';
}

const isMeant = ({ id }: { id: string }, wanted: string): boolean =>
  wanted === 'latest' || isCalled(id, wanted);

const HELD_HINT =
  'forge start --join   # work in it too\nforge start --take-over --resume latest   # archive it and go on from there';

/** Settles the recorded session, and opens the wanted one. The caller holds the lock. */
export function openSession(
  context: Context,
  input: Wanted,
  facts: StartFacts,
): { running: RunningSession; state: Opened; focus: Focus } {
  const { resume, goal } = input;
  const step = planStart(context, input);
  const running = readRunning(context);
  if (running && step === 'refused') throw sessionHeld(context, running, HELD_HINT);
  if (running && (step === 'running' || step === 'joined')) return takePlace(context, running, step);
  const left = running ? leaveRunning(context, running, step, resume) : clearLeftovers(context, resume);
  if (resume === undefined) {
    refuseToForget(context);
    return createSession(context, goal, facts, null);
  }
  // A dry run has not written the session that it would archive.
  const resumed = left && isMeant(left, resume) ? left : requireResumable(context, resume);
  return createSession(context, goal, facts, resumed);
}

/** Ends the recorded session before another one starts. Returns it if it was archived as interrupted. */
function leaveRunning(
  context: Context,
  running: RunningSession,
  step: Step,
  resume: string | undefined,
): ArchivedSession | null {
  const name = sessionName(running.id);
  if (step === 'close') closeSession(context, running);
  else if (step === 'replace') {
    // A session that has just started is replaced by the one to resume.
    if (hasWork(context))
      throw refused('session.running', `Session ${name} is running; end it before resuming another.`, {
        hint: 'forge end\nforge session discard',
      });
    requireResumable(context, resume as string);
    clearShortTerm(context);
  }
  if (step !== 'archive') return null;
  if (resume === undefined || !isMeant(running, resume))
    requireResolved(
      readKfr(context),
      `Session ${name} was interrupted and cannot be left`,
      `forge start --resume ${name}   # takes them along\nforge kfr clear --yes --dismiss-all "why they no longer matter"`,
    );
  // SES-14: an empty session cannot be resumed.
  if (resume === undefined && forgetEmpty(context, running)) return null;
  const verdict = judgeRunning(context, running);
  const why = verdict.state === 'interrupted' ? verdict.why : 'taken over';
  if (resume === undefined)
    context.warnings.push(
      `Session ${name} was interrupted (${why}). Pick it up with: ${resumeStep(context.world.tool, name)}`,
    );
  return finishSession(context, running, { status: 'interrupted' });
}

/**
 * Files without a record of this clone: another clone's, or somebody removed the record. If they hold work, it is
 * archived under a new id. Open questions can only be carried over.
 */
function clearLeftovers(context: Context, resume: string | undefined): ArchivedSession | null {
  if (isLeftBehind(context)) {
    clearShortTerm(context);
    return null;
  }
  const kfr = readKfrFile(context);
  if (resume !== 'latest')
    requireResolved(
      kfr,
      'Working memory of a session whose record is gone cannot be left',
      'forge start --resume latest   # takes it along',
    );
  if (!holdsWork(readProgressText(context)) && kfr.entries.length === 0) return null;
  const started_at = timestamp(context);
  const left = { schema_version: '1.0', ...newSessionId(context), started_at, branch: null, head: null };
  context.warnings.push(`Progress without a session was found; it is kept as ${left.id}.`);
  return finishSession(context, left, { status: 'interrupted' });
}

/** Refuses to forget: an interrupted session has open questions that no later session carried over (KFR-09). */
function refuseToForget(context: Context): void {
  const archives = recentArchives(context);
  for (const session of resumable(archives)) {
    const name = sessionName(session.id);
    const kfr = kfrToResume(context, session);
    // A start that was killed may have taken them along without a note of it.
    const later = archives.filter(({ seq }) => seq > session.seq).map(kfrIn);
    const carried = new Set(later.flatMap(({ entries, closed }) => [...entries, ...closed]).map(sameEntry));
    requireResolved(
      { ...kfr, entries: kfr.entries.filter((entry) => !carried.has(sameEntry(entry))) },
      `Session ${name} was interrupted and cannot be left`,
      `forge start --resume ${name}   # takes them along`,
    );
  }
}

const sameEntry = ({ id, text, created_at }: Entry): string => [id, created_at, text].join(' ');

/** How far back `--resume latest` looks. */
const RESUMABLE = 100;

/** The archive to resume: an id, or `latest`, which prefers those of this clone. Exit 2 without one. */
function requireResumable(context: Context, wanted: string): ArchivedSession {
  if (wanted === 'latest') {
    const waiting = resumable(readArchives(context, RESUMABLE));
    const isOwn = ownSessions(context);
    const latest = waiting.find(({ id }) => isOwn(id)) ?? waiting[0];
    if (latest) return latest;
    throw usage('session.none_to_resume', 'No interrupted session is waiting to be resumed.', {
      hint: 'forge session list',
    });
  }
  const session = requireArchive(context, wanted);
  const { status, resumed_by: later } = session;
  if (status === 'interrupted' && !later) return session;
  const name = sessionName(session.id);
  const why = later ? `resumed already, by ${sessionName(later)}` : `${status}, not interrupted`;
  throw usage('session.not_interrupted', `Session ${name} was ${why}.`, {
    hint: `forge session show ${name}`,
  });
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
  { branch, head, person, memory }: StartFacts,
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

function warnAboutClock(context: Context, running: RunningSession): void {
  const newest = recentArchives(context).at(-1);
  const last = newest?.ended_at ?? newest?.started_at;
  if (last && last > running.started_at)
    context.warnings.push(
      `clock.skew: the clock says ${running.started_at}, but the last session was at ${last}.`,
    );
}

/** The next id and counter of this repository. */
function newSessionId(context: Context): { id: string; seq: number } {
  const { layout, world, disk } = context;
  const ids = archivedIds(context);
  const seq = Math.max(0, ...recentArchives(context).map((session) => session.seq));
  const date = timestamp(context).slice(0, 10);
  return allocateSessionId(layout, lockPolicy(world), date, { ids, seq }, disk.dryRun);
}
