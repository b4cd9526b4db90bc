import { elapsed } from '../core/clock.js';
import { ForgeError } from '../core/error.js';
import { treeFolder } from '../core/paths.js';
import { checkId, checkInput } from '../core/schema.js';
import { oneLine } from '../core/text.js';
import { listFeatures, nextTask } from '../feature/feature.js';
import type { Feature } from '../feature/rules.js';
import type { Stage } from '../learning/evaluation.js';
import { requireReviewed } from '../ledger/audit.js';
import { requireVerified } from '../ledger/integrity.js';
import { type Context, noteActivity, readConfig, requireSupervisor } from '../project/project.js';
import { showFocus } from '../session/focus.js';
import { type Executed, evaluate } from './evaluation.js';
import { noObservations, runCommand, runInitScript, takeObservations, writeBriefing } from './execution.js';
import { lookAgain, takeFacts } from './facts.js';
import { type HandoverFolder, makeHandover } from './handover.js';
import {
  type CycleMark,
  CycleOptions,
  type CycleRun,
  type CycleWatch,
  dropMark,
  inStage,
  leaveMark,
  NO_TASK,
  STAGES,
  type StageOutcome,
  takeMark,
  watchOf,
} from './mark.js';
import { reportCycle, storeCycle } from './report.js';
import type { CycleResult } from './rules.js';

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
  await inStage(run, 'supervisor', async () => {
    await requireVerified(run.context);
    requireReviewed(run.context);
    run.mark = await takeMark(run.context);
    return {};
  });
  await inStage(run, 'governance', async () => {
    // What cannot be read is refused before anything is run.
    readConfig(run.context);
    listFeatures(run.context);
    run.folder = makeHandover((run.mark as CycleMark).key);
    return {};
  });
  const { valid } = await inStage(run, 'environment', () => prepare(run));
  const { task } = await inStage(run, 'task', async () => {
    const { id, why } = chooseTask(run.context, run.input.task, listFeatures(run.context).features);
    run.mark = { ...(run.mark as CycleMark), task_id: id };
    return { task: id, note: `${id}: ${why}` };
  });
  const before = takeFacts(run.context);
  const executed = await execute(run, { task, environment_valid: valid, before });
  run.context = lookAgain(run.context);
  const { evaluation } = await inStage(run, 'evaluation', async () => {
    const judged = await evaluate(run.context, executed, watchOf(run));
    run.context.warnings.push(...judged.notes, ...executed.observations.problems);
    const note = judged.notes.join('; ');
    return { evaluation: judged, ...(note === '' ? {} : { status: 'failed' as const, note }) };
  });
  const work = { ...executed, evaluation };
  return reportCycle(run, work, await storeCycle(run, work));
}

/** Whether what the project needs is there: init.sh says so. */
async function prepare(run: CycleRun): Promise<StageOutcome & { valid: boolean }> {
  if (run.watch.finish?.aborted) return { valid: true, status: 'skipped', note: 'interrupted' };
  try {
    const script = await runInitScript(run.context, watchOf(run));
    if (!script) return { valid: true, status: 'skipped', note: 'there is no init.sh' };
    if (script.exit_code === 0) return { valid: true };
    const why = script.ended ?? `exit code ${script.exit_code}`;
    return { valid: false, status: 'failed', note: `init.sh: ${why}` };
  } catch (error) {
    if (!(error instanceof ForgeError) || error.code !== 'trust.needed') throw error;
    return { valid: false, status: 'failed', note: `${error.message} ${error.hint}` };
  }
}

/** Work for half an hour unless told otherwise. */
const TIMEOUT_SECONDS = 1800;

type Prepared = Pick<Executed, 'task' | 'environment_valid' | 'before'>;

async function execute(run: CycleRun, prepared: Prepared): Promise<Executed> {
  const result: Executed = { ...prepared, run: null, trees: null, observations: noObservations() };
  await inStage(run, 'execution', async (): Promise<StageOutcome> => {
    if (!prepared.environment_valid) return { status: 'skipped', note: 'the environment is not valid' };
    if (run.watch.finish?.aborted) return { status: 'skipped', note: 'interrupted' };
    const { context, input } = run;
    const folder = run.folder as HandoverFolder;
    const [trees, briefing] = await Promise.all([
      readTreesBefore(context),
      writeBriefing(context, prepared.task, prepared.before, folder),
    ]);
    const timeoutMs = (input.timeout_seconds ?? TIMEOUT_SECONDS) * 1000;
    const given = { argv: input.command, timeoutMs, folder, briefing };
    const ended = await runCommand(context, run.mark as CycleMark, given, watchOf(run));
    Object.assign(result, { run: ended, trees, observations: takeObservations(context, folder) });
    if (ended.ended !== undefined) return { status: 'failed', note: `${programOf(run)}: ${ended.ended}` };
    return ended.exit_code === 0 ? {} : { status: 'failed', note: `exit code ${ended.exit_code}` };
  });
  return result;
}

/** As it may stand in the record. */
function programOf({ input }: CycleRun): string {
  const name = input.command[0]?.split('/').at(-1) ?? '';
  return /^[\w.+-]{1,64}$/.test(name) ? name : 'the command';
}

async function readTreesBefore({ git, layout, repository, warnings }: Context): Promise<Executed['trees']> {
  if (!git || !repository) return null;
  const { readTrees } = await import('../git/tree.js');
  try {
    const reader = readTrees(repository, git, treeFolder(layout));
    return { reader, before: await reader.read() };
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    warnings.push(`The working tree could not be read before the command: ${error.message}`);
    return null;
  }
}

interface ChosenTask {
  id: string;
  why: string;
}

/** What was asked for, else what is in focus and not done, else what comes next. */
export function chooseTask(
  context: Context,
  wanted: string | undefined,
  features: readonly Feature[],
): ChosenTask {
  if (wanted !== undefined) return asked(context, wanted, features);
  return focused(context, features) ?? following(context);
}

/** Work may have no feature; a slip of the pen is to be seen. */
function asked({ warnings }: Context, id: string, features: readonly Feature[]): ChosenTask {
  if (features.length === 0 || features.some((feature) => feature.id === id))
    return { id, why: 'as asked for' };
  warnings.push(`No feature is called ${id}: no tests judge this task. Features: forge ls`);
  return { id, why: 'as asked for; no feature is called that' };
}

function focused(context: Context, features: readonly Feature[]): ChosenTask | null {
  const { task, linear_issue } = showFocus(context);
  if (task === null && linear_issue === null) return null;
  const feature = features.find(({ id }) => task === id || task?.startsWith(`${id}:`));
  if (feature?.status === 'passing') return null;
  const id = feature?.id ?? linear_issue ?? oneLine(task ?? '', 200);
  return id === '' ? null : { id, why: 'in focus' };
}

function following(context: Context): ChosenTask {
  const { task, reason } = nextTask(context);
  return task ? { id: task.id, why: reason } : { id: NO_TASK, why: `no task: ${reason}` };
}
