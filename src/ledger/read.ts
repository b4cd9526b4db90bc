import { usage } from '../core/error.js';
import { fixedFile } from '../core/paths.js';
import { compareText, plural } from '../core/text.js';
import { namesOf } from '../learning/proven.js';
import type { Context } from '../project/project.js';
import { goneLedgers } from './gone.js';
import { byNumber, type LedgerRecord, parseLine, recordId, TIERS, type Tier } from './rules/record.js';
import {
  type Container,
  eachLine,
  eachSpan,
  listArchives,
  listContainers,
  MOVES,
  wasMoved,
} from './store/files.js';
import { Hiding } from './store/hidden.js';
import type { SpanHandler } from './store/line-splitter.js';
import { listTombstones } from './store/redact.js';

/** A record as readers get it. */
export interface ReadRecord {
  id: string;
  record: LedgerRecord;
}

export interface ReadOptions {
  /** Whether archives are read too; default true. */
  archived?: boolean;
  /** Keeps memory small: only what it accepts is held. */
  wanted?: (record: LedgerRecord, id: string) => boolean;
}

/**
 * Every record of a tier once, in order of (n, id). Reading works when memory is halted: what is no record is passed
 * over, and what was redacted, declared void or dropped is not shown.
 */
export function readRecords(context: Context, tier: Tier, options: ReadOptions = {}): ReadRecord[] {
  return untilSettled(() => {
    const records = new Map<string, LedgerRecord>();
    const hidden = eachRecord(context, tier, options, (id, record) => {
      if (options.wanted?.(record, id) !== false) records.set(id, record);
    });
    const read: ReadRecord[] = [];
    for (const [id, record] of records) if (!hidden?.(id)) read.push({ id, record });
    return read.sort((a, b) => byNumber({ n: a.record.n, id: a.id }, { n: b.record.n, id: b.id }));
  });
}

/** Lines that are moved elsewhere while they are read are read again. */
export function untilSettled<T>(read: () => T): T {
  for (let tries = 1; ; tries++)
    try {
      return read();
    } catch (error) {
      if (!wasMoved(error) || tries === MOVES) throw error;
    }
}

/**
 * Hands over the records of a tier in the order of their lines, copies and all; what stands where one was redacted comes
 * with its links alone. What `takeSpan` takes is not parsed: lines of cycles, which hide nothing. Returns what tells the
 * ids that are not to be shown; null when all are.
 */
export function eachRecord(
  context: Context,
  tier: Tier,
  { archived = true }: ReadOptions,
  take: (id: string, record: LedgerRecord) => void,
  takeSpan: (...span: Parameters<SpanHandler>) => boolean = () => false,
): ((id: string) => boolean) | null {
  const containers = containersOf(context, tier, archived);
  const hiding = new Hiding(context.layout);
  eachSpan(containers, (piece, start, end) => {
    if (takeSpan(piece, start, end)) return;
    const line = piece.bytes.subarray(start, end);
    const parsed = parseLine(line.toString());
    hiding.add(parsed, line);
    if (parsed.kind === 'tombstone')
      take(parsed.tombstone.redacted, { ...parsed.tombstone, tier, kind: 'hidden' });
    else if (parsed.kind === 'record' && parsed.record.tier === tier) take(recordId(line), parsed.record);
  });
  const { ids, ledgers } = hiding.finish();
  if (ids.size === 0 && ledgers.size === 0) return null;
  const dropped = ledgers.size > 0 ? findDropped(containers, ledgers) : NONE;
  return (id) => ids.has(id) || dropped.has(id);
}

const NONE: ReadonlySet<string> = new Set();

/** Records of dropped ledgers: which one they are of stands in the first of their segment, also where that was redacted. */
function findDropped(containers: readonly Container[], dropped: ReadonlySet<string>): Set<string> {
  const ledgers = new Map<string, string>();
  const found = new Set<string>();
  eachLine(containers, (bytes) => {
    const parsed = parseLine(bytes.toString('utf8'));
    if (parsed.kind !== 'record' && parsed.kind !== 'tombstone') return;
    const { ledger, prev } = parsed.kind === 'record' ? parsed.record : parsed.tombstone;
    const id = parsed.kind === 'record' ? recordId(bytes) : parsed.tombstone.redacted;
    const root = ledger ?? ledgers.get(prev ?? '') ?? '';
    ledgers.set(id, root);
    if (dropped.has(root)) found.add(id);
  });
  return found;
}

/** Archives last: compaction moves lines there. */
function containersOf({ layout }: Context, tier: Tier, archived: boolean): Container[] {
  const live = listContainers(layout, tier);
  return [...(archived ? listArchives(layout) : []), ...live];
}

/**
 * An answer that is short because files are gone says so. Git is asked only where it looks like that: nothing was found,
 * or a fixed file, which forge never removes, is not there.
 */
export async function warnMissing(context: Context, tiers: readonly Tier[], isEmpty: boolean): Promise<void> {
  const { disk, layout, warnings } = context;
  if (!isEmpty && tiers.every((tier) => disk.exists(fixedFile(layout, tier)))) return;
  // Reading works where git does not.
  const { length: gone } = await goneLedgers(context).catch(() => []);
  if (gone > 0)
    warnings.push(
      `${plural(gone, 'memory file')} that git has ${gone === 1 ? 'is' : 'are'} missing here; more: forge memory verify`,
    );
}

