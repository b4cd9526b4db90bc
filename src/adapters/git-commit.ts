import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Git, gitError, must } from './git.js';
import { operationInProgress } from './git-read.js';
import type { Repository } from './repository.js';

export interface FolderCommit {
  repository: Repository;
  git: Git;
  /** From the worktree's top, with forward slashes. */
  folder: string;
  /** Where the private index may be written; a random word is added. */
  indexFile: string;
  /** GIT_INDEX_FILE as forge found it: set when a git hook called it. */
  outerIndex: string | undefined;
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
export async function commitFolder(unsafe: FolderCommit): Promise<CommitOutcome> {
  const reason = await obstacle(unsafe);
  if (reason) return { skipped: reason };
  const job = { ...unsafe, git: await withoutLocalFilters(unsafe.git) };
  const entries = await changedEntries(job);
  if (typeof entries === 'string') return { skipped: `${entries} has merge conflicts` };
  if (entries.length === 0) return { skipped: await whyNothing(job) };
  const staged = await updateIndex(job.git, entries);
  if (staged.code !== 0) return { skipped: `git's index could not be updated (${staged.stderr.trim()})` };
  for (let attempt = 1; ; attempt++) {
    const outcome = await commitOnHead(job, entries);
    if (outcome) return outcome;
    if (attempt === 3) return { skipped: 'HEAD kept moving: another git is at work' };
  }
}

async function obstacle({ repository, outerIndex }: FolderCommit): Promise<string | null> {
  // Moving HEAD under a git that is about to move it would make that one fail.
  if (outerIndex && dirname(resolve(repository.root, outerIndex)) === repository.gitDir)
    return 'a git hook is running';
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
  const args = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard'];
  const ignored = await git([...args, '--', `${folder}/config.toml`]);
  return ignored.stdout !== '' ? `${folder}/ is ignored by this repository's .gitignore` : 'nothing changed';
}

/** What differs from HEAD or the index in the folder, hashed as it stands on the disk; or the path in conflict. */
async function changedEntries({ repository, git, folder }: FolderCommit): Promise<Entry[] | string> {
  const args = ['status', '--porcelain=v2', '-z', '--no-renames', '--untracked-files=all', '--', folder];
  const modes = new Map<string, string | null>();
  for (const record of (await must(git, args)).split('\0').filter(Boolean)) {
    const { path, mode, unmerged } = parseStatus(record);
    if (unmerged) return path;
    modes.set(path, mode ?? modeOf(join(repository.root, path)));
  }
  const files = [...modes.keys()].filter((path) => modes.get(path)?.startsWith('100'));
  const links = [...modes.keys()].filter((path) => modes.get(path) === '120000');
  const oids = new Map(zip(files, await hashFiles(git, files)));
  for (const path of links) oids.set(path, await hashLink(git, join(repository.root, path)));
  return [...modes].flatMap(([path, mode]): Entry[] => {
    const oid = oids.get(path);
    if (mode === GONE) return [{ path, file: null }];
    return mode !== null && oid !== undefined ? [{ path, file: { mode, oid } }] : [];
  });
}

const GONE = '000000';

/** A record of `status --porcelain=v2`: git says which mode a known file has, also where the disk cannot tell. */
function parseStatus(record: string): { path: string; mode?: string; unmerged?: true } {
  if (record.startsWith('? ')) return { path: record.slice(2) };
  const unmerged = record.startsWith('u ');
  const fields = record.split(' ');
  const path = fields.slice(unmerged ? 10 : 8).join(' ');
  return unmerged ? { path, unmerged } : { path, mode: fields[5] ?? GONE };
}

const zip = (paths: readonly string[], oids: readonly string[]): [string, string][] =>
  paths.map((path, i) => [path, oids[i] ?? '']);

/**
 * Git without the filters that this repository's own config defines: they are programs that came with the folder, and
 * whatever reads or writes the index may run them. Not by `-c`, which takes a `=` in a filter's name for its own.
 */
async function withoutLocalFilters(git: Git): Promise<Git> {
  const args = ['config', '--includes', '--show-scope', '--name-only', '-z', '--get-regexp', '^filter\\.'];
  const words = (await git(args)).stdout.split('\0');
  const names = words.filter((_, i) => i % 2 === 1 && ['local', 'worktree'].includes(words[i - 1] ?? ''));
  const env: Record<string, string> = { GIT_CONFIG_COUNT: String(names.length) };
  for (const [i, name] of names.entries()) {
    env[`GIT_CONFIG_KEY_${i}`] = name;
    env[`GIT_CONFIG_VALUE_${i}`] = name.endsWith('.required') ? 'false' : '';
  }
  return (words_, options = {}) => git(words_, { ...options, env: { ...env, ...options.env } });
}

/** Of a file that git does not know yet; null for what git cannot keep. */
function modeOf(path: string): string | null {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isSymbolicLink()) return '120000';
  if (!stat?.isFile()) return null;
  return (stat.mode & 0o100) === 0 ? '100644' : '100755';
}

async function hashFiles(git: Git, paths: readonly string[]): Promise<string[]> {
  const oids: string[] = [];
  // In portions that fit a command line.
  for (let i = 0; i < paths.length; i += 200) {
    const stdout = await must(git, ['hash-object', '-w', '--no-filters', '--', ...paths.slice(i, i + 200)]);
    oids.push(...stdout.trim().split('\n'));
  }
  return oids;
}

const hashLink = async (git: Git, path: string): Promise<string> =>
  (await must(git, ['hash-object', '-w', '--stdin'], { input: readlinkSync(path) })).trim();

/** Removals first: a folder may stand where a file was. */
async function updateIndex(git: Git, entries: readonly Entry[], env: Record<string, string> = {}) {
  const gone = entries.filter(({ file }) => file === null).map(({ path }) => `${path}\0`);
  if (gone.length > 0) {
    const removed = await git(['update-index', '--force-remove', '-z', '--stdin'], {
      env,
      input: gone.join(''),
    });
    if (removed.code !== 0) return removed;
  }
  const lines = entries.map(({ path, file }) => (file ? `${file.mode} ${file.oid}\t${path}\0` : ''));
  return git(['update-index', '-z', '--index-info'], { env, input: lines.join('') });
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

/**
 * In an index of its own, under a name that no other forge has: one that somebody else removed half-way would make a
 * commit without all the rest. What a crash left is removed when it can be nobody's any more.
 */
async function writeTree(
  { git, indexFile }: FolderCommit,
  head: string,
  entries: readonly Entry[],
): Promise<string> {
  removeOldIndexes(indexFile);
  const index = `${indexFile}.${randomBytes(6).toString('hex')}`;
  const env = { GIT_INDEX_FILE: index };
  try {
    await must(git, ['read-tree', head || '--empty'], { env });
    const { code, stderr } = await updateIndex(git, entries, env);
    if (code !== 0) throw gitError(['update-index'], stderr);
    return (await must(git, ['write-tree'], { env })).trim();
  } finally {
    rmSync(index, { force: true });
  }
}

function removeOldIndexes(indexFile: string): void {
  const [folder, start] = [dirname(indexFile), `${basename(indexFile)}.`];
  const anHourAgo = Date.now() - 3_600_000;
  for (const name of readdirSync(folder).filter((candidate) => candidate.startsWith(start))) {
    const stat = lstatSync(join(folder, name), { throwIfNoEntry: false });
    if (stat && stat.mtimeMs < anHourAgo) rmSync(join(folder, name), { force: true });
  }
}
