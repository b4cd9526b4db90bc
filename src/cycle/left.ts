import { CycleInput } from '../learning/evaluation.js';
import type { RecordedCycle } from '../learning/record.js';
import { readRecords } from '../ledger/memory.js';
import type { Context } from '../project/project.js';
import { type KeepWatch, keepCycle } from './keep.js';
import { describeKept } from './keep-rules.js';
import type { CycleMark } from './mark-rules.js';
import { summaryOf } from './report-rules.js';
import { hasFailed } from './verdict.js';

/** GOV-04: the commit and the checkpoint of a cycle that was cut off behind its record. One that was recorded late has failed. */
export async function keepLeft(
  context: Context,
  { key, keep, input }: CycleMark,
  { cycle, execution }: RecordedCycle,
  watch: KeepWatch,
): Promise<void> {
  const known = CycleInput.safeParse(input);
  const { classification, task_id: task, quality_signals: signals, evidence = [] } = known.data ?? {};
  if (!keep || !task || !classification || !wasInTime(context, key, execution.id)) return;
  const summary = summaryOf({
    cycle,
    task,
    classification,
    features_passing: Number(signals?.features_passing_after ?? 0),
    features: Number(signals?.features ?? 0),
  });
  const made = await keepCycle(context, { keep, task, record: execution.id, summary, evidence }, watch);
  const what = describeKept(made);
  if (what !== '') context.warnings.push(`Cycle ${cycle} was cut off behind its record; made now: ${what}.`);
}

function wasInTime(context: Context, key: string, execution: string): boolean {
  const judged = readRecords(context, 'evaluation').find(
    ({ record }) => record.key === key && record.execution === execution,
  );
  return judged !== undefined && !hasFailed(judged.record.classification as never);
}
