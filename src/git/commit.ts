import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { makeToken } from '../core/text.js';
import { type Git, type GitResult, gitError, must } from './client.js';
import { operationInProgress } from './read.js';
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

/** Why a commit was skipped that nothing stands in the way of. */
export const NOTHING_CHANGED = 'nothing changed';

/** The paths that the commit is about. */
interface Changes {
  present: string[];
  gone: string[];
}

/**
 * Commits one folder and nothing else: what else is staged stays staged and stays out. Built with a private index
 * and `commit-tree`, so no hook, filter, editor or signing program of the repository runs. What is on the disk goes in
 * as `git add` would take it. During a merge, rebase, pick, revert or bisect, in a hook and with conflicts it does
 * nothing and says why. The real index learns the folder's entries before HEAD moves: a crash in between leaves them
 * staged, no more.
 */
export async function commitFolder(unsafe: FolderCommit): Promise<CommitOutcome> {
  const reason = await whyNoCommit(unsafe);
  if (reason) return { skipped: reason };
  const job = { ...unsafe, git: await withoutLocalFilters(unsafe.git) };
  const changes = await readChanges(job);
  if (typeof changes === 'string') return { skipped: `${changes} has merge conflicts` };
  if (changes.present.length + changes.gone.length === 0) return { skipped: await whyNothing(job) };
  const staged = await stagePatiently(job.git, changes);
  if (staged.code !== 0) return { skipped: `git's index could not be updated (${staged.stderr.trim()})` };
  for (let attempt = 1; ; attempt++) {
    const outcome = await commitOnHead(job, changes);
    if (outcome) return outcome;
    if (attempt === 3) return { skipped: 'HEAD kept moving: another git is at work' };
  }
}

/** What git is in the middle of, or lacks; null where a commit can be made. */
export const whyNoCommit = async (
  place: Pick<FolderCommit, 'repository' | 'git' | 'outerIndex'>,
): Promise<string | null> => (await obstacle(place)) ?? (await namelessness(place.git));

