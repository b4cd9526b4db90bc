import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Git } from './client.js';
import { type Repository, readText } from './repository.js';

/** State of a repository, read from git's files, because starting git costs each command some milliseconds. */

const OPERATIONS: readonly (readonly [file: string, name: string])[] = [
  ['rebase-merge', 'a rebase'],
  ['rebase-apply/applying', 'git am'],
  ['rebase-apply', 'a rebase'],
  ['MERGE_HEAD', 'a merge'],
  ['CHERRY_PICK_HEAD', 'a cherry-pick'],
  ['REVERT_HEAD', 'a revert'],
  // Between two commits of a series only the rest of the series is left.
  ['sequencer/todo', 'a cherry-pick or revert'],
  ['BISECT_LOG', 'a bisect'],
];

/** The git operation in progress in this worktree, or null. */
export function operationInProgress(repository: Repository): string | null {
  return OPERATIONS.find(([file]) => existsSync(join(repository.gitDir, file)))?.[1] ?? null;
}

/** Whether this clone may lack part of its history. */
export const isShallow = ({ commonDir }: Repository): boolean => existsSync(join(commonDir, 'shallow'));

/** The commits where the history of a shallow clone ends; none in a complete clone. */
export const readBoundary = ({ commonDir }: Repository): Set<string> =>
  new Set(readText(join(commonDir, 'shallow')).split('\n').filter(Boolean));

/** The branch checked out, from the HEAD file; null when detached. An unborn branch has its name too. */
export async function readBranch(repository: Repository, git: Git): Promise<string | null> {
  const head = readFileSync(join(repository.gitDir, 'HEAD'), 'utf8').trim();
  const branch = /^ref: refs\/heads\/(.+)$/.exec(head)?.[1];
  // A reftable repository keeps a placeholder there.
  if (branch === '.invalid')
    return (await git(['symbolic-ref', '--short', '-q', 'HEAD'])).stdout.trim() || null;
  return branch ?? null;
}

/**
 * The commit of HEAD. Null if the files do not show it (an unborn branch, a reftable repository), or if history may
 * change under the same commit (shallow clones, replaced commits).
 */
export function readTip(repository: Repository): string | null {
  const { gitDir, commonDir } = repository;
  if (isShallow(repository) || existsSync(join(commonDir, 'refs', 'replace'))) return null;
  const head = readText(join(gitDir, 'HEAD')).trim();
  const ref = /^ref: (refs\/heads\/\S+)$/.exec(head)?.[1];
  const tip = ref === undefined ? head : readText(join(commonDir, ref)).trim() || packedTip(commonDir, ref);
  return /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(tip) ? tip : null;
}

/** Replaced commits may be packed too. */
function packedTip(commonDir: string, ref: string): string {
  const packed = readText(join(commonDir, 'packed-refs')).split('\n');
  if (packed.some((line) => line.includes(' refs/replace/'))) return '';
  return packed.find((line) => line.endsWith(` ${ref}`))?.split(' ')[0] ?? '';
}
