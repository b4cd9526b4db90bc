import { join } from 'node:path';
import { listCutOff } from '../checkpoint/finish.js';
import { writtenAt } from '../core/file-system.js';
import { lookAtLock } from '../core/lock.js';
import {
  configFile,
  intentFile,
  lockFile,
  pendingFolder,
  sessionIdsLock,
  shown,
  shownFrom,
} from '../core/paths.js';
import { changedFiles } from '../git/commit.js';
import { indexMayKnow, isShallow, operationInProgress } from '../git/state.js';
import { deletedFiles } from '../git/status.js';
import { type Context, lockPolicy } from '../project/project.js';
import { findTracked } from '../project/tracked.js';
import { readRunning } from '../session/running.js';
import { valueOr } from './attempt.js';
import type { LeftFacts } from './left-rules.js';

/** ms. No git holds its lock of the index for so long. */
const LONG = 10 * 60_000;

/** What was left half-way here. What cannot be looked at is told elsewhere. */
export async function lookAtLeft(context: Context): Promise<LeftFacts> {
  const { disk, layout, repository } = context;
  return {
    locks: await valueOr([], () => locksHeld(context)),
    indexLock: await valueOr(null, () => indexLock(context)),
    operation: repository && operationInProgress(repository),
    ending: await valueOr(false, () => disk.exists(intentFile(layout))),
    checkpoints: (await valueOr([], () => listCutOff(context))).length,
    pending: (await valueOr([], () => disk.list(pendingFolder(layout)))).filter((name) =>
      name.endsWith('.json'),
    ).length,
    isShallow: repository !== null && isShallow(repository),
    tracked: await valueOr(null, () => findTracked(context)),
    ...(await filesLeft(context)),
  };
}

/** A holder that lives is at work. */
function locksHeld({ layout, world }: Context): LeftFacts['locks'] {
  return [lockFile(layout), sessionIdsLock(layout)].flatMap((path) => {
    const holder = lookAtLock(path, lockPolicy(world));
    return holder && !holder.isSure ? [{ file: shown(layout, path), who: holder.who }] : [];
  });
}

function indexLock({ repository, layout, world }: Context): string | null {
  if (!repository) return null;
  const path = join(repository.gitDir, 'index.lock');
  const at = writtenAt(path);
  return at !== null && world.now().getTime() - at > LONG ? shown(layout, path) : null;
}

async function filesLeft(context: Context): Promise<Pick<LeftFacts, 'deleted' | 'uncommitted'>> {
  const { git, repository, layout } = context;
  if (!git || !repository) return { deleted: [], uncommitted: [] };
  const folder = shownFrom(repository.root, layout.dir);
  const here = (path: string): string => shown(layout, join(repository.root, path));
  const deleted = (await valueOr([], () => deletedFiles(git, folder))).map(here);
  const isRunning = (await valueOr(null, () => readRunning(context))) !== null;
  // Of a folder that git does not have yet, that is what has to be said.
  const isKept = indexMayKnow(repository, shownFrom(repository.root, configFile(layout)));
  if (isRunning || !isKept) return { deleted, uncommitted: [] };
  const changed = (await valueOr([], () => changedFiles(git, folder))).map(here);
  return { deleted, uncommitted: changed.filter((path) => path.endsWith('.jsonl')) };
}
