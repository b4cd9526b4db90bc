import { objectsIn } from '../core/json.js';
import { compareText } from '../core/text.js';
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
