import { createHash } from 'node:crypto';
import { operationInProgress, readBranch, readTip } from '../../adapters/git/read.js';
import { knownRemote } from '../../adapters/git/remote.js';
import type { Repository } from '../../adapters/git/repository.js';
import {
  type RemoteDefault,
  readDistance,
  readRemoteDefault,
  readTreeStatus,
  stampTags,
  type TreeStatus,
} from '../../adapters/git/status.js';
import { TAG_FOLDER } from '../../domain/checkpoint/tag.js';
import { type GitFacts, judgeGit, NO_GIT } from '../../domain/status/git.js';
import type { Remark } from '../../domain/status/status.js';
import { readHint, stampFolder, writeHint } from '../../store/hint.js';
import { checkpointsFolder, shownFrom, statusFile } from '../../store/layout.js';
import { type Context, hasRecovery } from '../context.js';

/** What stays so as long as HEAD, the other branch's tip and the checkpoints are the same. */
interface Answers {
  head: string;
  upstream: string;
  /** Null where it was not asked. */
  distance: { ahead: number; behind: number } | null;
  checkpoints: string;
  checkpoint: string | null;
}

const LENGTH = 1024;

/** Finds the newest checkpoint to go back to that HEAD leads to. */
export type FindCheckpoint = (context: Context) => Promise<string | null>;

/** `setting`: the default branch as the settings have it, or ''. One `git status`; what else has to be asked runs beside it, and is remembered for the next one that asks. */
export async function lookAtGit(
  context: Context,
  setting: string,
  findCheckpoint: FindCheckpoint,
): Promise<Remark[]> {
  const { repository, git, layout } = context;
  if (!repository || !git) return NO_GIT;
  const folder = shownFrom(repository.root, layout.dir);
  const known = await knownRemote(repository, git);
  const remote = known === null ? null : readRemoteDefault(repository, known, setting);
  const key = keyOf(context, remote);
  const noted = key && knownAnswers(context, key);
  const branch = await readBranch(repository, git);
  const isDefault = branch !== null && remote?.branch === branch;
  const [tree, checkpoint, distance] = await Promise.all([
    readTreeStatus(git, { repository, folder }),
    noted ? noted.checkpoint : findCheckpoint(context),
    isDefault ? null : (noted?.distance ?? distanceTo(context, key?.head ?? '', remote)),
  ]);
  const isNew = !noted || (distance !== null && noted.distance === null);
  if (key && isNew && tree.head === key.head) remember(context, { ...key, distance, checkpoint });
  const upstream = await upstreamOf(context, { tree, setting, remote, isDefault, distance });
  return judgeGit(factsOf(context, { tree, repository, upstream, checkpoint }));
}

function remember({ layout, disk }: Context, answers: Answers): void {
  if (!disk.dryRun) writeHint(statusFile(layout), answers, LENGTH);
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
  context: Context,
  seen: {
    tree: TreeStatus;
    setting: string;
    remote: RemoteDefault | null;
    isDefault: boolean;
    distance: Answers['distance'];
  },
): Promise<GitFacts['upstream']> {
  const { tree, setting, remote, isDefault } = seen;
  const names = setting === '' ? ['main', 'master', 'trunk'] : [setting];
  // Told by its name where no remote tells it.
  const own = isDefault || (!remote && names.includes(tree.branch ?? '')) ? tree.upstream : null;
  if (own || !remote) return own;
  const distance = seen.distance ?? (isDefault ? await distanceTo(context, '', remote) : null);
  return distance && { name: remote.name, ...distance };
}

async function distanceTo(
  { git }: Context,
  head: string,
  remote: RemoteDefault | null,
): Promise<Answers['distance']> {
  if (!git || !remote) return null;
  return head !== '' && head === remote.commit ? { ahead: 0, behind: 0 } : readDistance(git, remote.ref);
}

type Key = Pick<Answers, 'head' | 'upstream' | 'checkpoints'>;

/** Null where files do not tell what HEAD is. */
function keyOf({ repository, layout }: Context, remote: RemoteDefault | null): Key | null {
  const head = repository && readTip(repository);
  if (!repository || !head || remote?.commit === '') return null;
  const tags = stampTags(repository, TAG_FOLDER);
  if (tags === null) return { head, upstream: remote?.commit ?? '', checkpoints: '' };
  const checkpoints = createHash('sha256').update(`${tags}\0${stampFolder(checkpointsFolder(layout))}`);
  return { head, upstream: remote?.commit ?? '', checkpoints: checkpoints.digest('hex') };
}

function knownAnswers({ layout }: Context, key: Key): Answers | null {
  const known = readHint<Answers>(statusFile(layout));
  if (!known || !isSound(known)) return null;
  const { head, upstream, checkpoints } = known;
  return head === key.head && upstream === key.upstream && checkpoints === key.checkpoints ? known : null;
}

/** Two that wrote it at once may have left something of both. */
const isSound = ({ distance, checkpoint }: Answers): boolean =>
  (checkpoint === null || typeof checkpoint === 'string') &&
  (distance === null || (typeof distance?.ahead === 'number' && typeof distance.behind === 'number'));
