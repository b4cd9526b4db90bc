import { setTimeout } from 'node:timers/promises';
import * as z from 'zod/mini';
import { elapsed } from '../core/clock.js';
import { ForgeError } from '../core/error.js';
import { checkInput } from '../core/schema.js';
import { hasUnsent } from '../events/outbox.js';
import { listFeatures } from '../feature/feature.js';
import type { Classification, Stage } from '../learning/evaluation.js';
import { type Context, requireSupervisor, warnOnce } from '../project/project.js';
import { chooseTask, isTaken, runCycle } from './cycle.js';
import { reopen } from './evaluation.js';
import { describeLeft, type LoopState, readLoop, saveLoop } from './loop-state.js';
import {
  type CycleResult,
  hasFailed,
  type LoopResult,
  type MemoryError,
  NO_TASK,
  STOP_REASONS,
  type StopReason,
  toMemoryError,
} from './rules.js';
import { CycleOptions, type CycleWatch, withSignals } from './running.js';

export const LoopOptions = z.strictObject({
  ...z.pick(CycleOptions, { command: true, timeout_seconds: true }).shape,
  max_cycles: z.optional(z.int().check(z.gte(1))),
  /** No cycle begins after it. */
  max_time_seconds: z.optional(z.int().check(z.gte(0), z.lte(31_536_000))),
  sleep_seconds: z.optional(z.int().check(z.gte(0), z.lte(604_800))),
  /** Cycles in a row that failed, or in which nothing began to pass. Default 3. */
  max_failures: z.optional(z.int().check(z.gte(1))),
  resume: z.optional(z.boolean()),
});
export type LoopOptions = z.infer<typeof LoopOptions>;

/** So that cycles that achieve nothing are not paid for all night. */
const MAX_FAILURES = 3;

export interface LoopWatch extends CycleWatch {
  onCycle?(result: CycleResult): void;
}

interface Loop {
  context: Context;
  input: LoopOptions;
  watch: LoopWatch;
  state: LoopState;
  /** Cycles in a row that failed or achieved nothing. A resumed loop starts at 0, since somebody saw why it stopped. */
  failures: number;
  /** When it would have begun without pauses, on the clock of `elapsed`. */
  started: number;
}

/** GOV-02: repeats cycles until a limit, a signal, or nothing is left to do. */
export async function runLoop(
  context: Context,
  raw: LoopOptions,
  given: LoopWatch = {},
): Promise<LoopResult> {
  const input = checkInput(LoopOptions, raw);
  const watch = withSignals(given);
  requireSupervisor(context, 'memory');
  if (context.disk.dryRun) {
    const stopped_by = isNothingLeft(context, input) ? 'nothing_left' : 'max_cycles';
    const reason = `dry run: nothing was run (${input.command[0]})`;
    return { cycles: 0, stopped_by, by_classification: {}, reason };
  }
  const state = beginLoop(context, input);
  const started = elapsed() - state.seconds * 1000;
  const loop: Loop = { context, input, watch, state, failures: 0, started };
  const result = await repeat(loop);
  const reason = result.error ? result.reason : STOP_REASONS[result.stopped_by];
  Object.assign(state, { reason, seconds: secondsOf(loop) });
  saveLoop(context, state);
  return result;
}

const secondsOf = ({ started }: Loop): number => (elapsed() - started) / 1000;

