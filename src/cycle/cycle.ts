import * as z from 'zod/mini';
import { elapsed } from '../core/clock.js';
import { ForgeError, refused, usage } from '../core/error.js';
import { readHint, writeHint } from '../core/files.js';
import { treeFolder, triesFile } from '../core/paths.js';
import { checkId, checkInput, findTwin } from '../core/schema.js';
import { lastBytes, oneLine } from '../core/text.js';
import { readOthersClaims } from '../events/local-claims.js';
import { eventUrl } from '../events/outbox.js';
import { listFeatures, nextTask } from '../feature/feature.js';
import { type Feature, isUnprovenPass } from '../feature/rules.js';
import { updateFeatures } from '../feature/store.js';
import type { FeatureResult } from '../feature/verify.js';
import { commitAt } from '../git/read.js';
import { missingFrom } from '../git/status.js';
import { readTrees } from '../git/tree.js';
import type { Stage } from '../learning/evaluation.js';
import { requireReviewed } from '../ledger/audit.js';
import { requireVerified } from '../ledger/integrity.js';
import { type Context, noteActivity, orWarn, readConfig, requireSupervisor } from '../project/project.js';
import { isAbout } from '../session/rules.js';
import { showFocus } from '../session/running.js';
import {
  briefBuilder,
  guardText,
  noObservations,
  runCommand,
  runInitScript,
  takeObservations,
} from './builder.js';
import { type Evaluation, evaluate, readFacts, reopen } from './evaluation.js';
import { reportCycle, storeCycle } from './report.js';
import { type CycleResult, hasFailed, NO_TASK } from './rules.js';
import {
  CycleOptions,
  type CycleRun,
  type CycleWatch,
  dropMark,
  inStage,
  newMark,
  outputOf,
  STAGES,
  type StageOutcome,
  takeMark,
  updateMark,
  withSignals,
} from './running.js';

/** GOV-01: runs one governed cycle. Throws only for what is refused before anything runs. */
export async function runCycle(
  context: Context,
  raw: CycleOptions,
  given: CycleWatch = {},
): Promise<CycleResult> {
  const input = checkInput(CycleOptions, raw);
  const watch = withSignals(given);
  if (input.task !== undefined) checkId(input.task, 'task id');
  requireSupervisor(context, 'memory');
  if (context.disk.dryRun) return planCycle(context, input);
  const run: CycleRun = {
    ...{ context, input, watch, started: elapsed(), mark: newMark(context), stages: [] },
    ...{ environment_valid: true, task: NO_TASK, claim: null, trees: null, ran: null },
    before: { features: [], testFiles: {}, files: {}, stored: new Map(), breaches: new Map() },
    observations: noObservations(),
  };
  // A long command must not count as silence.
  const alive = setInterval(() => noteActivity(context), 60_000).unref();
  try {
    return await runStages(run);
  } catch (error) {
    // Nothing ran yet: there was no cycle. Later, the next cycle records that this one was interrupted.
    if (run.ran === null && error instanceof ForgeError) dropMark(run);
    throw error;
  } finally {
    clearInterval(alive);
    await run.claim?.end(false).catch(() => undefined);
  }
}

/** Its task belongs to another holder, so nothing is recorded. */
export const isTaken = (error: unknown): error is ForgeError =>
  error instanceof ForgeError && (error.code === 'claim.held' || error.code === 'claim.lost');

function planCycle(context: Context, input: CycleOptions): CycleResult {
  const stages = STAGES.map((name): Stage => ({ name, status: 'skipped', duration_ms: 0, note: 'dry run' }));
  const { id } = chooseTask(context, input.task, listFeatures(context).features);
  const { warnings } = context;
  return { cycle: null, task: id, stages, classification: null, exit_code: null, report: null, warnings };
}

async function runStages(run: CycleRun): Promise<CycleResult> {
  await inStage(run, 'supervisor', async () => {
    await requireVerified(run.context);
    requireReviewed(run.context);
    takeMark(run.context, run.mark);
    return {};
  });
  await inStage(run, 'governance', async () => {
    // Unreadable files are refused before anything runs. A person's edits of features.json come first.
    readConfig(run.context);
    updateFeatures(run.context);
    return {};
  });
  await inStage(run, 'environment', () => prepare(run));
  await inStage(run, 'task', () => takeTask(run));
  run.before = readFacts(run.context);
  await inStage(run, 'execution', () => execute(run));
  run.context = reopen(run.context);
  let evaluation!: Evaluation;
  await inStage(run, 'evaluation', async () => {
    evaluation = await evaluate(run);
    run.context.warnings.push(...evaluation.notes, ...run.observations.problems);
    const note = evaluation.notes.join('; ');
    return note === '' ? {} : { status: 'failed', note };
  });
  await keepLastTry(run, evaluation);
  const stored = await storeCycle(run, evaluation);
  await run.claim?.end(evaluation.passes);
  run.claim = null;
  return reportCycle(run, evaluation, stored);
}

