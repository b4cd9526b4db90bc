import { setTimeout } from 'node:timers/promises';
import * as z from 'zod/mini';
import { splitCommand } from '../core/argv.js';
import { elapsed } from '../core/clock.js';
import { ForgeError, refused } from '../core/error.js';
import { loopFile } from '../core/paths.js';
import { runProcess } from '../core/process.js';
import { checkInput, encodeDocument } from '../core/schema.js';
import { listFeatures } from '../feature/feature.js';
import { type Context, requireSupervisor, timestamp } from '../project/project.js';
import { chooseTask, runCycle } from './cycle.js';
import { lookAgain } from './facts.js';
import type { CycleWatch } from './mark.js';
import { NO_TASK } from './mark.js';
import type { CycleResult, MemoryError } from './rules.js';
import {
  afterCycle,
  LOOP_STATE,
  type LoopLimits,
  type LoopResult,
  type LoopState,
  MAX_FAILURES,
  reachedLimit,
  resumed,
  type StopReason,
} from './rules.js';

const Seconds = z.int().check(z.gte(0), z.lte(31_536_000));
export const LoopOptions = z.strictObject({
  command: z.array(z.string()).check(z.minLength(1)),
  timeout_seconds: z.optional(z.int().check(z.gte(1), z.lte(604_800))),
  max_cycles: z.optional(z.int().check(z.gte(1))),
  max_time_seconds: z.optional(Seconds),
  sleep_seconds: z.optional(z.int().check(z.gte(0), z.lte(604_800))),
  /** Failed cycles in a row; default 3. */
  max_failures: z.optional(z.int().check(z.gte(1))),
  /** A command, split by POSIX quoting: gets each report on stdin, and says by its exit code whether to go on. */
  cost_hook: z.optional(z.string()),
  /** Go on with the counts of the loop before. */
  resume: z.optional(z.boolean()),
});
export type LoopOptions = z.infer<typeof LoopOptions>;

export interface LoopWatch extends CycleWatch {
  onCycle?(result: CycleResult): void;
}

interface Loop {
  context: Context;
  input: LoopOptions;
  limits: LoopLimits;
  hook: string[] | null;
  watch: LoopWatch;
  state: LoopState;
}

/** GOV-02: cycles until a limit, a signal, the cost hook, or nothing is left to do. */
export async function runLoop(
  context: Context,
  raw: LoopOptions,
  watch: LoopWatch = {},
): Promise<LoopResult> {
  const input = checkInput(LoopOptions, raw);
  const hook = input.cost_hook === undefined ? null : splitCommand(input.cost_hook);
  requireSupervisor(context, 'memory');
  const { max_cycles, max_time_seconds: max_time, max_failures = MAX_FAILURES } = input;
  const limits = { max_cycles, max_time, max_failures };
  if (context.disk.dryRun) return planned(context, { command: input.command }, limits);
  const loop: Loop = {
    context,
    input,
    limits,
    hook,
    watch,
    state: beginLoop(context, input.resume === true, max_failures),
  };
  try {
    return await goRound(loop);
  } finally {
    saveLoop(context, { ...loop.state, running: false });
  }
}

function planned(context: Context, input: LoopOptions, limits: LoopLimits): LoopResult {
  const stop = nothingLeft({ context, limits }) ? 'nothing_left' : 'max_cycles';
  const reason = `dry run: nothing was run (${input.command[0]})`;
  return { cycles: 0, stopped_by: stop, by_classification: {}, reason };
}

async function goRound(loop: Loop): Promise<LoopResult> {
  for (let round = 0; ; round++) {
    const stop = whyStop(loop, 0);
    if (stop) return ended(loop, stop);
    try {
      const result = await oneCycle(loop);
      const after = (await whyStopAfter(loop, result)) ?? whyStop(loop, loop.input.sleep_seconds ?? 0);
      const seconds = after ? 0 : (loop.input.sleep_seconds ?? 0);
      loop.watch.onCycle?.(seconds > 0 ? beforeSleep(result, seconds) : result);
      if (after) return ended(loop, after, result.memory_error);
      if (seconds > 0) await sleepBetween(loop, seconds);
    } catch (error) {
      loop.state = { ...loop.state, in_cycle: false };
      // The very first was refused: there was no loop.
      if (!(error instanceof ForgeError) || round === 0) throw error;
      return ended(loop, 'error', error);
    }
  }
}

async function oneCycle(loop: Loop): Promise<CycleResult> {
  const { context, input, watch } = loop;
  loop.state = { ...loop.state, in_cycle: true };
  saveLoop(context, loop.state);
  const { command, timeout_seconds } = input;
  const fresh = { ...lookAgain(context), warnings: [] };
  const result = await runCycle(fresh, { command, ...(timeout_seconds ? { timeout_seconds } : {}) }, watch);
  loop.state = afterCycle(loop.state, result.classification ?? 'FAILURE');
  saveLoop(context, loop.state);
  return result;
}

