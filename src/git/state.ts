import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Git } from './client.js';
import type { Repository } from './repository.js';

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

/** Whether refs are in git's reftable format, which only git reads. */
export const isReftable = (commonDir: string): boolean => existsSync(join(commonDir, 'reftable'));

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

/** Lines `<id> <ref>`. */
const packedRefs = (commonDir: string): string[] => readText(join(commonDir, 'packed-refs')).split('\n');

function packedTip(commonDir: string, ref: string): string {
  const packed = packedRefs(commonDir);
  // Replaced commits may be packed too.
  if (packed.some((line) => line.includes(' refs/replace/'))) return '';
  return commitOf(ref, packed);
}

const commitOf = (ref: string, packed: readonly string[]): string =>
  packed.find((line) => line.endsWith(` ${ref}`))?.split(' ')[0] ?? '';

/** Deeper than any name that forge creates. */
const DEPTH = 5;

/** The names of the refs below a folder (`refs/tags/checkpoint`), without it. A reftable repository shows none. */
export function refNames({ commonDir }: Repository, folder: string): string[] {
  const loose = filesBelow(join(commonDir, ...folder.split('/')), '', DEPTH);
  const packed = packedRefs(commonDir).flatMap((line) => line.split(` ${folder}/`).slice(1));
  return [...new Set([...loose, ...packed])].sort();
}

function filesBelow(folder: string, prefix: string, depth: number): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      if (entry.isFile()) return [prefix + entry.name];
      if (!entry.isDirectory() || depth === 0) return [];
      return filesBelow(join(folder, entry.name), `${prefix}${entry.name}/`, depth - 1);
    });
  } catch {
    return [];
  }
}

/** The remotes that have refs in this clone. */
export function remotesSeen({ commonDir }: Repository): string[] {
  const packed = packedRefs(commonDir).flatMap((line) => / refs\/remotes\/([^/]+)\//.exec(line)?.[1] ?? []);
  try {
    return [...readdirSync(join(commonDir, 'refs', 'remotes')), ...packed];
  } catch {
    return packed;
  }
}

/** The remote's default branch. `commit` is empty if only git knows it (a reftable repository). */
export interface RemoteDefault {
  /** `origin/main` */
  name: string;
  /** `main` */
  branch: string;
  ref: string;
  commit: string;
}

/** The default branch as this clone knows it, or from `setting` unless that is ''; null if neither has one. */
export function readRemoteDefault(
  { commonDir }: Repository,
  remote: string,
  setting: string,
): RemoteDefault | null {
  const folder = `refs/remotes/${remote}/`;
  const of = (branch: string, commit: string): RemoteDefault => ({
    name: `${remote}/${branch}`,
    branch,
    ref: folder + branch,
    commit,
  });
  if (isReftable(commonDir)) return of(setting || 'HEAD', '');
  const packed = packedRefs(commonDir);
  const head = readText(join(commonDir, folder, 'HEAD')).trim();
  const named = setting || (head.startsWith(`ref: ${folder}`) ? head.slice(`ref: ${folder}`.length) : '');
  for (const branch of named === '' ? ['main', 'master', 'trunk'] : [named]) {
    const commit = readText(join(commonDir, folder, branch)).trim() || commitOf(folder + branch, packed);
    if (commit !== '') return of(branch, commit);
  }
  return null;
}

/**
 * Whether the index may name a file. Searches for the bytes of the name. If names are compressed (version 4, a
 * split index) the answer is yes, which only closes a segment earlier than needed.
 */
export function indexMayKnow({ gitDir }: Repository, name: string): boolean {
  try {
    const index = readFileSync(join(gitDir, 'index'));
    const isSplit = readdirSync(gitDir).some((entry) => entry.startsWith('sharedindex.'));
    return index.readUInt32BE(4) === 4 || isSplit || index.includes(name);
  } catch {
    return existsSync(join(gitDir, 'index'));
  }
}

export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

export function stampOf(path: string): string {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.ino}:${stat.size}:${stat.mtimeNs}` : '';
}
