import { refused, usage } from '../core/error.js';
import { checkpointTrees, shownFrom, TAG_FOLDER } from '../core/paths.js';
import { checkId, isId } from '../core/schema.js';
import { makeToken, oneLine, plural } from '../core/text.js';
import { readFeatures } from '../feature/store.js';
import { byteGit, type Git, toBytes } from '../git/client.js';
import { whyNoCommit } from '../git/commit.js';
import { findFiltered } from '../git/config.js';
import { differingFiles, onBench, treeWith } from '../git/move.js';
import type { Repository } from '../git/repository.js';
import { readBranch } from '../git/state.js';
import { hasTag } from '../git/tags.js';
import type { Context } from '../project/project.js';
import { showFocus } from '../session/focus.js';
import { sessionName } from '../session/rules.js';
import { readRunning } from '../session/running.js';

/** Where a checkpoint can be made. */
export interface Place {
  repository: Repository;
  git: Git;
  branch: string;
  /** The commit that HEAD is. */
  head: string;
  /** `.forge/` from the repository's top. */
  folder: string;
}

/** B-39: on a branch with a commit, with no git operation in progress. Exit 3 names the obstacle. */
export async function requirePlace({ repository, git, layout, world }: Context): Promise<Place> {
  if (!repository || !git) throw notNow('this folder is not a git repository', 'git init');
  const branch = await readBranch(repository, git);
  const head = (await git(['rev-parse', '-q', '--verify', 'HEAD^{commit}'])).stdout.trim();
  const place = { repository, git, outerIndex: world.env.GIT_INDEX_FILE };
  const reason = await whyNoCommit(place);
  if (reason) throw notNow(reason);
  if (head === '') throw notNow('this branch has no commit yet', 'git add . && git commit');
  if (branch === null) throw notNow('HEAD is detached: no branch would hold it', 'git switch -c NAME');
  if (await hasTag(git, TAG_FOLDER))
    throw notNow(
      `git has a tag named ${TAG_FOLDER}, and no tag below ${TAG_FOLDER}/ beside it`,
      `git tag OTHER-NAME ${TAG_FOLDER} && git tag -d ${TAG_FOLDER}`,
    );
  return { repository, git, branch, head, folder: shownFrom(repository.root, layout.dir) };
}

export const notNow = (reason: string, hint?: string): Error =>
  refused('checkpoint.place', `No checkpoint can be made: ${reason}.`, hint === undefined ? {} : { hint });

/** The name before `-vN`: the one given, else the focus' issue, the focused feature, or the running session. */
export function chooseIssue(context: Context, said: string | undefined): string {
  if (said !== undefined) return checkId(said, 'name for a checkpoint');
  const { linear_issue, task } = showFocus(context);
  const features = readFeatures(context);
  const feature = features.find(({ id }) => task?.startsWith(`${id}:`))?.id;
  const session = readRunning(context);
  const name = linear_issue ?? feature ?? (session ? sessionName(session.id) : undefined);
  if (name !== undefined && isId(name)) return name;
  const why =
    name === undefined
      ? 'there is no focus, and no session is running'
      : `${oneLine(name, 80)} is not a valid name`;
  throw usage('checkpoint.issue', `The checkpoint has no name: ${why}.`, {
    hint: 'forge checkpoint create NAME',
  });
}

/** The git tree to test. Exit 3 names files outside `.forge/` that differ from HEAD. */
export async function requireClean(context: Context, { git, head }: Place): Promise<string> {
  const dirty = await differing(context, head);
  const filtered = await findFiltered(git, dirty);
  if (filtered)
    throw refused('checkpoint.filter', `${filtered.what}, so it cannot compare them with HEAD.`, {
      hint: filtered.hint,
      data: { files: filtered.paths.slice(0, 100) },
    });
  if (dirty.length > 0)
    throw refused(
      'checkpoint.dirty',
      `${plural(dirty.length, 'file')} outside .forge/ ${dirty.length === 1 ? 'has' : 'have'} uncommitted changes: ${listed(dirty)}.`,
      {
        hint: 'git add -A && forge commit -m "TEXT" --why "TEXT"\ngit stash -u\necho /FILE >>"$(git rev-parse --git-path info/exclude)"   # what belongs to this checkout alone',
        data: { files: dirty.slice(0, 100) },
      },
    );
  return testedTree(context, head);
}

/** Files outside `.forge/` in which the working tree differs from that commit. */
export async function differing(
  { repository, git, layout, world }: Context,
  commit: string,
): Promise<string[]> {
  if (!repository || !git) throw notNow('this folder is not a git repository', 'git init');
  const place = checkpointTrees(layout, makeToken(12));
  const folder = shownFrom(repository.root, layout.dir);
  return onBench({ repository, git, env: world.env, place }, (bench) =>
    differingFiles(bench, commit, folder),
  );
}

/** The git tree of a commit without `.forge/`. */
export async function testedTree({ repository, git, layout }: Context, commit: string): Promise<string> {
  if (!repository || !git) throw notNow('this folder is not a git repository', 'git init');
  return treeWith(byteGit(git), `${commit}^{tree}`, toBytes(shownFrom(repository.root, layout.dir)));
}

export const listed = (paths: readonly string[]): string =>
  [...paths.slice(0, 5).map((path) => oneLine(path, 100)), ...(paths.length > 5 ? ['…'] : [])].join(', ');
