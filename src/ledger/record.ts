import { usage } from '../core/error.js';
import { compareText, isObject, oneLine, sha256 } from '../core/text.js';

/** The tiers of the one ledger (docs/ledger.md). */
export const TIERS = ['execution', 'evaluation', 'knowledge', 'audit', 'note'] as const;
export type Tier = (typeof TIERS)[number];

/** Maximum size of a record's line, without indentation and LF. */
export const MAX_RECORD_BYTES = 1024 * 1024;
/** Maximum number of other heads that one record names. The rest stay heads and are named later. */
export const MAX_SEEN = 64;

/** The place of a record in the ledger. Its own fields follow. */
export interface Links {
  v: 1;
  tier: Tier;
  /** 1 + the largest `n` known; greater than that of every record it names. */
  n: number;
  /** The chain of the record: 8 hex digits, also in the name of its file. */
  seg: string;
  /** The record before it in its chain. Null in the first, which names the ledger. */
  prev: string | null;
  /** Other heads known when it was written. */
  seen: string[];
  ledger?: string;
}

export interface LedgerRecord extends Links {
  at?: string;
  session?: string | null;
  actor?: string;
  kind: string;
  [field: string]: unknown;
}

/** A record with its id. */
export interface Identified {
  id: string;
  record: LedgerRecord;
}

/** Replaces a redacted record and keeps its links. */
export interface Tombstone extends Omit<Links, 'tier'> {
  redacted: string;
}

export type ParsedLine =
  | { type: 'record'; record: LedgerRecord }
  | { type: 'tombstone'; tombstone: Tombstone }
  | { type: 'bad'; reason: string };

/** The id of a record: SHA-256 of its line without indentation, CR and LF. */
export const recordId = sha256;

/** The same in every clone that shares the smallest root commit. */
export const ledgerId = (root: string): string => sha256(`forge\u0000${root}`);

export const isRecordId = (value: unknown): value is string =>
  typeof value === 'string' && value.length === 64 && /^[0-9a-f]+$/.test(value);

/** Has no time and no random part: two people who both run `init` write the same line. */
export function genesisLine(ledger: string): { name: string; line: string } {
  const seg = ledger.slice(0, 8);
  const links: Links = { v: 1, tier: 'audit', n: 1, seg, prev: null, seen: [], ledger };
  return { name: `init-${seg}.jsonl`, line: JSON.stringify({ ...links, kind: 'genesis' }) };
}

/** The strings of a list that may hold anything. */
export const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

/** A field that may hold anything, as a text or a number; null for anything else. */
export const textIn = (value: unknown): string | null => (typeof value === 'string' ? value : null);
export const numberIn = (value: unknown): number | null => (typeof value === 'number' ? value : null);

/** One line of the ledger: links, then who and when, then the record's own fields. */
export function formatRecord(links: Links, body: Record<string, unknown>): string {
  const { at, session, actor, kind, ...rest } = body;
  // The second `links` keeps a body from replacing them.
  const line = JSON.stringify({ ...links, at, session, actor, kind, ...rest, ...links });
  const bytes = Buffer.byteLength(line);
  if (bytes > MAX_RECORD_BYTES)
    throw usage('record.too_large', `The record has ${bytes} bytes; ${MAX_RECORD_BYTES} are allowed.`, {
      hint: 'Keep the long part in a file and record its digest.',
    });
  return line;
}

export const formatTombstone = (id: string, { n, seg, prev, seen, ledger }: Links): string =>
  JSON.stringify({ v: 1, redacted: id, n, seg, prev, seen, ...(ledger ? { ledger } : {}) });

export const isTombstoneOf = (id: string, line: string): boolean =>
  line.startsWith(`{"v":1,"redacted":"${id}"`);

/** Parses one line without indentation and line end. */
export function parseLine(text: string): ParsedLine {
  let line: unknown;
  try {
    line = JSON.parse(text);
  } catch {
    return bad(UNPARSABLE.find(([pattern]) => pattern.test(text))?.[1] ?? 'not JSON');
  }
  if (!isObject(line)) return bad('not a JSON object');
  const problem = checkLinks(line);
  if (problem) return bad(problem);
  if (line.redacted !== undefined)
    return isRecordId(line.redacted)
      ? { type: 'tombstone', tombstone: line as unknown as Tombstone }
      : bad('"redacted" is not a record id');
  if (!(TIERS as readonly unknown[]).includes(line.tier))
    return bad(`unknown tier ${JSON.stringify(line.tier)}`);
  if (typeof line.kind !== 'string') return bad('"kind" is missing');
  return { type: 'record', record: line as LedgerRecord };
}

const bad = (reason: string): ParsedLine => ({ type: 'bad', reason });

function checkLinks({ v, n, seg, prev, seen, ledger }: Record<string, unknown>): string | null {
  if (v !== 1) return `version ${JSON.stringify(v)}; this forge reads 1`;
  if (!Number.isSafeInteger(n) || (n as number) < 1) return '"n" is not a positive whole number';
  if (typeof seg !== 'string' || !/^[0-9a-f]{8}$/.test(seg)) return '"seg" is not 8 hex digits';
  // Its digits need no check: the reader of a chain compares it with an id.
  if (prev !== null && (typeof prev !== 'string' || prev.length !== 64)) return '"prev" is not a record id';
  if (!Array.isArray(seen) || seen.length > MAX_SEEN || !seen.every(isRecordId))
    return '"seen" is not a list of record ids';
  if (prev === null && !isRecordId(ledger)) return 'a first record without its ledger id';
  return null;
}

/** Causes that a person handles differently. */
const UNPARSABLE: [RegExp, string][] = [
  [/^\s*$/, 'a blank line'],
  [/^(<{7}|={7}|>{7}|\|{7})( |$)/, 'a merge conflict marker'],
  [/^\0+$/, 'filled with zeros'],
  [/^version https:\/\/git-lfs/, 'a Git LFS pointer'],
];

/** The order of readers: containers have none. */
export const byNumber = (a: { n: number; id: string }, b: { n: number; id: string }): number =>
  a.n - b.n || compareText(a.id, b.id);

/** The fields that summarize a record, in this order. */
const SUMMARY = ['task_id', 'classification', 'action', 'feature', 'pattern', 'text', 'message', 'reason'];

/** What a record says, in one line of at most 160 characters. */
export function summaryOf(record: LedgerRecord): string {
  const { exit_code, knowledge_id, pattern, promoted } = record;
  const news = ['promoted', 'contested', 'reinstated'].flatMap((word) => {
    const ids = record[word];
    return Array.isArray(ids) && ids.length > 0 ? [`${ids.length} ${word}`] : [];
  });
  const runs = Array.isArray(record.runs) ? record.runs.map(describeRun) : [];
  const parts = [
    ...SUMMARY.flatMap((field) => (typeof record[field] === 'string' ? [record[field]] : [])),
    ...(pattern === undefined && typeof knowledge_id === 'string' ? [knowledge_id.slice(0, 12)] : []),
    ...(typeof exit_code === 'number' ? [`exit ${exit_code}`] : []),
    ...(Array.isArray(promoted) && news.length === 0 ? ['nothing new'] : news),
    ...(runs.length > 0 ? [runs.join(', ')] : []),
  ];
  return oneLine(parts.join(' '), 160);
}

const describeRun = ({ feature, exit_code, not_run }: Record<string, unknown>): string =>
  `${feature} ${not_run === undefined ? (exit_code === 0 ? 'passed' : 'failed') : 'not run'}`;
