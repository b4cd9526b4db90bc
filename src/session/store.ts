import { usage } from '../core/error.js';
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
import { Kfr, NO_KFR, requireResolved } from '../kfr/rules.js';
import { type Context, lockPolicy, timestamp } from '../project/project.js';
import {
  ARCHIVED_SESSION,
  type ArchivedSession,
  addEntry,
  bySequence,
  FOCUS,
  Focus,
  holdsWork,
  isStoredId,
  matchSession,
  NO_FOCUS,
  NO_SESSION_TEXT,
  type Progress,
  type ProgressLine,
  parseProgress,
  type RunningSession,
  resumable,
  sessionName,
  setNext,
  shownId,
  toArchive,
} from './rules.js';
import { allocateSessionId, isOwnSession, lastIssued, ownSessions, requireRunning } from './running.js';

/** Finding the last session must not read years of sessions. */
const RECENT = 4;
/** How far back `--resume latest` looks. */
const RESUMABLE = 100;

/** The stored ids of all archived sessions, oldest date first. Reads names only. */
export const archivedIds = ({ disk, layout }: Context): string[] =>
  disk
    .list(sessionsFolder(layout))
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))
    .filter(isStoredId);

/**
 * Archived sessions by counter, oldest first. With `newest`, that many of the last: those with the latest dates, and, as
 * the clock may have been set back, those that were last issued here.
 */
export function readArchives(context: Context, newest = Number.POSITIVE_INFINITY): ArchivedSession[] {
  const ids = archivedIds(context);
  const known = new Set(ids);
  const issued = lastIssued(context.layout).filter((id) => known.has(id));
  const wanted = new Set([...ids.slice(-newest), ...issued.slice(-newest)]);
  return [...wanted]
    .map((id) => readArchive(context, id))
    .sort(bySequence)
    .slice(-newest);
}

/** The latest ones: enough to know the last session and the counter. */
export const recentArchives = (context: Context): ArchivedSession[] => readArchives(context, RECENT);

/** The next id and counter of this repository. */
export function newSessionId(context: Context): { id: string; seq: number } {
  const { layout, world, disk } = context;
  const ids = archivedIds(context);
  const seq = Math.max(0, ...recentArchives(context).map((session) => session.seq));
  const date = timestamp(context).slice(0, 10);
  return allocateSessionId(layout, lockPolicy(world), date, { ids, seq }, disk.dryRun);
}

const readArchive = ({ disk, layout }: Context, id: string): ArchivedSession =>
  disk.requireDocument(ARCHIVED_SESSION, archiveFile(layout, id)).value;

/** Stores a finished session as one file (SES-14). An existing one is kept: archiving was interrupted after it. */
export function writeArchive(context: Context, session: ArchivedSession): void {
  const { disk, layout } = context;
  const path = archiveFile(layout, session.id);
  if (disk.exists(path)) return;
  disk.replace(path, encodeDocument(session));
}

/** Clears the session after the archive is written. The record is removed last, because it names the owner of the rest. */
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

/** The archive to resume: an id, or `latest`, which prefers those of this clone. Exit 2 without one. */
export function requireResumable(context: Context, wanted: string): ArchivedSession {
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
  if (session.status === 'interrupted') return session;
  const name = sessionName(session.id);
  throw usage('session.not_interrupted', `Session ${name} was ${session.status}, not interrupted.`, {
    hint: `forge session show ${name}`,
  });
}

/** Rewrites an archive: its status, who resumed it. */
export function updateArchive(context: Context, id: string, change: Partial<ArchivedSession>): void {
  const { disk, layout } = context;
  disk.withLock(() => {
    const { value, path, bytes } = disk.requireDocument(ARCHIVED_SESSION, archiveFile(layout, id));
    disk.replace(path, encodeDocument({ ...value, ...change }), bytes);
  });
}

/** How an id is shown among the archives. */
export const displayId = (context: Context, stored: string): string => shownId(stored, archivedIds(context));

/** The working memory that a session had at its end. */
export const kfrIn = ({ kfr }: ArchivedSession): Kfr => Kfr.safeParse(kfr).data ?? NO_KFR;

export const focusIn = ({ focus }: ArchivedSession): Focus => Focus.safeParse(focus).data ?? NO_FOCUS;

export const progressIn = ({ progress = [] }: ArchivedSession): string => progress.join('\n');

/**
 * The working memory that resuming a session brings back. That of another clone is only shown as data (SES-13), and that
 * of a session that was resumed before belongs to the later one.
 */
export const kfrToResume = (context: Context, session: ArchivedSession): Kfr =>
  session.resumed_by === undefined && isOwnSession(context, session.id) ? kfrIn(session) : NO_KFR;

type ShortTerm = Pick<ArchivedSession, 'progress' | 'focus' | 'kfr' | 'next'>;

/** The files of the running session, in the form of its archive. */
export function shortTerm(context: Context): ShortTerm {
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

/** Whether a session has content worth archiving: a line of progress, or working memory. */
export const isWorth = (context: Context): boolean =>
  holdsWork(readProgressText(context)) || isUsed(readKfrFile(context));

/** True if nothing was noted and it has no goal. */
export const isEmpty = (context: Context, running: RunningSession): boolean =>
  !running.goal && running.resumed_from === undefined && !isWorth(context);

/** Ends an empty session without a trace (SES-12). Keeps a focus that someone set. The caller holds the lock. */
export function forgetEmpty(context: Context, running: RunningSession): void {
  const { disk, layout } = context;
  const focus = disk.readDocument(FOCUS, focusFile(layout), NO_FOCUS).value;
  clearShortTerm(context);
  if (focus.started_at !== running.started_at) disk.replace(focusFile(layout), encodeDocument(focus));
}

/** Archives an abandoned session as `interrupted`. Nothing is lost (SES-07). The caller holds the lock. */
export function archiveInterrupted(
  context: Context,
  running: Parameters<typeof toArchive>[0],
): ArchivedSession {
  const end = { status: 'interrupted' as const, ended_at: null, learned: [] };
  const session = toArchive(running, { ...end, ...shortTerm(context) });
  writeArchive(context, session);
  clearShortTerm(context);
  return session;
}

/**
 * Progress without a session record of this clone: it is another clone's, or somebody removed it. If it holds work, it is
 * archived under a new id. Its open questions can only be carried over. The caller holds the lock.
 */
export function archiveLeft(context: Context, resume: string | undefined): ArchivedSession | null {
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
  return archiveInterrupted(context, left);
}

/** Refuses to forget: an interrupted session has open questions that no later session carried over (KFR-09). */
export function refuseToForget(context: Context): void {
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

const sameEntry = ({ id, text, created_at }: { id: string; text: string; created_at: string }): string =>
  [id, created_at, text].join(' ');

/** The live progress.txt, or the existing text without a session. */
export function readProgressText({ disk, layout }: Context): string {
  const path = progressFile(layout);
  const bytes = disk.read(path);
  return bytes ? decodeUtf8(bytes, shown(layout, path)) : NO_SESSION_TEXT;
}

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
    requireRunning(context);
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
  return { session, ...parseProgress(readProgressText(context)) };
}
