import type { Context } from '../project/project.js';
import { type Container, eachRecord, textsIn } from './container.js';
import { readMemory } from './memory.js';
import { containerBytes } from './read.js';
import { byNumber, type LedgerRecord, type Tier } from './record.js';

/** A record in one line, for lists of all of them. */
export interface LogRow {
  id: string;
  tier: Tier;
  n: number;
  kind: string;
  at: string | null;
  session: string | null;
  /** The length of its line. */
  bytes: number;
  /** What it says, cut at 160 characters. */
  text: string;
  cycle?: number;
  task_id?: string;
  exit_code?: number | null;
  classification?: string | null;
  /** Of an evaluation: the id of the execution that it judges. */
  execution?: string;
}

/** The rows of containers that were read in this process: files only grow, so most are unchanged. */
const known = new Map<string, { stamp: string; rows: LogRow[] }>();

/** All records that are not redacted, oldest first, each once. The arrays must not be changed. */
export function readRows(context: Context): readonly LogRow[] {
  const { graph } = readMemory(context);
  const redacted = graph.tombstones();
  const found = new Map<string, LogRow>();
  for (const container of graph.containers)
    for (const row of rowsOf(context, container)) if (!redacted.has(row.id)) found.set(row.id, row);
  for (const name of known.keys())
    if (!graph.containers.some((container) => container.name === name)) known.delete(name);
  return [...found.values()].sort(byNumber);
}

function rowsOf(context: Context, { name, stamp }: Container): LogRow[] {
  const before = known.get(name);
  if (before?.stamp === stamp) return before.rows;
  const rows: LogRow[] = [];
  eachRecord(containerBytes(context, name), (id, record, { bytes }) => {
    if ('kind' in record && record.kind !== 'genesis')
      rows.push(toRow(id, record as LedgerRecord, bytes.length + 1));
  });
  known.set(name, { stamp, rows });
  return rows;
}

/** The fields that summarize a record, in this order. */
const SUMMARY = ['task_id', 'classification', 'action', 'feature', 'pattern', 'text', 'message', 'reason'];

function toRow(id: string, record: LedgerRecord, bytes: number): LogRow {
  const { tier, n, kind, at = null, session = null, cycle, task_id, exit_code, execution } = record;
  const { classification } = record;
  return {
    ...{ id, tier, n, kind, at, session, bytes, text: summaryOf(record) },
    ...(typeof cycle === 'number' ? { cycle } : {}),
    ...(typeof task_id === 'string' ? { task_id: task_id.slice(0, 200) } : {}),
    ...(tier === 'execution' ? { exit_code: typeof exit_code === 'number' ? exit_code : null } : {}),
    ...(tier === 'evaluation' && kind === 'cycle'
      ? {
          classification: typeof classification === 'string' ? classification.slice(0, 40) : null,
          execution: String(execution ?? ''),
        }
      : {}),
  };
}

const MAX_SUMMARY = 160;

function summaryOf(record: LedgerRecord): string {
  const parts = SUMMARY.flatMap((field) => (typeof record[field] === 'string' ? [record[field]] : []));
  if (typeof record.exit_code === 'number') parts.push(`exit ${record.exit_code}`);
  for (const word of ['promoted', 'contested', 'reinstated']) {
    const { length } = textsIn(record[word]);
    if (length > 0) parts.push(`${length} ${word}`);
  }
  const text = parts.join('  ').replace(/\s+/g, ' ');
  return text.length > MAX_SUMMARY ? `${text.slice(0, MAX_SUMMARY - 1)}…` : text;
}
