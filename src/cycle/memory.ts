import { ForgeError } from '../core/error.js';
import { shownFrom } from '../core/paths.js';
import { type Classification, type CycleInput, judgedLate } from '../learning/evaluation.js';
import { type RecordedCycle, recordCycle } from '../learning/record.js';
import { type Context, readConfig, timestamp } from '../project/project.js';
import { guardLog, guardText } from './execution.js';
import type { CycleKeep } from './keep-rules.js';
import { type CycleMark, moveMark } from './mark.js';
import type { MemoryError } from './report-rules.js';
import { type CycleRun, inStage } from './stage.js';
import { hasFailed } from './verdict.js';
import type { Work } from './work.js';

/** What became of the record. */
export interface StoredCycle {
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
    return recordCycle(run.context, await cutDown(run.context, input));
  }
}

/** Something in it may not be stored: that the cycle was, how it went and how it was judged, may. */
async function cutDown(context: Context, input: CycleInput): Promise<CycleInput> {
  const { exit_code, started_at, finished_at, classification, environment_valid, idempotency_key } = input;
  const guarded = (texts: readonly string[] = []): Promise<string[]> =>
    Promise.all(texts.map((text) => guardText(context, text)));
  return {
    task_id: await guardText(context, input.task_id),
    exit_code,
    started_at,
    finished_at,
    stages: input.stages?.map(({ note: _note, ...stage }) => stage),
    classification,
    environment_valid,
    governance_violations: await guarded(input.governance_violations),
    regression_flags: await guarded(input.regression_flags),
    idempotency_key,
  } as CycleInput;
}
