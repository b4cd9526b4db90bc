import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { adoptKept } from '../core/disk.js';
import { diskError, listFolder, makeFolder, readPlain, removePath, replaceFiles } from '../core/files.js';
import { linkedWorktrees } from '../git/repository.js';
import type { Context } from '../project/project.js';
import { currentBranch, worktreeName } from './files.js';
import { isTombstoneOf, recordId } from './record.js';

/** `w`: written here. `s`: found here uncommitted, written elsewhere. */
type Origin = 'w' | 's';

export interface JournalLine {
  id: string;
  seg: string;
  how: Origin;
  /** Where it was written, so that a rejected branch can be discarded by its name. */
  branch: string;
  /** A remote branch has it. */
  published?: true;
  /** The record's line, byte for byte. Its SHA-256 is the id. The tombstone of a redacted record. */
  record: string;
}

export interface Journal {
  lines: JournalLine[];
  /** Lines whose bytes do not match their id. `ids` and `segs`: the records that they may have been. */
  damaged: { how: Origin; ids: string[]; segs: string[] }[];
}

/** The id comes first, so that a line is found behind one that has no end. */
const formatJournalLine = ({ id, seg, how, branch, published, record }: JournalLine): string =>
  `${JSON.stringify({ id, seg, how, branch, published }).slice(0, -1)},"record":${record}}\n`;

/** Checks each line by its hash. */
export function parseJournal(text: string): Journal {
  const journal: Journal = { lines: [], damaged: [] };
  for (const raw of text.split('\n')) {
    if (raw === '') continue;
    const whole = parseJournalLine(raw);
    // A write that was cut short, or a damaged line end, joins two lines. Each may be whole.
    for (const part of whole ? [] : raw.split(/(?=\{"id":"[0-9a-f]{64}")/)) {
      const line = parseJournalLine(part.slice(0, part.lastIndexOf('}') + 1));
      if (line) journal.lines.push(line);
      else journal.damaged.push(describeDamaged(part));
    }
    if (whole) journal.lines.push(whole);
  }
  return journal;
}

/** The record is not parsed, because its bytes count. */
function parseJournalLine(raw: string): JournalLine | null {
  const at = raw.indexOf(',"record":');
  try {
    const head = JSON.parse(`${raw.slice(0, at)}}`) as Omit<JournalLine, 'record'>;
    const record = raw.slice(at + 10, -1);
    const isOwn = recordId(record) === head.id || isTombstoneOf(head.id, record);
    const isWhole = raw.endsWith('}') && isOwn && record.includes(`"seg":"${head.seg}"`);
    return isWhole && /^[sw]$/.test(head.how) ? { ...head, record } : null;
  } catch {
    return null;
  }
}

function describeDamaged(raw: string): Journal['damaged'][number] {
  const record = /"record":(.*)\}$/.exec(raw)?.[1] ?? '';
  const named = (pattern: RegExp): string[] => [...raw.matchAll(pattern)].map(([, value = '']) => value);
  return {
    how: /"how":"s"/.test(raw) ? 's' : 'w',
    ids: [recordId(record), ...named(/"?id":"([0-9a-f]{64})"/g)],
    segs: named(/"seg":"([0-9a-f]{8})"/g),
  };
}

const journalFolder = ({ layout }: Context): string => join(layout.shared, 'journal');

export const ownJournalFile = (context: Context): string =>
  join(journalFolder(context), `${worktreeName(context)}.jsonl`);

/** '' if there is no journal. */
export const readJournalText = (path: string): string =>
  readPlain(path, Number.MAX_SAFE_INTEGER)?.toString('utf8') ?? '';

export const readJournal = (path: string): Journal => parseJournal(readJournalText(path));

/** The journals of all worktrees of this clone. */
export const journalFiles = (context: Context): string[] =>
  listFolder(journalFolder(context))
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(journalFolder(context), name));

/** Journal lines for records that this worktree wrote. */
export function writtenHere(context: Context, seg: string, records: readonly string[]): JournalLine[] {
  const branch = currentBranch(context);
  return records.map((record) => ({ id: recordId(record), seg, how: 'w', branch, record }));
}

/** Not synced: the record itself is, and the journal only helps to find it again. */
export function appendToJournal(context: Context, lines: readonly JournalLine[]): void {
  appendText(context, lines.map(formatJournalLine).join(''));
}

function appendText(context: Context, text: string): void {
  if (text === '') return;
  const path = ownJournalFile(context);
  try {
    makeFolder(dirname(path));
    fs.appendFileSync(path, text);
  } catch (error) {
    throw diskError(error, path);
  }
}

/** The caller holds the lock, so that no append is lost. */
export function rewriteJournal(path: string, lines: readonly JournalLine[]): void {
  replaceFiles([{ path, bytes: Buffer.from(lines.map(formatJournalLine).join(''), 'utf8') }]);
}

/** The main worktree takes over the journals and the copies of files of worktrees that were removed. */
export function adoptRemoved(context: Context): void {
  if (!context.repository || worktreeName(context) !== 'main') return;
  const linked = linkedWorktrees(context.repository.commonDir);
  adoptKept(context.layout, linked);
  for (const path of journalFiles(context)) {
    const name = basename(path);
    if (!name.startsWith('wt-') || linked.includes(name.slice(3, -'.jsonl'.length))) continue;
    // With its damaged lines, whose records may be found.
    appendText(context, `${readJournalText(path)}\n`);
    removePath(path);
  }
}
