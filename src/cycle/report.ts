import { elapsed } from '../core/clock.js';
import { ForgeError } from '../core/error.js';
import { readHalt } from '../project/halt.js';
import type { Context } from '../project/project.js';
import { addProgress } from '../session/progress.js';
import { readRunning } from '../session/running.js';
import { describeKept, type Kept } from './keep-rules.js';
import { type CycleMark, dropMark, leaveMark } from './mark.js';
import type { StoredCycle } from './memory.js';
import { type CycleReport, type CycleResult, type MemoryError, progressLine } from './report-rules.js';
import { type CycleRun, inStage } from './stage.js';
import type { Work } from './work.js';

/** The report, progress (GOV-04), and the end of the mark. */
export async function reportCycle(run: CycleRun, work: Work, stored: StoredCycle): Promise<CycleResult> {
  const { context } = run;
  const { recorded, error, classification } = stored;
  const result: CycleResult = {
    cycle: recorded?.cycle ?? null,
    task: work.task,
    stages: run.stages,
    classification,
    exit_code: work.run?.exit_code ?? null,
    report: null,
    ...(error ? { memory_error: error } : {}),
    warnings: context.warnings,
  };
  await inStage(run, 'report', async () => {
    const told = report(run, work, stored);
    result.report = told;
    noteProgress(context, result);
    const made = await keep(run, work, stored, result);
    Object.assign(told, made);
    if (recorded) dropMark(context, run.mark as CycleMark);
    else leaveMark(run.mark as CycleMark);
    return { note: describeKept(made) };
  });
  run.stages.push({ name: 'sleep', status: 'skipped', duration_ms: 0 });
  // Each part that looks at the same thing says the same of it.
  context.warnings.splice(0, context.warnings.length, ...new Set(context.warnings));
  return result;
}

function report(run: CycleRun, work: Work, { recorded, error }: StoredCycle): CycleReport {
  const { evaluation, environment_valid } = work;
  const { promoted = [], contested = [] } = recorded?.consolidation ?? {};
  return {
    memory_write_performed: recorded !== null,
    knowledge_promoted: promoted.length > 0,
    knowledge_conflict_detected: contested.length > 0,
    memory_integrity_status: integrityAfter(run.context, error),
    promoted,
    contested,
    execution: recorded?.execution.id ?? null,
    evaluation: recorded?.evaluation?.id ?? null,
    environment_valid,
    governance_violations: evaluation.violations,
    regression_flags: evaluation.regressions,
    tests_changed: evaluation.tests_changed,
    ...evaluation.runs,
    features_passing: evaluation.passing,
    features: evaluation.features,
    files_changed: evaluation.files_changed,
    duration_ms: Math.round(elapsed() - run.started),
    ...NOTHING_KEPT,
  };
}

const NOTHING_KEPT: Kept = { commit: null, checkpoint: null };

/** Behind the record and the line of progress, which are to be in the commit; before the mark goes. */
async function keep(
  run: CycleRun,
  { evaluation, task }: Work,
  { keep: planned, recorded }: StoredCycle,
  result: CycleResult,
): Promise<Kept> {
  if (!planned || !recorded) return NOTHING_KEPT;
  const { keepCycle } = await import('./keep.js');
  const { evidence } = evaluation.runs;
  const cycle = {
    keep: planned,
    task,
    record: recorded.execution.id,
    summary: progressLine(result),
    evidence,
  };
  return keepCycle(run.context, cycle, run.watch);
}

function integrityAfter({ disk }: Context, error: MemoryError | undefined) {
  if (readHalt(disk) !== null) return 'halted';
  if (error === undefined) return 'intact';
  return error.kind === 'corrupted' ? 'corrupted' : 'unknown';
}

function noteProgress(context: Context, result: CycleResult): void {
  try {
    if (readRunning(context)) addProgress(context, { text: progressLine(result) });
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    context.warnings.push(`Progress was not written: ${error.message}`);
  }
}
