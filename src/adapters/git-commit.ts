import { existsSync, lstatSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Git, gitError, must } from './git.js';
import { operationInProgress } from './git-read.js';
import type { Repository } from './repository.js';

export interface FolderCommit {
  repository: Repository;
  git: Git;
  /** From the worktree's top, with forward slashes. */
  folder: string;
  /** Where the private index may be written. */
  indexFile: string;
  /** Made when the parent is known (its short hash, null for the first commit). */
  message: (parent: string | null) => string;
}

export type CommitOutcome = { hash: string; short: string; subject: string } | { skipped: string };

interface Entry {
  path: string;
  /** Null when the file is gone. */
  file: { mode: string; oid: string } | null;
}

/**
 * Commits one folder and nothing else: what else is staged stays staged and stays out. Built with a private index
 * and `commit-tree`, so no hook, filter, editor or signing program of the repository runs, and the bytes in the
 * commit are the bytes on the disk. During a merge, rebase, pick, revert or bisect it does nothing and says why.
 * The real index learns the folder's entries before HEAD moves: a crash in between leaves them staged, no more.
 */
export async function commitFolder(job: FolderCommit): Promise<CommitOutcome> {
  const reason = await obstacle(job);
  if (reason) return { skipped: reason };
  const entries = await changedEntries(job);
  if (entries.length === 0) return { skipped: await whyNothing(job) };
  const staged = await job.git(['update-index', '-z', '--index-info'], { input: indexInfo(entries) });
  if (staged.code !== 0) return { skipped: `git's index could not be updated (${staged.stderr.trim()})` };
  for (let attempt = 1; ; attempt++) {
    const outcome = await commitOnHead(job, entries);
    if (outcome) return outcome;
    if (attempt === 3) return { skipped: 'HEAD kept moving: another git is at work' };
  }
}

async function obstacle({ repository }: FolderCommit): Promise<string | null> {
  const operation = operationInProgress(repository);
  if (operation) return `${operation} is in progress`;
  const lock = join(repository.gitDir, 'index.lock');
  for (let waited = 0; existsSync(lock); waited += 100) {
    if (waited >= 2000) return `another git is at work (${lock} exists)`;
    await pause(100);
  }
  return null;
}

async function whyNothing({ git, folder }: FolderCommit): Promise<string> {
  const ignored = await git(['check-ignore', '-q', '--', `${folder}/config.toml`]);
  return ignored.code === 0 ? `${folder}/ is ignored by this repository's .gitignore` : 'nothing changed';
}

/** What differs from HEAD or the index in the folder, hashed as it stands on the disk. */
async function changedEntries({ repository, git, folder }: FolderCommit): Promise<Entry[]> {
  const args = ['status', '--porcelain=v1', '-z', '--no-renames', '--untracked-files=all', '--', folder];
  const status = await must(git, [...(await withoutLocalFilters(git)), ...args]);
  const paths = status
    .split('\0')
    .filter(Boolean)
    .map((record) => record.slice(3));
  const present = paths.filter((path) => isPlainFile(join(repository.root, path)));
  const oids = await hashFiles(git, present);
  const gone = paths.filter((path) => !existsSync(join(repository.root, path)));
  return [
    ...present.map((path, i) => ({
      path,
      file: { mode: modeOf(join(repository.root, path)), oid: oids[i] ?? '' },
    })),
    ...gone.map((path) => ({ path, file: null })),
  ];
}

/** Filters that this repository's own config defines are programs that came with the folder: `status` would run them. */
async function withoutLocalFilters(git: Git): Promise<string[]> {
  const { stdout } = await git([
    'config',
    '--local',
    '--includes',
    '--name-only',
    '-z',
    '--get-regexp',
    '^filter\\.',
  ]);
  return stdout
    .split('\0')
    .filter((name) => /\.(clean|smudge|process|required)$/.test(name))
    .flatMap((name) => ['-c', name.endsWith('.required') ? `${name}=false` : `${name}=`]);
}

const isPlainFile = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
const modeOf = (path: string): string => ((lstatSync(path).mode & 0o100) === 0 ? '100644' : '100755');

async function hashFiles(git: Git, paths: readonly string[]): Promise<string[]> {
  const oids: string[] = [];
  // In portions that fit a command line.
  for (let i = 0; i < paths.length; i += 200) {
    const stdout = await must(git, ['hash-object', '-w', '--no-filters', '--', ...paths.slice(i, i + 200)]);
    oids.push(...stdout.trim().split('\n'));
  }
  return oids;
}

function indexInfo(entries: readonly Entry[]): string {
  const none = '0'.repeat(40);
  return entries
    .map(({ path, file }) => `${file ? `${file.mode} ${file.oid}` : `0 ${none}`}\t${path}\0`)
    .join('');
}

/** One try on the present HEAD; null when HEAD moved meanwhile. */
async function commitOnHead(job: FolderCommit, entries: readonly Entry[]): Promise<CommitOutcome | null> {
  const { git } = job;
  const head = (await git(['rev-parse', '-q', '--verify', 'HEAD^{commit}'])).stdout.trim();
  const tree = await writeTree(job, head, entries);
  if (head && tree === (await must(git, ['rev-parse', `${head}^{tree}`])).trim())
    return { skipped: 'nothing changed' };
  const parent = head ? (await must(git, ['rev-parse', '--short', head])).trim() : null;
  const message = job.message(parent);
  const args = [
    '-c',
    'i18n.commitEncoding=UTF-8',
    'commit-tree',
    tree,
    ...(head ? ['-p', head] : []),
    '-F',
    '-',
  ];
  const made = await git(args, { input: message });
  if (made.code !== 0) return { skipped: gitError(['commit'], made.stderr).message };
  const hash = made.stdout.trim();
  const subject = message.split('\n')[0] ?? '';
  const moved = await git(['update-ref', '-m', `commit: ${subject}`, 'HEAD', hash, head]);
  if (moved.code !== 0) return null;
  return { hash, short: (await must(git, ['rev-parse', '--short', hash])).trim(), subject };
}

async function writeTree(
  { git, indexFile }: FolderCommit,
  head: string,
  entries: readonly Entry[],
): Promise<string> {
  const env = { GIT_INDEX_FILE: indexFile };
  rmSync(indexFile, { force: true });
  try {
    await must(git, ['read-tree', head || '--empty'], { env });
    await must(git, ['update-index', '-z', '--index-info'], { env, input: indexInfo(entries) });
    return (await must(git, ['write-tree'], { env })).trim();
  } finally {
    rmSync(indexFile, { force: true });
  }
}
