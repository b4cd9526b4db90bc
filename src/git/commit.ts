import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { formatArgv } from '../core/argv.js';
import { ForgeError, outside } from '../core/error.js';
import {
  type Git,
  type GitResult,
  gitError,
  must,
  ownEnvironment,
  PORCELAIN,
  type UserGit,
} from './client.js';
import { operationInProgress, type Repository } from './repository.js';
import { type FileState, ignoredAmong, readUncommitted } from './status.js';
import { signingGit } from './tags.js';

interface FolderCommit {
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

/**
 * Commits one folder and nothing else: other staged changes stay staged and stay out. No hook, filter, editor or
 * signing program of the repository runs. A signature that fails is left out. During a merge, rebase, pick, revert or
 * bisect, in a hook and with conflicts it does nothing and returns the reason. A commit that fails leaves the index as it was.
 */
export async function commitFolder(job: FolderCommit): Promise<CommitOutcome> {
  const reason = await whyNoCommit(job);
  if (reason) return { skipped: reason };
  const { git } = job;
  const files = await filesOf(git, job.folder);
  const conflict = files.find(({ kind }) => kind === 'unmerged');
  if (conflict) return { skipped: `${conflict.path} has merge conflicts` };
  if (files.length === 0) return { skipped: await whyNothing(git, job.folder) };
  const input = files.map(({ kind, path }) => (kind === 'untracked' ? `${path}\0` : '')).join('');
  const paths = ['--pathspec-from-file=-', '--pathspec-file-nul'];
  if (input !== '') {
    const added = await patiently(() => git(['add', '--sparse', ...paths], { ...PORCELAIN, input }));
    if (added.code !== 0) return { skipped: `git's index could not be updated (${added.stderr.trim()})` };
  }
  const outcome = await commit(job).catch((error) => ({ skipped: '', error }));
  const undo = ['rm', '--cached', '--sparse', '--force', '--quiet', '--ignore-unmatch', ...paths];
  if ('skipped' in outcome && input !== '') await git(undo, { ...PORCELAIN, input });
  if ('error' in outcome) throw outcome.error;
  return outcome;
}

/** What a commit of the folder would contain. A nested repository in it stays untracked. */
const filesOf = async (git: Git, folder: string): Promise<FileState[]> =>
  (await readUncommitted(git, [folder])).filter(({ path }) => !path.endsWith('/'));

/** Files of the folder that a commit of it would contain, from the worktree's top; none during a conflict. */
export async function changedFiles(git: Git, folder: string): Promise<string[]> {
  const files = await filesOf(git, folder);
  if (files.some(({ kind }) => kind === 'unmerged')) return [];
  return files.filter(({ isGone }) => !isGone).map(({ path }) => path);
}

/** The git operation in progress, or what is missing. Null if a commit can be made. Checked before anything is staged. */
export async function whyNoCommit({
  repository,
  git,
  outerIndex,
}: Pick<FolderCommit, 'repository' | 'git' | 'outerIndex'>): Promise<string | null> {
  // The outer git is about to move HEAD, and fails if HEAD moves first.
  if (outerIndex && dirname(resolve(repository.root, outerIndex)) === repository.gitDir)
    return 'a git hook is running';
  const operation = operationInProgress(repository);
  if (operation) return `${operation} is in progress`;
  const lock = await lastingLock(repository);
  if (lock) return `another git is at work, or was killed (if none runs: ${formatArgv(['rm', lock])})`;
  for (const name of ['GIT_AUTHOR_IDENT', 'GIT_COMMITTER_IDENT'])
    if ((await git(['var', name], PORCELAIN)).code !== 0)
      return 'git does not know who you are (git config user.name "…" && git config user.email "…")';
  return null;
}

/** The lock of git's index, if it is there for two seconds. */
async function lastingLock({ gitDir }: Repository): Promise<string | null> {
  const lock = join(gitDir, 'index.lock');
  for (let waited = 0; existsSync(lock); waited += 100) {
    if (waited >= 2000) return lock;
    await pause(100);
  }
  return null;
}

async function whyNothing(git: Git, folder: string): Promise<string> {
  // A new file: git never ignores one that it tracks.
  const ignored = await ignoredAmong(git, [`${folder}/new`]);
  return ignored.length > 0 ? `${folder}/ is ignored by this repository's .gitignore` : NOTHING_CHANGED;
}

async function commit(job: FolderCommit): Promise<CommitOutcome> {
  if (!job.sign) return commitAs(job.git, job, '--no-gpg-sign');
  const signed = await commitAs(signingGit(job.git), job, '--gpg-sign').catch((error) => {
    // A signer that waits for a person was stopped.
    if (error instanceof ForgeError && error.code === 'git.timeout') return { skipped: error.message };
    throw error;
  });
  if ('hash' in signed || signed.skipped === NOTHING_CHANGED) return signed;
  const outcome = await commitAs(job.git, job, '--no-gpg-sign');
  return 'hash' in outcome ? { ...outcome, unsigned: signed.skipped } : outcome;
}

async function commitAs(
  git: Git,
  { repository, folder, message: write }: FolderCommit,
  signature: '--gpg-sign' | '--no-gpg-sign',
): Promise<CommitOutcome> {
  const settings = ['-c', 'i18n.commitEncoding=UTF-8', '-c', 'core.abbrev=no'];
  const options = ['--only', '--cleanup=verbatim', '--no-verify', signature, '--file=-'];
  const args = [...settings, 'commit', ...options, '--', folder];
  let message = '';
  const restoreDrafts = keepDrafts(repository);
  const made = await patiently(async () => {
    const parent = await git(['rev-parse', '--quiet', '--verify', '--short', 'HEAD'], PORCELAIN);
    message = write(parent.stdout.trim() || null);
    return git(args, { ...PORCELAIN, input: message });
  });
  restoreDrafts();
  // `[main (root-commit) 1a2b…] subject`, after the unmerged paths elsewhere.
  const hash = /^\[.*? ([0-9a-f]{40,64})\] /m.exec(made.stdout)?.[1];
  if (hash === undefined) return { skipped: whyFailed(made) };
  const short = (await must(git, ['rev-parse', '--short', hash], PORCELAIN)).trim();
  return { hash, short, subject: message.split('\n')[0] ?? '' };
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

/** Opens git's editor, through a shell like git, because it may be `code --wait`. `hint` is for a failure. */
export async function openEditor(
  git: UserGit,
  file: string,
  env: NodeJS.ProcessEnv,
  hint = 'git config core.editor EDITOR   # another one',
): Promise<void> {
  const { code, stdout, stderr } = await git(['var', 'GIT_EDITOR']);
  const editor = stdout.trim();
  if (code !== 0 || editor === '')
    throw outside('editor.none', `Git names no editor: ${stderr.trim()}`, {
      hint: 'git config --global core.editor EDITOR',
    });
  const status = await new Promise<number | string | null>((done) => {
    const options = { stdio: 'inherit', env: ownEnvironment(env) } as const;
    const child = spawn('sh', ['-c', `${editor} "$@"`, editor, file], options);
    child.on('error', ({ message }) => done(message));
    child.on('close', done);
  });
  const failure = `The editor (${editor}) ended with ${status}; nothing was changed.`;
  if (status !== 0) throw outside('editor.failed', failure, { hint });
}
