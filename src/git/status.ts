import { join } from 'node:path';
import { type Git, gitError, must, PORCELAIN } from './client.js';
import { withoutLocalFilters } from './config.js';
import type { Repository } from './repository.js';
import { readText } from './state.js';

/** The output of `git status`, one folder left out. */
export interface TreeStatus {
  /** Null on an unborn branch. */
  head: string | null;
  /** Null when detached. */
  branch: string | null;
  /** The current branch's own. */
  upstream: { name: string; ahead: number; behind: number } | null;
  changed: number;
  untracked: number;
  unmerged: number;
  /** From the worktree's top folder; an untracked folder ends with a slash. */
  paths: string[];
}

/** One git call. Files in an untracked folder count as one, as git shows them. */
export async function readTreeStatus(
  unsafe: Git,
  { repository, folder }: { repository: Repository; folder: string },
): Promise<TreeStatus> {
  const git = mayHaveFilters(repository) ? await withoutLocalFilters(unsafe) : unsafe;
  const form = ['status', '--porcelain=v2', '--branch', '-z', '--no-renames', '--untracked-files=normal'];
  const outside = ['--', ':(top)', `:(top,exclude,literal)${folder}`];
  const records = (await must(git, ['--no-literal-pathspecs', ...form, ...outside])).split('\0');
  const header = new Map(records.flatMap(headerOf));
  const count = (mark: string): number => records.filter((record) => record.startsWith(mark)).length;
  const oid = header.get('oid');
  const branch = header.get('head');
  return {
    head: oid === undefined || oid === '(initial)' ? null : oid,
    branch: branch === undefined || branch === '(detached)' ? null : branch,
    upstream: upstreamOf(header),
    changed: count('1 '),
    untracked: count('? '),
    unmerged: count('u '),
    paths: records.flatMap(pathOf),
  };
}

function headerOf(record: string): [string, string][] {
  const [, name, value] = /^# branch\.([a-z]+) (.*)$/s.exec(record) ?? [];
  return name === undefined || value === undefined ? [] : [[name, value]];
}

/** Without counts the upstream branch is gone. */
function upstreamOf(header: ReadonlyMap<string, string>): TreeStatus['upstream'] {
  const name = header.get('upstream');
  const [, ahead, behind] = /^\+(\d+) -(\d+)$/.exec(header.get('ab') ?? '') ?? [];
  return name === undefined || ahead === undefined
    ? null
    : { name, ahead: Number(ahead), behind: Number(behind) };
}

/** A config without filters and includes needs no query for filters. */
const mayHaveFilters = ({ gitDir, commonDir }: Repository): boolean =>
  [join(commonDir, 'config'), join(gitDir, 'config.worktree')].some((path) =>
    /filter|include/i.test(readText(path)),
  );

/** A file of the next commit. */
export interface ChangedFile {
  /** Git's letter: A, M, D, R, C, T. */
  status: string;
  path: string;
}

const DIFF = ['diff', '--name-status', '-z', '-M', '-l200', '--no-ext-diff', '--no-relative', '--cached'];
const STATUS = ['status', '--porcelain=v2', '-z', '--no-renames', '--untracked-files=no'];

/** The files that `git commit` would commit, or with `all` those of `git commit -a`, as changes since `base`. */
export async function readStagedFiles(unsafe: Git, all: boolean, base = 'HEAD'): Promise<ChangedFile[]> {
  const staged = parseNames(await must(unsafe, base === 'HEAD' ? DIFF : [...DIFF, base, '--']));
  if (!all) return staged;
  const git = await withoutLocalFilters(unsafe);
  const known = new Set(staged.map(({ path }) => path));
  // A diff with the working tree would rewrite the index.
  const changed = parseStatus(await must(git, STATUS));
  return [...staged, ...changed.filter(({ path }) => !known.has(path))];
}

/** `1 XY <sub> <mode> <mode> <mode> <oid> <oid> <path>`; Y is the change in the working tree. */
function parseStatus(output: string): ChangedFile[] {
  return output.split('\0').flatMap((record) => {
    const fields = record.split(' ');
    const status = fields[1]?.[1] ?? '.';
    return fields[0] === '1' && status !== '.' ? [{ status, path: fields.slice(8).join(' ') }] : [];
  });
}

