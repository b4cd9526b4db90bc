import * as z from 'zod/mini';
import { CommandProcess, ForgeProcess } from '../core/holder.js';
import type { Format } from '../core/schema.js';
import { CycleInput, recordedLate, Stage } from '../learning/evaluation.js';
import { CycleKeep } from './keep-rules.js';

/** LTM, "Architectural Position": the governed loop, in its order. */
export const STAGES = [
  'supervisor',
  'governance',
  'environment',
  'task',
  'execution',
  'evaluation',
  'memory',
  'report',
  'sleep',
] as const;
export type StageName = (typeof STAGES)[number];

/** No task was chosen. */
export const NO_TASK = 'none';

/** `<git dir>/forge/cycle.json`: the cycle that is under way, so that the next one finds what a kill left. */
export const CycleMark = z.looseObject({
  schema_version: z.literal('1.0'),
  /** Of its record: however often it is tried, there is one. */
  key: z.string().check(z.regex(/^[0-9a-f]{16}$/)),
  holder: ForgeProcess,
  started_at: z.iso.datetime(),
  task_id: z.string().check(z.minLength(1)),
  /** Where it is. */
  stage: z.enum(STAGES),
  /** What lies behind it. */
  stages: z.array(Stage),
  /** What runs for it now: init.sh, the command or a test. */
  command: z.optional(CommandProcess),
  /** What is to be recorded, once it is known. */
  input: z.optional(z.unknown()),
  /** What is to be made once it is recorded. */
  keep: z.optional(CycleKeep),
  /** Cycles that were found interrupted and are not recorded yet. */
  left: z.optional(z.array(z.unknown())),
});
export type CycleMark = z.infer<typeof CycleMark>;

export const CYCLE_MARK: Format<CycleMark> = { name: 'cycle-mark', version: '1.0', schema: CycleMark };

/** The marks of cycles that were cut off: this one, and those that it had found itself. */
export function interruptedMarks(mark: CycleMark): CycleMark[] {
  const left = (mark.left ?? []).flatMap((other) => {
    const result = CycleMark.safeParse(other);
    return result.success ? [result.data] : [];
  });
  return [...left, { ...mark, left: undefined }];
}

/** The record of an interrupted cycle. Nothing is learned from it. */
export function interruptedInput(mark: CycleMark): CycleInput {
  const known = CycleInput.safeParse(mark.input);
  if (known.success) {
    const quality_signals = { ...known.data.quality_signals, interrupted_in: 'memory' };
    return recordedLate(known.data, { quality_signals, idempotency_key: mark.key });
  }
  const cut: Stage = { name: mark.stage, status: 'failed', duration_ms: 0, note: 'interrupted' };
  return {
    task_id: mark.task_id,
    exit_code: null,
    started_at: mark.started_at,
    stages: [...mark.stages, cut].slice(0, 20),
    classification: 'FAILURE',
    quality_signals: { interrupted_in: mark.stage },
    idempotency_key: mark.key,
  };
}

/** The same mark without what it says of cycles that are to be gone (LTM-19); the mark itself where it says nothing. */
export function withoutCycles(mark: CycleMark, isGone: (key: string) => boolean): CycleMark {
  const left = mark.left?.filter((other) => !isGone(String((other as { key?: unknown } | null)?.key)));
  const says = mark.input !== undefined || mark.task_id !== NO_TASK || mark.stages.length > 0;
  const own =
    isGone(mark.key) && says ? { task_id: NO_TASK, stages: [], input: undefined, keep: undefined } : null;
  return own || left?.length !== mark.left?.length ? { ...mark, ...own, left } : mark;
}

/** What one cycle's command is told by its environment. */
interface Handover {
  key: string;
  task: string;
  briefing: string;
  observations: string;
}

/** Variables that only the caller's own forge may see: an approval, and another project folder. */
const OWN_KEYS: ReadonlySet<string> = new Set(['FORGE_TRUST', 'FORGE_DIR']);

/** The caller's environment without forge's own keys, and as a BUILDER: for whatever runs what a builder wrote. */
export function asBuilder(env: Record<string, string | undefined>): Record<string, string> {
  const passed = Object.entries(env).filter(([name, value]) => value !== undefined && !OWN_KEYS.has(name));
  return { ...(Object.fromEntries(passed) as Record<string, string>), FORGE_ROLE: 'builder' };
}

/** The same as the command gets it. */
export function builderEnvironment(
  env: Record<string, string | undefined>,
  { key, task, briefing, observations }: Handover,
): Record<string, string> {
  return {
    ...asBuilder(env),
    FORGE_CYCLE: key,
    FORGE_TASK: task,
    FORGE_BRIEFING: briefing,
    FORGE_OBSERVATIONS: observations,
  };
}
