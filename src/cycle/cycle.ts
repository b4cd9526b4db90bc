import { elapsed } from '../core/clock.js';
import { ForgeError } from '../core/error.js';
import { checkId, checkInput } from '../core/schema.js';
import { listFeatures } from '../feature/feature.js';
import type { Stage } from '../learning/evaluation.js';
import { refuseWaiting } from '../ledger/audit.js';
import { requireVerified } from '../ledger/integrity.js';
import { type Context, noteActivity, readConfig, requireSupervisor } from '../project/project.js';
import { makeHandover } from './handover.js';
import {
  type CycleMark,
  CycleOptions,
  type CycleRun,
  type CycleWatch,
  dropMark,
  inStage,
  leaveMark,
  STAGES,
  takeMark,
} from './mark.js';
import { reportCycle, storeCycle } from './report.js';
import type { CycleResult } from './report-rules.js';
import { chooseTask, workOn } from './work.js';

/** GOV-01: one governed cycle. What is refused before anything was run is thrown; all else is its outcome. */
export async function runCycle(
  context: Context,
  raw: CycleOptions,
  watch: CycleWatch = {},
): Promise<CycleResult> {
  const input = checkInput(CycleOptions, raw);
  if (input.task !== undefined) checkId(input.task, 'task id');
  requireSupervisor(context, 'memory');
  if (context.disk.dryRun) return planned(context, input);
  const run: CycleRun = {
    context,
    input,
    watch,
    stages: [],
    mark: null,
    folder: null,
    started: elapsed(),
  };
  // A long command is no silence.
  const alive = setInterval(() => noteActivity(context), 60_000).unref();
  try {
    return await goThrough(run);
  } catch (error) {
    giveUp(run, error);
    throw error;
  } finally {
    clearInterval(alive);
  }
}

function planned(context: Context, input: CycleOptions): CycleResult {
  const stages = STAGES.map((name): Stage => ({ name, status: 'skipped', duration_ms: 0, note: 'dry run' }));
  const { id } = chooseTask(context, input.task, listFeatures(context).features);
  return {
    cycle: null,
    task: id,
    stages,
    classification: null,
    exit_code: null,
    report: null,
    warnings: context.warnings,
  };
}

/** Refused before anything was run: no cycle. Later on the next cycle records that this one was cut off. */
function giveUp({ context, mark }: CycleRun, error: unknown): void {
  if (!mark) return;
  const early = ['supervisor', 'governance'].includes(mark.stage);
  if (early && error instanceof ForgeError) dropMark(context, mark);
  else leaveMark(mark);
}

async function goThrough(run: CycleRun): Promise<CycleResult> {
  await inStage(run, 'supervisor', () => supervise(run));
  await inStage(run, 'governance', async () => {
    // What cannot be read is refused before anything is run.
    readConfig(run.context);
    listFeatures(run.context);
    run.folder = makeHandover((run.mark as CycleMark).key);
  });
  const work = await workOn(run);
  return reportCycle(run, work, await storeCycle(run, work));
}

async function supervise(run: CycleRun): Promise<void> {
  await requireVerified(run.context);
  refuseWaiting(run.context);
  run.mark = await takeMark(run.context);
}
