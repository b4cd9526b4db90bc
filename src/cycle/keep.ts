import { createCheckpoint } from '../checkpoint/create.js';
import { readCheckpoints } from '../checkpoint/read.js';
import { rulesHere } from '../commit/check.js';
import { type MadeCommit, makeCommit } from '../commit/commit.js';
import { guardCommit, guardFiles } from '../commit/guard.js';
import { NO_ISSUE } from '../commit/rules.js';
import { timeLimit } from '../core/clock.js';
import { ForgeError, refused } from '../core/error.js';
import { shownFrom, treeFolder } from '../core/paths.js';
import { isId } from '../core/schema.js';
import { oneLine } from '../core/text.js';
import { listFeatures } from '../feature/feature.js';
import { type Git, must } from '../git/client.js';
import type { Repository } from '../git/repository.js';
import { readTrees } from '../git/tree.js';
import type { Evidence } from '../learning/evaluation.js';
import { readIssues } from '../learning/knowledge.js';
import type { Context } from '../project/project.js';
import { readRunning } from '../session/running.js';
import { CYCLE_COMMANDS } from '../trust/rules.js';
import { requireTrust } from '../trust/trust.js';
import { asBuilder } from './handover.js';
import { NO_TASK } from './mark.js';
import { type CycleKeep, describeRuns, type Kept } from './rules.js';

/** A cycle that is recorded, and what is to follow. */
interface CycleToKeep {
  keep: CycleKeep;
  task: string;
  /** The id of its execution record. */
  record: string;
  /** What progress says of it. */
  summary: string;
  evidence: readonly Evidence[];
}

export interface KeepWatch {
  /** Of git, its hooks, and the commands of a checkpoint. */
  onOutput?: ((text: string) => void) | undefined;
  stop?: AbortSignal | undefined;
}

/** GOV-04: the commit and the checkpoint, neither of them twice. What hinders one is told; the cycle stands in memory. */
export async function keepCycle(context: Context, cycle: CycleToKeep, watch: KeepWatch): Promise<Kept> {
  const { commit, checkpoint } = cycle.keep;
  return {
    commit: commit ? await attempt(context, 'The cycle is not committed', commitCycle, cycle, watch) : null,
    checkpoint:
      checkpoint.length > 0
        ? await attempt(context, 'The cycle made no checkpoint', markCycle, cycle, watch)
        : null,
  };
}

type Step<T> = (context: Context, cycle: CycleToKeep, watch: KeepWatch) => Promise<T | null>;

async function attempt<T>(
  context: Context,
  what: string,
  step: Step<T>,
  cycle: CycleToKeep,
  watch: KeepWatch,
): Promise<T | null> {
  try {
    return await step(context, cycle, watch);
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind === 'bug') throw error;
    context.warnings.push(`${what}: ${error.message}${error.hint ? ` (${error.hint})` : ''}`);
    return null;
  }
}

/** No person waits at it, so a hook or a signing program that asks one must not hold the loop for ever. */
const COMMIT_TIMEOUT_MS = 10 * 60_000;

const commitCycle: Step<NonNullable<MadeCommit['commit']>> = async (context, cycle, { onOutput, stop }) => {
  const { repository, git } = context;
  if (!repository || !git) return null;
  const { files, fresh } = await filesToCommit(context, repository, git, cycle.keep);
  if (files.length === 0) return null;
  requireTrust(context, [CYCLE_COMMANDS.commit]);
  // Nobody looks at what is added: LTM-13 for all of it.
  await guardCommit(context);
  await guardFiles(context, git, files);
  const limit = timeLimit(COMMIT_TIMEOUT_MS, stop);
  const watch = { onOutput: (chunk: string) => onOutput?.(chunk), signal: limit.signal };
  const { world } = context;
  // Hooks run what a builder wrote.
  const building = { ...context, world: { ...world, env: asBuilder(world.env) } };
  const { commit } = await withNewFiles(git, fresh, () =>
    makeCommit(building, describe(context, cycle), watch),
  ).finally(limit.release);
  return commit ?? null;
};

