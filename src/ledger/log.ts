import { usage } from '../core/error.js';
import { pendingFolder } from '../core/paths.js';
import type { Context } from '../project/project.js';
import { eachRecord, type Line } from './container.js';
import { sizeOf } from './context.js';
import { acceptedGrowth, type Growth, growthOf } from './graph.js';
import { glanceAtMemory, reportTiers, type Status, statusOf } from './integrity.js';
import { ownJournalFile } from './journal.js';
import { type Identified, type Memory, readMemory } from './memory.js';
import { containerBytes } from './read.js';
import { type LedgerRecord, TIERS, type Tier, type Tombstone } from './record.js';

export interface LogEntry {
  id: string;
  tier: Tier;
  n: number;
  kind: string;
  at: string | null;
  session: string | null;
  /** What the knowledge that it is about says, while the ledger has that. */
  pattern?: string;
  record: LedgerRecord;
}

const DEFAULT_LIMIT = 20;

const toEntry = ({ id, record }: Identified): LogEntry => ({
  id,
  tier: record.tier,
  n: record.n,
  kind: record.kind,
  at: record.at ?? null,
  session: record.session ?? null,
  record,
});

/** The last records, newest last, of one tier or of all. */
export async function logMemory(
  context: Context,
  input: { tier?: Tier; limit?: number } = {},
): Promise<{ records: LogEntry[]; warnings: string[] }> {
  const memory = readMemory(context);
  const records = lastRecords(memory, input.tier ? [input.tier] : TIERS, input.limit ?? DEFAULT_LIMIT);
  return { records: nameKnowledge(memory, records), warnings: context.warnings };
}

export function lastRecords(memory: Memory, tiers: readonly Tier[], limit: number): LogEntry[] {
  const all = tiers.flatMap((tier) => memory.records(tier).slice(-limit));
  return all
    .map(toEntry)
    .sort((a, b) => a.n - b.n)
    .slice(-limit);
}

/** Records that name knowledge by its id alone, with its words. */
function nameKnowledge(memory: Memory, entries: LogEntry[]): LogEntry[] {
  const isNamed = ({ tier, record }: LogEntry): boolean =>
    typeof record.knowledge_id === 'string' && (tier === 'audit' || typeof record.pattern !== 'string');
  if (!entries.some(isNamed)) return entries;
  const known = memory.records('knowledge').filter(({ record }) => typeof record.pattern === 'string');
  const names = new Map(known.map(({ record }) => [record.knowledge_id, String(record.pattern)]));
  return entries.map((entry) => {
    const pattern = isNamed(entry) ? names.get(entry.record.knowledge_id) : undefined;
    return pattern === undefined ? entry : { ...entry, pattern };
  });
}

/** One record by its id or the start of it (at least 6 digits); exit 2 when none or several are meant. */
export function showRecord(context: Context, { id: wanted }: { id: string }): LogEntry {
  const id = findId(readMemory(context), wanted);
  const memory = readMemory(context);
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
    eachRecord(containerBytes(context, name), (at, record, line) => {
      if (at === id) copies.push({ record, line });
    });
  return copies;
}

/** The whole id of a record that is named by its start. */
export function findId(memory: Memory, start: string): string {
  const hint = 'forge memory log';
  if (!/^[0-9a-f]{6,64}$/.test(start))
    throw usage('record.id', 'A record is named by its id, or the first 6 or more of its 64 hex digits.', {
      hint,
    });
  const ids = memory.graph.containers.flatMap((container) => container.ids);
  const found = [...new Set(ids.filter((id) => id.startsWith(start)))];
  if (found.length > 1)
    throw usage(
      'record.ambiguous',
      `${start} is ambiguous: ${found.length} records match; give more digits.`,
      { hint },
    );
  if (!found[0]) throw usage('record.unknown', `There is no record ${start} here.`, { hint });
  return found[0];
}

/** What is left of a redacted record: its links, and who took the rest out, when and why. */
function describeRedacted(memory: Memory, id: string, links: object): LogEntry {
  const said = memory
    .records('audit')
    .findLast(({ record }) => record.kind === 'redacted' && (record.subjects as string[]).includes(id));
  const { by, reason, of, at: when, session = null }: Partial<LedgerRecord> = said?.record ?? {};
  const at = when ?? null;
  const words = said ? { by, reason, audit: said.id } : {};
  const record = { ...links, kind: 'redacted', at, session, ...words } as unknown as LedgerRecord;
  const tier = TIERS.find((name) => name === of) ?? 'execution';
  return { ...{ id, tier, n: record.n, kind: 'redacted', at, session }, record: { ...record, tier } };
}

export interface MemoryStats {
  status: Status;
  tiers: { tier: Tier; records: number; bytes: number; heads: number }[];
  bytes: number;
  files: number;
  journal_bytes: number;
  /** Cycles that wait to be recorded. */
  pending: number;
  growth: Growth;
  color: 'green' | 'yellow' | 'red';
  next: string[];
}

export async function memoryStats(context: Context): Promise<MemoryStats> {
  const verdict = await glanceAtMemory(context);
  const { snapshot } = verdict;
  const tiers = reportTiers(context, verdict).map(({ heads, containers: _, ...tier }) => ({
    ...tier,
    heads: heads.length,
  }));
  const bytes = snapshot.listed.reduce((sum, { size }) => sum + size, 0);
  const growth = growthOf(bytes, acceptedGrowth(snapshot.graph));
  const status = statusOf(context, verdict);
  return {
    ...{ status, tiers, bytes, files: snapshot.graph.containers.length, growth },
    journal_bytes: sizeOf(ownJournalFile(context)),
    pending: context.disk.list(pendingFolder(context.layout)).filter((name) => name.endsWith('.json')).length,
    color:
      status === 'intact' && growth === 'normal'
        ? 'green'
        : growth === 'large' && status === 'intact'
          ? 'yellow'
          : 'red',
    next: [
      ...(status === 'intact' ? [] : ['forge memory verify']),
      ...(growth === 'paused' ? ['forge memory override acknowledge --reason "TEXT"'] : []),
    ],
  };
}
