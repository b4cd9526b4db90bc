import * as z from 'zod/mini';
import { elapsed } from '../core/clock.js';
import { oneLine } from '../core/text.js';
import type { Stage } from '../learning/evaluation.js';
import type { Context } from '../project/project.js';
import type { RunWatch } from './execution.js';
import type { HandoverFolder } from './handover.js';
import { type CycleMark, moveMark, type StageName } from './mark.js';

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
  /** Of init.sh, the command and the tests. `sampled`: there is too much to show all of it. */
  onOutput?(text: string, sampled: boolean): void;
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

/** What init.sh, the command and the tests are run with: each says in the mark that it runs, should forge be killed. */
export const watchOf = (run: CycleRun): RunWatch => ({
  onOutput: run.watch.onOutput?.bind(run.watch),
  stop: run.watch.stop,
  onStart: (command) => {
    if (run.mark) moveMark(run.context, run.mark, { command });
  },
});

interface StageOutcome {
  status?: Stage['status'];
  note?: string | undefined;
}

/** Of these the record knows no start: memory writes its mark with what it records; then the cycle is over. */
const UNMARKED: ReadonlySet<StageName> = new Set(['memory', 'report', 'sleep']);

/** Times a stage, and says in the mark where the cycle is. */
export async function inStage(
  run: CycleRun,
  name: StageName,
  // biome-ignore lint/suspicious/noConfusingVoidType: most stages have nothing to say
  work: () => Promise<StageOutcome | void>,
): Promise<void> {
  run.watch.onStage?.(name);
  const started = elapsed();
  if (run.mark && !UNMARKED.has(name))
    run.mark = moveMark(run.context, run.mark, { stage: name, stages: run.stages });
  const { status = 'ok', note } = (await work()) ?? {};
  const duration_ms = Math.round(elapsed() - started);
  const stage: Stage = { name, status, duration_ms, ...(note ? { note: oneLine(note, 500) } : {}) };
  run.stages.push(stage);
  run.watch.onStageEnd?.(stage);
}
