import { createCheckpoint } from '../checkpoint/create.js';
import { readRules } from '../commit/check.js';
import { makeCommit } from '../commit/commit.js';
import { guardCommit } from '../commit/own-commit.js';
import { NO_ISSUE } from '../commit/rules.js';
import { elapsed, timeLimit } from '../core/clock.js';
import { ForgeError, refused } from '../core/error.js';
import { shownFrom } from '../core/paths.js';
import { isId } from '../core/schema.js';
import { firstNames, oneLine } from '../core/text.js';
import { listFeatures } from '../feature/feature.js';
import { passingAt, readActive } from '../feature/store.js';
import { type Git, must } from '../git/client.js';
import { commitAt } from '../git/read.js';
import type { Repository } from '../git/repository.js';
import { type CycleInput, judgedLate } from '../learning/evaluation.js';
import { type RecordedCycle, recordCycle } from '../learning/record.js';
import { storeRecords } from '../ledger/memory.js';
import { type Context, orWarn, readConfig, readHalt, timestamp } from '../project/project.js';
import { readRunning } from '../session/running.js';
import { addProgress } from '../session/store.js';
import { CYCLE_COMMANDS } from '../trust/approvals.js';
import { requireTrust } from '../trust/trust.js';
import { asBuilder, guardText } from './builder.js';
import type { Evaluation } from './evaluation.js';
import {
  type CycleReport,
  type CycleResult,
  describeKept,
  describeRuns,
  hasFailed,
  isPassing,
  type Judgment,
  type Kept,
  type MemoryError,
  NO_TASK,
  progressLine,
  toMemoryError,
} from './rules.js';
import { type CycleRun, dropMark, inStage, outputOf, updateMark } from './running.js';

interface StoredCycle {
  recorded: RecordedCycle | null;
  error?: MemoryError;
}

/** GOV-03: records the cycle after its evaluation. A record that cannot be written is left for the next cycle. */
export async function storeCycle(run: CycleRun, evaluation: Evaluation): Promise<StoredCycle> {
  const stored: StoredCycle = { recorded: null };
  await inStage(run, 'memory', async () => {
    try {
      const input = await describe(run, evaluation);
      updateMark(run, { stage: 'memory', stages: run.stages, input });
      stored.recorded = recordCycle(run.context, input);
      await orWarn(run.context, 'A note of the builder was not stored', () => storeNotes(run));
      return {};
    } catch (error) {
      if (!(error instanceof ForgeError) || error.kind === 'bug') throw error;
      stored.error = toMemoryError(error);
      return { status: 'failed', note: error.message };
    }
  });
  return stored;
}

function storeNotes({ context, task, observations: { notes } }: CycleRun): void {
  const note = { tier: 'note', kind: 'note', at: timestamp(context), by: 'agent', task } as const;
  const drafts = notes.map((text) => ({ ...note, text }));
  if (drafts.length > 0) storeRecords(context, drafts);
}

async function describe(
  { context, mark, stages, task, before, ran, observations, environment_valid }: CycleRun,
  { classification, found }: Evaluation,
): Promise<CycleInput> {
  const { features, features_passing, gained: _, files_changed, tests_changed, ...judged } = found;
  const passing_before = before.features.filter(isPassing).length;
  return {
    task_id: task,
    exit_code: ran?.exit_code ?? null,
    started_at: mark.started_at,
    finished_at: timestamp(context),
    ...(ran ? { log: { ...ran.output, tail: await guardText(context, ran.output.tail) } } : {}),
    stages: [...stages],
    ...{ classification, environment_valid, ...judged },
    quality_signals: {
      ...{ features, features_passing_before: passing_before, features_passing_after: features_passing },
      files_changed,
      ...(tests_changed.length > 0 ? { tests_changed: tests_changed.length } : {}),
      ...(ran ? { command_ms: ran.duration_ms, output_bytes: ran.output.bytes } : {}),
      ...(observations.problems.length > 0 ? { observations_refused: observations.problems.length } : {}),
    },
    patterns: observations.patterns,
    idempotency_key: mark.key,
  };
}

