import { refuseHalted } from '../project/halt.js';
import type { Context } from '../project/project.js';
import { append, type Body, currentState, type RecordRef } from './append.js';
import type { Container } from './container.js';
import type { Graph } from './graph.js';
import { ownJournalFile, readJournal } from './journal.js';
import { listContainers, readSnapshot, recordsOf } from './read.js';
import type { LedgerRecord, Tier } from './record.js';

export { append as storeRecords, type Body, type Draft, findKeyed, type RecordRef } from './append.js';
export { derive } from './read.js';
export { isRecordId, type LedgerRecord, TIERS, type Tier } from './record.js';

/** A record with its id. */
export interface Identified {
  id: string;
  record: LedgerRecord;
}

/** One reading of all records. */
export interface Memory {
  /**
   * In order of (n, id), each once, without records that are redacted or older than a reset of the tier. `isWanted`
   * limits the files.
   */
  records(tier: Tier, isWanted?: (file: Container) => boolean): readonly Identified[];
  /** The heads at which a person began the tier anew. */
  resets(tier: Tier): readonly string[];
  readonly graph: Graph;
}

/** Reads the containers. The lines of a tier are parsed when it is first asked for. */
export function readMemory(context: Context): Memory {
  const { graph } = readSnapshot(context, listContainers(context));
  const tiers = new Map<Tier, readonly Identified[]>();
  const resets = (tier: Tier): string[] =>
    graph
      .marks('reset')
      .filter((mark) => mark.tier === tier)
      .flatMap(({ subjects }) => subjects);
  const read = (tier: Tier, files = graph.containers): readonly Identified[] => {
    const before = graph.ancestorsOf(resets(tier));
    return recordsOf(context, graph, tier, files)
      .filter(({ id, record }) => !before.has(id) && record.kind !== 'genesis')
      .map(({ id, record }) => ({ id, record }));
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

/** The records of one tier. Only its lines are parsed. */
export const readRecords = (context: Context, tier: Tier): readonly Identified[] =>
  readMemory(context).records(tier);

/** Stores one audit record: what was done to memory, by whom and why. Works while memory is damaged. */
export function storeAudit(context: Context, body: Omit<Body, 'tier'> & { kind: string }): RecordRef {
  const [stored] = append(context, [{ ...body, tier: 'audit' }], { evenDamaged: true });
  return stored as RecordRef;
}

/** Exit 4 `memory.corrupted` while memory is halted. Reads one file name. */
export const requireMemory = ({ disk }: Context): void => refuseHalted(disk);

/** The size of all containers. */
export const liveBytes = (context: Context): number => currentState(context).bytes;

/** The heads after the last append. Nothing is read while the folder is unchanged. */
export const currentHeads = (context: Context): readonly string[] => currentState(context).heads;

/** The trailer of a commit that has all records: the largest number and up to 8 heads. Null before the first record. */
export function ledgerTrailer(context: Context): string | null {
  const { maxN, heads } = currentState(context);
  return maxN > 1 ? [maxN, ...heads.slice(0, 8)].join(' ') : null;
}

/** The lines in this worktree's journal. The guard has seen them. */
export const journaledLines = (context: Context): Set<string> =>
  new Set(readJournal(ownJournalFile(context)).lines.map(({ record }) => record));
