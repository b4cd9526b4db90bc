import { createHash, hash } from 'node:crypto';

/** The five ledgers (docs/format.md). */
export const TIERS = ['execution', 'evaluation', 'knowledge', 'audit', 'notes'] as const;
export type Tier = (typeof TIERS)[number];

/** A record's line, without its LF. */
export const MAX_RECORD_BYTES = 1024 * 1024;

/** Lines as they were read, with a character for each byte. */
export interface Piece {
  bytes: Buffer;
  text: string;
  isAscii: boolean;
}

/** How many other heads one record names; the rest stay heads and are named later. */
export const MAX_SEEN = 64;

/** 1 for what is no small hex digit. */
const NO_DIGIT = new Uint8Array(0x10000).fill(1);
for (const digit of '0123456789abcdef') NO_DIGIT[digit.charCodeAt(0)] = 0;

/** 64 small hex digits. By a table and without a branch: every line has some of them. */
export function isRecordId(text: unknown): text is string {
  if (typeof text !== 'string' || text.length !== 64) return false;
  let wrong = 0;
  for (let i = 0; i < 64; i++) wrong |= NO_DIGIT[text.charCodeAt(i)] as number;
  return wrong === 0;
}

/** What every record has; its own fields follow. */
export interface LedgerRecord {
  v: 1;
  tier: Tier;
  /** Greater than that of every record it follows. */
  n: number;
  /** The record before it in its segment; null in the first, which names its ledger. */
  prev: string | null;
  /** Other heads known when it was written. */
  seen: string[];
  ledger?: string;
  at?: string;
  session?: string | null;
  actor?: string;
  kind: string;
  [field: string]: unknown;
}

/** What stands where a redacted record stood (LTM-19). */
export interface Tombstone {
  v: 1;
  /** So that an archive which begins with it says whose it is. */
  tier?: Tier;
  redacted: string;
  n: number;
  prev: string | null;
  seen: string[];
  /** Of the first record of a segment: what follows belongs to that ledger. */
  ledger?: string;
}

/** The id of a record: SHA-256 of its line's bytes, without the LF. */
export function recordId(line: Uint8Array | string): string {
  return hash('sha256', line);
}

/** The id as 32 characters, one for each byte: half the work of hex. */
export const recordDigest = (line: Uint8Array): string => hash('sha256', line, 'binary');

/** A line of a piece; a plain array takes less time to make than a Buffer. */
export const lineOf = ({ bytes }: Piece, start: number, end: number): Uint8Array =>
  new Uint8Array(bytes.buffer, bytes.byteOffset + start, end - start);

/** The id of a repository's ledger: the same on every clone that shares the smallest root commit. */
export function ledgerId(tier: Tier, root: string): string {
  return createHash('sha256').update(`forge\u0000${tier}\u0000${root}`).digest('hex');
}

/** No time and no random part, so that two people who both `init` write the same line. */
export function genesisLine(tier: Tier, ledger: string): string {
  return JSON.stringify({ v: 1, tier, n: 1, prev: null, seen: [], kind: 'genesis', ledger });
}

/** Characters of noise in one line of padding. */
const PAD = 512 * 1024;

/**
 * Lines that hold nothing, for a new file with records that stood in another one. Git takes a file for renamed when a
 * new one has half of what it had, and where two branches have removed it, that is a conflict; with as much of
 * something else beside the records they are no half. Never the same twice, or two such files would be alike; but each
 * line names what its noise is made of, so that anyone can make it again, and nothing else passes for padding.
 */
export function paddingLines(length: number, token: string): Buffer {
  const lines: string[] = [];
  for (let left = length; left > 0; left -= PAD) {
    const seed = hash('sha256', `${lines.length} ${token}`);
    lines.push(`${JSON.stringify({ v: 1, pad: seed, noise: noise(seed, Math.min(left, PAD)) })}\n`);
  }
  return Buffer.from(lines.join(''), 'latin1');
}

/** At least so many characters: base64 of SHA-512 over the seed and 0, 88, 176, … */
function noise(seed: string, length: number): string {
  const parts: string[] = [];
  for (let made = 0; made < length; made += 88)
    parts.push(createHash('sha512').update(`${seed}${made}`).digest('base64'));
  return parts.join('');
}