/** Reports the cycle, adds its line to progress and makes its commit and checkpoint (GOV-04). */
export async function reportCycle(
  run: CycleRun,
  evaluation: Evaluation,
  { recorded, error }: StoredCycle,
): Promise<CycleResult> {
  const { context, task, stages, ran } = run;
  const { warnings } = context;
  const classification = error ? judgedLate(evaluation.classification) : evaluation.classification;
  const result: CycleResult = {
    ...{ cycle: recorded?.cycle ?? null, task, stages, classification, exit_code: ran?.exit_code ?? null },
    ...{ report: null, ...(error ? { memory_error: error } : {}), warnings },
  };
  await inStage(run, 'report', async () => {
    const report = makeReport(run, evaluation, recorded, error);
    result.report = report;
    await orWarn(context, 'Progress was not written', () => {
      if (readRunning(context)) addProgress(context, { text: progressLine(result) });
    });
    // After the record and the progress line, which belong in the commit.
    if (recorded) Object.assign(report, await keepCycle(run, evaluation, recorded, progressLine(result)));
    if (recorded) dropMark(run);
    return { note: describeKept(report) };
  });
  stages.push({ name: 'sleep', status: 'skipped', duration_ms: 0 });
  // Several stages may warn about the same thing.
  warnings.splice(0, warnings.length, ...new Set(warnings));
  return result;
}

function makeReport(
  { context, environment_valid, started }: CycleRun,
  evaluation: Evaluation,
  recorded: RecordedCycle | null,
  error: MemoryError | undefined,
): CycleReport {
  const { promoted = [], contested = [] } = recorded?.consolidation ?? {};
  const unwritten = error?.kind === 'corrupted' ? 'corrupted' : 'unknown';
  const status = error === undefined ? 'intact' : unwritten;
  return {
    memory_write_performed: recorded !== null,
    knowledge_promoted: promoted.length > 0,
    knowledge_conflict_detected: contested.length > 0,
    memory_integrity_status: readHalt(context.disk) === null ? status : 'halted',
    ...{ promoted, contested },
    execution: recorded?.execution.id ?? null,
    evaluation: recorded?.evaluation?.id ?? null,
    ...{ environment_valid, ...evaluation.found },
    duration_ms: Math.round(elapsed() - started),
    ...{ commit: null, checkpoint: null },
  };
}

/** GOV-04: makes the commit and the checkpoint that `[cycle]` allows. A failure is a warning: the cycle is recorded. */
async function keepCycle(
  run: CycleRun,
  evaluation: Evaluation,
  recorded: RecordedCycle,
  summary: string,
): Promise<Kept> {
  const { context, trees } = run;
  const { classification, tree, found } = evaluation;
  const kept: Kept = { commit: null, checkpoint: null };
  if (hasFailed(classification) || trees === null || tree === null) return kept;
  const allowed = readConfig(context).cycle;
  if (allowed.commit)
    kept.commit = await orWarn(context, 'The cycle is not committed', () =>
      commitCycle(run, evaluation, summary),
    );
  if (allowed.checkpoint && found.gained.length > 0)
    kept.checkpoint = await orWarn(context, 'The cycle made no checkpoint', () =>
      checkpointCycle(run, found, `${summary}\nRecord: ${recorded.execution.id}`),
    );
  return kept;
}

/** Nobody is there to answer a hook or a signing program that asks, so it must not stop the loop forever. */
const COMMIT_TIMEOUT_MS = 10 * 60_000;

async function commitCycle(run: CycleRun, evaluation: Evaluation, summary: string): Promise<Kept['commit']> {
  const { context } = run;
  const { repository, git, world } = context;
  if (!repository || !git) return null;
  await refuseWorse(context);
  const { files, untracked } = await filesToCommit(run, repository, git, evaluation.tree as string);
  if (files.length === 0) return null;
  requireTrust(context, [CYCLE_COMMANDS.commit]);
  // LTM-13: nobody reviews what is added.
  await guardCommit(context);
  const { onOutput, stop } = outputOf(run);
  const limit = timeLimit(COMMIT_TIMEOUT_MS, stop);
  // Hooks run what a builder wrote.
  const building = { ...context, world: { ...world, env: asBuilder(world.env) } };
  const message = messageFor(run, evaluation, summary);
  const { commit } = await withUntracked(git, untracked, () =>
    makeCommit(building, message, { onOutput, signal: limit.signal }),
  ).finally(limit.release);
  return commit ?? null;
}

