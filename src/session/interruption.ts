import { focusFile } from '../core/paths.js';
import { encodeDocument } from '../core/schema.js';
import { readKfrFile } from '../kfr/kfr.js';
import { type Entry, type Kfr, openEntries, requireResolved } from '../kfr/rules.js';
import { type Context, timestamp } from '../project/project.js';
import {
  type ArchiveFiles,
  clearShortTerm,
  readArchivedKfr,
  recentArchives,
  writeArchive,
} from './archive.js';
import { FOCUS, NO_FOCUS } from './focus-rules.js';
import { lastGiven } from './ids.js';
import { readProgressText } from './progress.js';
import { parseProgress } from './progress-rules.js';
import { type ArchivedSession, type RunningSession, resumable, sessionName, toArchive } from './rules.js';

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
function archiveOrphan(
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

/** Work without a record, before a session starts: its open questions can only be taken along. */
export function archiveLeft(
  context: Context,
  resume: string | undefined,
  allocate: () => { id: string; seq: number },
): ArchivedSession | null {
  if (resume !== 'latest')
    requireResolved(
      readKfrFile(context),
      'Working memory of a session whose record is gone cannot be left',
      'forge session start --resume latest  (takes it along)',
    );
  return archiveOrphan(context, allocate);
}

/**
 * A session of this place was interrupted with questions open, and no later one knows them: a `--resume` was cut off
 * after the archiving. What other clones left is theirs.
 */
export function refuseToForget(context: Context): void {
  const here = new Set(lastGiven(context.layout));
  const recent = recentArchives(context).filter(({ id }) => here.has(id));
  for (const left of resumable(recent)) {
    const kfr = readArchivedKfr(context, left.id);
    if (openEntries(kfr).length === 0) continue;
    const known = new Set(
      recent.filter(({ seq }) => seq > left.seq).flatMap(({ id }) => marksOf(context, id)),
    );
    const name = sessionName(left.id);
    requireResolved(
      { ...kfr, entries: kfr.entries.filter((entry) => !known.has(markOf(entry))) },
      `Session ${name} was interrupted and cannot be left`,
      `forge session start --resume ${name}  (takes them along)`,
    );
  }
}

/** An entry that was taken along keeps both. */
const markOf = ({ id, created_at }: Pick<Entry, 'id' | 'created_at'>): string => `${id} ${created_at}`;

function marksOf(context: Context, session: string): string[] {
  const { entries, closed } = readArchivedKfr(context, session);
  return [...entries, ...closed].map(markOf);
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