interface ToCommit {
  /** Paths that differ from HEAD, `.forge/` left out. */
  files: string[];
  /** Those, and those of `.forge/`, that git does not know yet. */
  fresh: string[];
}

/** Exit 3 where the working tree is not any more the one that was judged. */
async function filesToCommit(
  { layout }: Context,
  repository: Repository,
  git: Git,
  keep: CycleKeep,
): Promise<ToCommit> {
  const folder = shownFrom(repository.root, layout.dir);
  const reader = readTrees(repository, git, treeFolder(layout));
  const tree = await reader.read();
  if ((await reader.digest(tree, folder)) !== keep.tree)
    throw refused('cycle.changed', 'the working tree changed after it was judged', {
      hint: 'what tests write should be in .gitignore; then: forge commit -a',
    });
  const others = await must(git, ['ls-files', '-z', '--others', '--exclude-standard']);
  const found = others.split('\0').filter(Boolean);
  // A repository of its own inside this one is not ours to add.
  const foreign = new Set(found.filter((path) => path.endsWith('/')).map((path) => path.slice(0, -1)));
  const head = (await git(['rev-parse', '-q', '--verify', 'HEAD^{commit}'])).stdout.trim();
  const differing = await reader.against(head === '' ? null : head, tree);
  return {
    files: differing.filter((path) => !path.startsWith(`${folder}/`) && !foreign.has(path)),
    fresh: found.filter((path) => !path.endsWith('/')),
  };
}

/** `git commit -a` takes what git knows: by then it knows of new files, and forgets them again when it made no commit. */
async function withNewFiles<T>(git: Git, fresh: readonly string[], work: () => Promise<T>): Promise<T> {
  const input = fresh.map((path) => `${path}\0`).join('');
  const add = ['add', '--intent-to-add', '--pathspec-from-file=-', '--pathspec-file-nul'];
  if (input !== '') await must(git, ['--literal-pathspecs', ...add], { input });
  try {
    return await work();
  } catch (error) {
    if (input !== '') await git(['update-index', '--force-remove', '-z', '--stdin'], { input });
    throw error;
  }
}

/** As a person would type it: the id of the task where the protocol takes it, and its name. */
function describe(
  context: Context,
  { task, summary, evidence }: CycleToKeep,
): Parameters<typeof makeCommit>[1] {
  const feature = listFeatures(context).features.find(({ id }) => id === task);
  const unit = readIssues(context).issues.find(({ linear_id }) => linear_id === task);
  const rules = rulesHere(context);
  const id = [feature?.linear_issue, task].find((each) => each && rules.isId(each)) ?? NO_ISSUE;
  const name = feature?.name ?? unit?.title ?? (task === NO_TASK ? 'A governed cycle' : task);
  return {
    title: `[${id}] ${oneLine(name, rules.subjectLength - id.length - 3)}`,
    why: readRunning(context)?.goal ?? (task === NO_TASK ? summary : `Task ${oneLine(task, 100)}: ${name}`),
    done: [summary, ...describeRuns(evidence).map((text) => oneLine(text, 300))],
    all: true,
  };
}

const markCycle: Step<string> = async (context, { keep, task, record, summary }, { onOutput, stop }) => {
  // An interrupted checkpoint may have its tag already.
  const made = (await readCheckpoints(context)).find(({ manifest }) => manifest?.message?.includes(record));
  if (made) return made.tag;
  requireTrust(context, [CYCLE_COMMANDS.checkpoint]);
  const first = keep.checkpoint.includes(task) ? task : keep.checkpoint[0];
  const issue = listFeatures(context).features.find(({ id }) => id === first)?.linear_issue ?? first;
  const { tag } = await createCheckpoint(
    context,
    { ...(issue && isId(issue) ? { issue } : {}), message: `${summary}\nRecord: ${record}` },
    {
      onOutput: (chunk) => onOutput?.(chunk),
      ...(stop ? { signal: stop } : {}),
      asBuilder: true,
    },
  );
  return tag;
};
