import { ForgeError } from '../core/error.js';
import { treeFolder } from '../core/paths.js';
import type { ProcessRun } from '../core/process.js';
import { oneLine } from '../core/text.js';
import { listFeatures, nextTask } from '../feature/feature.js';
import type { Feature } from '../feature/rules.js';
import type { Context } from '../project/project.js';
import { showFocus } from '../session/focus.js';
import { type Evaluation, evaluate, type Ran } from './evaluation.js';
import { runCommand, runInitScript, takeObservations, writeBriefing } from './execution.js';
import { lookAgain, takeFacts } from './facts.js';
import type { HandoverFolder } from './handover.js';
import { type CycleMark, type CycleRun, inStage, NO_TASK, watchOf } from './mark.js';
import { noObservations, type Observations } from './observation.js';

/** What a cycle came to before it is recorded. */
export interface Work {
  task: string;
  environment_valid: boolean;
  /** Null when the command was not run. */
  run: ProcessRun | null;
  observations: Observations;
  evaluation: Evaluation;
  /** What looks at the working tree; null without git. */
  trees: Ran['trees'];
}

/** From the environment to the verdict. */
export async function workOn(run: CycleRun): Promise<Work> {
  const environment_valid = await prepare(run);
  const task = await choose(run);
  const before = takeFacts(run.context);
  const executed = await execute(run, environment_valid, { task, before });
  run.context = lookAgain(run.context);
  const { trees, run: ended } = executed;
  const ran = {
    task,
    before,
    trees,
    environment_valid,
    exit_code: ended?.exit_code ?? null,
    ran: executed.ran,
  };
  const evaluation = await judge(run, ran, executed.observations.problems);
  return { task, environment_valid, run: ended, observations: executed.observations, evaluation, trees };
}

async function choose(run: CycleRun): Promise<string> {
  let task = NO_TASK;
  await inStage(run, 'task', async () => {
    const chosen = chooseTask(run.context, run.input.task, listFeatures(run.context).features);
    task = chosen.id;
    run.mark = { ...(run.mark as CycleMark), task_id: task };
    return { note: `${task}: ${chosen.why}` };
  });
  return task;
}

async function judge(run: CycleRun, ran: Ran, problems: readonly string[]): Promise<Evaluation> {
  let evaluation: Evaluation | undefined;
  await inStage(run, 'evaluation', async () => {
    evaluation = await evaluate(run.context, ran, watchOf(run));
    const { notes } = evaluation;
    run.context.warnings.push(...notes, ...problems);
    return notes.length > 0 ? { status: 'failed', note: notes.join('; ') } : {};
  });
  return evaluation as Evaluation;
}

/** Whether what the project needs is there: init.sh says so. */
async function prepare(run: CycleRun): Promise<boolean> {
  let valid = true;
  await inStage(run, 'environment', async () => {
    if (run.watch.finish?.aborted) return { status: 'skipped', note: 'interrupted' };
    try {
      const script = await runInitScript(run.context, watchOf(run));
      if (!script) return { status: 'skipped', note: 'there is no init.sh' };
      valid = script.exit_code === 0;
      const why = script.ended ?? `exit code ${script.exit_code}`;
      return valid ? {} : { status: 'failed', note: `init.sh: ${why}` };
    } catch (error) {
      if (!(error instanceof ForgeError) || error.code !== 'trust.needed') throw error;
      valid = false;
      return { status: 'failed', note: `${error.message} ${error.hint}` };
    }
  });
  return valid;
}

interface Executed {
  run: ProcessRun | null;
  /** False as well for a command that could not be started. */
  ran: boolean;
  trees: Ran['trees'];
  observations: Observations;
}

/** Work for half an hour unless told otherwise. */
const TIMEOUT_SECONDS = 1800;

async function execute(
  run: CycleRun,
  environment_valid: boolean,
  chosen: Pick<Ran, 'task' | 'before'>,
): Promise<Executed> {
  const result: Executed = { run: null, ran: false, trees: null, observations: noObservations() };
  await inStage(run, 'execution', async () => {
    if (!environment_valid) return { status: 'skipped', note: 'the environment is not valid' };
    if (run.watch.finish?.aborted) return { status: 'skipped', note: 'interrupted' };
    await launch(run, chosen, result);
    const { exit_code, ended } = result.run as NonNullable<Executed['run']>;
    if (ended === undefined && exit_code === 0) return {};
    return { status: 'failed', note: ended ? `${programOf(run)}: ${ended}` : `exit code ${exit_code}` };
  });
  return result;
}

/** As it may stand in the record. */
function programOf({ input }: CycleRun): string {
  const name = input.command[0]?.split('/').at(-1) ?? '';
  return /^[\w.+-]{1,64}$/.test(name) ? name : 'the command';
}

async function launch(
  run: CycleRun,
  { task, before }: Pick<Ran, 'task' | 'before'>,
  result: Executed,
): Promise<void> {
  const { context, input } = run;
  const mark = run.mark as CycleMark;
  const folder = run.folder as HandoverFolder;
  const [trees, briefing] = await Promise.all([
    readTreesBefore(context),
    writeBriefing(context, task, before, folder),
  ]);
  const timeoutMs = (input.timeout_seconds ?? TIMEOUT_SECONDS) * 1000;
  const given = { argv: input.command, timeoutMs, folder, briefing };
  result.run = await runCommand(context, mark, given, watchOf(run));
  result.ran = result.run.started;
  result.trees = trees;
  result.observations = takeObservations(context, folder);
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
  warnings.push(`No feature is called ${id}: no tests judge this task. Features: forge feature list`);
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
