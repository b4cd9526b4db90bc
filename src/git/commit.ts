import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ForgeError } from '../core/error.js';
import { type Git, type GitResult, gitError, must, PORCELAIN } from './client.js';
import { withoutLocalFilters } from './config.js';
import type { Repository } from './repository.js';
import { signingGit } from './signing.js';
import { operationInProgress } from './state.js';

export interface FolderCommit {
  repository: Repository;
  git: Git;
  /** From the worktree's top, with forward slashes. */
  folder: string;
  /** GIT_INDEX_FILE as forge found it: set when a git hook called it. */
  outerIndex: string | undefined;
  /** Makes the message from the parent's short hash (null for the first commit). */
  message: (parent: string | null) => string;
  /** `[git] sign`: with git's own signature. */
  sign: boolean;
}

/** `unsigned`: why the commit has no signature although one was asked for. */
export type CommitOutcome =
  | { hash: string; short: string; subject: string; unsigned?: string }
  | { skipped: string };

/** The reason for a skipped commit if the folder matches HEAD. */
export const NOTHING_CHANGED = 'nothing changed';

/** Paths that differ from HEAD or the index, from the worktree's top. */
interface Changes {
  /** Not in the index yet. */
  untracked: string[];
  modified: string[];
  deleted: string[];
}

/**
 * Commits one folder and nothing else: other staged changes stay staged and stay out. No hook, filter, editor or
 * signing program of the repository runs. A signature that fails is left out. During a merge, rebase, pick, revert or bisect, in a hook and with conflicts
 * it does nothing and returns the reason. A commit that fails leaves the index as it was.
 */
export async function commitFolder(job: FolderCommit): Promise<CommitOutcome> {
  const reason = await whyNoCommit(job);
  if (reason) return { skipped: reason };
  const git = await withoutLocalFilters(job.git);
  const changes = await readChanges(git, job.folder);
  if (typeof changes === 'string') return { skipped: `${changes} has merge conflicts` };
  if (Object.values(changes).flat().length === 0) return { skipped: await whyNothing(git, job.folder) };
  const { untracked } = changes;
  if (untracked.length > 0) {
    const added = await patiently(() =>
      git(['add', '--sparse', ...FROM_STDIN], { ...PORCELAIN, input: listed(untracked) }),
    );
    if (added.code !== 0) return { skipped: `git's index could not be updated (${added.stderr.trim()})` };
  }
  const outcome = await commit(git, job, pathspecs(job, changes)).catch((error) => ({ skipped: '', error }));
  if ('skipped' in outcome && untracked.length > 0)
    await git(['rm', '--cached', '--sparse', '--force', '--quiet', '--ignore-unmatch', ...FROM_STDIN], {
      ...PORCELAIN,
      input: listed(untracked),
    });
  if ('error' in outcome) throw outcome.error;
  return outcome;
}

const FROM_STDIN = ['--pathspec-from-file=-', '--pathspec-file-nul'];
const listed = (paths: readonly string[]): string => paths.map((path) => `${path}\0`).join('');

/** The git operation in progress, or what is missing. Null if a commit can be made. */
export const whyNoCommit = async (
  place: Pick<FolderCommit, 'repository' | 'git' | 'outerIndex'>,
): Promise<string | null> => (await obstacle(place)) ?? (await namelessness(place.git));

