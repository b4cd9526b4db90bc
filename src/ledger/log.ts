import { usage } from '../core/error.js';
import type { Context } from '../project/project.js';
import { eachRecord, type Line } from './container.js';
import { ACCEPT, type Growth, readSize } from './growth.js';
import { reportTiers, type Status, statusOf, verifyReadOnly } from './integrity.js';
import { type Identified, type Memory, readMemory } from './memory.js';
import { containerBytes, sizeOf } from './read.js';
import { type LedgerRecord, TIERS, type Tier, type Tombstone } from './record.js';

export interface LogEntry {
  id: string;
  tier: Tier;
  n: number;
  kind: string;
  at: string | null;
  session: string | null;
  /** The words of the knowledge that the record concerns, while the ledger has them. */
  pattern?: string;
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
  const records = lastRecords(memory, tier ? [tier] : TIERS, limit);
  return { records: nameKnowledge(memory, records), warnings: context.warnings };
}

export const lastRecords = (memory: Memory, tiers: readonly Tier[], limit: number): LogEntry[] =>
  tiers
    .flatMap((tier) => memory.records(tier).slice(-limit))
    .map(toEntry)
    .sort((a, b) => a.n - b.n)
    .slice(-limit);

/** The words of knowledge by its id. */
export const knowledgeNames = (memory: Memory): Map<string, string> =>
  new Map(
    memory
      .records('knowledge')
      .filter(({ record }) => typeof record.pattern === 'string')
      .map(({ record }) => [String(record.knowledge_id), String(record.pattern)]),
  );

/** Adds the words of knowledge to records that have only its id. */
function nameKnowledge(memory: Memory, entries: LogEntry[]): LogEntry[] {
  const needsName = ({ tier, record }: LogEntry): boolean =>
    typeof record.knowledge_id === 'string' && (tier === 'audit' || typeof record.pattern !== 'string');
  if (!entries.some(needsName)) return entries;
  const names = knowledgeNames(memory);
  return entries.map((entry) => {
    const pattern = needsName(entry) ? names.get(String(entry.record.knowledge_id)) : undefined;
    return pattern === undefined ? entry : { ...entry, pattern };
  });
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
export function findId({ graph }: Memory, start: string): string {
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
  if (!found) throw usage('record.unknown', `There is no record ${start} here.`, { hint });
  return found;
}

/** The links of a redacted record, and who redacted it, when and why. */
function describeRedacted(memory: Memory, id: string, links: object): LogEntry {
  const audit = memory
    .records('audit')
    .findLast(({ record }) => record.kind === 'redacted' && (record.subjects as string[]).includes(id));
  const { by, reason, of, at: when, session = null }: Partial<LedgerRecord> = audit?.record ?? {};
  const at = when ?? null;
  const tier = TIERS.find((name) => name === of) ?? 'execution';
  const why = audit ? { by, reason, audit: audit.id } : {};
  const record = { ...links, kind: 'redacted', at, session, ...why, tier } as unknown as LedgerRecord;
  return { id, tier, n: record.n, kind: 'redacted', at, session, record };
}

export interface MemoryStats {
  status: Status;
  tiers: { tier: Tier; records: number; bytes: number; heads: number }[];
  bytes: number;
  files: number;
  growth: Growth;
  next: string[];
}

export async function memoryStats(context: Context): Promise<MemoryStats> {
  const verdict = await verifyReadOnly(context);
  const { listed, graph } = verdict.snapshot;
  const { bytes, growth } = readSize(context, sizeOf(listed));
  const status = statusOf(context, verdict);
  const tiers = reportTiers(context, verdict).map(({ tier, records, bytes, heads }) => ({
    ...{ tier, records, bytes, heads: heads.length },
  }));
  const next = [
    ...(status === 'intact' ? [] : ['forge memory verify']),
    ...(growth === 'paused' ? [ACCEPT] : []),
  ];
  return { status, tiers, bytes, files: graph.containers.length, growth, next };
}
