import { isAscii, isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import {
  type LedgerRecord,
  MAX_RECORD_BYTES,
  type ParsedLine,
  parseLine,
  recordId,
  type Tier,
  type Tombstone,
} from './record.js';

/** Larger files are refused without reading them. */
export const MAX_CONTAINER_BYTES = 100 * 1024 * 1024;

/** A file of the ledger: `<session>-<seg>.jsonl`, or `put-<seg>-<random>.jsonl` and `red-…` for moved chains. */
const NAME = /^(?:(put|red)-([0-9a-f]{8})-[0-9a-f]{8}|.*-([0-9a-f]{8}))\.jsonl$/;

/** The chain that a file name announces; null for a name that is not a container's. */
export function segmentOf(name: string): string | null {
  const match = NAME.exec(name);
  return match?.[2] ?? match?.[3] ?? null;
}

/** Number of spaces before each line, from the random part of the name: git must not pair files as renames. */
export function indentOf(name: string): number {
  return Number.parseInt(/([0-9a-f]{2})\.jsonl$/.exec(name)?.[1] ?? '0', 16) & 63;
}

/** The bytes of a container with these lines. */
export function formatContainer(name: string, lines: readonly string[]): Buffer {
  const spaces = ' '.repeat(indentOf(name));
  return Buffer.from(lines.map((line) => `${spaces}${line}\n`).join(''), 'utf8');
}

export interface Problem {
  /** 1-based. */
  line: number;
  /** 0-based, in bytes. */
  offset: number;
  reason: string;
  /** Of the line, as `repair` vouches for it. */
  length: number;
  sha256: string;
  /** The record before it. */
  last_good: { line: number; n: number; id: string } | null;
}

/** The fields of a record that rules of the ledger read. */
export interface Mark {
  index: number;
  kind: string;
  subjects: string[];
  /** When it was written, and why. */
  at: string;
  reasons: string[];
  /** Writing waits until a human has acknowledged it. */
  halts?: true;
  /** The tier that a `reset` begins anew. */
  tier?: string;
  /** SHA-256 of the idempotency keys of redacted records. */
  keys?: string[];
  /** Bytes of memory that a human has accepted. */
  growth?: number;
}

/** Facts of one container. They are kept in a cache, so they must survive JSON. */
export interface Container {
  name: string;
  /** Device, inode, size and times of the file; '' for one that git stores. */
  stamp: string;
  /** Git's id of these bytes. */
  blob: string;
  seg: string;
  ledger: string | null;
  /** One id and number for each record, in the order of the chain. */
  ids: string[];
  ns: number[];
  /** Other heads that the record at an index names. */
  seen: [index: number, ids: string[]][];
  /** Indexes of tombstones. */
  tombstones: number[];
  marks: Mark[];
  /** Idempotency keys. */
  keys: [index: number, key: string][];
  /** Records and their bytes by tier. */
  tiers: Partial<Record<Tier, { records: number; bytes: number }>>;
  /** Of the last record. */
  last: string | null;
  lastTier: Tier | null;
  /** The largest cycle number. */
  cycle: number;
  problems: Problem[];
  /** An unfinished last line: a writer was interrupted. */
  torn: { line: number; offset: number; length: number } | null;
  hasCr: boolean;
  /** The file does not have the name, or the lines not the indentation, that forge gave them. */
  isRenamed: boolean;
}

const emptyFacts = (name: string, stamp: string, blob: string, seg: string): Container => ({
  ...{ name, stamp, blob, seg, ledger: null, ids: [], ns: [], seen: [], tombstones: [] },
  ...{ marks: [], keys: [], tiers: {}, last: null, lastTier: null, cycle: 0 },
  ...{ problems: [], torn: null, hasCr: false, isRenamed: false },
});

/** Git's object id of a blob. */
export const blobId = (bytes: Buffer, algorithm: 'sha1' | 'sha256' = 'sha1'): string =>
  createHash(algorithm).update(`blob ${bytes.length}\0`).update(bytes).digest('hex');

export interface Line {
  /** 1-based. */
  number: number;
  offset: number;
  /** Without indentation, CR and LF. */
  bytes: Buffer;
  indent: number;
  hasCr: boolean;
  isTorn: boolean;
}

/** The lines of a container by record id. */
export function linesById(bytes: Buffer): Map<string, string> {
  const lines = [...linesOf(bytes)].map((line) => line.bytes.toString('utf8'));
  return new Map(
    lines.map((line) => [/^\{"v":1,"redacted":"([0-9a-f]{64})"/.exec(line)?.[1] ?? recordId(line), line]),
  );
}

const [LF, CR, SPACE] = [10, 13, 32];

export function* linesOf(bytes: Buffer): Generator<Line> {
  for (let offset = 0, number = 1; offset < bytes.length; number++) {
    const found = bytes.indexOf(LF, offset);
    const end = found < 0 ? bytes.length : found;
    const hasCr = end > offset && bytes[end - 1] === CR;
    let start = offset;
    while (bytes[start] === SPACE && start < end) start++;
    yield {
      number,
      offset,
      indent: start - offset,
      bytes: bytes.subarray(start, hasCr ? end - 1 : end),
      hasCr,
      isTorn: found < 0,
    };
    offset = end + 1;
  }
}

/** Hands each record or tombstone of a container's bytes to `take`, with its id and line. Of one tier only its records. */
export function eachRecord(
  bytes: Buffer,
  take: (id: string, record: LedgerRecord | Tombstone, line: Line) => void,
  tier?: Tier,
): void {
  const start = tier === undefined ? null : Buffer.from(`{"v":1,"tier":"${tier}"`);
  for (const line of linesOf(bytes)) {
    if (start && !line.bytes.subarray(0, start.length).equals(start)) continue;
    const parsed = readLine(line);
    if (parsed.type === 'record') take(recordId(line.bytes), parsed.record, line);
    if (parsed.type === 'tombstone') take(parsed.tombstone.redacted, parsed.tombstone, line);
  }
}

function readLine({ bytes }: Line, isPlain = false): ParsedLine {
  if (bytes.length > MAX_RECORD_BYTES)
    return { type: 'bad', reason: `longer than ${MAX_RECORD_BYTES} bytes` };
  // A third faster, and nearly all lines are ASCII.
  return parseLine(isPlain ? bytes.toString('latin1') : bytes.toString('utf8'));
}

/** Reads a container and checks what one file shows: each line, its links to the line before, its segment. */
export function parseContainer(name: string, bytes: Buffer, stamp = '', blob = blobId(bytes)): Container {
  const seg = segmentOf(name) ?? '';
  const facts = emptyFacts(name, stamp, blob, seg);
  const indent = indentOf(name);
  const isPlain = isAscii(bytes);
  let lastGood: Problem['last_good'] = null;
  const wholeIsUtf8 = isPlain || isUtf8(bytes);
  for (const line of linesOf(bytes)) {
    if (line.hasCr) facts.hasCr = true;
    if (line.indent !== indent) facts.isRenamed = true;
    const parsed = readLine(line, isPlain);
    if (line.isTorn && parsed.type === 'bad') {
      facts.torn = { line: line.number, offset: line.offset, length: bytes.length - line.offset };
      break;
    }
    const reason = !wholeIsUtf8 && !isUtf8(line.bytes) ? 'not valid UTF-8' : takeLine(facts, parsed, line);
    if (reason) facts.problems.push({ ...problemOf(line, reason), last_good: lastGood });
    else lastGood = { line: line.number, n: facts.ns.at(-1) as number, id: facts.ids.at(-1) as string };
  }
  return facts;
}

const problemOf = ({ number, offset, bytes }: Line, reason: string): Omit<Problem, 'last_good'> => ({
  line: number,
  offset,
  reason,
  length: bytes.length,
  sha256: recordId(bytes),
});

/** Adds a line to the facts; returns why the line is damage. */
function takeLine(facts: Container, parsed: ParsedLine, line: Line): string | null {
  if (parsed.type === 'bad') return parsed.reason;
  const links = parsed.type === 'record' ? parsed.record : parsed.tombstone;
  const id = parsed.type === 'record' ? recordId(line.bytes) : parsed.tombstone.redacted;
  const index = facts.ids.length;
  const before = facts.ids[index - 1] ?? null;
  const earlier = facts.ns[index - 1] ?? 0;
  facts.ids.push(id);
  facts.last = id;
  facts.ns.push(links.n);
  facts.ledger ??= links.ledger ?? null;
  if (links.seen.length > 0) facts.seen.push([index, links.seen]);
  if (parsed.type === 'tombstone') facts.tombstones.push(index);
  else takeFields(facts, index, parsed.record, line.bytes.length);
  if (links.seg !== facts.seg) return `"seg" is ${links.seg}, the file name has ${facts.seg}`;
  if (links.prev !== before) return '"prev" is not the id of the line before';
  if (links.n <= earlier) return `"n" is ${links.n}, the line before has ${earlier}`;
  return null;
}

function takeFields(facts: Container, index: number, record: LedgerRecord, bytes: number): void {
  const { tier, cycle, key, session, seg } = record;
  const isMoved = /^(put|red|init)-/.test(facts.name);
  if (!isMoved && facts.name !== `${session ?? 'solo'}-${seg}.jsonl`) facts.isRenamed = true;
  const sum = facts.tiers[tier] ?? { records: 0, bytes: 0 };
  facts.tiers[tier] = { records: sum.records + 1, bytes: sum.bytes + bytes + 1 };
  facts.lastTier = tier;
  if (tier === 'execution' && Number.isSafeInteger(cycle))
    facts.cycle = Math.max(facts.cycle, cycle as number);
  if (typeof key === 'string') facts.keys.push([index, key]);
  const mark = tier === 'audit' ? markOf(index, record) : null;
  if (mark) facts.marks.push(mark);
}

/** Audit records that say nothing of other records, and stop nothing, are not needed for a judgement. */
const STANDING = new Set(['genesis', 'acknowledged', 'damage', 'reset']);

function markOf(index: number, record: LedgerRecord): Mark | null {
  const { kind, subjects, halts, at = '', reasons, reason, reset, keys, growth } = record;
  const ids = textsIn(subjects);
  if (ids.length === 0 && halts !== true && !STANDING.has(kind)) return null;
  const why = textsIn(reasons);
  return {
    ...{ index, kind, subjects: ids, at, reasons: why.length > 0 ? why : textsIn([reason]) },
    ...(halts === true ? { halts } : {}),
    ...(typeof reset === 'string' ? { tier: reset } : {}),
    ...(Array.isArray(keys) ? { keys: textsIn(keys) } : {}),
    ...(typeof growth === 'number' ? { growth } : {}),
  };
}

const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