/** Exit 3 while a feature that passes in HEAD fails: what broke it is still in the working tree. */
async function refuseWorse(context: Context): Promise<void> {
  const before = await passingAt(context, 'HEAD');
  const failing = listFeatures(context, { status: 'failing' }).features.map(({ id }) => id);
  const broken = failing.filter((id) => before.has(id));
  if (broken.length === 0) return;
  throw refused('cycle.worse', `what passes in HEAD fails now: ${firstNames(broken, 5)}`, {
    hint: `forge done ${broken[0]}   # once it is fixed`,
  });
}

/** Paths outside `.forge/` that differ from HEAD, and all untracked paths. Exit 3 if the tree changed after it was judged. */
async function filesToCommit(
  { context: { layout }, trees }: CycleRun,
  repository: Repository,
  git: Git,
  judged: string,
): Promise<{ files: string[]; untracked: string[] }> {
  const folder = shownFrom(repository.root, layout.dir);
  const { reader } = trees as NonNullable<CycleRun['trees']>;
  const tree = await reader.read();
  const isOurs = (path: string): boolean => !path.startsWith(`${folder}/`);
  if ((await reader.changed(judged, tree)).some(isOurs))
    throw refused('cycle.changed', 'the working tree changed after it was judged', {
      hint: 'add what tests write to .gitignore; then: forge commit -a',
    });
  const others = await must(git, ['ls-files', '-z', '--others', '--exclude-standard']);
  const found = others.split('\0').filter(Boolean);
  // git lists a nested repository with a slash. It is not added.
  const nested = new Set(found.filter((path) => path.endsWith('/')).map((path) => path.slice(0, -1)));
  const differing = await reader.changed(await commitAt(git, 'HEAD'), tree);
  return {
    files: differing.filter((path) => isOurs(path) && !nested.has(path)),
    untracked: found.filter((path) => !path.endsWith('/')),
  };
}

/** Adds untracked files to the index for `git commit -a`, and removes them again if no commit is made. */
async function withUntracked<T>(git: Git, untracked: readonly string[], work: () => Promise<T>): Promise<T> {
  const input = untracked.map((path) => `${path}\0`).join('');
  const add = ['add', '--intent-to-add', '--pathspec-from-file=-', '--pathspec-file-nul'];
  if (input !== '') await must(git, ['--literal-pathspecs', ...add], { input });
  try {
    return await work();
  } catch (error) {
    if (input !== '') await git(['update-index', '--force-remove', '-z', '--stdin'], { input });
    throw error;
  }
}

/** The task's id, where the protocol accepts it, its name, and the runs that judged the tree. */
function messageFor(
  { context, task }: CycleRun,
  { found }: Evaluation,
  summary: string,
): Parameters<typeof makeCommit>[1] {
  const feature = listFeatures(context).features.find(({ id }) => id === task);
  const unit = readActive(context).find(({ linear_id }) => linear_id === task);
  const rules = readRules(context);
  const id = [feature?.linear_issue, task].find((each) => each && rules.isId(each)) ?? NO_ISSUE;
  const name = feature?.name ?? unit?.title ?? (task === NO_TASK ? 'A governed cycle' : task);
  return {
    title: `[${id}] ${oneLine(name, rules.subjectLength - id.length - 3)}`,
    why: readRunning(context)?.goal ?? (task === NO_TASK ? summary : `Task ${oneLine(task, 100)}: ${name}`),
    done: [summary, ...describeRuns(found.evidence).map((text) => oneLine(text, 300))],
    all: true,
  };
}

async function checkpointCycle(
  run: CycleRun,
  { gained, tests_changed }: Judgment,
  message: string,
): Promise<string> {
  const { context, task } = run;
  if (tests_changed.length > 0)
    throw refused('cycle.tests', `test files changed: ${firstNames(tests_changed, 5)}`);
  requireTrust(context, [CYCLE_COMMANDS.checkpoint]);
  const first = gained.includes(task) ? task : gained[0];
  const issue = listFeatures(context).features.find(({ id }) => id === first)?.linear_issue ?? first;
  const { onOutput, stop } = outputOf(run);
  const { tag } = await createCheckpoint(
    context,
    { ...(issue && isId(issue) ? { issue } : {}), message },
    { onOutput, signal: stop, asBuilder: true },
  );
  return tag;
}
