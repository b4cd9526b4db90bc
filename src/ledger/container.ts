import { isAscii, isUtf8 } from 'node:buffer';
import {
  type Identified,
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

/** `<session>-<seg>.jsonl`; `put-<seg>-<random>.jsonl` and `red-…` for chains that repair or redact moved. */
const NAME = /^(?:(put|red)-([0-9a-f]{8})-[0-9a-f]{8}|.*-([0-9a-f]{8}))\.jsonl$/;

/** The chain that a file name announces. Null if the name is not that of a container. */
export function segmentOf(name: string): string | null {
  const match = NAME.exec(name);
  return match?.[2] ?? match?.[3] ?? null;
}

/** Number of spaces before each line, from the random part of the name: git must not pair files as renames. */
const indentOf = (name: string): number =>
  Number.parseInt(/([0-9a-f]{2})\.jsonl$/.exec(name)?.[1] ?? '0', 16) & 63;

/** The bytes of a container with these lines. */
export function formatContainer(name: string, lines: readonly string[]): Buffer {
  const spaces = ' '.repeat(indentOf(name));
  return Buffer.from(lines.map((line) => `${spaces}${line}\n`).join(''), 'utf8');
}

/** Why a line is damaged that does not follow the one before it. */
export const UNLINKED = '"prev" is not the id of the line before';

export interface Problem {
  /** 1-based. */
  line: number;
  /** 0-based, in bytes. */
  offset: number;
  reason: string;
  /** SHA-256 of the line, by which a person vouches for it. */
  sha256: string;
  /** The record before it. */
  last_good: { line: number; n: number; id: string } | null;
}

/** Facts about one container. They are cached as JSON. */
export interface Container {
  name: string;
  /** Device, inode, size and times of the file; '' for a blob. */
  stamp: string;
  blob: string;
  seg: string;
  ledger: string | null;
  /** One id and number for each record, in the order of the chain. */
  ids: string[];
  ns: number[];
  /** Other heads that the record at an index names. */
  seen: [index: number, ids: string[]][];
  tombstones: number[];
  audit: Identified[];
  keys: [index: number, key: string][];
  /** Number and size of the records of each tier. */
  tiers: Partial<Record<Tier, { records: number; bytes: number }>>;
  /** The tier of the last record. */
  lastTier: Tier | null;
  cycle: number;
  problems: Problem[];
  /** The number of an unfinished last line: its writer was interrupted. */
  torn: number | null;
  hasCr: boolean;
}

/** Git's object id of a blob. */
const blobId = (bytes: Buffer): string =>
  process
    .getBuiltinModule('node:crypto')
    .createHash('sha1')
    .update(`blob ${bytes.length}\0`)
    .update(bytes)
    .digest('hex');

export interface Line {
  /** 1-based. */
  number: number;
  offset: number;
  /** Without indentation, CR and LF. */
  bytes: Buffer;
  hasCr: boolean;
  isTorn: boolean;
}

const [LF, CR, SPACE] = [10, 13, 32];

export function* linesOf(bytes: Buffer): Generator<Line> {
  for (let offset = 0, number = 1; offset < bytes.length; number++) {
    const found = bytes.indexOf(LF, offset);
    const end = found < 0 ? bytes.length : found;
    const hasCr = end > offset && bytes[end - 1] === CR;
    let start = offset;
    while (bytes[start] === SPACE && start < end) start++;
    const content = bytes.subarray(start, hasCr ? end - 1 : end);
    yield { number, offset, bytes: content, hasCr, isTorn: found < 0 };
    offset = end + 1;
  }
}

/** The lines of a container by record id. */
export function linesById(bytes: Buffer): Map<string, string> {
  const lines = [...linesOf(bytes)].map((line) => line.bytes.toString('utf8'));
  return new Map(
    lines.map((line) => [/^\{"v":1,"redacted":"([0-9a-f]{64})"/.exec(line)?.[1] ?? recordId(line), line]),
  );
}

/**
 * Calls `take` for each record and tombstone. With a tier: only for its records, and only these are parsed. `ids`: those of
 * the first lines, if they are known.
 */
export function eachRecord(
  bytes: Buffer,
  take: (id: string, record: LedgerRecord | Tombstone, line: Line) => void,
  tier?: Tier,
  ids: readonly string[] = [],
): void {
  const start = tier === undefined ? null : Buffer.from(`{"v":1,"tier":"${tier}"`);
  const isPlain = isAscii(bytes);
  for (const line of linesOf(bytes)) {
    if (start && !line.bytes.subarray(0, start.length).equals(start)) continue;
    const parsed = readLine(line, isPlain);
    if (parsed.type === 'record') take(ids[line.number - 1] ?? recordId(line.bytes), parsed.record, line);
    if (parsed.type === 'tombstone') take(parsed.tombstone.redacted, parsed.tombstone, line);
  }
}

function readLine({ bytes }: Line, isPlain: boolean): ParsedLine {
  if (bytes.length > MAX_RECORD_BYTES)
    return { type: 'bad', reason: `longer than ${MAX_RECORD_BYTES} bytes` };
  // Decoding ASCII as latin1 is a third faster, and nearly all lines are ASCII.
  return parseLine(bytes.toString(isPlain ? 'latin1' : 'utf8'));
}

/** Parses a container and checks everything that one file shows: each line, its link to the line before, its segment. */
export function parseContainer(name: string, bytes: Buffer, stamp = '', blob = blobId(bytes)): Container {
  const facts: Container = {
    ...{ name, stamp, blob, seg: segmentOf(name) ?? '', ledger: null, ids: [], ns: [], seen: [] },
    ...{ tombstones: [], audit: [], keys: [], tiers: {}, lastTier: null, cycle: 0 },
    ...{ problems: [], torn: null, hasCr: false },
  };
  const isPlain = isAscii(bytes);
  const isValid = isPlain || isUtf8(bytes);
  let last_good: Problem['last_good'] = null;
  for (const line of linesOf(bytes)) {
    const { number, offset, bytes: content } = line;
    if (line.hasCr) facts.hasCr = true;
    const parsed = readLine(line, isPlain);
    if (line.isTorn && parsed.type === 'bad') {
      facts.torn = number;
      break;
    }
    const reason = !isValid && !isUtf8(content) ? 'not valid UTF-8' : takeLine(facts, parsed, content);
    if (reason) facts.problems.push({ line: number, offset, reason, sha256: recordId(content), last_good });
    else last_good = { line: number, n: facts.ns.at(-1) as number, id: facts.ids.at(-1) as string };
  }
  return facts;
}

/** Adds a line to the facts. Returns why the line is damaged, or null. */
function takeLine(facts: Container, parsed: ParsedLine, line: Buffer): string | null {
  if (parsed.type === 'bad') return parsed.reason;
  const links = parsed.type === 'record' ? parsed.record : parsed.tombstone;
  const index = facts.ids.length;
  const before = facts.ids[index - 1] ?? null;
  const earlier = facts.ns[index - 1] ?? 0;
  facts.ids.push(parsed.type === 'record' ? recordId(line) : parsed.tombstone.redacted);
  facts.ns.push(links.n);
  facts.ledger ??= links.ledger ?? null;
  if (links.seen.length > 0) facts.seen.push([index, links.seen]);
  if (parsed.type === 'tombstone') facts.tombstones.push(index);
  else takeFields(facts, index, parsed.record, line.length + 1);
  if (links.seg !== facts.seg) return `"seg" is ${links.seg}, the file name has ${facts.seg}`;
  if (links.prev !== before) return UNLINKED;
  if (links.n <= earlier) return `"n" is ${links.n}, the line before has ${earlier}`;
  return null;
}

function takeFields(facts: Container, index: number, record: LedgerRecord, bytes: number): void {
  const { tier, cycle, key } = record;
  facts.tiers[tier] ??= { records: 0, bytes: 0 };
  facts.tiers[tier].records += 1;
  facts.tiers[tier].bytes += bytes;
  facts.lastTier = tier;
  if (tier === 'execution' && Number.isSafeInteger(cycle))
    facts.cycle = Math.max(facts.cycle, cycle as number);
  if (typeof key === 'string') facts.keys.push([index, key]);
  if (tier === 'audit') facts.audit.push({ id: facts.ids[index] as string, record });
}
