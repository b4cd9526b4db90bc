import { decodeManifest, readManifests } from '../checkpoint/read.js';
import { byTime, judgeCheckpoint } from '../checkpoint/rules.js';
import { shownFrom } from '../core/paths.js';
import type { Git } from '../git/client.js';
import { readDistance } from '../git/read.js';
import { knownRemote } from '../git/remote.js';
import type { Repository } from '../git/repository.js';
import {
  operationInProgress,
  type RemoteDefault,
  readBranch,
  readRemoteDefault,
  readTip,
} from '../git/state.js';
import { readTreeStatus, type TreeStatus } from '../git/status.js';
import { listTags } from '../git/tags.js';
import { type Context, hasRecovery } from '../project/project.js';
import type { Remark } from './component.js';
import { type GitFacts, judgeGit, NO_GIT } from './rules.js';

/** The newest that HEAD leads to, is what it was, and may be gone back to. */
async function newestCheckpoint(context: Context): Promise<string | null> {
  const { git } = context;
  if (!git) return null;
  const tags = await listTags(git, true);
  const files = new Map(readManifests(context).map((file) => [file.name, file]));
  const good = tags
    .map((tag) => judgeCheckpoint(tag.name, { file: files.get(tag.name), tag }, () => true, decodeManifest))
    .filter(({ state, manifest }) => state === 'ok' && manifest?.can_rollback_to === true);
  return good.sort(byTime)[0]?.tag ?? null;
}

/** Commits ahead of and behind the default branch. */
type Distance = { ahead: number; behind: number };

/** `setting`: the default branch from the settings, or ''. One `git status`; other questions run beside it. */
export async function lookAtGit(context: Context, setting: string): Promise<Remark[]> {
  const { repository, git, layout } = context;
  if (!repository || !git) return NO_GIT;
  const folder = shownFrom(repository.root, layout.dir);
  const known = await knownRemote(repository, git);
  const remote = known === null ? null : readRemoteDefault(repository, known, setting);
  const branch = await readBranch(repository, git);
  const isDefault = branch !== null && remote?.branch === branch;
  const [tree, checkpoint, distance] = await Promise.all([
    readTreeStatus(git, { repository, folder }),
    newestCheckpoint(context),
    isDefault || !remote ? null : distanceTo(git, readTip(repository), remote),
  ]);
  const upstream = await upstreamOf(git, { tree, setting, remote, isDefault, distance });
  return judgeGit(factsOf(context, { tree, repository, upstream, checkpoint }));
}

function factsOf(
  context: Context,
  {
    tree,
    repository,
    ...seen
  }: Pick<GitFacts, 'upstream' | 'checkpoint'> & {
    tree: TreeStatus;
    repository: Repository;
  },
): GitFacts {
  const { branch, head, changed, untracked, unmerged } = tree;
  const operation = operationInProgress(repository);
  const isRecovering = hasRecovery(context);
  return { branch, isUnborn: head === null, operation, changed, untracked, unmerged, isRecovering, ...seen };
}

/** The default branch's: on it, its own; it may have none, and still be there in the remote. */
async function upstreamOf(
  git: Git,
  seen: {
    tree: TreeStatus;
    setting: string;
    remote: RemoteDefault | null;
    isDefault: boolean;
    distance: Distance | null;
  },
): Promise<GitFacts['upstream']> {
  const { tree, setting, remote, isDefault } = seen;
  const names = setting === '' ? ['main', 'master', 'trunk'] : [setting];
  // Without a remote that says so, its name tells the default branch.
  const own = isDefault || (!remote && names.includes(tree.branch ?? '')) ? tree.upstream : null;
  if (own || !remote) return own;
  const distance = seen.distance ?? (isDefault ? await distanceTo(git, null, remote) : null);
  return distance && { name: remote.name, ...distance };
}

async function distanceTo(git: Git, head: string | null, remote: RemoteDefault): Promise<Distance | null> {
  return head && head === remote.commit ? { ahead: 0, behind: 0 } : readDistance(git, remote.ref);
}