export interface LogEntry {
  id: string;
  tier: Tier;
  n: number;
  kind: string;
  at: string | null;
  session: string | null;
  /** What the knowledge that it is about says, while its ledger has that. */
  pattern?: string;
  record: LedgerRecord;
}

const DEFAULT_LIMIT = 20;

/** The last records, newest last, of one tier or of all by time. */
export async function logMemory(
  context: Context,
  input: { tier?: Tier; limit?: number } = {},
): Promise<{ records: LogEntry[]; warnings: string[] }> {
  const limit = input.limit ?? DEFAULT_LIMIT;
  const tiers = input.tier ? [input.tier] : TIERS;
  const entries = tiers.flatMap((tier) => lastRecords(context, tier, limit));
  if (!input.tier) entries.sort((a, b) => compareText(a.at ?? '', b.at ?? '') || a.n - b.n);
  await warnMissing(context, tiers, entries.length === 0);
  return { records: nameKnowledge(context, entries.slice(-limit)), warnings: context.warnings };
}

/** Records that name knowledge by its id alone, with its words. */
function nameKnowledge(context: Context, entries: LogEntry[]): LogEntry[] {
  const isNamed = ({ tier, record }: LogEntry): boolean =>
    typeof record.knowledge_id === 'string' && (tier === 'audit' || typeof record.pattern !== 'string');
  if (!entries.some(isNamed)) return entries;
  const names = namesOf(readRecords(context, 'knowledge'));
  return entries.map((entry) => {
    const pattern = isNamed(entry) ? names.get(String(entry.record.knowledge_id)) : undefined;
    return pattern === undefined ? entry : { ...entry, pattern };
  });
}

/** Bytes of a tier that are read for its last records. */
export const sizeOf = (context: Context, tier: Tier): number =>
  containersOf(context, tier, false).reduce((sum, { size }) => sum + size, 0);

/** Holds little more than is asked for, however long the ledger is: first only the numbers are read. */
export function lastRecords(context: Context, tier: Tier, limit: number): LogEntry[] {
  const numbers: number[] = [];
  eachLine(containersOf(context, tier, false), (bytes) => {
    const n = /"n":(\d+)/.exec(bytes.toString('latin1', 0, 80))?.[1];
    if (n) numbers.push(Number(n));
  });
  // Some of the last may be hidden or stand twice.
  const floor = numbers.sort((a, b) => b - a)[limit + 100] ?? 0;
  const wanted = ({ n, kind }: LedgerRecord): boolean => n >= floor && kind !== 'genesis';
  return readRecords(context, tier, { archived: false, wanted })
    .slice(-limit)
    .map(({ id, record }) => toEntry(id, record));
}

const toEntry = (id: string, record: LedgerRecord): LogEntry => ({
  id,
  tier: record.tier,
  n: record.n,
  kind: record.kind,
  at: record.at ?? null,
  session: record.session ?? null,
  record,
});

/** One record by its id or the start of it (at least 6 digits); exit 2 when none or several are meant. */
export function showRecord(context: Context, { id: wanted }: { id: string }): LogEntry {
  checkRecordStart(wanted);
  const found = [
    ...TIERS.flatMap((tier) =>
      readRecords(context, tier, { wanted: (_record, id) => id.startsWith(wanted) }),
    ).map(({ id, record }) => toEntry(id, record)),
    ...findRedacted(context, wanted),
  ];
  const [first] = found;
  if (!first) throw usage('record.unknown', `There is no record ${wanted}.`, { hint: 'forge memory log' });
  if (found.length > 1)
    throw usage('record.ambiguous', `${wanted} means ${found.length} records; give more digits.`, {
      hint: 'forge memory log',
    });
  return first;
}

export function checkRecordStart(start: string): void {
  if (/^[0-9a-f]{6,64}$/.test(start)) return;
  throw usage('record.id', 'A record is named by its id, or the first 6 or more of its 64 hex digits.', {
    hint: 'forge memory log',
  });
}

/** What is left of redacted records: their links, and who took the rest out, when and why. */
function findRedacted(context: Context, wanted: string): LogEntry[] {
  const stones = listTombstones(context.layout).filter(({ redacted }) => redacted.startsWith(wanted));
  if (stones.length === 0) return [];
  const audits = readRecords(context, 'audit', { wanted: ({ kind }) => kind === 'redacted' });
  return stones.map((stone) => {
    const last = audits.findLast(({ record }) => record.subject === stone.redacted);
    const said: Partial<LedgerRecord> = last?.record ?? {};
    const words = last ? { by: said.by, reason: said.reason, audit: last.id } : {};
    const when = { at: said.at ?? null, session: said.session ?? null };
    const record = { ...stone, kind: 'redacted', ...when, ...words } as unknown as LedgerRecord;
    return { id: stone.redacted, tier: stone.tier, n: stone.n, kind: 'redacted', ...when, record };
  });
}