/**
 * EVT-03: chooses a task that nobody else holds, and claims it, without a server for the worktrees of this machine. Exit 3
 * if another holder was faster.
 */
async function takeTask(run: CycleRun): Promise<StageOutcome> {
  const { context, input, watch } = run;
  if (eventUrl(context) !== null) await (await import('../events/claim.js')).refreshHeld(context, LOOK_MS);
  const { features } = listFeatures(context);
  const { id, why } = chooseTask(context, input.task, features, watch.isLoop);
  // Another loop took the last one meanwhile.
  if (watch.isLoop && id === NO_TASK && features.length > 0)
    throw refused('claim.held', 'Every remaining task is taken or blocked.');
  const { holdTask } = await import('../events/claim-work.js');
  if (context.git && id !== NO_TASK) run.claim = await holdTask(context, id, input.task !== undefined);
  run.task = id;
  updateMark(run, { task_id: id });
  return { note: `${id}: ${why}` };
}

const LOOK_MS = 3000;

async function prepare(run: CycleRun): Promise<StageOutcome> {
  if (run.watch.finish?.aborted) return { status: 'skipped', note: 'interrupted' };
  const failed = (note: string): StageOutcome => {
    run.environment_valid = false;
    return { status: 'failed', note };
  };
  try {
    const script = await runInitScript(run.context, outputOf(run));
    if (!script) return { status: 'skipped', note: 'there is no init.sh' };
    if (script.exit_code === 0) return {};
    return failed(`init.sh: ${script.ended ?? `exit code ${script.exit_code}`}`);
  } catch (error) {
    if (!(error instanceof ForgeError) || error.code !== 'trust.needed') throw error;
    return failed(`${error.message} ${error.hint}`);
  }
}

const TIMEOUT_SECONDS = 1800;

async function execute(run: CycleRun): Promise<StageOutcome> {
  if (!run.environment_valid) return { status: 'skipped', note: 'the environment is not valid' };
  if (run.watch.finish?.aborted) return { status: 'skipped', note: 'interrupted' };
  const { context, input, mark } = run;
  const [trees, briefing] = await Promise.all([
    readTreesBefore(context),
    briefBuilder(context, run.task, run.before, readLastTry(context, run.task)),
  ]);
  run.trees = trees;
  const timeoutMs = (input.timeout_seconds ?? TIMEOUT_SECONDS) * 1000;
  const ran = await runCommand(context, mark, {
    ...{ argv: input.command, timeoutMs, briefing },
    ...outputOf(run),
  });
  run.observations = takeObservations(context);
  const program = input.command[0] ?? '';
  if (!ran.started)
    throw usage('cycle.not_started', `${oneLine(program, 200)}: ${ran.ended}; no cycle was recorded.`);
  run.ran = ran;
  // The program's name, if it is safe for the record.
  const [name = 'the command'] = /^[\w.+-]{1,64}$/.exec(program.split('/').at(-1) ?? '') ?? [];
  if (ran.ended !== undefined) return { status: 'failed', note: `${name}: ${ran.ended}` };
  return ran.exit_code === 0 ? {} : { status: 'failed', note: `exit code ${ran.exit_code}` };
}

async function readTreesBefore(context: Context): Promise<CycleRun['trees']> {
  const { git, layout, repository } = context;
  if (!git || !repository) return null;
  return orWarn(context, 'The working tree could not be read before the command', async () => {
    const reader = readTrees(repository, git, treeFolder(layout));
    const head = await commitAt(git, 'HEAD');
    const gone = head === null ? [] : await missingFrom(git, head, [layout.dir]);
    return { reader, before: await reader.read(), head, gone: new Set(gone) };
  });
}

/**
 * Chooses the requested task, else the one in focus unless it passes or a person has to confirm it, else the next one.
 * Those that were tried twice come last, in a loop also the one in focus, and before them those that no test judges.
 */
