import { basename, join } from 'node:path';
import { refused, usage } from '../core/error.js';
import { formatJson } from '../core/json.js';
import {
  archiveDraft,
  archiveFile,
  archiveFolder,
  focusFile,
  foreignFolder,
  kfrFile,
  openFile,
  progressFile,
  sessionFile,
  sessionsFolder,
  shown,
} from '../core/paths.js';
import { encodeDocument } from '../core/schema.js';
import { KFR, type Kfr, NO_KFR } from '../kfr/rules.js';
import type { Context } from '../project/project.js';
import { NO_FOCUS } from './focus-rules.js';
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
} from './rules.js';
import { describeForeign, isOwnSession, ownSessions, readForeign } from './running.js';

/** The files of a session's archive beside session.json. */
export interface ArchiveFiles {
  'progress.txt': string;
  'focus.json': string;
  /** Only where working memory was used. */
  'kfr.json'?: string;
}

/** The stored ids of all archived sessions, oldest date first. Reads names only. */
export function archivedIds({ disk, layout }: Context): string[] {
  return disk.list(sessionsFolder(layout)).filter(isStoredId);
}

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

/** The latest ones, as this command found them: enough to know the last session and the counter, read once. */
export function recentArchives(context: Context): readonly ArchivedSession[] {
  context.recent ??= readArchives(context, RECENT);
  return context.recent;
}

function readArchive({ disk, layout }: Context, id: string): ArchivedSession {
  return disk.requireDocument(ARCHIVED_SESSION, archiveFile(layout, id)).value;
}

/** Years of sessions are not read to know the last one. */
const RECENT = 4;
/** How far back `--resume latest` looks. */
const RESUMABLE = 100;

/**
 * Puts a finished session under `memory/sessions/<id>/`, whole or not at all: built under a hidden name, renamed.
 * One that is there already stays as it is (the archiving was interrupted after it). The caller holds the lock.
 */
export function writeArchive(context: Context, session: ArchivedSession, files: ArchiveFiles): void {
  const { disk, layout } = context;
  const folder = archiveFolder(layout, session.id);
  if (disk.exists(folder)) return;
  const draft = archiveDraft(layout, session.id);
  disk.remove(draft);
  disk.makeFolder(draft);
  const all = { 'session.json': formatJson(session), ...files };
  disk.replaceAll(
    Object.entries(all).map(([name, text]) => ({
      path: archiveDraft(layout, session.id, name),
      bytes: Buffer.from(text, 'utf8'),
    })),
  );
  disk.placeFolder(draft, folder);
  delete context.recent;
}

/** Back to "no session", once the archive stands. The record goes last: with its archive there, it runs no more. */
export function clearShortTerm(context: Context): void {
  const { disk, layout } = context;
  disk.remove(openFile(layout));
  clearFolder(context);
}

function clearFolder({ disk, layout }: Context): void {
  disk.replaceAll([
    { path: progressFile(layout), bytes: Buffer.from(NO_SESSION_TEXT) },
    { path: focusFile(layout), bytes: encodeDocument(NO_FOCUS) },
  ]);
  disk.remove(kfrFile(layout));
  disk.remove(sessionFile(layout));
}

/**
 * Moves the files of a session of another clone out of the way of a session start, byte for byte; false where there are
 * none. Open entries of a session of this clone stay noted. The caller holds the lock.
 */
export function keepForeign(context: Context): boolean {
  const { disk, layout } = context;
  const foreign = readForeign(context);
  if (!foreign) return false;
  const folder = foreignFolder(layout, foreign.id);
  for (const path of [sessionFile(layout), kfrFile(layout), progressFile(layout), focusFile(layout)]) {
    const bytes = disk.read(path);
    if (bytes) disk.replaceMoved(join(folder, basename(path)), bytes);
  }
  clearFolder(context);
  context.warnings.push(
    `${describeForeign(foreign)} and does not count; its files are kept in ${shown(layout, folder)}.`,
  );
  return true;
}

/** The one of that shown or stored id, read alone: what is wrong with another one does not matter. Exit 2 for none. */
export function requireArchive(context: Context, wanted: string): ArchivedSession {
  const ids = archivedIds(context).map((id) => ({ id }));
  return readArchive(context, matchSession(ids, wanted).id);
}

/** The archive to resume: an id, or `latest`, which prefers those of this clone; null when `latest` finds none. */
function findResumable(context: Context, wanted: string): ArchivedSession | null {
  if (wanted !== 'latest') return requireArchive(context, wanted);
  const isOwn = ownSessions(context);
  const found = resumable(readArchives(context, RESUMABLE));
  return found.find(({ id }) => isOwn(id)) ?? found[0] ?? null;
}

/** The same; exit 2 for none, and for one that was not interrupted; exit 3 for one of another clone. */
export function requireResumable(context: Context, wanted: string): ArchivedSession {
  const session = findResumable(context, wanted);
  if (session?.status === 'interrupted' && isOwnSession(context, session.id)) return session;
  if (session?.status === 'interrupted')
    throw refused('session.foreign', `${describeForeign(session)} and cannot be resumed here.`, {
      hint: `forge session show ${sessionName(session.id)}  (what it did, and its working memory)`,
    });
  if (!session)
    throw usage('session.none_to_resume', 'No interrupted session is waiting to be resumed.', {
      hint: 'forge session list',
    });
  throw usage(
    'session.not_interrupted',
    `Session ${sessionName(session.id)} was ${session.status}, not interrupted.`,
    {
      hint: `forge session show ${sessionName(session.id)}`,
    },
  );
}

/** Rewrites the record of an archive (its status, who resumed it). */
export function updateArchive(
  context: Context,
  id: string,
  change: (session: ArchivedSession) => ArchivedSession,
): void {
  context.disk.update(ARCHIVED_SESSION, archiveFile(context.layout, id), change);
  delete context.recent;
}

/** Other archives with the same shown name keep their suffix. */
export function displayId(context: Context, stored: string): string {
  const name = sessionName(stored);
  const twins = archivedIds(context).filter((id) => id !== stored && sessionName(id) === name);
  return twins.length === 0 ? name : stored;
}

/** The working memory that a session had at its end. */
export const readArchivedKfr = ({ disk, layout }: Context, id: string): Kfr =>
  disk.readDocument(KFR, archiveFile(layout, id, 'kfr.json'), NO_KFR).value;
