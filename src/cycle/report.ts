import { elapsed } from '../core/clock.js';
import { ForgeError } from '../core/error.js';
import { shownFrom } from '../core/paths.js';
import { type Classification, type CycleInput, judgedLate } from '../learning/evaluation.js';
import { type RecordedCycle, recordCycle } from '../learning/record.js';
import { readHalt } from '../project/halt.js';
import { type Context, readConfig, timestamp } from '../project/project.js';
import { addProgress } from '../session/progress.js';
import { readRunning } from '../session/running.js';
import type { Work } from './evaluation.js';
import { guardLog, guardText } from './execution.js';
import { type CycleMark, type CycleRun, dropMark, inStage, leaveMark, moveMark } from './mark.js';
import {
  type CycleKeep,
  type CycleReport,
  type CycleResult,
  describeKept,
  hasFailed,
  type Kept,
  type MemoryError,
  progressLine,
} from './rules.js';

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

/** What became of the record. */
interface StoredCycle {
  classification: Classification;
  recorded: RecordedCycle | null;
  /** What is to follow it. */
  keep?: CycleKeep | undefined;
  error?: MemoryError;
}

/** GOV-03: after evaluation, with every stage before it. What cannot be written is left for the next cycle. */
export async function storeCycle(run: CycleRun, work: Work): Promise<StoredCycle> {
  const stored: StoredCycle = { classification: work.evaluation.classification, recorded: null };
  const stages = [...run.stages];
  await inStage(run, 'memory', async () => {
    try {
      const input = { ...(await describe(run, work)), stages };
      stored.keep = await planKeep(run.context, work);
      stored.recorded = await record(run, input);
      return {};
    } catch (error) {
      if (!(error instanceof ForgeError) || error.kind === 'bug') throw error;
      stored.error = toMemoryError(error);
      stored.classification = judgedLate(stored.classification);
      return { status: 'failed', note: error.message };
    }
  });
  return stored;
}

const toMemoryError = ({ kind, code, message, hint, exit }: ForgeError): MemoryError => ({
  kind,
  code,
  message,
  ...(hint === undefined ? {} : { hint }),
  exit,
});

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

function measured({ run, evaluation, observations }: Work): NonNullable<CycleInput['quality_signals']> {
  return {
    features: evaluation.features,
    features_passing_before: evaluation.passing_before,
    features_passing_after: evaluation.passing,
    files_changed: evaluation.files_changed,
    ...(run ? { command_ms: run.duration_ms, output_bytes: run.output.bytes } : {}),
    ...(observations.problems.length > 0 ? { observations_refused: observations.problems.length } : {}),
  };
}

/** GOV-04: of a cycle whose checks pass, as `[cycle]` says. What cannot be seen is left out, and told. */
async function planKeep(context: Context, { evaluation, trees }: Work): Promise<CycleKeep | undefined> {
  const { classification, gained, tree } = evaluation;
  const { repository, layout } = context;
  if (hasFailed(classification) || !repository || !trees || tree === null) return undefined;
  const { commit, checkpoint } = readConfig(context).cycle;
  const marked = checkpoint ? gained : [];
  if (!commit && marked.length === 0) return undefined;
  try {
    const folder = shownFrom(repository.root, layout.dir);
    return { tree: await trees.reader.digest(tree, folder), commit, checkpoint: marked };
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind === 'bug') throw error;
    context.warnings.push(`The cycle is not committed: ${error.message}`);
    return undefined;
  }
}

async function record(run: CycleRun, input: CycleInput): Promise<RecordedCycle> {
  try {
    const { stages } = run;
    run.mark = moveMark(run.context, run.mark as CycleMark, { stage: 'memory', stages, input });
    return await recordCycle(run.context, input);
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind !== 'secret') throw error;
    run.context.warnings.push(`The record was cut down to what may be stored: ${error.message}`);
    return recordCycle(run.context, cutDown(run.context, input));
  }
}

/** Something in it may not be stored: that the cycle was, how it went and how it was judged, may. */
function cutDown(context: Context, input: CycleInput): CycleInput {
  const { log: _log, patterns: _patterns, improvement_proposals: _proposals, ...rest } = input;
  const { quality_signals: _signals, evidence: _evidence, evidence_left_out: _left, ...kept } = rest;
  const guarded = (texts: readonly string[] = []): string[] => texts.map((text) => guardText(context, text));
  return {
    ...kept,
    task_id: guardText(context, input.task_id),
    stages: input.stages?.map(({ note: _note, ...stage }) => stage),
    governance_violations: guarded(input.governance_violations),
    regression_flags: guarded(input.regression_flags),
  };
}
