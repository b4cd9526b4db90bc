import { corrupted } from '../core/error.js';
import { refuseHalted } from '../project/halt.js';
import type { Context } from '../project/project.js';
import { append, type Body, currentState, type StoredRecord as RecordRef } from './append.js';
import type { Container } from './container.js';
import { cacheFile, readJson, writeCache } from './context.js';
import type { Graph } from './graph.js';
import { ownJournalFile, readJournal } from './journal.js';
import { CLOCK_TICK_MS, digestOf, type Listed, listContainers, readSnapshot, recordsOf } from './read.js';
import type { LedgerRecord, Tier } from './record.js';

/** How a stored record is named in answers. */
export type { Body, Draft, Keyed, StoredRecord as RecordRef } from './append.js';
/** Stores records, all or none, in one write. Takes the lock, starts no git process. Exit 4 while memory is damaged. */
export { append as storeRecords, findKeyed } from './append.js';
export { isRecordId, type LedgerRecord, TIERS, type Tier } from './record.js';

/** A record beside its id. */
export interface Identified {
  id: string;
  record: LedgerRecord;
}

/** One reading of all records. */
export interface Memory {
  /** In order of (n, id), each once; none that is redacted or older than a reset of the tier. `isWanted` limits the files. */
  records(tier: Tier, isWanted?: (file: Container) => boolean): readonly Identified[];
  /** The heads at which a person began the tier anew. */
  resets(tier: Tier): readonly string[];
  readonly graph: Graph;
}

/** Reads the containers. Lines are parsed when a tier is first asked for. */
export function readMemory(context: Context): Memory {
  const { graph } = readSnapshot(context, listContainers(context));
  const tiers = new Map<Tier, readonly Identified[]>();
  const memory: Memory = {
    graph,
    resets: (tier) =>
      graph
        .marks('reset')
        .filter((mark) => mark.tier === tier)
        .flatMap(({ subjects }) => subjects),
    records: (tier, isWanted) => {
      const known = tiers.get(tier);
      if (known && !isWanted) return known;
      const files = isWanted ? graph.containers.filter(isWanted) : graph.containers;
      const before = graph.ancestorsOf(memory.resets(tier));
      const read = recordsOf(context, graph, tier, files)
        .filter(({ id, record }) => !before.has(id) && record.kind !== 'genesis')
        .map(({ id, record }) => ({ id, record }));
      if (!isWanted) tiers.set(tier, read);
      return read;
    },
  };
  return memory;
}

/** Of one tier; only its lines are parsed. */
export const readRecords = (context: Context, tier: Tier): readonly Identified[] =>
  readMemory(context).records(tier);

/**
 * A value that follows from the records alone, cached until a file of the ledger changes. `listed`: those files, if the
 * caller has just listed them. The value must survive JSON.
 */
export function derive<T>(
  context: Context,
  name: string,
  make: () => T,
  listed: readonly Listed[] = listContainers(context),
): T {
  const path = cacheFile(context.layout, `${name}.json`);
  const of = digestOf(listed);
  const isSettled = listed.every(({ changedAt }) => changedAt < Date.now() - CLOCK_TICK_MS);
  const known = readJson<{ of: string; value: T }>(path);
  if (known?.of === of) return known.value;
  const value = make();
  if (isSettled && !context.disk.dryRun) writeCache(path, JSON.stringify({ of, value }));
  return value;
}

/** One audit record: what was done to memory, by whom and why. It can be written while memory is damaged. */
export function storeAudit(context: Context, body: Omit<Body, 'tier'> & { kind: string }): RecordRef {
  const [stored] = append(context, [{ ...body, tier: 'audit' }], { evenDamaged: true });
  return stored as RecordRef;
}

/** Exit 4 `memory.corrupted` while memory is halted. Cheap, without git. */
export const requireMemory = (context: Context): void => refuseHalted(context.disk);

/** As the last append left them; nothing is read while the folder is as it was. */
export const currentHeads = (context: Context): readonly string[] => currentState(context).heads;

/** For a commit that has all records: the largest number and the heads, as `12 <id> <id>`. Null before the first record. */
export function ledgerTrailer(context: Context): string | null {
  const { maxN, heads } = currentState(context);
  return maxN > 1 ? [maxN, ...heads.slice(0, MAX_HEADS)].join(' ') : null;
}

const MAX_HEADS = 8;

export const liveBytes = (context: Context): number => currentState(context).bytes;

/** Lines that went through forge here, so the guard has seen them. */
export const journaledLines = (context: Context): Set<string> =>
  new Set(readJournal(ownJournalFile(context)).lines.map(({ record }) => record));

/** Exit 4 with the first finding. */
export const damaged = (message: string, place: object = {}): Error =>
  corrupted('memory.corrupted', message, { hint: 'forge memory repair', ...place });
