import { type Git, gitError, must, PORCELAIN, words } from './client.js';
import { outsideOf } from './read.js';

export interface FileState {
  /** From the worktree's top folder; an untracked folder ends with a slash. */
  path: string;
  kind: 'changed' | 'untracked' | 'unmerged';
  /** Git's letter for the change in the working tree; a dot for none. */
  worktree: string;
  isGone: boolean;
}

export interface TreeStatus {
  /** Null on an unborn branch. */
  head: string | null;
  /** Null when detached. */
  branch: string | null;
  /** The current branch's own. */
  upstream: { name: string; ahead: number; behind: number } | null;
  files: FileState[];
}

/** Runs `git status` with these options and paths. Nothing else reads its output. */
export async function readStatus(git: Git, ...args: string[]): Promise<TreeStatus> {
  const form = ['status', '--porcelain=v2', '--branch', '-z', '--no-renames'];
  const magic = args.some((arg) => arg.startsWith(':(')) ? ['--no-literal-pathspecs'] : [];
  const records = (await must(git, [...magic, ...form, ...args])).split('\0');
  const header = new Map(
    records.flatMap((record) => {
      const [, name, value] = /^# branch\.([a-z]+) (.*)$/s.exec(record) ?? [];
      return name === undefined || value === undefined ? [] : [[name, value] as const];
    }),
  );
  const [oid = '(initial)', branch = '(detached)', name] = ['oid', 'head', 'upstream'].map((key) =>
    header.get(key),
  );
  // Without counts the upstream branch is gone.
  const [, ahead, behind] = /^\+(\d+) -(\d+)$/.exec(header.get('ab') ?? '') ?? [];
  return {
    head: oid === '(initial)' ? null : oid,
    branch: branch === '(detached)' ? null : branch,
    upstream: name && ahead ? { name, ahead: Number(ahead), behind: Number(behind) } : null,
    files: records.flatMap(parseRecord),
  };
}

/** How many fields are before the path, and what the record is about. */
const RECORDS: Readonly<Record<string, readonly [number, FileState['kind']]>> = {
  '1': [8, 'changed'],
  u: [10, 'unmerged'],
  '?': [1, 'untracked'],
};

/** `1 XY <sub> <mode> <mode> <mode in the working tree> <oid> <oid> <path>` */
function parseRecord(record: string): FileState[] {
  const [count, kind] = RECORDS[record[0] ?? ''] ?? [];
  if (count === undefined || kind === undefined) return [];
  const fields = record.split(' ');
  const isChanged = kind === 'changed';
  const worktree = (isChanged && fields[1]?.[1]) || '.';
  return [
    { path: fields.slice(count).join(' '), kind, worktree, isGone: isChanged && fields[5] === '000000' },
  ];
}

/** One folder left out. Files in an untracked folder count as one, as git shows them. */
export const readTreeStatus = (
  git: Git,
  folder: string,
  untracked: 'all' | 'normal' = 'normal',
): Promise<TreeStatus> => readStatus(git, `--untracked-files=${untracked}`, ...outsideOf(folder));

/** Files below these paths that differ from HEAD or that git does not track. */
export const readUncommitted = async (git: Git, paths: readonly string[]): Promise<FileState[]> =>
  (await readStatus(git, '--untracked-files=all', '--', ...paths)).files;

/** True if a commit made now has each ledger file as it is on disk. */
export const holdsLedgers = async (git: Git, folder: string, all: boolean): Promise<boolean> =>
  (await readUncommitted(git, [folder]))
    .filter(({ path }) => path.endsWith('.jsonl'))
    .every(({ kind, worktree }) => kind === 'changed' && (all || worktree === '.'));

export interface ChangedFile {
  /** Git's letter: A, M, D, R, C, T. */
  status: string;
  path: string;
}

const DIFF = ['diff', '--name-status', '-z', '-M', '-l200', '--no-ext-diff', '--no-relative', '--cached'];

/** The files that `git commit` would commit, or with `all` those of `git commit -a`, as changes since `base`. */
export async function readStagedFiles(git: Git, all: boolean, base = 'HEAD'): Promise<ChangedFile[]> {
  const staged = parseNames(await must(git, base === 'HEAD' ? DIFF : [...DIFF, base, '--']));
  if (!all) return staged;
  const known = new Set(staged.map(({ path }) => path));
  // A diff with the working tree would rewrite the index.
  const { files } = await readStatus(git, '--untracked-files=no');
  const changed = files.filter(({ path, worktree }) => worktree !== '.' && !known.has(path));
  return [...staged, ...changed.map(({ path, worktree }) => ({ status: worktree, path }))];
}

function parseNames(output: string): ChangedFile[] {
  const fields = words(output);
  const files: ChangedFile[] = [];
  for (let i = 0; i < fields.length; i += 2) {
    const status = (fields[i] as string).slice(0, 1);
    // The old name comes first.
    if (status === 'R' || status === 'C') i++;
    files.push({ status, path: fields[i + 1] as string });
  }
  return files;
}

export async function trackedFiles(git: Git, paths: readonly string[]): Promise<string[]> {
  const { code, stdout } = await git(['ls-files', '-z', '--', ...paths]);
  return code === 0 ? [...new Set(words(stdout))] : [];
}

const NAMES = ['diff', '--name-only', '-z', '--no-renames'];

/** Tracked files below these paths whose content on disk is not that of a commit. */
export const differingFrom = async (git: Git, commit: string, paths: readonly string[]): Promise<string[]> =>
  words(await must(git, [...NAMES, '--no-relative', commit, '--', ...paths]));

/** Files of a commit below these paths that are not on disk, from the current folder. */
export const missingFrom = async (git: Git, commit: string, paths: readonly string[]): Promise<string[]> =>
  words(await must(git, [...NAMES, '--diff-filter=D', '--relative', commit, '--', ...paths]));

/** Gives files that are missing the bytes that they have in the index, or in a commit: then in the index too. */
export async function restoreFiles(git: Git, paths: readonly string[], commit?: string): Promise<void> {
  const source = commit === undefined ? [] : [`--source=${commit}`, '--staged'];
  const form = ['--worktree', '--pathspec-from-file=-', '--pathspec-file-nul'];
  const args = ['--literal-pathspecs', 'restore', ...source, ...form];
  await must(git, args, { input: paths.join('\0') });
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
  for (const record of words(listed)) {
    const [, oid, stage, path] = /^100\d{3} ([0-9a-f]+) ([123])\t(.*)$/s.exec(record) ?? [];
    if (path === undefined) continue;
    found.set(path, { ...found.get(path), [STAGES[stage as keyof typeof STAGES]]: oid });
  }
  return found;
}

/** Tracked files at or below these paths that contain conflict markers; with `--cached`, as they are in the index. */
export async function findMarked(
  git: Git,
  paths: readonly string[],
  ...where: '--cached'[]
): Promise<string[]> {
  const form = ['-l', '-z', '-I', '--no-color', '-E', '--all-match', '-e', '^<{7}', '-e', '^>{7}'];
  const args = ['grep', ...where, ...form, '--', ...paths];
  const { code, stdout, stderr } = await git(args, PORCELAIN);
  // 1: no file matches.
  if (code > 1) throw gitError(args, stderr);
  return words(stdout);
}

/** The paths that git ignores and does not track. */
export async function ignoredAmong(git: Git, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0) return [];
  const args = ['--no-literal-pathspecs', 'check-ignore', '-z', '--stdin'];
  return words((await git(args, { ...PORCELAIN, input: paths.join('\0') })).stdout);
}
