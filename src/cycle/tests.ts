import { elapsed } from '../core/clock.js';
import { ForgeError } from '../core/error.js';
import { type Feature, testsDiffer } from '../feature/rules.js';
import type { VerifyWatch } from '../feature/verify.js';
import type { Evidence } from '../learning/evaluation.js';
import type { Context } from '../project/project.js';
import type { RunWatch } from './execution.js';
import type { CycleFacts } from './facts.js';
import { type Findings, findRerun } from './verdict.js';

/** Running again takes no longer than this together; what is left is named. */
const RERUN_BUDGET_MS = 10 * 60_000;

/** The task, and what stood before the command. */
interface Judged {
  task: string;
  before: CycleFacts;
}

/** What tests are run with, and what they leave. */
export interface Judge {
  context: Context;
  watch: RunWatch;
  evidence: Evidence[];
  notes: string[];
  tree: string | null;
  /** What forge's own runs showed, by feature. */
  shown: Map<string, 'passing' | 'failing'>;
}

/** The task's own tests, then what passed before and what is said to pass now. */
export async function judgeTests(judge: Judge, ran: Judged, after: CycleFacts): Promise<Findings['task']> {
  const task = await judgeTask(judge, ran, after.features);
  await runAgain(judge, ran, after);
  return task;
}

/** Nobody brings along the tests that their own work is judged by. */
async function judgeTask(
  judge: Judge,
  { task, before }: Judged,
  features: readonly Feature[],
): Promise<Findings['task']> {
  const [old, feature] = [before.features, features].map((list) => list.find(({ id }) => id === task));
  if (!old || !feature || (feature.tests ?? []).length === 0 || testsDiffer(old, feature)) return 'untested';
  return (await verify(judge, task)) ?? 'unknown';
}

/** Runs a feature's tests and keeps what they showed; null when they could not be run. */
async function verify(judge: Judge, id: string): Promise<'passing' | 'failing' | null> {
  const { context, watch, evidence, notes, tree } = judge;
  const onRun: VerifyWatch['onRun'] = (feature, run) => {
    const { argv, exit_code, duration_ms, output } = run;
    const shown = { output_bytes: output.bytes, output_sha256: output.sha256 };
    evidence.push({ feature, argv: [...argv], exit_code, duration_ms, tree, ...shown });
  };
  const { stop: signal, onOutput, onStart: onProcess } = watch;
  const show = (chunk: string): void => onOutput?.(chunk, false);
  try {
    const watching = { onRun, onProcess, asBuilder: true, onOutput: show, ...(signal ? { signal } : {}) };
    // Loaded where there is something to run.
    const { verifyFeatures } = await import('../feature/verify.js');
    const { results } = await verifyFeatures(context, { ids: [id] }, watching);
    const status = results[0]?.status === 'passing' ? 'passing' : 'failing';
    judge.shown.set(id, status);
    return status;
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    notes.push(`${id}: ${error.message}${error.hint ? ` (${error.hint})` : ''}`);
    return null;
  }
}

/**
 * What a change touches cannot be told: much that tests depend on is ignored by git, or lies elsewhere. So all that
 * passed, and all that is said to pass now, is run, as far as the time reaches.
 */
async function runAgain(judge: Judge, { task, before }: Judged, after: CycleFacts): Promise<void> {
  const wanted = findRerun(before, after).filter(
    ({ id, tests = [] }) => tests.length > 0 && !judge.shown.has(id),
  );
  const deadline = elapsed() + RERUN_BUDGET_MS;
  for (const [i, { id }] of wanted.entries()) {
    const isLate = elapsed() > deadline;
    if (isLate || judge.watch.stop?.aborted) {
      const left = wanted.slice(i).map((feature) => feature.id);
      if (isLate) judge.notes.push(`not run again, the time was up: ${left.join(', ')}`);
      return;
    }
    if (id !== task) await verify(judge, id);
  }
}