async function repeat(loop: Loop): Promise<LoopResult> {
  const { context, input, watch } = loop;
  const { command, timeout_seconds, sleep_seconds: sleep = 0 } = input;
  for (let round = 0; ; round++) {
    const stop = whyStop(loop, 0);
    if (stop) return endedBy(loop, stop);
    try {
      const fresh = { ...reopen(context), warnings: [] };
      const result = await runCycle(fresh, { command, timeout_seconds }, { ...watch, isLoop: true });
      if (hasUnsent(context)) await (await import('../events/publish.js')).sendUnsent(context);
      countCycle(loop, result);
      // A halt ends the loop. A disk that failed may work the next time.
      const isHalted = result.memory_error && result.memory_error.kind !== 'outside';
      const after = isHalted ? 'error' : whyStop(loop, sleep);
      const seconds = after ? 0 : sleep;
      // Reported before the sleep, with its planned duration.
      const slept: Stage = { name: 'sleep', status: 'ok', duration_ms: seconds * 1000 };
      watch.onCycle?.(seconds > 0 ? { ...result, stages: result.stages.with(-1, slept) } : result);
      if (after) return endedBy(loop, after, result.memory_error);
      if (seconds > 0) {
        await rest(watch, seconds * 1000);
        watch.onStageEnd?.(slept);
      }
    } catch (error) {
      if (isTaken(error)) {
        warnOnce(context, error.message);
        continue;
      }
      // If the first cycle is refused, there was no loop.
      if (!(error instanceof ForgeError) || round === 0) throw error;
      return endedBy(loop, 'error', error);
    }
  }
}

const rest = ({ finish }: LoopWatch, ms: number): Promise<void> =>
  setTimeout(ms, undefined, finish ? { signal: finish } : {}).catch(() => undefined);

function countCycle(loop: Loop, result: CycleResult): void {
  const classification: Classification = result.classification ?? 'FAILURE';
  const { cycles, by_classification: counts } = loop.state;
  const by_classification = { ...counts, [classification]: (counts[classification] ?? 0) + 1 };
  Object.assign(loop.state, { cycles: cycles + 1, by_classification, seconds: secondsOf(loop) });
  const isVain = hasFailed(classification) || hasStalled(loop.input, result);
  loop.failures = isVain ? loop.failures + 1 : 0;
  saveLoop(loop.context, loop.state);
}

const hasLimit = ({ max_cycles, max_time_seconds }: LoopOptions): boolean =>
  max_cycles !== undefined || max_time_seconds !== undefined;

/** Whether nothing began to pass. Without any features nothing can, so the given limits say when to stop. */
function hasStalled(input: LoopOptions, { classification, report }: CycleResult): boolean {
  if (classification === 'SUCCESS' || !report || report.gained.length > 0) return false;
  return report.features > 0 || !hasLimit(input);
}

/** The reason to stop before another cycle, which would come after a sleep of so many seconds. */
function whyStop(loop: Loop, sleep: number): StopReason | null {
  const { context, input, watch, state, failures } = loop;
  const { max_cycles, max_time_seconds, max_failures = MAX_FAILURES } = input;
  if (watch.finish?.aborted) return 'interrupted';
  if (failures >= max_failures) return 'max_failures';
  if (max_cycles !== undefined && state.cycles >= max_cycles) return 'max_cycles';
  if (max_time_seconds !== undefined && secondsOf(loop) + sleep >= max_time_seconds) return 'max_time';
  return isNothingLeft(context, input) ? 'nothing_left' : null;
}

/** Without any features, the given limits say how many cycles to run. */
function isNothingLeft(context: Context, input: LoopOptions): boolean {
  const { features } = listFeatures(context);
  if (chooseTask(context, undefined, features, true).id !== NO_TASK) return false;
  return features.length > 0 || !hasLimit(input);
}

function endedBy(loop: Loop, stopped_by: StopReason, cause?: MemoryError): LoopResult {
  const { cycles, by_classification } = loop.state;
  const result = { cycles, stopped_by, by_classification };
  if (stopped_by === 'error' && cause)
    return { ...result, reason: cause.message, error: toMemoryError(cause) };
  return { ...result, reason: `${STOP_REASONS[stopped_by]}${describeLeft(loop.context)}` };
}

function beginLoop(context: Context, { resume }: LoopOptions): LoopState {
  const before = readLoop(context);
  const own = { holder: context.world.self(), reason: null };
  if (resume && before) return { ...before, ...own };
  if (resume) context.warnings.push('There is no loop to resume; this one counts from the start.');
  return { schema_version: '1.0', cycles: 0, by_classification: {}, seconds: 0, ...own };
}
