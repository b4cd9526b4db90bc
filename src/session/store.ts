import { unlessFailed, usage } from '../core/error.js';
import type { Write } from '../core/files.js';
import {
  archiveFile,
  focusFile,
  kfrFile,
  openFile,
  progressFile,
  sessionFile,
  sessionsFolder,
  shown,
} from '../core/paths.js';
import { decodeUtf8, encodeDocument } from '../core/schema.js';
import { checkText } from '../core/text.js';
import { readKfrFile } from '../kfr/kfr.js';
import { Kfr, NO_KFR } from '../kfr/rules.js';
import { readLearnings } from '../knowledge/rules.js';
import { ledgerFolder } from '../ledger/files.js';
import type { Context } from '../project/project.js';
import {
  ARCHIVED_SESSION,
  type ArchivedSession,
  addEntry,
  bySequence,
  holdsWork,
  isStoredId,
  matchSession,
  NO_FOCUS,
  NO_SESSION_TEXT,
  type Progress,
  type ProgressLine,
  parseProgress,
  type RunningSession,
  sessionName,
  setNext,
  shownId,
  toArchive,
} from './rules.js';
import { ownSessions, readRunning, requireOwn, requireRunning, showFocus } from './running.js';

/** How far back a next step, the last session on a task and one to resume are looked for. */
const RECENT = 20;

/** The stored ids of all archived sessions, oldest date first. Reads names only. */
export const archivedIds = ({ disk, layout }: Context): string[] =>
  disk
    .list(sessionsFolder(layout))
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))
    .filter(isStoredId);

/** The `newest` of the archived sessions by counter, oldest first. The clock may have been set back between two of them. */
export const readArchives = (context: Context, newest = Number.POSITIVE_INFINITY): ArchivedSession[] =>
  archivedIds(context)
    .slice(-Math.max(newest, RECENT))
    .map((id) => readArchive(context, id))
    .sort(bySequence)
    .slice(-newest);

/** The latest ones. Only if the last one is damaged, no session starts; `forge doctor` finds the others. */
export function recentArchives(context: Context): ArchivedSession[] {
  const ids = archivedIds(context).slice(-RECENT);
  const last = ids.pop();
  const earlier = ids.flatMap((id) => unlessFailed([], () => [readArchive(context, id)]));
  return [...earlier, ...(last === undefined ? [] : [readArchive(context, last)])].sort(bySequence);
}

const readArchive = ({ disk, layout }: Context, id: string): ArchivedSession =>
  disk.requireDocument(ARCHIVED_SESSION, archiveFile(layout, id)).value;

/** Clears the files of a session. The record is removed last, because it names the owner of the rest. */
export function clearShortTerm({ disk, layout }: Context): void {
  disk.replaceAll([
    { path: progressFile(layout), bytes: Buffer.from(NO_SESSION_TEXT) },
    { path: focusFile(layout), bytes: encodeDocument(NO_FOCUS) },
  ]);
  for (const file of [kfrFile, openFile, sessionFile]) disk.remove(file(layout));
}

/** The session of that shown or stored id. Only its own file is read. Exit 2 for none. */
export function requireArchive(context: Context, wanted: string): ArchivedSession {
  const ids = archivedIds(context).map((id) => ({ id }));
  return readArchive(context, matchSession(ids, wanted).id);
}

/** An interrupted session that was not resumed. Exit 2 for any other. */
export function requireInterrupted(context: Context, wanted: string): ArchivedSession {
  const session = requireArchive(context, wanted);
  const { status, resumed_by: later } = session;
  if (status === 'interrupted' && !later) return session;
  const name = sessionName(session.id);
  const why = later ? `resumed already, by ${sessionName(later)}` : `${status}, not interrupted`;
  throw usage('session.not_interrupted', `Session ${name} was ${why}.`, {
    hint: `forge session show ${name}`,
  });
}

/** The write that changes an archive: its status, who resumed it. None in a dry run that did not make the archive. */
export function changeArchive(
  { disk, layout }: Context,
  id: string,
  change: Partial<ArchivedSession>,
): Write[] {
  const { value, path, bytes } = disk.readDocument(ARCHIVED_SESSION, archiveFile(layout, id), null);
  return value ? [{ path, bytes: encodeDocument({ ...value, ...change }), expected: bytes }] : [];
}

/** How an id is shown among the archives. */
export const displayId = (context: Context, stored: string): string => shownId(stored, archivedIds(context));

export const kfrIn = ({ kfr }: ArchivedSession): Kfr => Kfr.safeParse(kfr).data ?? NO_KFR;

export const progressIn = ({ progress = [] }: ArchivedSession): string => progress.join('\n');

/**
 * The working memory that resuming a session brings back. That of another clone is only shown as data (SES-13), and that
 * of a session that was resumed before belongs to the later one.
 */
