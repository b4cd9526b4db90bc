import * as z from 'zod/mini';
import type { ErrorKind } from '../core/error.js';
import { ForgeProcess, type ProcessIdentity } from '../core/holder.js';
import type { Format } from '../core/schema.js';
import type { Classification } from '../learning/evaluation.js';
import { hasFailed } from './verdict.js';

export interface LoopLimits {
  max_cycles?: number | undefined;
  /** Seconds that it runs, pauses before a resume left out; looked at between cycles. */
  max_time?: number | undefined;
  /** Failed cycles in a row. */
  max_failures: number;
}

/** So that what goes wrong each time is not paid for all night. */
export const MAX_FAILURES = 3;

/** `<git dir>/forge/loop.json`: what a resumed loop goes on with. */
export const LoopState = z.looseObject({
  schema_version: z.literal('1.0'),
  holder: ForgeProcess,
  /** Moved by each pause before a resume, which does not count. */
  started_at: z.iso.datetime(),
  /** When this was written: from then on it may not have run. */
  updated_at: z.optional(z.iso.datetime()),
  cycles: z.int().check(z.gte(0)),
  /** In a row, up to the last cycle. */
  failures: z.int().check(z.gte(0)),
  by_classification: z.record(z.string(), z.int()),
  /** The loop is under way. */
  running: z.boolean(),
  /** A cycle is under way. Found by another process, it was cut off. */
  in_cycle: z.boolean(),
});
export type LoopState = z.infer<typeof LoopState>;

export const LOOP_STATE: Format<LoopState> = { name: 'loop', version: '1.0', schema: LoopState };

export type StopReason =
  | 'max_cycles'
  | 'max_time'
  | 'max_failures'
  | 'nothing_left'
  | 'cost_hook'
  | 'interrupted'
  | 'error';

/** Whether a limit is reached before another cycle; `waiting`: what would be slept before, seconds. */
export function reachedLimit(
  state: LoopState,
  limits: LoopLimits,
  now: number,
  waiting = 0,
): StopReason | null {
  if (state.failures >= limits.max_failures) return 'max_failures';
  if (limits.max_cycles !== undefined && state.cycles >= limits.max_cycles) return 'max_cycles';
  const elapsed = (now - Date.parse(state.started_at)) / 1000 + waiting;
  return limits.max_time !== undefined && elapsed >= limits.max_time ? 'max_time' : null;
}

export function afterCycle(state: LoopState, classification: Classification): LoopState {
  return {
    ...state,
    in_cycle: false,
    cycles: state.cycles + 1,
    failures: hasFailed(classification) ? state.failures + 1 : 0,
    by_classification: {
      ...state.by_classification,
      [classification]: (state.by_classification[classification] ?? 0) + 1,
    },
  };
}

/**
 * Where another process goes on: a cycle that was cut off counts as the failure that it is recorded as. As many failures
 * as stopped it are forgiven, or it would stop at once: who resumes has seen them.
 */
export function resumed(
  state: LoopState,
  holder: ProcessIdentity,
  now: number,
  max_failures: number,
): LoopState {
  const { updated_at, in_cycle, running } = state;
  const failures = !running && state.failures >= max_failures ? 0 : state.failures;
  const pause = updated_at === undefined ? 0 : Math.max(0, now - Date.parse(updated_at));
  const started_at = new Date(Date.parse(state.started_at) + pause).toISOString();
  const before = { ...state, failures, started_at };
  return { ...(in_cycle ? afterCycle(before, 'FAILURE') : before), holder, running: true };
}

/** What a loop came to, all that it was resumed from included. */
export interface LoopResult {
  cycles: number;
  stopped_by: StopReason;
  by_classification: Record<string, number>;
  /** Why, for people. */
  reason: string;
  /** With `error`: its exit code decides. */
  error?: { kind: ErrorKind; code: string; message: string; exit: number };
}

export const loopExit = ({ stopped_by, error }: LoopResult): number =>
  error?.exit ?? { max_failures: 1, interrupted: 130 }[stopped_by as string] ?? 0;
