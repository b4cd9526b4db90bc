import { createCheckpoint } from '../checkpoint/create.js';
import { readRules } from '../commit/check.js';
import { makeCommit } from '../commit/commit.js';
import { guardCommit, guardFiles } from '../commit/own-commit.js';
import { NO_ISSUE } from '../commit/rules.js';
import { timeLimit } from '../core/clock.js';
import { ForgeError, refused } from '../core/error.js';
import { shownFrom } from '../core/paths.js';
import { isId } from '../core/schema.js';
import { oneLine } from '../core/text.js';
import { listFeatures } from '../feature/feature.js';
import { type Git, must } from '../git/client.js';
import type { Repository } from '../git/repository.js';
import { readIssues } from '../learning/knowledge.js';
import type { RecordedCycle } from '../learning/record.js';
import { type Context, readConfig } from '../project/project.js';
import { readRunning } from '../session/running.js';
import { CYCLE_COMMANDS } from '../trust/approvals.js';
import { requireTrust } from '../trust/trust.js';
import { asBuilder } from './builder.js';
import type { Evaluation } from './evaluation.js';
import { describeRuns, hasFailed, type Kept } from './rules.js';
import { type CycleRun, NO_TASK, outputOf } from './running.js';

/** What is kept of a recorded cycle. */
interface Work {
  run: CycleRun;
  evaluation: Evaluation;
  /** Its line in progress. */
  summary: string;
}

/** GOV-04: makes the commit and the checkpoint that `[cycle]` allows. A failure is a warning: the cycle is recorded. */
export async function keepCycle(
  run: CycleRun,
  evaluation: Evaluation,
  recorded: RecordedCycle,
  summary: string,
): Promise<Kept> {
  const { context, trees } = run;
  const { classification, tree, gained } = evaluation;
  const kept: Kept = { commit: null, checkpoint: null };
  if (hasFailed(classification) || trees === null || tree === null) return kept;
  const allowed = readConfig(context).cycle;
  const work: Work = { run, evaluation, summary };
  if (allowed.commit)
    kept.commit = await attempt(context, 'The cycle is not committed', () => commitCycle(work));
  if (allowed.checkpoint && gained.length > 0)
    kept.checkpoint = await attempt(context, 'The cycle made no checkpoint', () =>
      checkpointCycle(work, recorded),
    );
  return kept;
}

async function attempt<T>(context: Context, what: string, work: () => Promise<T | null>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind === 'bug') throw error;
    context.warnings.push(`${what}: ${error.message}${error.hint ? ` (${error.hint})` : ''}`);
    return null;
  }
}

/** Nobody is there to answer a hook or a signing program that asks, so it must not stop the loop forever. */
const COMMIT_TIMEOUT_MS = 10 * 60_000;

async function commitCycle({ run, evaluation, summary }: Work): Promise<Kept['commit']> {
  const { context } = run;
  const { repository, git, world } = context;
  if (!repository || !git) return null;
  const { files, untracked } = await filesToCommit(run, repository, git, evaluation.tree as string);
  if (files.length === 0) return null;
  requireTrust(context, [CYCLE_COMMANDS.commit]);
  // LTM-13: nobody reviews what is added.
  await guardCommit(context);
  await guardFiles(context, git, files);
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
  if ((await reader.digest(tree, folder)) !== (await reader.digest(judged, folder)))
    throw refused('cycle.changed', 'the working tree changed after it was judged', {
      hint: 'add what tests write to .gitignore; then: forge commit -a',
    });
  const others = await must(git, ['ls-files', '-z', '--others', '--exclude-standard']);
  const found = others.split('\0').filter(Boolean);
  // git lists a nested repository with a slash. It is not added.
  const nested = new Set(found.filter((path) => path.endsWith('/')).map((path) => path.slice(0, -1)));
  const head = (await git(['rev-parse', '-q', '--verify', 'HEAD^{commit}'])).stdout.trim();
  const differing = await reader.against(head === '' ? null : head, tree);
  return {
    files: differing.filter((path) => !path.startsWith(`${folder}/`) && !nested.has(path)),
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
  const unit = readIssues(context).issues.find(({ linear_id }) => linear_id === task);
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
  { run, evaluation: { gained }, summary }: Work,
  { execution }: RecordedCycle,
): Promise<string> {
  const { context, task } = run;
  requireTrust(context, [CYCLE_COMMANDS.checkpoint]);
  const first = gained.includes(task) ? task : gained[0];
  const issue = listFeatures(context).features.find(({ id }) => id === first)?.linear_issue ?? first;
  const { onOutput, stop } = outputOf(run);
  const { tag } = await createCheckpoint(
    context,
    { ...(issue && isId(issue) ? { issue } : {}), message: `${summary}\nRecord: ${execution.id}` },
    { onOutput, ...(stop ? { signal: stop } : {}), asBuilder: true },
  );
  return tag;
}