export function kfrToResume(context: Context, session: ArchivedSession): Kfr {
  const kfr = kfrIn(session);
  const isOwn = ownSessions(context);
  // Files of an unknown session are archived under an id of this clone.
  const isOurs = isOwn(session.id) && isOwn(kfr.session ?? session.id);
  return session.resumed_by === undefined && isOurs ? kfr : NO_KFR;
}

/** The files of the running session, in the form of its archive. */
function shortTerm(context: Context): Pick<ArchivedSession, 'progress' | 'focus' | 'kfr' | 'next'> {
  const text = readProgressText(context);
  const kfr = readKfrFile(context);
  return {
    next: parseProgress(text).next ?? null,
    progress: text.split('\n'),
    focus: showFocus(context),
    ...(isUsed(kfr) ? { kfr } : {}),
  };
}

/** The running session, as it would be archived now. */
export const runningArchive = (context: Context, running: RunningSession): ArchivedSession =>
  toArchive(running, { ...shortTerm(context), status: 'running', ended_at: null, learned: [] });

const isUsed = ({ entries, closed }: Kfr): boolean => entries.length > 0 || closed.length > 0;

/** Whether a session has something to archive: progress, working memory, records, lessons, or files or blockers in focus. */
export function hasWork(context: Context): boolean {
  const { files, blockers, started_at } = showFocus(context);
  const running = readRunning(context);
  // An earlier focus is kept when an empty session ends.
  const isOwn = (started_at ?? '') >= (running?.started_at ?? '');
  if (isOwn && files.length + blockers.length > 0) return true;
  if (holdsWork(readProgressText(context)) || isUsed(readKfrFile(context))) return true;
  if (!running) return false;
  if (readLearnings(context.disk).some(({ session }) => session === running.id)) return true;
  return context.disk.list(ledgerFolder(context.layout)).some((name) => name.startsWith(`${running.id}-`));
}

/**
 * Archives a session as one file (SES-14), and clears its files. An archive that exists is kept: an earlier attempt was
 * interrupted after it. The caller holds the lock.
 */
export function finishSession(
  context: Context,
  session: Parameters<typeof toArchive>[0],
  end: Pick<ArchivedSession, 'status'> & Partial<Parameters<typeof toArchive>[1]>,
): ArchivedSession {
  const { disk, layout } = context;
  const archive = toArchive(session, { ended_at: null, learned: [], ...shortTerm(context), ...end });
  const path = archiveFile(layout, archive.id);
  if (!disk.exists(path)) disk.replace(path, encodeDocument(archive));
  clearShortTerm(context);
  return archive;
}

/**
 * Ends a session without a trace if it has no goal and nothing was noted in it (SES-12). Keeps a focus that someone set.
 * False for another one. The caller holds the lock.
 */
export function forgetEmpty(context: Context, running: RunningSession): boolean {
  if (running.goal || running.resumed_from !== undefined || hasWork(context)) return false;
  const focus = showFocus(context);
  clearShortTerm(context);
  if (focus.started_at !== running.started_at)
    context.disk.replace(focusFile(context.layout), encodeDocument(focus));
  return true;
}

/** The live progress.txt, or the existing text without a session. */
export function readProgressText({ disk, layout }: Context): string {
  const path = progressFile(layout);
  const bytes = disk.read(path);
  return bytes ? decodeUtf8(bytes, shown(layout, path)) : NO_SESSION_TEXT;
}

export const readProgress = (context: Context): Progress => parseProgress(readProgressText(context));

/** Appends `[HH:MM] text` (UTC) to the running session's progress (SES-04). */
export function addProgress(
  context: Context,
  input: { text: string; checkpoint?: boolean },
): { line: string } {
  const text = checkText(input.text, { what: 'The progress text' });
  const at = context.world.now();
  const after = editProgress(context, (file) => addEntry(file, at, text, input.checkpoint));
  const last = parseProgress(after).lines.at(-1) as ProgressLine;
  return { line: `[${last.time}] ${last.text}` };
}

/** Sets the NEXT line, which stays the last one. */
export function setNextStep(context: Context, input: { text: string }): { line: string } {
  const text = checkText(input.text, { what: 'The NEXT text' });
  editProgress(context, (file) => setNext(file, text));
  return { line: `NEXT: ${text}` };
}

export function editProgress(context: Context, change: (file: string) => string): string {
  const { disk, layout } = context;
  return disk.withLock(() => {
    requireOwn(context);
    const after = change(readProgressText(context));
    disk.replace(progressFile(layout), Buffer.from(after, 'utf8'));
    return after;
  });
}

export interface ShownProgress extends Progress {
  session: string;
}

export function showProgress(context: Context): ShownProgress {
  const session = sessionName(requireRunning(context).id);
  return { session, ...readProgress(context) };
}
