import type { Context } from '../project/project.js';
import { readMemory } from './memory.js';
import type { ReadRecord } from './read.js';
import { byNumber, numberIn, summaryOf, TIERS, type Tier, textIn } from './record.js';

/** A record in one line, for lists of all of them. */
export interface LogRow {
  id: string;
  tier: Tier;
  n: number;
  kind: string;
  at: string | null;
  session: string | null;
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
}

/** All records but redacted ones and those that a reset covers, oldest first. */
export function readRows(context: Context): readonly LogRow[] {
  const memory = readMemory(context);
  return TIERS.flatMap((tier) => memory.records(tier).map(toRow)).sort(byNumber);
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
  };
}
