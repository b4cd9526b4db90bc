import type { Write } from '../core/files.js';
import { archiveFile, focusFile, progressFile, sessionFile } from '../core/paths.js';
import { encodeDocument } from '../core/schema.js';
import { selectNext, taskLine } from '../feature/next.js';
import { writeKfr } from '../kfr/kfr.js';
import { type Context, lockPolicy, timestamp } from '../project/project.js';
import { archivedIds, focusIn, readLeftKfr, recentArchives, updateArchive } from './archive.js';
import type { Memory } from './briefing.js';
import { showFocus } from './focus.js';
import { type Focus, NO_FOCUS, planFocus } from './focus-rules.js';
import { allocateSessionId } from './ids.js';
import { forgetLeftKfr } from './interruption.js';
import { addEntry, setNext, startProgress } from './progress-rules.js';
import { type ArchivedSession, RUNNING_SESSION, type RunningSession, sessionName } from './rules.js';
import { holderHere } from './running.js';

/** Where git stands and what is known when a session opens. */
export interface Around {
  branch: string | null;
  head: string | null;
  memory: Memory;
}

/** The next id and counter of this repository. */
export function allocate(context: Context): { id: string; seq: number } {
  const { layout, world, disk } = context;
  const ids = archivedIds(context);
  const seq = Math.max(0, ...recentArchives(context).map((session) => session.seq));
  const date = timestamp(context).slice(0, 10);
  return allocateSessionId(layout, lockPolicy(world), date, { ids, seq }, disk.dryRun);
}

/** The record goes last: progress without a record is picked up as an orphan, a record without progress would lie. */
export function createSession(
  context: Context,
  goal: string | undefined,
  { branch, head, memory }: Around,
  resumed: ArchivedSession | null,
): RunningSession {
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
  const focus = resumed ? focusIn(resumed) : chooseFocus(context, memory, goal);
  disk.replaceAll([
    { path: progressFile(layout), bytes: Buffer.from(progress, 'utf8') },
    { path: focusFile(layout), bytes: encodeDocument(focus) },
    ...(resumed ? takeAlong(context, resumed, running.id) : []),
    { path: sessionFile(layout), bytes: encodeDocument(running) },
  ]);
  // In a dry run that may only be about to be one.
  if (resumed && disk.exists(archiveFile(layout, resumed.id))) {
    updateArchive(context, resumed.id, (session) => ({ ...session, resumed_by: running.id }));
    forgetLeftKfr(context, resumed.id);
  }
  return running;
}

/** A focus that someone set before the start stands; else the next task. */
export function chooseFocus(context: Context, memory: Memory, goal: string | undefined): Focus {
  const now = timestamp(context);
  const standing = showFocus(context);
  if (goal !== undefined) return planFocus(standing, { task: goal }, now);
  if (standing.task !== null) return standing;
  const { task } = selectNext(memory.features, memory.issues);
  return task
    ? planFocus(NO_FOCUS, { task: taskLine(task), linear_issue: task.linear_issue }, now)
    : NO_FOCUS;
}

/** The working memory of the session that is resumed goes on in this one (KFR-13). */
function takeAlong(context: Context, resumed: ArchivedSession, session: string): Write[] {
  const kfr = readLeftKfr(context, resumed.id);
  return kfr.entries.length === 0 ? [] : writeKfr(context, { ...kfr, session });
}

function warnAboutClock(context: Context, running: RunningSession): void {
  const newest = recentArchives(context).at(-1);
  const last = newest?.ended_at ?? newest?.started_at;
  if (last && last > running.started_at)
    context.warnings.push(
      `clock.skew: the clock says ${running.started_at}, but the last session was at ${last}.`,
    );
}
