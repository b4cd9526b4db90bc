import { usage } from '../core/error.js';
import type { Context } from '../project/project.js';
import { append, type Body, currentState, type RecordRef } from './append.js';
import { isInIndex, moveChain } from './chains.js';
import { type Container, eachRecord, type Line } from './container.js';
import { withLedgerLock } from './files.js';
import type { Graph } from './graph.js';
import { appendToJournal, ownJournalFile, readJournal, writtenHere } from './journal.js';
import { containerBytes, listContainers, type ReadRecord, readSnapshot, recordsOf } from './read.js';
import {
  byNumber,
  type Identified,
  type LedgerRecord,
  recordId,
  TIERS,
  type Tier,
  type Tombstone,
  textsIn,
} from './record.js';

export {
  append as storeRecords,
  type Body,
  currentState,
  type Draft,
  type RecordRef,
} from './append.js';
export { derive } from './read.js';
export { type Identified, isRecordId, type LedgerRecord, TIERS, type Tier } from './record.js';

/** One reading of all records. */
export interface Memory {
  /**
   * In order of (n, id), each once, without records that are redacted, removed, or older than a reset of the tier. `isWanted`
   * limits the files.
   */
  records(tier: Tier, isWanted?: (file: Container) => boolean): readonly ReadRecord[];
  /** The heads at which a person reset the tier. */
  resets(tier: Tier): readonly string[];
  readonly graph: Graph;
}

/** Reads the containers. The lines of a tier are parsed when it is first asked for. */
export function readMemory(context: Context): Memory {
  const { graph } = readSnapshot(context, listContainers(context));
  const tiers = new Map<Tier, readonly ReadRecord[]>();
  const resets = (tier: Tier): string[] =>
    graph.audit('reset').flatMap(({ record }) => (record.reset === tier ? textsIn(record.subjects) : []));
  const read = (tier: Tier, files = graph.containers): readonly ReadRecord[] => {
    const before = graph.ancestorsOf(resets(tier));
    const records = recordsOf(context, graph, tier, files).filter(
      ({ id, record }) => !before.has(id) && record.kind !== 'genesis',
    );
    if (tier !== 'note') return records;
    const removed = new Set(records.flatMap(({ record }) => textsIn(record.removes)));
    return records.filter(({ id, record }) => record.kind !== 'removed' && !removed.has(id));
  };
  return {
    graph,
    resets,
    records: (tier, isWanted) => {
      if (isWanted) return read(tier, graph.containers.filter(isWanted));
      const records = tiers.get(tier) ?? read(tier);
      tiers.set(tier, records);
      return records;
    },
  };
}

interface KeyedRecords {
  records: (RecordRef & { record: LedgerRecord })[];
  /** Ids of records with this key that were redacted. They are not recorded again. */
  redacted: string[];
}

/** Finds records by their idempotency key, in the working tree and, through the journal, on other branches. */
export function findKeyed(context: Context, wanted: ReadonlySet<string>): Map<string, KeyedRecords> {
  const answer = new Map<string, KeyedRecords>();
  if (wanted.size === 0) return answer;
  const { graph } = readSnapshot(context, listContainers(context));
  const journal = readJournal(ownJournalFile(context)).lines;
  const journaled = new Set(journal.map(({ id }) => id));
  const found = new Map<string, LedgerRecord>();
  for (const container of graph.containers) {
    const hits = container.keys
      .filter(([, key]) => wanted.has(key))
      .map(([index]) => container.ids[index] as string);
    if (hits.length === 0) continue;
    eachRecord(containerBytes(context, container.name), (id, record) => {
      if (hits.includes(id)) found.set(id, record as LedgerRecord);
    });
    if (!hits.every((id) => journaled.has(id))) storeAgain(context, container);
  }
  for (const { how, id, record } of journal)
    if (how === 'w' && record.includes('"key":"')) found.set(id, JSON.parse(record) as LedgerRecord);
  const redactions = graph.audit('redacted');
  for (const key of wanted) {
    const records = [...found].flatMap(([id, record]) =>
      record.key === key ? [{ id, n: record.n, record }] : [],
    );
    const hash = recordId(key);
    const redacted = redactions.flatMap(({ record }) =>
      textsIn(record.keys).includes(hash) ? textsIn(record.subjects) : [],
    );
    if (records.length + redacted.length > 0) answer.set(key, { records: records.sort(byNumber), redacted });
  }
  return answer;
}

/**
 * A writer that was interrupted, or whose fsync failed, acknowledged nothing, and the record may not be on the disk. It
 * is written to a new file before it counts.
 */
