import { setTimeout } from 'node:timers/promises';
import * as z from 'zod/mini';
import { elapsed } from '../core/clock.js';
import { ForgeError } from '../core/error.js';
import { checkInput } from '../core/schema.js';
import { firstNames, plural } from '../core/text.js';
import { hasUnsent } from '../events/outbox.js';
import { listFeatures, nextTask } from '../feature/feature.js';
import { isUnprovenPass } from '../feature/rules.js';
import type { Classification, Stage } from '../learning/evaluation.js';
import { type Context, requireSupervisor, warnOnce } from '../project/project.js';
import { chooseTask, isTaken, runCycle } from './cycle.js';
import { reopen } from './evaluation.js';
import { type LoopState, readLoop, saveLoop } from './loop-state.js';
import { NOT_COMMITTED } from './report.js';
import {
  type CycleResult,
  hasFailed,
  type LoopResult,
  type MemoryError,
  NO_TASK,
  type StopReason,
} from './rules.js';
import { CycleOptions, type CycleWatch } from './running.js';

export const LoopOptions = z.strictObject({
  ...z.pick(CycleOptions, { command: true, timeout_seconds: true }).shape,
  max_cycles: z.optional(z.int().check(z.gte(1))),
  /** No cycle begins after it. */
  max_time_seconds: z.optional(z.int().check(z.gte(0), z.lte(31_536_000))),
  sleep_seconds: z.optional(z.int().check(z.gte(0), z.lte(604_800))),
  /** Cycles in a row that failed, or in which nothing began to pass. Default 3. */
  max_failures: z.optional(z.int().check(z.gte(1))),
  /** Continue with the counts of the loop before. */
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
  /** In a row. A resumed loop starts at 0, since somebody saw why it stopped. */
  failures: number;
  /** How many of them did not fail, but no feature began to pass. */
  stalls: number;
  /** Tasks whose last cycle here was no SUCCESS. */
  tried: Set<string>;
  /** Features that passed before a cycle here and failed after it. */
  broken: Set<string>;
  /** Tasks in whose cycles test files changed. */
  retested: Set<string>;
  /** Why the last cycle that was to be committed was not. */
  uncommitted: string | null;
  last: CycleResult | null;
}

/** GOV-02: repeats cycles until a limit, a signal, or nothing is left to do. */
export async function runLoop(
  context: Context,
  raw: LoopOptions,
  watch: LoopWatch = {},
): Promise<LoopResult> {
  const input = checkInput(LoopOptions, raw);
  requireSupervisor(context, 'memory');
  if (context.disk.dryRun) {
    const stopped_by = isNothingLeft(context, input) ? 'nothing_left' : 'max_cycles';
    const reason = `dry run: nothing was run (${input.command[0]})`;
    return { cycles: 0, stopped_by, by_classification: {}, reason };
  }
  const state = beginLoop(context, input);
  const loop: Loop = {
    context,
    input,
    watch,
    state,
    ...{ failures: 0, stalls: 0 },
    ...{ tried: new Set(), broken: new Set(), retested: new Set() },
    ...{ uncommitted: null, last: null },
  };
  const { seconds } = loop.state;
  const started = elapsed();
  const tick = (): number => {
    loop.state.seconds = seconds + (elapsed() - started) / 1000;
    return loop.state.seconds;
  };
  const result = await repeat(loop, tick);
  loop.state.reason = result.reason;
  saveLoop(context, loop.state);
  return result;
}

async function repeat(loop: Loop, tick: () => number): Promise<LoopResult> {
  const { context, input, watch } = loop;
  const { command, timeout_seconds, sleep_seconds: sleep = 0 } = input;
  for (let round = 0; ; round++) {
    const stop = whyStop(loop, 0);
    if (stop) return endedBy(loop, stop);
    try {
      const fresh = { ...reopen(context), warnings: [] };
      const result = await runCycle(fresh, { command, timeout_seconds }, { ...watch, isLoop: true });
      if (hasUnsent(context)) await (await import('../events/publish.js')).sendUnsent(context);
      tick();
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
        watch.onStage?.('sleep');
        const from = elapsed();
        await rest(watch, seconds * 1000);
        watch.onStageEnd?.({ ...slept, duration_ms: Math.round(elapsed() - from) });
        tick();
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

/** Waits until a person ends the loop. */
const rest = ({ finish }: LoopWatch, ms: number): Promise<void> =>
  setTimeout(ms, undefined, finish ? { signal: finish } : {}).catch(() => undefined);

function countCycle(loop: Loop, result: CycleResult): void {
  const classification: Classification = result.classification ?? 'FAILURE';
  const { report, task, warnings } = result;
  if (classification === 'SUCCESS') loop.tried.delete(task);
  else loop.tried.add(task);
  for (const id of report?.gained ?? []) loop.broken.delete(id);
  for (const id of report?.regression_flags ?? []) loop.broken.add(id);
  if ((report?.tests_changed.length ?? 0) > 0) loop.retested.add(task);
  if (report?.commit) loop.uncommitted = null;
  loop.uncommitted = warnings.find((text) => text.startsWith(NOT_COMMITTED)) ?? loop.uncommitted;
  loop.last = result;
  const { cycles, by_classification: counts } = loop.state;
  const by_classification = { ...counts, [classification]: (counts[classification] ?? 0) + 1 };
  Object.assign(loop.state, { cycles: cycles + 1, by_classification });
  const isFailure = hasFailed(classification);
  const isStall = !isFailure && hasStalled(loop.input, result);
  loop.failures = isFailure || isStall ? loop.failures + 1 : 0;
  loop.stalls = isStall ? loop.stalls + 1 : isFailure ? loop.stalls : 0;
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
function whyStop({ context, input, watch, state, failures }: Loop, sleep: number): StopReason | null {
  const { max_cycles, max_time_seconds, max_failures = MAX_FAILURES } = input;
  if (watch.finish?.aborted) return 'interrupted';
  if (failures >= max_failures) return 'max_failures';
  if (max_cycles !== undefined && state.cycles >= max_cycles) return 'max_cycles';
  if (max_time_seconds !== undefined && state.seconds + sleep >= max_time_seconds) return 'max_time';
  return isNothingLeft(context, input) ? 'nothing_left' : null;
}

/** Without any features, the given limits say how many cycles to run. */
function isNothingLeft(context: Context, input: LoopOptions): boolean {
  const { features } = listFeatures(context);
  if (chooseTask(context, undefined, features, true).id !== NO_TASK) return false;
  return features.length > 0 || !hasLimit(input);
}

const REASONS: Record<StopReason, string> = {
  max_cycles: 'the requested number of cycles was run',
  max_time: 'the time is up',
  max_failures: 'too many cycles failed in a row',
  nothing_left: 'nothing is left to do',
  interrupted: 'interrupted',
  error: 'memory could not be written',
};

function endedBy(loop: Loop, stopped_by: StopReason, cause?: MemoryError): LoopResult {
  const { cycles, by_classification } = loop.state;
  const result = { cycles, stopped_by, by_classification };
  if (stopped_by !== 'error' || !cause) return { ...result, reason: describeEnd(loop, stopped_by) };
  const { kind, code, message, exit } = cause;
  return { ...result, reason: message, error: { kind, code, message, exit } };
}

/** With the tasks that still fail, and why nothing can be done about what is left. */
function describeEnd(loop: Loop, stopped_by: StopReason): string {
  const { context, tried, broken, retested, uncommitted, last, failures, stalls } = loop;
  const { candidates } = nextTask(context);
  const { features } = listFeatures(context);
  const unproven = features.filter(isUnprovenPass).map(({ id }) => id);
  const open = candidates.filter(({ id }) => !unproven.includes(id));
  const left = stopped_by === 'nothing_left' ? open.map(({ id, reason }) => `${id} (${reason})`) : [];
  const stalled = `no feature began to pass in ${plural(failures, 'cycle')} in a row`;
  const general = stopped_by === 'max_failures' && stalls > 0 ? stalled : REASONS[stopped_by];
  const reason = left.length > 0 ? `nothing can be done now: ${firstNames(left, 5)}` : general;
  const untested = new Set(features.flatMap(({ id, tests }) => (tests?.length ? [] : id)));
  const names = (ids: readonly { id: string }[]): string =>
    firstNames(
      ids.map(({ id }) => (untested.has(id) ? `${id} (no test)` : id)),
      5,
    );
  const failed = open.filter(({ id }) => tried.has(id) && !broken.has(id));
  const worse = open.filter(({ id }) => broken.has(id));
  const untried = open.filter(
    ({ id, blocked_by }) => blocked_by.length === 0 && !tried.has(id) && !broken.has(id),
  );
  const environment = last?.stages.find(({ name, status }) => name === 'environment' && status === 'failed');
  return [
    environment ? `${reason} (environment: ${environment.note})` : reason,
    ...(worse.length > 0 ? [`passed before and fails now: ${names(worse)}`] : []),
    ...(failed.length > 0 ? [`not passing yet: ${names(failed)}`] : []),
    ...(untried.length > 0 ? [`${plural(untried.length, 'task')} not tried`] : []),
    ...(unproven.length > 0
      ? [`tests that pass and never failed: forge feature confirm ${unproven.slice(0, 5).join(' ')}`]
      : []),
    ...(uncommitted ? [uncommitted.replace(/^T/, 't')] : []),
    ...(retested.size > 0
      ? [`test files were changed for ${firstNames([...retested], 5)}: look at them`]
      : []),
  ].join('; ');
}

function beginLoop(context: Context, { resume }: LoopOptions): LoopState {
  const before = readLoop(context);
  const own = { holder: context.world.self(), reason: null };
  if (resume && before) return { ...before, ...own };
  if (resume) context.warnings.push('There is no loop to resume; this one counts from the start.');
  return { schema_version: '1.0', cycles: 0, by_classification: {}, seconds: 0, ...own };
}
