import type { Evidence } from '../domain/cycle.js';
import type { Findings } from '../domain/cycle-verdict.js';
import { ForgeError } from '../domain/error.js';
import type { Feature } from '../domain/feature.js';
import type { Context } from './context.js';
import type { RunWatch } from './cycle-execution.js';
import type { CycleFacts } from './cycle-facts.js';
import type { VerifyWatch } from './feature-verify.js';

/** Re-running what passed before takes no longer than this together; what is left is named. */
const REGRESSION_BUDGET_MS = 10 * 60_000;

export const isPassing = ({ status }: Feature): boolean => status === 'passing';

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
}

/** The task's own tests, then what passed before, unless nothing was changed. */
export async function judgeTests(
  judge: Judge,
  ran: Judged,
  features: readonly Feature[],
  files: readonly string[] | undefined,
): Promise<Findings['task']> {
  const task = await judgeTask(judge, ran.task, features);
  if (files?.length !== 0) await runAgain(judge, ran, features);
  return task;
}

async function judgeTask(
  judge: Judge,
  task: string,
  features: readonly Feature[],
): Promise<Findings['task']> {
  const feature = features.find(({ id }) => id === task);
  if (!feature || (feature.tests ?? []).length === 0) return 'untested';
  return (await verify(judge, task)) ?? 'unknown';
}

/** Runs a feature's tests and keeps what they showed; null when they could not be run. */
async function verify(judge: Judge, id: string): Promise<'passing' | 'failing' | null> {
  const { context, watch, evidence, notes, tree } = judge;
  const onRun: VerifyWatch['onRun'] = (feature, run) => {
    const { argv, exit_code, duration_ms, output_bytes, output_sha256 } = run;
    evidence.push({ feature, argv: [...argv], exit_code, duration_ms, tree, output_bytes, output_sha256 });
  };
  const { stop: signal, onOutput } = watch;
  const show = (chunk: string): void => onOutput?.(chunk, false);
  try {
    const watching = { onRun, asBuilder: true, onOutput: show, ...(signal ? { signal } : {}) };
    // Loaded where there is something to run.
    const { verifyFeatures } = await import('./feature-verify.js');
    const { results } = await verifyFeatures(context, { ids: [id] }, watching);
    return results[0]?.status === 'passing' ? 'passing' : 'failing';
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    notes.push(`${id}: ${error.message}${error.hint ? ` (${error.hint})` : ''}`);
    return null;
  }
}

/** Which features a change touches cannot be told, so all that passed are run again, as far as the time reaches. */
async function runAgain(judge: Judge, { task, before }: Judged, features: readonly Feature[]): Promise<void> {
  const passed = new Set(before.features.filter(isPassing).map(({ id }) => id));
  const wanted = features.filter(
    ({ id, tests = [], override }) => id !== task && passed.has(id) && tests.length > 0 && !override,
  );
  const deadline = performance.now() + REGRESSION_BUDGET_MS;
  for (const [i, { id }] of wanted.entries()) {
    if (judge.watch.stop?.aborted) return;
    if (performance.now() > deadline) {
      const left = wanted.slice(i).map((feature) => feature.id);
      judge.notes.push(`not run again, the time was up: ${left.join(', ')}`);
      return;
    }
    await verify(judge, id);
  }
}
