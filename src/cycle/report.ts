import { elapsed } from '../core/clock.js';
import { ForgeError } from '../core/error.js';
import { type CycleInput, judgedLate } from '../learning/evaluation.js';
import { type RecordedCycle, recordCycle } from '../learning/record.js';
import { readHalt } from '../project/halt.js';
import { type Context, timestamp } from '../project/project.js';
import { addProgress } from '../session/progress.js';
import { readRunning } from '../session/running.js';
import { guardLog, guardText, removeBuilderFolder } from './builder.js';
import { type JudgedTree, keepCycle, readJudgedTree } from './commit.js';
import type { Evaluation, Work } from './evaluation.js';
import {
  type CycleReport,
  type CycleResult,
  describeKept,
  type Kept,
  type MemoryError,
  progressLine,
} from './rules.js';
import { type CycleMark, type CycleRun, dropMark, inStage, updateMark } from './running.js';

interface StoredCycle extends Pick<Evaluation, 'classification'> {
  recorded: RecordedCycle | null;
  /** What `[cycle]` allows to commit. Null: nothing. */
  tree: JudgedTree | null;
  error?: MemoryError;
}

/** GOV-03: records the cycle after its evaluation. A record that cannot be written is left for the next cycle. */
export async function storeCycle(run: CycleRun, work: Work): Promise<StoredCycle> {
  const { classification } = work.evaluation;
  const stored: StoredCycle = { classification, recorded: null, tree: null };
  const stages = [...run.stages];
  await inStage(run, 'memory', async () => {
    try {
      const input = { ...(await describe(run, work)), stages };
      stored.tree = await readJudgedTree(run.context, work);
      stored.recorded = await record(run, input);
      return {};
    } catch (error) {
      if (!(error instanceof ForgeError) || error.kind === 'bug') throw error;
      const { kind, code, message, hint, exit } = error;
      stored.error = { kind, code, message, ...(hint === undefined ? {} : { hint }), exit };
      stored.classification = judgedLate(classification);
      return { status: 'failed', note: message };
    }
  });
  return stored;
}

async function describe(run: CycleRun, work: Work): Promise<CycleInput> {
  const { context, mark } = run;
  const { evaluation, observations, environment_valid } = work;
  const { key, started_at } = mark as CycleMark;
  return {
    task_id: work.task,
    exit_code: work.run?.exit_code ?? null,
    started_at,
    finished_at: timestamp(context),
    ...(work.run ? { log: await guardLog(context, work.run.output) } : {}),
    classification: evaluation.classification,
    environment_valid,
    governance_violations: evaluation.violations,
    quality_signals: { ...observations.signals, ...measured(work) },
    regression_flags: evaluation.regressions,
    improvement_proposals: observations.proposals,
    patterns: observations.patterns,
    ...evaluation.runs,
    idempotency_key: key,
  };
}

const measured = ({ run, evaluation, observations }: Work): NonNullable<CycleInput['quality_signals']> => ({
  features: evaluation.features,
  features_passing_before: evaluation.passing_before,
  features_passing_after: evaluation.passing,
  files_changed: evaluation.files_changed,
  ...(run ? { command_ms: run.duration_ms, output_bytes: run.output.bytes } : {}),
  ...(observations.problems.length > 0 ? { observations_refused: observations.problems.length } : {}),
});

async function record(run: CycleRun, input: CycleInput): Promise<RecordedCycle> {
  const { context, stages } = run;
  try {
    updateMark(run, { stage: 'memory', stages, input });
    return await recordCycle(context, input);
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind !== 'secret') throw error;
    context.warnings.push(`The record was reduced to what may be stored: ${error.message}`);
    return recordCycle(context, withoutSecrets(context, input));
  }
}

/** A record that contains a secret keeps its stages and its verdict only. */
function withoutSecrets(context: Context, input: CycleInput): CycleInput {
  const { exit_code, started_at, finished_at, classification, environment_valid, idempotency_key } = input;
  const guarded = (texts: readonly string[] = []): string[] => texts.map((text) => guardText(context, text));
  return {
    ...{ exit_code, started_at, finished_at, classification, environment_valid, idempotency_key },
    task_id: guardText(context, input.task_id),
    stages: input.stages?.map(({ note: _note, ...stage }) => stage),
    governance_violations: guarded(input.governance_violations),
    regression_flags: guarded(input.regression_flags),
  };
}

/** Reports the cycle, adds its line to progress and makes its commit and checkpoint (GOV-04). */
export async function reportCycle(run: CycleRun, work: Work, stored: StoredCycle): Promise<CycleResult> {
  const { context } = run;
  const { recorded, error, classification } = stored;
  const mark = run.mark as CycleMark;
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
    const report = makeReport(run, work, stored);
    result.report = report;
    noteProgress(context, result);
    let kept: Kept = { commit: null, checkpoint: null };
    if (recorded && stored.tree) {
      const cycle = {
        task: work.task,
        record: recorded.execution.id,
        summary: progressLine(result),
        evidence: work.evaluation.runs.evidence,
      };
      // After the record and the progress line, which belong in the commit.
      kept = await keepCycle(context, stored.tree, cycle, run.watch);
    }
    Object.assign(report, kept);
    if (recorded) dropMark(context, mark);
    else removeBuilderFolder(mark.key);
    return { note: describeKept(kept) };
  });
  run.stages.push({ name: 'sleep', status: 'skipped', duration_ms: 0 });
  // Several stages may warn about the same thing.
  context.warnings.splice(0, context.warnings.length, ...new Set(context.warnings));
  return result;
}

function makeReport(run: CycleRun, work: Work, { recorded, error }: StoredCycle): CycleReport {
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
    commit: null,
    checkpoint: null,
  };
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
