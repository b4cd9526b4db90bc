import * as z from 'zod/mini';
import { elapsed } from '../core/clock.js';
import { refused } from '../core/error.js';
import { ProcessIdentity } from '../core/holder.js';
import { cycleFile } from '../core/paths.js';
import type { ProcessRun } from '../core/process.js';
import { encodeDocument, type Format } from '../core/schema.js';
import { makeToken, oneLine } from '../core/text.js';
import type { HeldTask } from '../events/claim-work.js';
import type { TreeReader } from '../git/tree.js';
import { CycleInput, recordedLate, Stage } from '../learning/evaluation.js';
import { recordCycle } from '../learning/record.js';
import { type Context, timestamp } from '../project/project.js';
import { judgeHere } from '../session/running.js';
import type { Observations } from './builder.js';
import { type CycleFacts, NO_TASK } from './rules.js';

/** LTM, "Architectural Position": the stages of the governed loop, in order. */
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

/** `<git dir>/forge/cycle.json`: the running cycle, from which the next one records a cycle that was killed. */
const CycleMark = z.looseObject({
  schema_version: z.literal('1.0'),
  /** The idempotency key of the record, so that several attempts make one record. */
  key: z.string().check(z.regex(/^[0-9a-f]{16}$/)),
  holder: ProcessIdentity,
  started_at: z.iso.datetime(),
  task_id: z.string().check(z.minLength(1)),
  stage: z.enum(STAGES),
  stages: z.array(Stage),
  /** The record, once it is known. */
  input: z.optional(z.unknown()),
});
type CycleMark = z.infer<typeof CycleMark>;

const CYCLE_MARK: Format<CycleMark> = { name: 'cycle-mark', version: '1.0', schema: CycleMark };

export const newMark = (context: Context): CycleMark => ({
  schema_version: '1.0',
  key: makeToken(16),
  holder: context.world.self(),
  started_at: timestamp(context),
  task_id: NO_TASK,
  stage: 'supervisor',
  stages: [],
});

/** Takes this worktree for a cycle, and records an interrupted one first. Exit 3 `cycle.held` names the holder. */
export function takeMark(context: Context, mark: CycleMark): void {
  context.disk.withLock(() => {
    const left = readMark(context);
    refuseHeld(context, left);
    if (left) recordInterrupted(context, left);
    writeMark(context, mark);
  });
}

function recordInterrupted(context: Context, left: CycleMark): void {
  const input = interruptedInput(left);
  const { cycle, known } = recordCycle(context, input);
  const now = `Cycle ${cycle} was interrupted. It is recorded now, as ${input.classification}.`;
  if (!known) context.warnings.push(now);
}

/** Exit 3 `cycle.held` while a cycle runs here: nobody may move its files. */
export const requireNoCycle = (context: Context): void => refuseHeld(context, readMark(context));

/** A cycle of this process is interrupted: a process runs one at a time, and an error may leave its mark. */
function refuseHeld(context: Context, mark: CycleMark | null): void {
  if (!mark) return;
  const { holder, started_at, stage, task_id } = mark;
  const verdict = judgeHere(context, holder, context.world.self());
  if (verdict.state !== 'held') return;
  throw refused(
    'cycle.held',
    `A cycle has been running here since ${started_at} (${stage}, task ${oneLine(task_id, 100)}): ${verdict.why}; nothing was run.`,
    { hint: `wait for it, or end it: kill ${holder.pid}` },
  );
}

const readMark = ({ disk }: Context): CycleMark | null =>
  disk.readDocument(CYCLE_MARK, cycleFile(disk.layout), null).value;

/** The record of an interrupted cycle. Nothing is learned from it. */
function interruptedInput(mark: CycleMark): CycleInput {
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

/** While a cycle runs, only its process writes the mark, so only taking it needs the lock. */
const writeMark = ({ disk }: Context, mark: CycleMark): void =>
  disk.replace(cycleFile(disk.layout), encodeDocument(mark));

export function updateMark(run: CycleRun, change: Partial<CycleMark>): void {
  run.mark = { ...run.mark, ...change };
  writeMark(run.context, run.mark);
}

/** The cycle is recorded, or was refused before anything ran. */
export function dropMark({ context, mark }: CycleRun): void {
  const { disk } = context;
  disk.withLock(() => {
    const found = readMark(context);
    if (!found || found.key === mark.key) disk.remove(cycleFile(disk.layout));
  });
}

export const CycleOptions = z.strictObject({
  command: z.array(z.string()).check(z.minLength(1)),
  task: z.optional(z.string()),
  timeout_seconds: z.optional(z.int().check(z.gte(1), z.lte(604_800))),
});
export type CycleOptions = z.infer<typeof CycleOptions>;

export interface CycleWatch {
  onStageEnd?(stage: Stage): void;
  /** The first MiB of init.sh, of the command and of the task's tests, and the end of other tests that fail. */
  onOutput?(text: string): void;
  isLoop?: boolean;
  /** Finish and record the current cycle, then stop. */
  finish?: AbortSignal;
  /** End the running process. */
  stop?: AbortSignal;
  /** Both at once. */
  signal?: AbortSignal;
}

export const withSignals = <W extends CycleWatch>({ signal, ...watch }: W) => ({
  ...(signal && { finish: signal, stop: signal }),
  ...watch,
});

/** A cycle. Each stage fills in its part. */
export interface CycleRun {
  context: Context;
  input: CycleOptions;
  watch: CycleWatch;
  started: number;
  mark: CycleMark;
  stages: Stage[];
  environment_valid: boolean;
  task: string;
  claim: HeldTask | null;
  before: CycleFacts;
  /**
   * The working tree before the command, HEAD (null: no commit), and files of `.forge/` in HEAD that were gone already.
   * Null without git.
   */
  trees: { reader: TreeReader; before: string; head: string | null; gone: ReadonlySet<string> } | null;
  /** Null when the command was not run. */
  ran: ProcessRun | null;
  observations: Observations;
}

/** How a stage shows the output of a process, and how a person ends it. */
export const outputOf = ({ watch }: Pick<CycleRun, 'watch'>) => ({
  onOutput: (text: string): void => watch.onOutput?.(text),
  stop: watch.stop,
});

export interface StageOutcome {
  status?: Stage['status'];
  note?: string | undefined;
}

/** Supervisor takes the mark, memory writes it with the record, and afterwards the cycle is over. */
const UNMARKED: ReadonlySet<StageName> = new Set(['supervisor', 'memory', 'report', 'sleep']);

/** Runs and times a stage, and notes it in the mark. */
export async function inStage(
  run: CycleRun,
  name: StageName,
  work: () => Promise<StageOutcome>,
): Promise<void> {
  const started = elapsed();
  if (!UNMARKED.has(name)) updateMark(run, { stage: name, stages: run.stages });
  const { status = 'ok', note } = await work();
  const duration_ms = Math.round(elapsed() - started);
  const stage: Stage = { name, status, duration_ms, ...(note ? { note: oneLine(note, 500) } : {}) };
  run.stages.push(stage);
  run.watch.onStageEnd?.(stage);
}
