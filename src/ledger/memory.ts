import type { Context } from '../project/project.js';
import { append, type Body, currentState, type RecordRef } from './append.js';
import { isInIndex, moveChain } from './chains.js';
import { type Container, eachRecord } from './container.js';
import { withLedgerLock } from './files.js';
import type { Graph } from './graph.js';
import { appendToJournal, ownJournalFile, readJournal, writtenHere } from './journal.js';
import {
  containerBytes,
  type Listed,
  listContainers,
  type ReadRecord,
  readSnapshot,
  recordsOf,
  sizeOf,
} from './read.js';
import { byNumber, type Identified, type LedgerRecord, recordId, type Tier, textsIn } from './record.js';

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
  /** Notes that a person has removed or replaced. An import replaces notes too, and names its file. */
  removedNotes(): readonly ReadRecord[];
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
  const readAll = (tier: Tier, files = graph.containers): readonly ReadRecord[] => {
    const before = graph.ancestorsOf(resets(tier));
    return recordsOf(context, graph, tier, files).filter(
      ({ id, record }) => !before.has(id) && record.kind !== 'genesis',
    );
  };
  const read = (tier: Tier, files?: readonly Container[]): readonly ReadRecord[] => {
    const records = readAll(tier, files);
    if (tier !== 'note') return records;
    const removed = new Set(records.flatMap(({ record }) => textsIn(record.removes)));
    return records.filter(({ id, record }) => record.kind !== 'removed' && !removed.has(id));
  };
  return {
    graph,
    resets,
    removedNotes: () => {
      const all = readAll('note');
      const byHand = all.filter(({ record }) => record.source === undefined);
      const removed = new Set(byHand.flatMap(({ record }) => textsIn(record.removes)));
      return all.filter(({ id }) => removed.has(id));
    },
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

/** Whether a record of the tier may have this text, redacted or not. Parses no line. */
export const mayHave = (context: Context, tier: Tier, text: string): boolean =>
  readSnapshot(context, listContainers(context)).graph.containers.some(
    ({ name, tiers }) => tiers[tier] && containerBytes(context, name).includes(JSON.stringify(text)),
  );

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

/** `large` from 80 MB. `paused` from 100 MB: consolidation waits for a human (LTM-11). */
type Growth = 'normal' | 'large' | 'paused';
const WARN_BYTES = 80_000_000;
export const PAUSE_BYTES = 100_000_000;

/** `accepted`: the size that a human accepted. Memory may grow to twice as much. */
function growthOf(bytes: number, accepted = 0): Growth {
  if (bytes >= Math.max(PAUSE_BYTES, 2 * accepted)) return 'paused';
  return bytes >= WARN_BYTES ? 'large' : 'normal';
}

interface Size {
  bytes: number;
  growth: Growth;
  /** The size that a human last accepted, or 0. */
  accepted: number;
}

/** The size of memory. `listed`: the ledger's files, if the caller has just listed them. */
export function readSize(context: Context, listed?: readonly Listed[]): Size {
  const bytes = listed ? sizeOf(listed) : currentState(context).bytes;
  if (growthOf(bytes) === 'normal') return { bytes, growth: 'normal', accepted: 0 };
  const { accepted } = currentState(context, listed);
  return { bytes, growth: growthOf(bytes, accepted), accepted };
}

export const ACCEPT = 'forge memory override acknowledge --reason "TEXT"';

/** Why consolidation waits (LTM-11). */
export const TOO_LARGE = `memory has more than 100 MB; a human accepts that with: ${ACCEPT}`;

const megabytes = (bytes: number): string => `Memory has ${Math.floor(bytes / 1_000_000)} MB`;

/** A warning for a person. Null if memory is small, or a human has accepted its size. */
export function describeSize({ bytes, growth, accepted }: Size): string | null {
  const size = megabytes(bytes);
  if (growth === 'paused') return `${size}: consolidation is paused. A human accepts that with: ${ACCEPT}`;
  return growth === 'large' && accepted === 0
    ? `${size}; at 100 MB consolidation pauses until a human accepts its size.`
    : null;
}

export function warnSize(context: Context, listed?: readonly Listed[]): Size {
  const size = readSize(context, listed);
  const text = describeSize(size);
  if (text !== null) context.warnings.push(text);
  return size;
}

/** LTM-11: warns about the size of memory and records one governance warning for a human. The caller holds the lock. */
export function guardGrowth(context: Context): void {
  const { bytes, growth, accepted } = warnSize(context);
  if (growth !== 'paused') return;
  const isRecorded = readMemory(context)
    .records('audit')
    .some(({ record }) => record.code === 'memory.size' && Number(record.bytes) >= 2 * accepted);
  if (isRecorded) return;
  const message = `${megabytes(bytes)}; consolidation is paused; human review is requested`;
  storeAudit(context, { kind: 'governance_warning', code: 'memory.size', bytes, message });
}
