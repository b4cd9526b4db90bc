import { createHash } from 'node:crypto';
import { operationInProgress, readBranch, readTip } from '../adapters/git-read.js';
import {
  type RemoteDefault,
  readDistance,
  readRemoteDefault,
  readTreeStatus,
  stampTags,
  type TreeStatus,
} from '../adapters/git-status.js';
import { listTags } from '../adapters/git-tag.js';
import { byTime, TAG_FOLDER } from '../domain/checkpoint.js';
import { judgeCheckpoint } from '../domain/checkpoint-state.js';
import type { Remark } from '../domain/status.js';
import { type GitFacts, judgeGit, NO_GIT } from '../domain/status-git.js';
import { readHint, stampFolder, writeHint } from '../store/hint.js';
import { checkpointsFolder, shownFrom, statusFile } from '../store/layout.js';
import { decodeManifest, readManifests } from './checkpoint-read.js';
import { type Context, hasRecovery } from './context.js';

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

/** One `git status`; what else has to be asked runs beside it, and is remembered for the next one that asks. */
export async function lookAtGit(context: Context): Promise<Remark[]> {
  const { repository, git, layout, disk } = context;
  if (!repository || !git) return NO_GIT;
  const folder = shownFrom(repository.root, layout.dir);
  const remote = readRemoteDefault(repository);
  const key = keyOf(context, remote);
  const known = key && knownAnswers(context, key);
  const branch = await readBranch(repository, git);
  const isDefault = branch !== null && remote?.name === `origin/${branch}`;
  const [tree, checkpoint, distance] = await Promise.all([
    readTreeStatus(git, { repository, folder }),
    known ? known.checkpoint : newestCheckpoint(context),
    isDefault ? null : (known?.distance ?? distanceTo(context, key?.head ?? '', remote)),
  ]);
  const own = isDefault || !remote ? ownUpstream(tree, remote) : null;
  const measured = own ?? distance ?? (isDefault ? await distanceTo(context, '', remote) : null);
  const isNew = !known || (distance !== null && known.distance === null);
  if (key && isNew && !disk.dryRun && tree.head === key.head)
    writeHint(statusFile(layout), { ...key, distance, checkpoint }, LENGTH);
  const facts: GitFacts = {
    branch: tree.branch,
    isUnborn: tree.head === null,
    operation: operationInProgress(repository),
    changed: tree.changed,
    untracked: tree.untracked,
    unmerged: tree.unmerged,
    upstream: measured && { name: own?.name ?? remote?.name ?? '', ...measured },
    checkpoint,
    isRecovering: hasRecovery(context),
  };
  return judgeGit(facts);
}

/** Of the default branch, which is told by its name where no remote tells it. */
function ownUpstream({ branch, upstream }: TreeStatus, remote: RemoteDefault | null): TreeStatus['upstream'] {
  return remote || ['main', 'master', 'trunk'].includes(branch ?? '') ? upstream : null;
}

async function distanceTo(
  { git }: Context,
  head: string,
  remote: RemoteDefault | null,
): Promise<Answers['distance']> {
  if (!git || !remote) return null;
  return head !== '' && head === remote.commit ? { ahead: 0, behind: 0 } : readDistance(git, remote.ref);
}

/** The newest that HEAD leads to, is what it was, and may be gone back to. */
async function newestCheckpoint(context: Context): Promise<string | null> {
  const { git, repository } = context;
  if (!git || !repository || stampTags(repository, TAG_FOLDER) === null) return null;
  const tags = await listTags(git, true);
  const files = new Map(readManifests(context).map((file) => [file.name, file]));
  const good = tags
    .map((tag) => judgeCheckpoint(tag.name, { file: files.get(tag.name), tag }, () => true, decodeManifest))
    .filter(({ state, manifest }) => state === 'ok' && manifest?.can_rollback_to === true);
  return good.sort(byTime)[0]?.tag ?? null;
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