async function obstacle({
  repository,
  outerIndex,
}: Pick<FolderCommit, 'repository' | 'outerIndex'>): Promise<string | null> {
  // The outer git is about to move HEAD, and fails if HEAD moves first.
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

/** Checked before anything is staged: without a name git makes no commit. */
async function namelessness(git: Git): Promise<string | null> {
  for (const name of ['GIT_AUTHOR_IDENT', 'GIT_COMMITTER_IDENT'])
    if ((await git(['var', name], PORCELAIN)).code !== 0)
      return 'git does not know who you are (git config user.name "…" && git config user.email "…")';
  return null;
}

async function whyNothing(git: Git, folder: string): Promise<string> {
  const args = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--'];
  const ignored = await git([...args, `${folder}/config.toml`], PORCELAIN);
  return ignored.stdout !== '' ? `${folder}/ is ignored by this repository's .gitignore` : NOTHING_CHANGED;
}

/** Files of the folder that a commit of it would contain, from the worktree's top; none during a conflict. */
export async function changedFiles(git: Git, folder: string): Promise<string[]> {
  const changes = await readChanges(await withoutLocalFilters(git), folder);
  return typeof changes === 'string' ? [] : [...changes.modified, ...changes.untracked];
}

/** The changes of the folder, or the path of its first conflict. */
async function readChanges(git: Git, folder: string): Promise<Changes | string> {
  const args = ['status', '--porcelain=v2', '-z', '--no-renames', '--untracked-files=all', '--', folder];
  const changes: Changes = { untracked: [], modified: [], deleted: [] };
  for (const record of (await must(git, args, PORCELAIN)).split('\0').filter(Boolean)) {
    const fields = record.split(' ');
    if (fields[0] === 'u') return fields.slice(10).join(' ');
    const path = fields.slice(fields[0] === '1' ? 8 : 1).join(' ');
    // A nested repository in the folder stays untracked.
    if (path.endsWith('/')) continue;
    if (fields[0] === '?') changes.untracked.push(path);
    // The mode in the working tree.
    else (fields[5] === '000000' ? changes.deleted : changes.modified).push(path);
  }
  return changes;
}

async function commit(git: Git, job: FolderCommit, paths: readonly string[]): Promise<CommitOutcome> {
  if (!job.sign) return commitPaths(git, job, paths, '--no-gpg-sign');
  const signed = await commitPaths(await signingGit(job.git), job, paths, '--gpg-sign').catch(whyStopped);
  if ('hash' in signed || signed.skipped === NOTHING_CHANGED) return signed;
  const outcome = await commitPaths(git, job, paths, '--no-gpg-sign');
  return 'hash' in outcome ? { ...outcome, unsigned: signed.skipped } : outcome;
}

/** A signer that waits for a person was stopped. */
function whyStopped(error: unknown): { skipped: string } {
  if (error instanceof ForgeError && error.code === 'git.timeout') return { skipped: error.message };
  throw error;
}

async function commitPaths(
  git: Git,
  job: FolderCommit,
  paths: readonly string[],
  signature: '--gpg-sign' | '--no-gpg-sign',
): Promise<CommitOutcome> {
  const settings = ['-c', 'i18n.commitEncoding=UTF-8', '-c', 'core.abbrev=no'];
  const options = ['--only', '--cleanup=verbatim', '--no-verify', signature, '--file=-'];
  const args = [...settings, 'commit', ...options, '--', ...paths];
  let message = '';
  const restoreDrafts = keepDrafts(job.repository);
  const made = await patiently(async () => {
    const parent = await git(['rev-parse', '--quiet', '--verify', '--short', 'HEAD'], PORCELAIN);
    message = job.message(parent.stdout.trim() || null);
    return git(args, { ...PORCELAIN, input: message });
  });
  restoreDrafts();
  // `[main (root-commit) 1a2b…] subject`, after the unmerged paths elsewhere.
  const hash = /^\[.*? ([0-9a-f]{40,64})\] /m.exec(made.stdout)?.[1];
  if (hash === undefined) return { skipped: whyFailed(made) };
  const short = (await must(git, ['rev-parse', '--short', hash], PORCELAIN)).trim();
  return { hash, short, subject: message.split('\n')[0] ?? '' };
}

/** The folder, or each path if a folder replaced a file, because git cannot commit a pathspec that names both. */
function pathspecs(
  { repository, folder }: FolderCommit,
  { untracked, modified, deleted }: Changes,
): string[] {
  const isFolder = (path: string): boolean => existsSync(`${repository.root}/${path}/.`);
  if (!deleted.some(isFolder)) return [folder];
  return [...untracked, ...modified, ...deleted.filter((path) => !isFolder(path))];
}

const whyFailed = ({ stdout, stderr }: GitResult): string =>
  stderr === '' && /^(?:nothing|no changes) .*commit/m.test(stdout)
    ? NOTHING_CHANGED
    : gitError(['commit'], stderr).message;

/** Another forge may write the index or HEAD at the same time, and git does not wait for locks. */
async function patiently(call: () => Promise<GitResult>): Promise<GitResult> {
  for (let attempt = 1; ; attempt++) {
    const result = await call();
    if (result.code === 0 || attempt === 5 || !/index\.lock|cannot lock ref/.test(result.stderr))
      return result;
    await pause(50 * attempt);
  }
}

/** `git commit` removes or replaces prepared messages (`git merge --squash`), which belong to the person's next commit. */
function keepDrafts({ gitDir }: Repository): () => void {
  const paths = ['COMMIT_EDITMSG', 'MERGE_MSG', 'SQUASH_MSG'].map((name) => join(gitDir, name));
  const kept = paths.filter((path) => existsSync(path)).map((path) => [path, readFileSync(path)] as const);
  return () => {
    for (const [path, bytes] of kept) writeFileSync(path, bytes);
  };
}
