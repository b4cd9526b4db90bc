import { encodeDocument } from '../domain/document.js';
import { FOCUS, NO_FOCUS } from '../domain/focus.js';
import { parseProgress } from '../domain/progress.js';
import { type ArchivedSession, type RunningSession, toArchive } from '../domain/session.js';
import { focusFile } from '../store/layout.js';
import { clearShortTerm, writeArchive } from './archive.js';
import { type Context, timestamp } from './context.js';
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
  writeArchive(context, session, { 'progress.txt': text, 'focus.json': readFocusText(context) });
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
  if (!holdsWork(text)) return null;
  const { date, lines, next } = parseProgress(text);
  const session: ArchivedSession = {
    schema_version: '1.0',
    ...allocate(),
    started_at: `${date}T${lines[0]?.time ?? '00:00'}:00.000Z`,
    branch: null,
    head: null,
    status: 'interrupted',
    ended_at: null,
    learned: [],
    failed: [],
    next: next ?? null,
  };
  writeArchive(context, session, { 'progress.txt': text, 'focus.json': readFocusText(context) });
  clearShortTerm(context);
  context.warnings.push(
    `Progress without a session was found; it is kept as ${session.id} (${timestamp(context)}).`,
  );
  return session;
}

export function readFocusText({ disk, layout }: Context): string {
  return encodeDocument(disk.readDocument(FOCUS, focusFile(layout), NO_FOCUS).value).toString('utf8');
}
