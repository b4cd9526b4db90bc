import * as z from 'zod/mini';
import { CycleInput, Stage } from './cycle.js';
import type { Format } from './document.js';
import { ProcessIdentity } from './holder.js';

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
  holder: ProcessIdentity,
  started_at: z.iso.datetime(),
  task_id: z.string().check(z.minLength(1)),
  /** Where it is. */
  stage: z.enum(STAGES),
  /** What lies behind it. */
  stages: z.array(Stage),
  /** What runs for it now: init.sh, the command or a test. */
  command: z.optional(ProcessIdentity),
  /** What is to be recorded, once it is known. */
  input: z.optional(z.unknown()),
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

/** What is recorded of a cycle whose process is gone: a FAILURE that nothing is learned from. */
export function interruptedInput(mark: CycleMark): CycleInput {
  const known = CycleInput.safeParse(mark.input);
  if (known.success) return afterInterruption(known.data, mark.key);
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

/** It was judged already; what broke a rule stays that, whatever came then. */
function afterInterruption(input: CycleInput, key: string): CycleInput {
  const { patterns: _patterns, improvement_proposals: _proposals, ...kept } = input;
  const isViolation = input.classification === 'GOVERNANCE_VIOLATION';
  return {
    ...kept,
    classification: isViolation ? 'GOVERNANCE_VIOLATION' : 'FAILURE',
    quality_signals: { ...input.quality_signals, interrupted_in: 'memory' },
    idempotency_key: key,
  };
}

/** What one cycle's command is told by its environment. */
export interface Handover {
  key: string;
  task: string;
  briefing: string;
  observations: string;
}

/** Forge's own words to itself: what makes a supervisor, approvals, and a folder that is meant from elsewhere. */
const OWN_KEYS: ReadonlySet<string> = new Set([
  'FORGE_SUPERVISOR_KEY',
  'FORGE_SUPERVISOR_PASSPHRASE_FILE',
  'FORGE_TRUST',
  'FORGE_DIR',
]);

/** The caller's environment as the command gets it: without forge's own keys, and as a BUILDER. */
export function builderEnvironment(
  env: Record<string, string | undefined>,
  { key, task, briefing, observations }: Handover,
): Record<string, string> {
  const passed = Object.entries(env).filter(([name, value]) => value !== undefined && !OWN_KEYS.has(name));
  return {
    ...(Object.fromEntries(passed) as Record<string, string>),
    FORGE_ROLE: 'builder',
    FORGE_CYCLE: key,
    FORGE_TASK: task,
    FORGE_BRIEFING: briefing,
    FORGE_OBSERVATIONS: observations,
  };
}
