import { elapsed } from '../core/clock.js';
import { ForgeError } from '../core/error.js';
import { type CycleInput, judgedLate } from '../learning/evaluation.js';
import { type RecordedCycle, recordCycle } from '../learning/record.js';
import { type Context, readHalt, timestamp } from '../project/project.js';
import { addProgress } from '../session/progress.js';
import { readRunning } from '../session/running.js';
import { guardLog, guardText, removeBuilderFolder } from './builder.js';
import { keepCycle } from './commit.js';
import type { Evaluation } from './evaluation.js';
import { type CycleReport, type CycleResult, describeKept, type MemoryError, progressLine } from './rules.js';
import { type CycleRun, dropMark, inStage, updateMark } from './running.js';

interface StoredCycle {
  recorded: RecordedCycle | null;
  error?: MemoryError;
}

/** GOV-03: records the cycle after its evaluation. A record that cannot be written is left for the next cycle. */
export async function storeCycle(run: CycleRun, evaluation: Evaluation): Promise<StoredCycle> {
  const stored: StoredCycle = { recorded: null };
  await inStage(run, 'memory', async () => {
    try {
      stored.recorded = record(run, await describe(run, evaluation));
      return {};
    } catch (error) {
      if (!(error instanceof ForgeError) || error.kind === 'bug') throw error;
      const { kind, code, message, hint, exit } = error;
      stored.error = { kind, code, message, ...(hint === undefined ? {} : { hint }), exit };
      return { status: 'failed', note: message };
    }
  });
  return stored;
}

async function describe(
  { context, mark, stages, task, ran, observations, environment_valid }: CycleRun,
  { classification, passing_before, found }: Evaluation,
): Promise<CycleInput> {
  const { features, features_passing, files_changed, tests_changed: _, ...judged } = found;
  return {
    task_id: task,
    exit_code: ran?.exit_code ?? null,
    started_at: mark.started_at,
    finished_at: timestamp(context),
    ...(ran ? { log: await guardLog(context, ran.output) } : {}),
    stages: [...stages],
    ...{ classification, environment_valid, ...judged },
    quality_signals: {
      ...observations.signals,
      ...{ features, features_passing_before: passing_before, features_passing_after: features_passing },
      files_changed,
      ...(ran ? { command_ms: ran.duration_ms, output_bytes: ran.output.bytes } : {}),
      ...(observations.problems.length > 0 ? { observations_refused: observations.problems.length } : {}),
    },
    improvement_proposals: observations.proposals,
    patterns: observations.patterns,
    idempotency_key: mark.key,
  };
}

function record(run: CycleRun, input: CycleInput): RecordedCycle {
  const { context, stages } = run;
  try {
    updateMark(run, { stage: 'memory', stages, input });
    return recordCycle(context, input);
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
export async function reportCycle(
  run: CycleRun,
  evaluation: Evaluation,
  { recorded, error }: StoredCycle,
): Promise<CycleResult> {
  const { context, task, stages, ran } = run;
  const { warnings } = context;
  const classification = error ? judgedLate(evaluation.classification) : evaluation.classification;
  const result: CycleResult = {
    ...{ cycle: recorded?.cycle ?? null, task, stages, classification, exit_code: ran?.exit_code ?? null },
    ...{ report: null, ...(error ? { memory_error: error } : {}), warnings },
  };
  await inStage(run, 'report', async () => {
    const report = makeReport(run, evaluation, recorded, error);
    result.report = report;
    noteProgress(context, result);
    // After the record and the progress line, which belong in the commit.
    if (recorded) Object.assign(report, await keepCycle(run, evaluation, recorded, progressLine(result)));
    if (recorded) dropMark(run);
    else removeBuilderFolder(run.mark.key);
    return { note: describeKept(report) };
  });
  stages.push({ name: 'sleep', status: 'skipped', duration_ms: 0 });
  // Several stages may warn about the same thing.
  warnings.splice(0, warnings.length, ...new Set(warnings));
  return result;
}

function makeReport(
  { context, environment_valid, started }: CycleRun,
  evaluation: Evaluation,
  recorded: RecordedCycle | null,
  error: MemoryError | undefined,
): CycleReport {
  const { promoted = [], contested = [] } = recorded?.consolidation ?? {};
  const unwritten = error?.kind === 'corrupted' ? 'corrupted' : 'unknown';
  const status = error === undefined ? 'intact' : unwritten;
  return {
    memory_write_performed: recorded !== null,
    knowledge_promoted: promoted.length > 0,
    knowledge_conflict_detected: contested.length > 0,
    memory_integrity_status: readHalt(context.disk) === null ? status : 'halted',
    promoted,
    contested,
    execution: recorded?.execution.id ?? null,
    evaluation: recorded?.evaluation?.id ?? null,
    environment_valid,
    ...evaluation.found,
    duration_ms: Math.round(elapsed() - started),
    ...{ commit: null, checkpoint: null },
  };
}

function noteProgress(context: Context, result: CycleResult): void {
  try {
    if (readRunning(context)) addProgress(context, { text: progressLine(result) });
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    context.warnings.push(`Progress was not written: ${error.message}`);
  }
}
