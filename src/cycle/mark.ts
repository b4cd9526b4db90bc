import * as z from 'zod/mini';
import { elapsed } from '../core/clock.js';
import { ForgeError, refused } from '../core/error.js';
import { judgeHolder, ProcessIdentity, type Verdict } from '../core/holder.js';
import { cycleFile } from '../core/paths.js';
import type { ProcessOptions } from '../core/process.js';
import { encodeDocument, type Format } from '../core/schema.js';
import { makeToken, oneLine } from '../core/text.js';
import { CycleInput, recordedLate, Stage } from '../learning/evaluation.js';
import { recordCycles } from '../learning/record.js';
import { type Context, readConfig, timestamp } from '../project/project.js';
import { type HandoverFolder, removeHandover } from './handover.js';

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
  /** What is to be recorded, once it is known. */
  input: z.optional(z.unknown()),
});
export type CycleMark = z.infer<typeof CycleMark>;

const CYCLE_MARK: Format<CycleMark> = { name: 'cycle-mark', version: '1.0', schema: CycleMark };

/** Keys of the cycles that this very process runs. */
const running = new Set<string>();

/**
 * Takes this worktree for one cycle; exit 3 `cycle.held` names who has it. A cycle that was cut off is recorded first: until
 * then its mark stays.
 */
export async function takeMark(context: Context): Promise<CycleMark> {
  const mark: CycleMark = {
    schema_version: '1.0',
    key: makeToken(16),
    holder: context.world.self(),
    started_at: timestamp(context),
    task_id: NO_TASK,
    stage: 'supervisor',
    stages: [],
  };
  let left = claim(context, mark, null);
  while (left) {
    await recordLeft(context, left);
    left = claim(context, mark, left.key);
  }
  return mark;
}

/** Null once the worktree is this cycle's; else a mark to be settled first. */
function claim(context: Context, mark: CycleMark, settled: string | null): CycleMark | null {
  return context.disk.withLock(() => {
    const found = readLeft(context);
    refuseHeld(context, found);
    if (found && found.key !== settled) return found;
    writeMark(context, mark);
    running.add(mark.key);
    return null;
  });
}

/** Exit 3 `cycle.held` while a cycle is under way here: its files are not to be moved under it. */
export const requireNoCycle = (context: Context): void => refuseHeld(context, readLeft(context));

function refuseHeld(context: Context, mark: CycleMark | null): void {
  const verdict = mark && judge(context, mark);
  if (verdict?.state !== 'held') return;
  const { holder, started_at, stage, task_id } = mark as CycleMark;
  throw refused(
    'cycle.held',
    `A cycle has been running here since ${started_at} (${stage}, task ${oneLine(task_id, 100)}): ${verdict.why}; nothing was run.`,
    { hint: `wait for it, or end it: kill ${holder.pid}` },
  );
}

/** A mark that cannot be read names no cycle that could be recorded. */
function readLeft({ disk, warnings }: Context): CycleMark | null {
  try {
    return disk.readDocument(CYCLE_MARK, cycleFile(disk.layout), null).value;
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind !== 'corrupted') throw error;
    warnings.push(`The state of an earlier cycle cannot be used: ${error.message}`);
    return null;
  }
}

/** A cycle of this process that is not under way any more was given up by an error. */
function judge(context: Context, mark: CycleMark): Verdict {
  const { world, lastActivity } = context;
  const verdict = judgeHolder({
    holder: mark.holder,
    me: world.self(),
    liveness: world.liveness(mark.holder),
    lastUsed: lastActivity,
    now: world.now().getTime(),
    unknownHostMinutes: readConfig(context).session.unknown_host_minutes,
  });
  if (verdict.state !== 'same') return verdict;
  const why = `process ${mark.holder.pid} is running it`;
  return running.has(mark.key) ? { state: 'held', why } : { state: 'interrupted', why: 'it was given up' };
}

/** Records an interrupted cycle once, as no success. */
async function recordLeft(context: Context, mark: CycleMark): Promise<void> {
  removeHandover(mark.key);
  const input = interruptedInput(mark);
  const { cycles } = await recordCycles(context, [input]);
  for (const { cycle, known } of cycles)
    if (!known)
      context.warnings.push(
        `A cycle that was cut off is recorded now, as ${input.classification}: ${cycle}.`,
      );
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

/** Without the lock but to take it: while its cycle runs, nobody else writes it. */
const writeMark = ({ disk }: Context, mark: CycleMark): void =>
  disk.replace(cycleFile(disk.layout), encodeDocument(mark));

/** Says where the cycle is. */
export function moveMark(context: Context, mark: CycleMark, change: Partial<CycleMark>): CycleMark {
  const after = { ...mark, ...change };
  writeMark(context, after);
  return after;
}

/** The cycle is over: recorded, or refused before anything was run. */
export function dropMark(context: Context, mark: CycleMark): void {
  const { disk } = context;
  leaveMark(mark);
  disk.withLock(() => {
    const found = readLeft(context);
    if (!found || found.key === mark.key) disk.remove(cycleFile(disk.layout));
  });
}

/** It is left for the next cycle to record. */
export function leaveMark(mark: CycleMark): void {
  removeHandover(mark.key);
  running.delete(mark.key);
}

export const CycleOptions = z.strictObject({
  command: z.array(z.string()).check(z.minLength(1)),
  task: z.optional(z.string()),
  /** For the command. */
  timeout_seconds: z.optional(z.int().check(z.gte(1), z.lte(604_800))),
});
export type CycleOptions = z.infer<typeof CycleOptions>;

export interface CycleWatch {
  onStage?(name: StageName): void;
  onStageEnd?(stage: Stage): void;
  /** The first MiB of init.sh, of the command and of each test. */
  onOutput?(text: string): void;
  /** Begin nothing more: what runs is finished, judged and recorded. */
  finish?: AbortSignal;
  /** End what runs. */
  stop?: AbortSignal;
}

/** One cycle on its way. */
export interface CycleRun {
  context: Context;
  input: CycleOptions;
  watch: CycleWatch;
  stages: Stage[];
  mark: CycleMark | null;
  /** What the command gets and leaves; made before anything is run. */
  folder: HandoverFolder | null;
  started: number;
}

/** Who looks on, and who may end it. */
export type RunWatch = Pick<ProcessOptions, 'onOutput' | 'stop'>;

export const watchOf = (run: CycleRun): RunWatch => ({
  onOutput: run.watch.onOutput?.bind(run.watch),
  stop: run.watch.stop,
});

export interface StageOutcome {
  status?: Stage['status'];
  note?: string | undefined;
}

/** Of these the record knows no start: memory writes its mark with what it records; then the cycle is over. */
const UNMARKED: ReadonlySet<StageName> = new Set(['memory', 'report', 'sleep']);

/** Times a stage, and says in the mark where the cycle is. */
export async function inStage<T extends StageOutcome>(
  run: CycleRun,
  name: StageName,
  work: () => Promise<T>,
): Promise<T> {
  run.watch.onStage?.(name);
  const started = elapsed();
  if (run.mark && !UNMARKED.has(name))
    run.mark = moveMark(run.context, run.mark, { stage: name, stages: run.stages });
  const outcome = await work();
  const { status = 'ok', note } = outcome;
  const duration_ms = Math.round(elapsed() - started);
  const stage: Stage = { name, status, duration_ms, ...(note ? { note: oneLine(note, 500) } : {}) };
  run.stages.push(stage);
  run.watch.onStageEnd?.(stage);
  return outcome;
}