function parseNames(output: string): ChangedFile[] {
  const words = output.split('\0');
  const files: ChangedFile[] = [];
  for (let i = 0; i + 1 < words.length; i += 2) {
    const status = (words[i] as string).slice(0, 1);
    // The old name comes first.
    if (status === 'R' || status === 'C') i++;
    files.push({ status, path: words[i + 1] as string });
  }
  return files;
}

/** Files below these paths that differ from HEAD or that git does not track, from the worktree's top folder. */
export async function readUncommitted(
  unsafe: Git,
  { repository, paths }: { repository: Repository; paths: readonly string[] },
): Promise<string[]> {
  const git = mayHaveFilters(repository) ? await withoutLocalFilters(unsafe) : unsafe;
  const form = ['status', '--porcelain=v2', '-z', '--no-renames', '--untracked-files=all'];
  return (await must(git, [...form, '--', ...paths])).split('\0').flatMap(pathOf);
}

const FIELDS_BEFORE_PATH: Readonly<Record<string, number>> = { '1': 8, u: 10, '?': 1 };

function pathOf(record: string): string[] {
  const fields = FIELDS_BEFORE_PATH[record[0] ?? ''];
  return fields === undefined ? [] : [record.split(' ').slice(fields).join(' ')];
}

/** True if a commit made now has each ledger file as it is on disk. */
export async function holdsLedgers(git: Git, folder: string, all: boolean): Promise<boolean> {
  const args = ['status', '--porcelain=v2', '-z', '--no-renames', '--untracked-files=all', '--', folder];
  return (await must(git, args))
    .split('\0')
    .filter((record) => record.endsWith('.jsonl'))
    .every((record) => record.startsWith('1 ') && (all || record[3] === '.'));
}

/** Files below these paths that git tracks. */
export async function trackedFiles(git: Git, paths: readonly string[]): Promise<string[]> {
  const { code, stdout } = await git(['ls-files', '-z', '--', ...paths], PORCELAIN);
  return code === 0 ? stdout.split('\0').filter(Boolean) : [];
}

/** Tracked files below a folder that are not in the working tree. */
export async function deletedFiles(git: Git, folder: string): Promise<string[]> {
  const { code, stdout } = await git(['ls-files', '--deleted', '-z', '--', folder], PORCELAIN);
  return code === 0 ? [...new Set(stdout.split('\0').filter(Boolean))] : [];
}

/** The blobs of a conflicted path: ancestor, ours, theirs. Absent for a side that deleted the path. */
export interface Stages {
  base?: string;
  ours?: string;
  theirs?: string;
}

const STAGES = { '1': 'base', '2': 'ours', '3': 'theirs' } as const;

/** Conflicted files below a folder, by path from the worktree's top. Symlinks and submodules are left out. */
export async function readUnmerged(git: Git, folder: string): Promise<Map<string, Stages>> {
  const found = new Map<string, Stages>();
  const listed = await must(git, ['ls-files', '--unmerged', '-z', '--', folder], PORCELAIN);
  for (const record of listed.split('\0').filter(Boolean)) {
    const [, oid, stage, path] = /^100\d{3} ([0-9a-f]+) ([123])\t(.*)$/s.exec(record) ?? [];
    if (path === undefined) continue;
    found.set(path, { ...found.get(path), [STAGES[stage as keyof typeof STAGES]]: oid });
  }
  return found;
}

/** Tracked files below a folder that contain a conflict marker. */
export async function findMarked(git: Git, folder: string): Promise<string[]> {
  const args = ['grep', '-l', '-z', '-I', '--no-color', '-E', '-e', '^<{7}', '--', folder];
  const { code, stdout, stderr } = await git(args, PORCELAIN);
  // 1: no file matches.
  if (code > 1) throw gitError(args, stderr);
  return stdout.split('\0').filter(Boolean);
}

/** Marks a path as resolved. `git checkout --merge -- PATH` brings the conflict back. */
export async function addResolved(unsafe: Git, path: string): Promise<void> {
  const git = await withoutLocalFilters(unsafe);
  await must(git, ['add', '--', path], PORCELAIN);
}