export function chooseTask(
  context: Context,
  wanted: string | undefined,
  features: readonly Feature[],
  isLoop = false,
): { id: string; why: string } {
  if (wanted !== undefined) {
    const { id = wanted } = findTwin(features, wanted) ?? {};
    const isKnown = features.length === 0 || features.some((feature) => feature.id === id);
    if (!isKnown)
      context.warnings.push(`No feature is called ${wanted}: no tests judge this task. Features: forge ls`);
    return { id, why: isKnown ? 'as requested' : 'as requested; no such feature' };
  }
  const focus = showFocus(context);
  const feature = features.find(({ id }) => isAbout(focus, id));
  const id = feature?.id ?? focus.linear_issue ?? oneLine(focus.task ?? '', 200);
  const isDone = feature?.status === 'passing' || (feature && isUnprovenPass(feature));
  const isFree = id !== '' && !isDone && !readOthersClaims(context).has(id);
  if (isFree && !isLoop) return { id, why: 'in focus' };
  const { reason, candidates } = nextTask(context);
  const ready = candidates.filter(({ blocked_by }) => blocked_by.length === 0);
  const order = [...(isFree ? [{ id, reason: 'in focus' }] : []), ...ready];
  const rank = triedTwice(context);
  const withTests = features.filter(({ tests = [] }) => tests.length > 0).map(({ id }) => id);
  const last = (task: string): number => (isLoop && !withTests.includes(task) ? 1 : 0);
  const [task] = order.sort((a, b) => rank.indexOf(a.id) - rank.indexOf(b.id) || last(a.id) - last(b.id));
  return task ? { id: task.id, why: task.reason } : { id: NO_TASK, why: `no task: ${reason}` };
}

const [MAX_TASKS, MAX_LINES, MAX_BYTES] = [50, 40, 2048];

/** By task: how many cycles in a row did not make it pass, and how the last one failed. The last tried task is last. */
const Tries = z.record(z.string(), z.object({ times: z.int(), lines: z.array(z.string()) }));

const readTries = ({ layout }: Context) => Tries.safeParse(readHint(triesFile(layout))).data ?? {};

const readLastTry = (context: Context, task: string): string[] => readTries(context)[task]?.lines ?? [];

/** GOV-02: tasks that two cycles in a row did not make pass. They wait for the others. */
const triedTwice = (context: Context): string[] =>
  Object.entries(readTries(context)).flatMap(([task, { times }]) => (times < 2 ? [] : task));

/** Keeps how the task failed for its next briefing, or forgets it. The file may be lost. */
async function keepLastTry(run: CycleRun, evaluation: Evaluation): Promise<void> {
  const { context, task } = run;
  const { [task]: before, ...others } = readTries(context);
  const tries = Object.entries(others);
  if (!evaluation.passes)
    tries.push([task, { times: (before?.times ?? 0) + 1, lines: await describeTry(run, evaluation) }]);
  const file = triesFile(context.layout);
  if (tries.length === 0) context.disk.remove(file);
  else writeHint(file, Object.fromEntries(tries.slice(-MAX_TASKS)));
}

async function describeTry(run: CycleRun, { classification, found, failed }: Evaluation): Promise<string[]> {
  if (!hasFailed(classification) && !failed) return [];
  const stages = run.stages.filter(({ status }) => status === 'failed');
  const lines = [
    classification,
    ...found.governance_violations.slice(0, 10).map((text) => `Violation: ${text}`),
    ...found.regression_flags.slice(0, 10).map((id) => `Regression: ${id} passed before`),
    ...stages.map(({ name, note }) => `${name}: ${note}`),
  ];
  return [...lines.map((text) => oneLine(text, 300)), ...(failed ? await describeRun(run, failed) : [])];
}

async function describeRun({ context }: CycleRun, failed: FeatureResult): Promise<string[]> {
  const { id, command, failure, not_run, output = '' } = failed;
  const lines = (await guardText(context, output)).trimEnd().split('\n').slice(-MAX_LINES);
  const tail = lastBytes(Buffer.from(lines.join('\n')), MAX_BYTES);
  return [
    oneLine(`Failed: ${command} (${id}, ${failure ?? not_run})`, 300),
    ...(tail === '' ? [] : [`The end of its output:\n${tail}`]),
  ];
}
