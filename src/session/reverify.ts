import { listPassing } from '../checkpoint/run.js';
import { timeLimit } from '../core/clock.js';
import { ForgeError } from '../core/error.js';
import type { Feature } from '../feature/rules.js';
import { type FeatureResult, type VerifyWatch, verifyFeatures } from '../feature/verify.js';
import { type Context, readConfig } from '../project/project.js';
import type { SessionStartInput } from './rules.js';
import { judgeRunning, readRunning } from './running.js';
import { archivedIds } from './store.js';

export interface ReverifyWatch {
  /** A test is about to run; this many features are done. */
  onTest?(feature: string, command: string, done: number, total: number): void;
  /** Aborts the reruns. No session is started then. */
  signal?: AbortSignal;
}

export type Reverified = Awaited<ReturnType<typeof runAll>>;

/**
 * SES-11: reruns the tests of passing features, other ones with each session, so that each gets its turn. Results
 * are recorded as by `feature verify`. A test that hit the time limit has no result. Null if it does not apply.
 * The setting applies to new sessions, and nothing is run for a start that another agent's session may refuse.
 */
export async function reverify(
  context: Context,
  count: number,
  asked: SessionStartInput,
  watch: ReverifyWatch,
) {
  if (context.disk.dryRun) return null;
  const running = readRunning(context);
  const state = running && judgeRunning(context, running).state;
  const isNew = state !== 'same' && asked.resume === undefined;
  if (state === 'held' || (!isNew && asked.reverify === undefined)) return null;
  const chosen = choosePassing(context, count);
  const limit = timeLimit(readConfig(context).session.reverify_seconds * 1000, watch.signal);
  return runAll(context, chosen, limit.signal, watch).finally(limit.release);
}

/** An overridden feature passes by a human's decision, not by a test run. */
function choosePassing(context: Context, count: number): Feature[] {
  const passing = listPassing(context).filter(
    ({ tests = [], override }) => tests.length > 0 && override === undefined,
  );
  const first = (archivedIds(context).length * count) % (passing.length || 1);
  return [...passing.slice(first), ...passing.slice(0, first)].slice(0, count);
}

/** `signal`: the time is up, or a user aborted. Throws errors that no feature caused. */
async function runAll(
  context: Context,
  chosen: readonly Feature[],
  signal: AbortSignal,
  watch: ReverifyWatch,
) {
  const results: FeatureResult[] = [];
  // The code is `time`, `not_run` (the test could not run), or that of the refusal (`trust.needed`, …).
  const not_run: { id: string; code: string; why: string }[] = [];
  const ids = chosen.map(({ id }) => id);
  const runs: VerifyWatch = {
    signal,
    onStart: (id, command) => watch.onTest?.(id, command, results.length, chosen.length),
    onResult: (result) => {
      const { id, not_run: why } = result;
      if (why === undefined) results.push(result);
      else not_run.push({ id, code: 'not_run', why });
    },
    onRefused: (id, { code, message }) => not_run.push({ id, code, why: message }),
  };
  try {
    if (ids.length > 0) await verifyFeatures(context, { ids }, runs);
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind !== 'interrupted') throw error;
  }
  if (watch.signal?.aborted)
    throw new ForgeError('interrupted', 'interrupted', 'Interrupted; no session was started.');
  const judged = new Set([...results, ...not_run].map(({ id }) => id));
  const left = ids.filter((id) => !judged.has(id));
  const regressed = results.filter(({ before, status }) => before !== status).map(({ id }) => id);
  return {
    results,
    regressed,
    not_run: [...not_run, ...left.map((id) => ({ id, code: 'time', why: 'the time was up' }))],
  };
}
