import { usage } from '../core/error.js';
import {
  archiveFile,
  focusFile,
  kfrFile,
  leftKfrFile,
  openFile,
  progressFile,
  sessionFile,
  sessionsFolder,
} from '../core/paths.js';
import { encodeDocument } from '../core/schema.js';
import { KFR, Kfr, NO_KFR } from '../kfr/rules.js';
import type { Context } from '../project/project.js';
import { Focus, NO_FOCUS } from './focus-rules.js';
import { lastGiven } from './ids.js';
import { NO_SESSION_TEXT } from './progress-rules.js';
import {
  ARCHIVED_SESSION,
  type ArchivedSession,
  bySequence,
  isStoredId,
  matchSession,
  resumable,
  sessionName,
  shownId,
} from './rules.js';
import { ownSessions } from './running.js';

/** Years of sessions are not read to know the last one. */
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

/** Archived sessions by counter, oldest first; with `newest`, that many of the last. */
export function readArchives(context: Context, newest = Number.POSITIVE_INFINITY): ArchivedSession[] {
  return newestIds(context, newest)
    .map((id) => readArchive(context, id))
    .sort(bySequence)
    .slice(-newest);
}

/** Those with the latest dates, and, as the clock may have been set back, those that were given out here last. */
function newestIds(context: Context, count: number): string[] {
  const ids = archivedIds(context);
  if (ids.length <= count) return ids;
  const known = new Set(ids);
  const given = lastGiven(context.layout).filter((id) => known.has(id));
  return [...new Set([...ids.slice(-count), ...given.slice(-count)])];
}

/** The latest ones, read once by a command: enough to know the last session and the counter. */
export function recentArchives(context: Context): readonly ArchivedSession[] {
  context.recent ??= readArchives(context, RECENT);
  return context.recent;
}

const readArchive = ({ disk, layout }: Context, id: string): ArchivedSession =>
  disk.requireDocument(ARCHIVED_SESSION, archiveFile(layout, id)).value;

/**
 * Stores a finished session as one file (SES-14). One that is there already stays: the archiving was interrupted after it.
 * Working memory of an interrupted session stays here as well: only that copy can be resumed as a whole (SES-13).
 */
export function writeArchive(context: Context, session: ArchivedSession): void {
  const { disk, layout } = context;
  const path = archiveFile(layout, session.id);
  if (disk.exists(path)) return;
  const kfr = kfrIn(session);
  if (session.status === 'interrupted' && kfr.entries.length > 0)
    disk.replace(leftKfrFile(layout, session.id), encodeDocument(kfr));
  disk.replace(path, encodeDocument(session));
  delete context.recent;
}

/** Back to "no session", once the archive is written. The record goes last: it says which session the rest belongs to. */
export function clearShortTerm({ disk, layout }: Context): void {
  disk.replaceAll([
    { path: progressFile(layout), bytes: Buffer.from(NO_SESSION_TEXT) },
    { path: focusFile(layout), bytes: encodeDocument(NO_FOCUS) },
  ]);
  disk.remove(kfrFile(layout));
  disk.remove(openFile(layout));
  disk.remove(sessionFile(layout));
}

/** The session of that shown or stored id. Only its own file is read. Exit 2 for none. */
export function requireArchive(context: Context, wanted: string): ArchivedSession {
  const ids = archivedIds(context).map((id) => ({ id }));
  return readArchive(context, matchSession(ids, wanted).id);
}

/** The archive to resume: an id, or `latest`, which prefers those of this clone. Exit 2 without one. */
export function requireResumable(context: Context, wanted: string): ArchivedSession {
  const session = wanted === 'latest' ? findLatest(context) : requireArchive(context, wanted);
  if (session?.status === 'interrupted') return session;
  if (!session)
    throw usage('session.none_to_resume', 'No interrupted session is waiting to be resumed.', {
      hint: 'forge session list',
    });
  const name = sessionName(session.id);
  throw usage('session.not_interrupted', `Session ${name} was ${session.status}, not interrupted.`, {
    hint: `forge session show ${name}`,
  });
}

function findLatest(context: Context): ArchivedSession | undefined {
  const isOwn = ownSessions(context);
  const found = resumable(readArchives(context, RESUMABLE));
  return found.find(({ id }) => isOwn(id)) ?? found[0];
}

/** Rewrites an archive (its status, who resumed it). */
export function updateArchive(
  context: Context,
  id: string,
  change: (session: ArchivedSession) => ArchivedSession,
): void {
  context.disk.update(ARCHIVED_SESSION, archiveFile(context.layout, id), change);
  delete context.recent;
}

/** How an id is shown among the archives. */
export const displayId = (context: Context, stored: string): string => shownId(stored, archivedIds(context));

/** The working memory that a session had at its end. It came with the repository: data, not working memory. */
export function kfrIn({ kfr }: ArchivedSession): Kfr {
  const read = Kfr.safeParse(kfr);
  return read.success ? read.data : NO_KFR;
}

export function focusIn({ focus }: ArchivedSession): Focus {
  const read = Focus.safeParse(focus);
  return read.success ? read.data : NO_FOCUS;
}

export const progressIn = ({ progress = [] }: ArchivedSession): string => progress.join('\n');

/** The working memory that an interrupted session left in this worktree; empty when there is none. */
export const readLeftKfr = ({ disk, layout }: Context, id: string): Kfr =>
  disk.readDocument(KFR, leftKfrFile(layout, id), NO_KFR).value;
