import { basename, join } from 'node:path';
import { refused, usage } from '../core/error.js';
import { writtenAt } from '../core/file-system.js';
import { checkpointTrees, shownFrom, TAG_FOLDER } from '../core/paths.js';
import { checkId, isId } from '../core/schema.js';
import { makeToken, oneLine, plural } from '../core/text.js';
import { readFeatures } from '../feature/store.js';
import type { Git } from '../git/client.js';
import { whyNoCommit } from '../git/commit.js';
import { findFiltered } from '../git/filtered.js';
import type { Repository } from '../git/repository.js';
import { readBranch } from '../git/state.js';
import { hasTag } from '../git/tags.js';
import { readTrees, type TreeReader, treeWithout } from '../git/tree.js';
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

/** B-39: on a branch with a commit, with git at rest; exit 3 says what is in the way. */
export async function requirePlace({ repository, git, layout, world }: Context): Promise<Place> {
  if (!repository || !git) throw notNow('this folder is no git repository', 'git init');
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
  throw usage('checkpoint.issue', `The checkpoint needs a name: ${why}.`, {
    hint: 'forge checkpoint create ISSUE',
  });
}

/** The working tree, by what git tracks or would track, against commits. */
export interface Tested {
  /** The git tree of everything but `.forge/`; all of it was found as HEAD has it. */
  tree: string;
  /** Paths outside `.forge/` that are not any more what that commit has. */
  changedSince(): Promise<string[]>;
  treeOf(commit: string): Promise<string>;
}

/** What is about to be tested: exit 3 names the files outside `.forge/` that HEAD has otherwise. */
export async function requireClean(context: Context, place: Place): Promise<Tested> {
  const { repository, git, head } = place;
  const at = checkpointTrees(context.layout, makeToken(12));
  dropOldTrees(context);
  const reader = readTrees(repository, git, at);
  const dirty = await differing(reader, place, head);
  const filtered = await findFiltered(git, dirty);
  if (filtered)
    throw refused('checkpoint.filter', `${filtered.what}, so it cannot compare them with HEAD.`, {
      hint: filtered.hint,
      data: { files: filtered.paths.slice(0, 100) },
    });
  if (dirty.length > 0)
    throw refused(
      'checkpoint.dirty',
      `${plural(dirty.length, 'file')} outside .forge/ ${dirty.length === 1 ? 'is' : 'are'} not as HEAD has ${dirty.length === 1 ? 'it' : 'them'}: ${listed(dirty)}.`,
      {
        hint: 'git add FILE && forge commit -m "…" --why "…"   or   git stash -u   or, what is of this checkout alone:   echo /FILE >>"$(git rev-parse --git-path info/exclude)"',
        data: { files: dirty.slice(0, 100) },
      },
    );
  const treeOf = (commit: string): Promise<string> =>
    treeWithout(repository, git, { commit, folder: place.folder, place: at });
  return { tree: await treeOf(head), changedSince: () => differing(reader, place, head), treeOf };
}

/** ms. What a kill left of a look at the working tree; a look in progress is younger. */
const OLD = 60 * 60_000;

function dropOldTrees({ disk, layout, world }: Context): void {
  const start = basename(checkpointTrees(layout, ''));
  for (const name of disk.list(layout.state).filter((each) => each.startsWith(start)))
    if (world.now().getTime() - (writtenAt(join(layout.state, name)) ?? 0) > OLD)
      disk.remove(join(layout.state, name));
}

/** Paths outside `.forge/` in which the working tree is not that commit. */
export async function differing(
  reader: TreeReader,
  { folder }: Pick<Place, 'folder'>,
  commit: string,
): Promise<string[]> {
  const paths = await reader.against(commit, await reader.read());
  return paths.filter((path) => path !== folder && !path.startsWith(`${folder}/`));
}

export const listed = (paths: readonly string[]): string =>
  [...paths.slice(0, 5).map((path) => oneLine(path, 100)), ...(paths.length > 5 ? ['…'] : [])].join(', ');