export type ParsedLine =
  | { kind: 'record'; record: LedgerRecord }
  | { kind: 'tombstone'; tombstone: Tombstone }
  | { kind: 'padding' }
  | { kind: 'bad'; reason: string };

/** Reads one line. By hand: every command that touches memory comes through here, thousands of times. */
export function parseLine(text: string): ParsedLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return bad(describeUnparsable(text));
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return bad('it is not a JSON object');
  const line = value as Record<string, unknown>;
  if (line.v !== 1) return bad(`its version is ${JSON.stringify(line.v)}, this forge knows 1`);
  if (line.pad !== undefined) return parsePadding(line);
  const problem = linkProblem(line);
  if (problem) return bad(problem);
  if (line.redacted !== undefined) return parseTombstone(line);
  if (!(TIERS as readonly unknown[]).includes(line.tier))
    return bad(`its tier is ${JSON.stringify(line.tier)}`);
  if (typeof line.kind !== 'string') return bad('it has no kind');
  if (line.prev === null && !isRecordId(line.ledger))
    return bad('it is a first record without its ledger id');
  return { kind: 'record', record: line as LedgerRecord };
}

function parseTombstone(line: Record<string, unknown>): ParsedLine {
  const { redacted, tier, ledger } = line;
  if (!isRecordId(redacted)) return bad('its "redacted" is no record id');
  if (tier !== undefined && !(TIERS as readonly unknown[]).includes(tier))
    return bad(`its tier is ${JSON.stringify(tier)}`);
  if (ledger !== undefined && !isRecordId(ledger)) return bad('its "ledger" is no ledger id');
  return { kind: 'tombstone', tombstone: line as unknown as Tombstone };
}

function parsePadding({ pad, noise: found }: Record<string, unknown>): ParsedLine {
  const made = isRecordId(pad) && typeof found === 'string' && found.length <= PAD + 88;
  return made && found === noise(pad, found.length)
    ? { kind: 'padding' }
    : bad('it is padding that forge did not make');
}

const bad = (reason: string): ParsedLine => ({ kind: 'bad', reason });

function linkProblem({ n, prev, seen }: Record<string, unknown>): string | null {
  if (!Number.isSafeInteger(n) || (n as number) < 1) return 'its "n" is no whole number';
  if (prev !== null && !isRecordId(prev)) return 'its "prev" is no record id';
  if (!Array.isArray(seen) || seen.length > MAX_SEEN || !seen.every(isRecordId))
    return 'its "seen" is no list of record ids';
  return null;
}

/** What a line that is not JSON looks like: people act differently on each. */
function describeUnparsable(text: string): string {
  if (text.trim() === '') return 'it is blank';
  if (/^(<{7}|={7}|>{7}|\|{7})( |$)/.test(text)) return 'it is a merge conflict marker';
  if (text === '\u0000'.repeat(text.length)) return 'it is filled with zeros';
  if (text.startsWith('version https://git-lfs')) return 'it is a Git LFS pointer';
  const glued = text.match(/\}[^{]?\{"v":1,/g)?.length ?? 0;
  if (glued > 0) return `${glued + 1} records are glued together`;
  return 'it is not JSON';
}

/** Where a record belongs; `ledger` is written in the first of a segment alone. */
export interface Links {
  v: 1;
  tier: Tier;
  n: number;
  prev: string | null;
  seen: string[];
  /**
   * Of random length, in the first of a segment. Git compares files by blocks of 64 bytes: without it two short
   * segments with the same links and the same ledger id would be alike enough to be taken for one that was renamed.
   */
  salt?: string;
  ledger: string;
}

const FIRST_ONLY: ReadonlySet<string> = new Set(['salt', 'ledger']);

/** One line of a ledger: the links first, then who and when, then the record's own fields. */
export function formatRecord({ salt = '', ledger, ...links }: Links, body: Record<string, unknown>): string {
  const line: Record<string, unknown> = links;
  if (links.prev === null) {
    if (salt !== '') line.salt = salt;
    line.ledger = ledger;
  }
  line.at = body.at;
  line.session = body.session;
  line.actor = body.actor;
  line.kind = body.kind;
  for (const field in body) if (!(field in line) && !FIRST_ONLY.has(field)) line[field] = body[field];
  return JSON.stringify(line);
}

/** Readers sort by this: files have no order. */
export function byNumber(a: { n: number; id: string }, b: { n: number; id: string }): number {
  return a.n - b.n || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}
