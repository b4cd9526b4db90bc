import { encodeDocument } from '../domain/document.js';
import { FOCUS, NO_FOCUS } from '../domain/focus.js';
import type { Kfr } from '../domain/kfr.js';
import { parseProgress } from '../domain/progress.js';
import { type ArchivedSession, type RunningSession, toArchive } from '../domain/session.js';
import { focusFile } from '../store/layout.js';
import { type ArchiveFiles, clearShortTerm, writeArchive } from './archive.js';
import { type Context, timestamp } from './context.js';
import { readKfrFile } from './kfr.js';
import { readProgressText } from './progress.js';

/** What `startProgress` writes by itself; a file with no more than that holds no work. */
const START_LINES = 2;

export function holdsWork(progress: string): boolean {
  const { date, lines, next } = parseProgress(progress);
  return date !== null && (lines.length > START_LINES || next !== undefined);
}

/** Archives a session that was left behind as `interrupted`; nothing of it is lost (SES-07). Caller holds the lock. */
export function archiveInterrupted(context: Context, running: RunningSession): ArchivedSession {
  const text = readProgressText(context);
  const session = toArchive(running, {
    status: 'interrupted',
    ended_at: null,
    learned: [],
    failed: [],
    next: parseProgress(text).next ?? null,
  });
  writeArchive(context, session, shortTermFiles(context, text));
  clearShortTerm(context);
  return session;
}

/**
 * Progress without a session record: a start was cut before the record was written, or someone removed it. When it
 * holds work, it is archived under the id given. Caller holds the lock.
 */
export function archiveOrphan(
  context: Context,
  allocate: () => { id: string; seq: number },
): ArchivedSession | null {
  const text = readProgressText(context);
  if (!holdsWork(text) && readKfrFile(context).entries.length === 0) return null;
  const { date, lines, next } = parseProgress(text);
  const session: ArchivedSession = {
    schema_version: '1.0',
    ...allocate(),
    started_at: `${date ?? timestamp(context).slice(0, 10)}T${lines[0]?.time ?? '00:00'}:00.000Z`,
    branch: null,
    head: null,
    status: 'interrupted',
    ended_at: null,
    learned: [],
    failed: [],
    next: next ?? null,
  };
  writeArchive(context, session, shortTermFiles(context, text));
  clearShortTerm(context);
  context.warnings.push(
    `Progress without a session was found; it is kept as ${session.id} (${timestamp(context)}).`,
  );
  return session;
}

/** What a session's archive has beside its record, as it stands now. */
export function shortTermFiles(context: Context, progress: string): ArchiveFiles {
  const { disk, layout } = context;
  const focus = disk.readDocument(FOCUS, focusFile(layout), NO_FOCUS).value;
  const kfr = readKfrFile(context);
  return {
    'progress.txt': progress,
    'focus.json': encodeDocument(focus).toString('utf8'),
    ...(isUsed(kfr) ? { 'kfr.json': encodeDocument(kfr).toString('utf8') } : {}),
  };
}

const isUsed = ({ entries, closed }: Kfr): boolean => entries.length > 0 || closed.length > 0;
