import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Git, must } from './client.js';
import type { Repository } from './repository.js';

export interface Commit {
  hash: string;
  short: string;
  at: string;
  author: string;
  subject: string;
  /** How many. */
  parents: number;
}

const FIELDS = '%H%x1f%h%x1f%cI%x1f%an%x1f%s%x1f%P';

/** The last commits of HEAD, newest first; none on an unborn branch. One git call. */
export async function readLog(git: Git, count: number): Promise<Commit[]> {
  // Asked for one at least: the first is HEAD.
  const args = [
    'log',
    `-${Math.max(count, 1)}`,
    '-z',
    `--format=${FIELDS}`,
    '--no-show-signature',
    'HEAD',
    '--',
  ];
  const { code, stdout, stderr } = await git(args);
  if (code !== 0) {
    if (/unknown revision|bad revision|does not have any commits/.test(stderr)) return [];
    await must(async () => ({ code, stdout, stderr }), args);
  }
  return stdout.split('\0').filter(Boolean).map(parseCommit);
}

function parseCommit(record: string): Commit {
  const [hash = '', short = '', at = '', author = '', subject = '', parents = ''] = record.split('\x1f');
  return { hash, short, at, author, subject, parents: parents.split(' ').filter(Boolean).length };
}

/**
 * The commit that HEAD names, from the files alone; null where they do not tell (an unborn branch, a reftable
 * repository), or where history may change under the same commit (shallow clones, replaced commits).
 */
export function readTip({ gitDir, commonDir }: Repository): string | null {
  if (existsSync(join(commonDir, 'shallow')) || existsSync(join(commonDir, 'refs', 'replace'))) return null;
  const head = readText(join(gitDir, 'HEAD')).trim();
  const ref = /^ref: (refs\/heads\/\S+)$/.exec(head)?.[1];
  const tip = ref === undefined ? head : readText(join(commonDir, ref)).trim() || packedTip(commonDir, ref);
  return /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(tip) ? tip : null;
}

function packedTip(commonDir: string, ref: string): string {
  const packed = readText(join(commonDir, 'packed-refs'));
  // Replaced commits may be packed too.
  if (packed.includes(' refs/replace/')) return '';
  const line = packed.split('\n').find((candidate) => candidate.endsWith(` ${ref}`));
  return line?.split(' ')[0] ?? '';
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** The branch checked out, from the HEAD file; null when detached. An unborn branch has its name too. */
export async function readBranch(repository: Repository, git: Git): Promise<string | null> {
  const head = readFileSync(join(repository.gitDir, 'HEAD'), 'utf8').trim();
  const branch = /^ref: refs\/heads\/(.+)$/.exec(head)?.[1];
  // A reftable repository keeps a placeholder there.
  if (branch === '.invalid')
    return (await git(['symbolic-ref', '--short', '-q', 'HEAD'])).stdout.trim() || null;
  return branch ?? null;
}

const STATES: readonly (readonly [file: string, name: string])[] = [
  ['rebase-merge', 'a rebase'],
  ['rebase-apply/applying', 'git am'],
  ['rebase-apply', 'a rebase'],
  ['MERGE_HEAD', 'a merge'],
  ['CHERRY_PICK_HEAD', 'a cherry-pick'],
  ['REVERT_HEAD', 'a revert'],
  // Between two commits of a series there is no more than what is still to come.
  ['sequencer/todo', 'a cherry-pick or revert'],
  ['BISECT_LOG', 'a bisect'],
];

/** The git operation in the middle of which this worktree is; null when none is. */
export function operationInProgress(repository: Repository): string | null {
  return STATES.find(([file]) => existsSync(join(repository.gitDir, file)))?.[1] ?? null;
}

/** Commits that touched a path, newest first. */
export async function commitsTouching(git: Git, path: string, count: number): Promise<string[]> {
  const { code, stdout } = await git(['log', `-${count}`, '--format=%H', '--', path]);
  return code === 0 ? stdout.split('\n').filter(Boolean) : [];
}

/** The content of a path in a commit; null when it is not there. */
export async function readBlob(git: Git, commit: string, path: string): Promise<Buffer | null> {
  const { code, stdout } = await git(['cat-file', 'blob', `${commit}:${path}`]);
  return code === 0 ? Buffer.from(stdout, 'utf8') : null;
}

/** When HEAD was committed; null on an unborn branch, and where git does not say. */
export async function headTime(git: Git): Promise<string | null> {
  const { code, stdout } = await git(['log', '-1', '--format=%cI', '--no-show-signature', 'HEAD', '--']);
  return code === 0 && stdout.trim() !== '' ? stdout.trim() : null;
}

/** The history of a clone may be cut off. */
export const isShallow = ({ commonDir }: Repository): boolean => existsSync(join(commonDir, 'shallow'));

/** Files below a folder that git has, and the working tree has not. */
export async function deletedFiles(git: Git, folder: string): Promise<string[]> {
  const { code, stdout } = await git(['ls-files', '--deleted', '-z', '--', folder]);
  return code === 0 ? [...new Set(stdout.split('\0').filter(Boolean))] : [];
}