/** Before a cycle, or before the sleep that leads to it. */
function whyStop(loop: Loop, waiting: number): StopReason | null {
  if (loop.watch.finish?.aborted) return 'interrupted';
  const now = loop.context.world.now().getTime();
  return reachedLimit(loop.state, loop.limits, now, waiting) ?? (nothingLeft(loop) ? 'nothing_left' : null);
}

/** Where nothing is tracked at all, the limits that were given say how often. */
function nothingLeft({ context, limits }: Pick<Loop, 'context' | 'limits'>): boolean {
  const { features } = listFeatures(context);
  if (chooseTask(context, undefined, features).id !== NO_TASK) return false;
  return features.length > 0 || (limits.max_cycles === undefined && limits.max_time === undefined);
}

async function whyStopAfter(loop: Loop, result: CycleResult): Promise<StopReason | null> {
  // What halted memory halts the loop; a disk that failed may work the next time.
  if (result.memory_error && result.memory_error.kind !== 'outside') return 'error';
  return loop.hook && !(await costHookAgrees(loop.context, loop.hook, result, loop.watch))
    ? 'cost_hook'
    : null;
}

/** It is told at once; its last stage, as long as it is to be, takes the place of the one that a single cycle leaves out. */
function beforeSleep(result: CycleResult, seconds: number): CycleResult {
  const sleep = { name: 'sleep', status: 'ok', duration_ms: seconds * 1000 } as const;
  return { ...result, stages: [...result.stages.slice(0, -1), sleep] };
}

async function sleepBetween({ watch }: Loop, seconds: number): Promise<void> {
  watch.onStage?.('sleep');
  const started = elapsed();
  await pause(seconds * 1000, watch.finish);
  watch.onStageEnd?.({ name: 'sleep', status: 'ok', duration_ms: Math.round(elapsed() - started) });
}

async function pause(ms: number, finish: AbortSignal | undefined): Promise<void> {
  await setTimeout(ms, undefined, finish ? { signal: finish } : {}).catch(() => undefined);
}

const REASONS: Record<StopReason, string> = {
  max_cycles: 'as many cycles as were asked for',
  max_time: 'the time is up',
  max_failures: 'too many cycles failed in a row',
  nothing_left: 'nothing left to do',
  cost_hook: 'the cost hook said stop',
  interrupted: 'interrupted',
  error: 'memory could not be written',
};

function ended({ state }: Loop, stopped_by: StopReason, cause?: MemoryError): LoopResult {
  const { cycles, by_classification } = state;
  const result = { cycles, stopped_by, by_classification, reason: REASONS[stopped_by] };
  if (stopped_by !== 'error' || !cause) return result;
  const { kind, code, message, exit } = cause;
  return { ...result, reason: message, error: { kind, code, message, exit } };
}

/** Takes this worktree for a loop; exit 3 `loop.held` names who has it. */
function beginLoop(context: Context, resume: boolean, max_failures: number): LoopState {
  const { disk, world } = context;
  const me = world.self();
  return disk.withLock(() => {
    const before = readLoop(context);
    const alive =
      before?.running && before.holder.pid !== me.pid && world.liveness(before.holder) === 'alive';
    if (before && alive)
      throw refused(
        'loop.held',
        `A loop is already running here (process ${before.holder.pid}); nothing was run.`,
        {
          hint: `wait for it, or end it: kill ${before.holder.pid}`,
        },
      );
    if (resume && !before)
      context.warnings.push('There is no loop to resume; this one counts from the start.');
    const state: LoopState =
      resume && before
        ? resumed(before, me, world.now().getTime(), max_failures)
        : {
            schema_version: '1.0',
            holder: me,
            started_at: timestamp(context),
            cycles: 0,
            failures: 0,
            by_classification: {},
            running: true,
            in_cycle: false,
          };
    saveLoop(context, state);
    return state;
  });
}

const readLoop = ({ disk }: Context): LoopState | null =>
  disk.readDocument(LOOP_STATE, loopFile(disk.layout), null).value;

function saveLoop(context: Context, state: LoopState): void {
  const { disk } = context;
  const bytes = encodeDocument({ ...state, updated_at: timestamp(context) });
  disk.withLock(() => disk.replace(loopFile(disk.layout), bytes));
}

const HOOK_TIMEOUT_MS = 60_000;

/** What the cost hook says of a cycle: its exit code decides. Typed by who started the loop, it has their surroundings. */
async function costHookAgrees(
  context: Context,
  argv: readonly string[],
  result: CycleResult,
  watch: CycleWatch,
): Promise<boolean> {
  const env = Object.entries(context.world.env).filter(([, value]) => value !== undefined);
  const run = await runProcess(argv, {
    cwd: context.layout.root,
    env: Object.fromEntries(env) as Record<string, string>,
    input: `${JSON.stringify(result)}\n`,
    timeoutMs: HOOK_TIMEOUT_MS,
    onOutput: watch.onOutput?.bind(watch),
    stop: watch.stop,
  });
  if (run.ended !== undefined) context.warnings.push(`The cost hook ${argv[0]}: ${run.ended}.`);
  return run.exit_code === 0;
}
