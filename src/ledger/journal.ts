import * as fs from 'node:fs';
import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { diskError, listFolder, makeFolder, readPlain, removePath, replaceFiles } from '../core/files.js';
import { journalFolder, type LedgerContext, stampOf, worktreeName } from './context.js';
import { recordId } from './record.js';

/** How a record came: `w` was written here; `s` stood here uncommitted and was written elsewhere. */
export type Origin = 'w' | 's';

export interface JournalLine {
  id: string;
  seg: string;
  how: Origin;
  branch: string;
  /** Seen on a remote branch. */
  published: boolean;
  /** The record's line, byte for byte. Its SHA-256 is the id. */
  record: string;
}

/** A line whose bytes do not give its id. */
export interface DamagedLine {
  raw: string;
  /** The record it may have been: the id that it names, or the one that its bytes give. */
  ids: string[];
  seg: string;
}

export interface Journal {
  lines: JournalLine[];
  damaged: DamagedLine[];
}

const HEADER =
  /^\{"id":"([0-9a-f]{64})","seg":"([0-9a-f]{8})","how":"([ws])","branch":("(?:[^"\\]|\\.)*")(,"published":true)?,"record":/;

function formatJournalLine({ id, seg, how, branch, published, record }: JournalLine): string {
  const mark = published ? ',"published":true' : '';
  return `{"id":"${id}","seg":"${seg}","how":"${how}","branch":${JSON.stringify(branch)}${mark},"record":${record}}\n`;
}

/** Checks each line by its hash. A line that does not give its id is kept apart: it may be repaired later. */
export function parseJournal(text: string): Journal {
  const journal: Journal = { lines: [], damaged: [] };
  for (const raw of text.split('\n')) if (raw !== '') takeLine(journal, raw);
  return journal;
}

function takeLine(journal: Journal, raw: string): void {
  const match = HEADER.exec(raw);
  const record = match ? raw.slice(match[0].length, -1) : '';
  const [, id = '', seg = '', how, branch = '""', published] = match ?? [];
  if (match && raw.endsWith('}') && record.includes(`"seg":"${seg}"`) && recordId(record) === id) {
    const line = { id, seg, how: how as Origin, published: published !== undefined, record };
    journal.lines.push({ ...line, branch: JSON.parse(branch) as string });
    return;
  }
  // A lost line end glues two lines together. The second one may be whole.
  const next = raw.indexOf('{"id":"', 1);
  const isGlued = next > 0 && HEADER.test(raw.slice(next));
  journal.damaged.push(describeDamaged(isGlued ? raw.slice(0, next - 1) : raw));
  if (isGlued) takeLine(journal, raw.slice(next));
}

function describeDamaged(raw: string): DamagedLine {
  const content = /"record":(.*)\}$/.exec(raw)?.[1] ?? '';
  const named = /^.{0,3}"?id":"([0-9a-f]{64})"/.exec(raw)?.[1];
  const seg = /"seg":"([0-9a-f]{8})"/.exec(content || raw)?.[1] ?? '';
  return { raw, ids: [recordId(content), ...(named === undefined ? [] : [named])], seg };
}

export const ownJournalFile = (context: LedgerContext): string =>
  join(journalFolder(context.layout), `${worktreeName(context)}.jsonl`);

/** '' when there is no journal. */
export const readJournalText = (path: string): string =>
  readPlain(path, Number.MAX_SAFE_INTEGER)?.toString('utf8') ?? '';

export const readJournal = (path: string): Journal => parseJournal(readJournalText(path));

/** Of this clone's journals, by name. */
export const stampsOfJournals = ({ layout }: LedgerContext): string[] =>
  listFolder(journalFolder(layout)).map((name) => `${name} ${stampOf(join(journalFolder(layout), name))}`);

/** Of all worktrees of this clone. */
export const journalFiles = ({ layout }: LedgerContext): string[] =>
  listFolder(journalFolder(layout))
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(journalFolder(layout), name));

/** Not synced: the record itself is, and the journal only helps to find it again. */
export function appendToJournal(context: LedgerContext, lines: readonly JournalLine[]): void {
  if (lines.length === 0) return;
  const path = ownJournalFile(context);
  try {
    if (!fs.existsSync(dirname(path))) makeFolder(dirname(path));
    fs.appendFileSync(path, lines.map(formatJournalLine).join(''));
  } catch (error) {
    throw diskError(error, path);
  }
}

/** The caller holds the lock, so that no append is lost. */
export function rewriteJournal(path: string, { lines, damaged }: Journal): void {
  const text = lines.map(formatJournalLine).join('') + damaged.map(({ raw }) => `${raw}\n`).join('');
  makeFolder(dirname(path));
  replaceFiles([{ path, bytes: Buffer.from(text, 'utf8') }]);
}

/** Names of the linked worktrees, as git keeps them. */
export function linkedWorktrees(commonDir: string): string[] {
  const folder = join(commonDir, 'worktrees');
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  return readdirSync(folder);
}

/** The main worktree takes over the journals of worktrees that were removed. */
export function adoptJournals(context: LedgerContext): void {
  if (!context.repository || worktreeName(context) !== 'main') return;
  const linked = new Set(linkedWorktrees(context.repository.commonDir).map((name) => `wt-${name}.jsonl`));
  for (const path of journalFiles(context)) {
    const name = basename(path);
    if (!name.startsWith('wt-') || linked.has(name)) continue;
    appendToJournal(context, readJournal(path).lines);
    removePath(path);
  }
}