function storeAgain(context: Context, { name, seg }: Container): void {
  if (context.disk.dryRun || isInIndex(context, name)) return;
  withLedgerLock(context, () =>
    appendToJournal(context, writtenHere(context, seg, moveChain(context, name))),
  );
}

/** The records of one tier. Only its lines are parsed. */
export const readRecords = (context: Context, tier: Tier): readonly Identified[] =>
  readMemory(context).records(tier);

/** Stores one audit record: what was done to memory, by whom and why. Works while memory is damaged. */
export function storeAudit(context: Context, body: Omit<Body, 'tier'> & { kind: string }): RecordRef {
  const [stored] = append(context, [{ ...body, tier: 'audit' }], { evenDamaged: true });
  return stored as RecordRef;
}

/** The trailer of a commit that has all records: the largest number and up to 8 heads. Null before the first record. */
export function ledgerTrailer(context: Context): string | null {
  const { maxN, heads } = currentState(context);
  return maxN > 1 ? [maxN, ...heads.slice(0, 8)].join(' ') : null;
}

/** The lines in this worktree's journal. The guard has seen them. */
export const journaledLines = (context: Context): Set<string> =>
  new Set(readJournal(ownJournalFile(context)).lines.map(({ record }) => record));

export interface LogEntry {
  id: string;
  tier: Tier;
  n: number;
  kind: string;
  at: string | null;
  session: string | null;
  record: LedgerRecord;
}

const toEntry = ({ id, record }: Identified): LogEntry => {
  const { tier, n, kind, at = null, session = null } = record;
  return { id, tier, n, kind, at, session, record };
};

/** The last records of one tier or of all, newest last. */
export async function logMemory(
  context: Context,
  { tier, limit = 20 }: { tier?: Tier; limit?: number } = {},
): Promise<{ records: LogEntry[]; warnings: string[] }> {
  const memory = readMemory(context);
  const records = (tier ? [tier] : TIERS)
    .flatMap((one) => memory.records(one).slice(-limit))
    .map(toEntry)
    .sort((a, b) => a.n - b.n)
    .slice(-limit);
  return { records, warnings: context.warnings };
}

/** One record by its id or the start of it. Exit 2 if none or several match. */
export function showRecord(context: Context, { id: start }: { id: string }): LogEntry {
  const memory = readMemory(context);
  const id = findId(memory, start);
  const copies = copiesOf(context, memory, id).map(({ record }) => record);
  // A tombstone wins over its record.
  const tombstone = copies.find((copy) => !('kind' in copy));
  return tombstone
    ? describeRedacted(memory, id, tombstone)
    : toEntry({ id, record: copies[0] as LedgerRecord });
}

/** A record, or the tombstone in its place, in each file that has it. */
export function copiesOf(
  context: Context,
  { graph }: Memory,
  id: string,
): { record: LedgerRecord | Tombstone; line: Line }[] {
  const copies: { record: LedgerRecord | Tombstone; line: Line }[] = [];
  for (const { name } of graph.containers.filter(({ ids }) => ids.includes(id)))
    eachRecord(containerBytes(context, name), (found, record, line) => {
      if (found === id) copies.push({ record, line });
    });
  return copies;
}

/** The full id of a record that is named by its start. */
export function findId({ graph, records }: Memory, start: string): string {
  const hint = 'forge memory log';
  if (!/^[0-9a-f]{6,64}$/.test(start))
    throw usage('record.id', 'Name a record by its id or the first 6 or more of its 64 hex digits.', {
      hint,
    });
  const ids = graph.containers.flatMap((container) => container.ids);
  const [found, ...more] = new Set(ids.filter((id) => id.startsWith(start)));
  if (more.length > 0) {
    const message = `${start} is ambiguous: ${more.length + 1} records match. Give more digits.`;
    throw usage('record.ambiguous', message, { hint });
  }
  // `memory promote` and `memory report` name knowledge by its own id.
  const known =
    found ?? records('knowledge').findLast(({ record }) => String(record.knowledge_id).startsWith(start))?.id;
  if (!known) throw usage('record.unknown', `There is no record ${start} here.`, { hint });
  return known;
}

/** The links of a redacted record, and the audit record that has who redacted it, when and why. */
function describeRedacted({ graph }: Memory, id: string, links: object): LogEntry {
  const audit = graph.audit('redacted').find(({ record }) => textsIn(record.subjects).includes(id));
  const tier = TIERS.find((name) => name === audit?.record.of) ?? 'execution';
  const record = { ...links, tier, kind: 'redacted', audit: audit?.id ?? null };
  return toEntry({ id, record: record as unknown as LedgerRecord });
}