async function obstacle({
  repository,
  outerIndex,
}: Pick<FolderCommit, 'repository' | 'outerIndex'>): Promise<string | null> {
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

/** Asked before anything is staged: without a name git makes no commit. */
async function namelessness(git: Git): Promise<string | null> {
  for (const name of ['GIT_AUTHOR_IDENT', 'GIT_COMMITTER_IDENT'])
    if ((await git(['var', name])).code !== 0)
      return 'git does not know who you are (git config user.name "…" && git config user.email "…")';
  return null;
}

async function whyNothing({ git, folder }: FolderCommit): Promise<string> {
  const args = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard'];
  const ignored = await git([...args, '--', `${folder}/config.toml`]);
  return ignored.stdout !== '' ? `${folder}/ is ignored by this repository's .gitignore` : NOTHING_CHANGED;
}

/** Files of the folder that a commit of it would bring, from the worktree's top; in a conflict none. */
export async function changedFiles(unsafe: Git, folder: string): Promise<string[]> {
  const changes = await readChanges({ git: await withoutLocalFilters(unsafe), folder });
  return typeof changes === 'string' ? [] : changes.present;
}

/** What differs from HEAD or the index in the folder; or the path in conflict. */
async function readChanges({ git, folder }: Pick<FolderCommit, 'git' | 'folder'>): Promise<Changes | string> {
  const args = ['status', '--porcelain=v2', '-z', '--no-renames', '--untracked-files=all', '--', folder];
  const isThere = new Map<string, boolean>();
  for (const record of (await must(git, args)).split('\0').filter(Boolean)) {
    const fields = record.split(' ');
    if (fields[0] === 'u') return fields.slice(10).join(' ');
    const known = fields[0] === '1';
    const path = fields.slice(known ? 8 : 1).join(' ');
    // A repository of its own inside the folder is not ours to add.
    if (!path.endsWith('/')) isThere.set(path, !known || fields[5] !== '000000');
  }
  const paths = [...isThere.keys()];
  return {
    present: paths.filter((path) => isThere.get(path)),
    gone: paths.filter((path) => !isThere.get(path)),
  };
}

/**
 * Git without the filters that this repository's own config defines: they are programs that came with the folder, and
 * whatever reads or writes the index may run them. Not by `-c`, which takes a `=` in a filter's name for its own.
 */
export async function withoutLocalFilters(
  git: Git,
  more: readonly (readonly [string, string])[] = [],
): Promise<Git> {
  const env = await withoutFilters(git, more);
  return (words, options = {}) => git(words, { ...options, env: { ...env, ...options.env } });
}

/** The same as variables of git's environment. */
export async function withoutFilters(
  git: Git,
  more: readonly (readonly [string, string])[] = [],
): Promise<Record<string, string>> {
  const args = ['config', '--includes', '--show-scope', '--name-only', '-z', '--get-regexp', '^filter\\.'];
  const words = (await git(args)).stdout.split('\0');
  const names = words.filter((_, i) => i % 2 === 1 && ['local', 'worktree'].includes(words[i - 1] ?? ''));
  // A file with CRLF is no reason to fail: it is stored as its attributes say.
  const neutral = names.map((name) => [name, neutralValue(name)]);
  const settings = [['core.safecrlf', 'false'], ...more, ...neutral];
  const env: Record<string, string> = { GIT_CONFIG_COUNT: String(settings.length) };
  for (const [i, [name = '', value = '']] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${i}`] = name;
    env[`GIT_CONFIG_VALUE_${i}`] = value;
  }
  return env;
}

const neutralValue = (name: string): string => (name.endsWith('.required') ? 'false' : '');

const lines = (items: readonly string[]): string => items.map((item) => `${item}\0`).join('');

const REMOVE = ['update-index', '--force-remove', '-z', '--stdin'];

/** Two forges may stage at once, and git waits for no other. */
async function stagePatiently(git: Git, changes: Changes): Promise<GitResult> {
  for (let attempt = 1; ; attempt++) {
    const staged = await stage(git, changes);
    if (staged.code === 0 || attempt === 5 || !/index\.lock/.test(staged.stderr)) return staged;
    await pause(50 * attempt);
  }
}

/** Removals first: a folder may stand where a file was. */
async function stage(git: Git, { present, gone }: Changes): Promise<GitResult> {
  const removed = await git(REMOVE, { input: lines(gone) });
  if (removed.code !== 0) return removed;
  return git(['update-index', '--add', '--replace', '-z', '--stdin'], { input: lines(present) });
}

/** One try on the present HEAD; null when HEAD moved meanwhile. */
async function commitOnHead(job: FolderCommit, changes: Changes): Promise<CommitOutcome | null> {
  const { git } = job;
  const head = (await git(['rev-parse', '-q', '--verify', 'HEAD^{commit}'])).stdout.trim();
  const tree = await writeTree(job, head, changes);
  if (head && tree === (await must(git, ['rev-parse', `${head}^{tree}`])).trim())
    return { skipped: NOTHING_CHANGED };
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
  { git, folder, indexFile }: FolderCommit,
  head: string,
  { present, gone }: Changes,
): Promise<string> {
  removeOldIndexes(indexFile);
  const wanted = new Set(present);
  const staged = (await must(git, ['ls-files', '--stage', '-z', '--', folder])).split('\0');
  const entries = staged.filter((line) => wanted.has(line.slice(line.indexOf('\t') + 1)));
  const index = `${indexFile}.${makeToken(12)}`;
  const env = { GIT_INDEX_FILE: index };
  try {
    await must(git, ['read-tree', head || '--empty'], { env });
    await must(git, REMOVE, { env, input: lines(gone) });
    await must(git, ['update-index', '--replace', '-z', '--index-info'], { env, input: lines(entries) });
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
