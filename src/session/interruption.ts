import { focusFile, leftKfrFile, leftKfrFolder } from '../core/paths.js';
import { encodeDocument } from '../core/schema.js';
import { readKfrFile } from '../kfr/kfr.js';
import { type Kfr, openEntries, requireResolved } from '../kfr/rules.js';
import { type Context, timestamp } from '../project/project.js';
import {
  archivedIds,
  clearShortTerm,
  readLeftKfr,
  recentArchives,
  requireArchive,
  writeArchive,
} from './archive.js';
import { FOCUS, NO_FOCUS } from './focus-rules.js';
import { readProgressText } from './progress.js';
import { parseProgress } from './progress-rules.js';
import { type ArchivedSession, type RunningSession, sessionName, toArchive } from './rules.js';

/** What `startProgress` writes by itself; a file with no more than that holds no work. */
const START_LINES = 2;

export function holdsWork(progress: string): boolean {
  const { date, lines, next } = parseProgress(progress);
  return date !== null && (lines.length > START_LINES || next !== undefined);
}

/** The files of the running session, as its archive has them. */
export function shortTerm(context: Context): Pick<ArchivedSession, 'progress' | 'focus' | 'kfr' | 'next'> {
  const { disk, layout } = context;
  const text = readProgressText(context);
  const kfr = readKfrFile(context);
  return {
    next: parseProgress(text).next ?? null,
    progress: text.split('\n'),
    focus: disk.readDocument(FOCUS, focusFile(layout), NO_FOCUS).value,
    ...(isUsed(kfr) ? { kfr } : {}),
  };
}

const isUsed = ({ entries, closed }: Kfr): boolean => entries.length > 0 || closed.length > 0;

/** Whether a session leaves something that is worth an archive: a line of progress, or working memory. */
export const isWorth = (context: Context): boolean =>
  holdsWork(readProgressText(context)) || isUsed(readKfrFile(context));

/** Ends a session in which nothing happened, without a trace (SES-12). A focus that somebody set stands. Caller holds the lock. */
export function forgetEmpty(context: Context, running: RunningSession): void {
  const { disk, layout } = context;
  const focus = disk.readDocument(FOCUS, focusFile(layout), NO_FOCUS).value;
  clearShortTerm(context);
  if (focus.started_at !== running.started_at) disk.replace(focusFile(layout), encodeDocument(focus));
}

/** Nothing was noted, and nobody gave it a goal. */
export const isEmpty = (context: Context, running: RunningSession): boolean =>
  !running.goal && running.resumed_from === undefined && !isWorth(context);

/** Archives a session that was left behind as `interrupted`; nothing of it is lost (SES-07). Caller holds the lock. */
export function archiveInterrupted(context: Context, running: RunningSession): ArchivedSession {
  const end = { status: 'interrupted' as const, ended_at: null, learned: [] };
  const session = toArchive(running, { ...end, ...shortTerm(context) });
  writeArchive(context, session);
  clearShortTerm(context);
  return session;
}

/**
 * Progress without a session record of this clone: a start was cut before the record was written, or somebody removed it.
 * When it holds work, it is archived under the id given; its open questions can only be taken along. Caller holds the lock.
 */
export function archiveLeft(
  context: Context,
  resume: string | undefined,
  allocate: () => { id: string; seq: number },
): ArchivedSession | null {
  const kfr = readKfrFile(context);
  if (resume !== 'latest')
    requireResolved(
      kfr,
      'Working memory of a session whose record is gone cannot be left',
      'forge session start --resume latest  (takes it along)',
    );
  const text = readProgressText(context);
  if (!holdsWork(text) && kfr.entries.length === 0) return null;
  const { date, lines } = parseProgress(text);
  const session: ArchivedSession = {
    schema_version: '1.0',
    ...allocate(),
    started_at: `${date ?? timestamp(context).slice(0, 10)}T${lines[0]?.time ?? '00:00'}:00.000Z`,
    branch: null,
    head: null,
    status: 'interrupted',
    ended_at: null,
    learned: [],
    ...shortTerm(context),
  };
  writeArchive(context, session);
  clearShortTerm(context);
  context.warnings.push(
    `Progress without a session was found; it is kept as ${session.id} (${timestamp(context)}).`,
  );
  return session;
}

/** Working memory of an interrupted session of this worktree has questions open, and no session took them along. */
export function refuseToForget(context: Context): void {
  const { disk, layout } = context;
  const known = new Set(archivedIds(context));
  const taken = new Set(recentArchives(context).map(({ resumed_from }) => resumed_from));
  for (const file of disk.list(leftKfrFolder(layout))) {
    const id = file.replace(/\.json$/, '');
    const kfr = readLeftKfr(context, id);
    if (!known.has(id) || taken.has(id) || openEntries(kfr).length === 0) continue;
    const { status, resumed_by } = requireArchive(context, id);
    if (status !== 'interrupted' || resumed_by !== undefined) continue;
    const name = sessionName(id);
    requireResolved(
      kfr,
      `Session ${name} was interrupted and cannot be left`,
      `forge session start --resume ${name}  (takes them along)`,
    );
  }
}

/** Its working memory went on in another session, or was settled. */
export const forgetLeftKfr = ({ disk, layout }: Context, id: string): void =>
  disk.remove(leftKfrFile(layout, id));
