import { usage } from '../core/error.js';
import { objectsIn } from '../core/json.js';
import { compareText } from '../core/text.js';
import type { Context } from '../project/project.js';
import { eachRecord, type Line } from './container.js';
import { type Memory, readMemory } from './memory.js';
import { containerBytes, type ReadRecord } from './read.js';
import {
  byNumber,
  type Identified,
  type LedgerRecord,
  numberIn,
  summaryOf,
  TIERS,
  type Tier,
  type Tombstone,
  textIn,
  textsIn,
} from './record.js';

export interface LogEntry {
  id: string;
  tier: Tier;
  n: number;
  kind: string;
  at: string | null;
  session: string | null;
  record: LedgerRecord;
}

/** A record in one line, for lists of all of them. */
export interface LogRow extends Omit<LogEntry, 'record'> {
  /** Of its line. */
  bytes: number;
  /** What it says, cut at 160 characters. */
  text: string;
  cycle?: number;
  task_id?: string;
  exit_code?: number | null;
  classification?: string | null;
  /** Of an evaluation: the id of the execution that it judges. */
  execution?: string;
  /** Features whose tests passed, or failed, in this run. */
  passed?: string[];
  failed?: string[];
}

/** All records but redacted ones and those that a reset covers, oldest first by their own time. */
export function readRows(context: Context): readonly LogRow[] {
  const memory = readMemory(context);
  const rows = TIERS.flatMap((tier) => memory.records(tier).map(toRow));
  return rows.sort((a, b) => compareText(a.at ?? '', b.at ?? '') || byNumber(a, b));
}

function toRow({ id, record, size }: ReadRecord): LogRow {
  const { tier, n, kind, at = null, session = null, cycle, task_id } = record;
  return {
    ...{ id, tier, n, kind, at, session, bytes: size, text: summaryOf(record) },
    ...(typeof cycle === 'number' ? { cycle } : {}),
    ...(typeof task_id === 'string' ? { task_id: task_id.slice(0, 200) } : {}),
    ...(tier === 'execution' ? { exit_code: numberIn(record.exit_code) } : {}),
    ...(tier === 'evaluation' && kind === 'cycle'
      ? {
          classification: textIn(record.classification)?.slice(0, 40) ?? null,
          execution: String(record.execution ?? ''),
        }
      : {}),
    ...(kind === 'verification' ? resultsOf(objectsIn(record.runs)) : {}),
    ...(kind === 'regression' ? { failed: [String(record.feature)] } : {}),
  };
}

function resultsOf(runs: readonly Record<string, unknown>[]): Pick<LogRow, 'passed' | 'failed'> {
  const idsOf = (wanted: (run: Record<string, unknown>) => boolean): string[] =>
    runs.filter(wanted).map(({ feature }) => String(feature));
  return {
    passed: idsOf(({ status, not_run }) => status === 'passing' && not_run === undefined),
    failed: idsOf(({ exit_code, not_run }) => exit_code !== 0 && not_run === undefined),
  };
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
