import * as fs from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { formatArgv } from '../core/argv.js';
import { outside, systemCode, usage } from '../core/error.js';
import { diskError, readText, realPath } from '../core/files.js';

/** A repository, read from its files: starting git costs each command some milliseconds. */
export interface Repository {
  root: string;
  /** Of this worktree. */
  gitDir: string;
  /** Shared by all worktrees. */
  commonDir: string;
  kind: 'main' | 'worktree' | 'submodule' | 'elsewhere';
}

export interface Found {
  root: string;
  dir: string;
  repository: Repository | null;
}

const kindOf = (path: string): 'file' | 'folder' | 'link' | null => {
  try {
    const stat = fs.lstatSync(path);
    if (stat.isSymbolicLink()) return 'link';
    return stat.isDirectory() ? 'folder' : 'file';
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return null;
    throw diskError(error, path);
  }
};

/** The nearest `.forge/` at or above `from` in its repository: a nested one inherits nothing. Null without one. */
export function findForge(from: string): Found | null {
  for (let folder = realPath(resolve(from)) ?? resolve(from); ; folder = dirname(folder)) {
    const dir = join(folder, '.forge');
    const kind = kindOf(dir);
    const problem = `${dir} is a symbolic link; forge works in a real folder only.`;
    if (kind === 'link') throw usage('forge.link', problem, { file: dir });
    if (kind === 'folder' && mayBeRoot(folder) && fs.existsSync(join(dir, 'config.toml')))
      return { root: folder, dir, repository: projectRepository(folder) };
    if (kindOf(join(folder, '.git')) !== null || dirname(folder) === folder) return null;
  }
}

/** An entry of git's index: the byte before the path has its length. A skipped entry has more bytes in between. */
const CONFIG_ENTRY = '\u0000\u0012.forge/config.toml\u0000';

/** For git's hooks: checks that no setting can disable go on when config.toml was deleted but is still in git. */
export function findGuarded(from: string): Found | null {
  const found = findForge(from);
  const repository = found ? null : findRepository(from);
  if (!repository || !mayBeRoot(repository.root)) return found;
  const { root } = repository;
  return indexHas(repository, CONFIG_ENTRY) ? { root, dir: join(root, '.forge'), repository } : null;
}

/** True if this checkout may leave out files that git has. */
export const isSparse = ({ gitDir }: Repository): boolean =>
  fs.existsSync(join(gitDir, 'info', 'sparse-checkout'));

/** The name is taken by something other than a folder. */
export const isNameTaken = (root: string): boolean => kindOf(join(root, '.forge')) === 'file';

/** `/` and the home folder hold other things than one project. */
export const mayBeRoot = (folder: string): boolean => dirname(folder) !== folder && !isHome(folder);

const isHome = (folder: string): boolean => folder === (realPath(homedir()) ?? homedir());

/** The repository whose worktree contains `folder`. Null without one, in a bare one or inside a git dir. */
export function findRepository(from: string): Repository | null {
  for (let folder = realPath(resolve(from)) ?? resolve(from); ; folder = dirname(folder)) {
    const dotGit = join(folder, '.git');
    const kind = kindOf(dotGit);
    if (kind === 'folder' && fs.existsSync(join(dotGit, 'HEAD')))
      // Git follows a commondir in any git dir, and would write to its target. Only those of worktrees have one.
      return fs.existsSync(join(dotGit, 'commondir'))
        ? null
        : { root: folder, gitDir: dotGit, commonDir: dotGit, kind: 'main' };
    if (kind === 'file' || kind === 'link') return throughPointer(folder, dotGit);
    if (dirname(folder) === folder) return null;
  }
}

/** One of the whole home folder (dotfiles) does not count for the projects below it, because forge would commit there. */
export function projectRepository(folder: string): Repository | null {
  const repository = findRepository(folder);
  return repository === null || isHome(repository.root) ? null : repository;
}

/** Whether the repository's own config may name a filter or a signing program. Starting git takes longer than reading it. */
export function mayNamePrograms({ commonDir, gitDir }: Repository): boolean {
  const files = [join(commonDir, 'config'), join(gitDir, 'config.worktree')];
  return files.some((file) =>
    /\[\s*(?:filter|include)|\b(?:program|defaultkeycommand)\b/i.test(readText(file)),
  );
}

/** A `.git` file: a linked worktree, a submodule, or a git dir kept elsewhere. */
function throughPointer(root: string, dotGit: string): Repository | null {
  const gitDir = fs.statSync(dotGit, { throwIfNoEntry: false })?.isDirectory()
    ? fs.realpathSync.native(dotGit)
    : pointedAt(root, dotGit);
  if (gitDir === null || !fs.existsSync(join(gitDir, 'HEAD'))) return null;
  const common = readLine(join(gitDir, 'commondir'));
  if (common !== null) return linkedWorktree(root, dotGit, gitDir, resolve(gitDir, common));
  const worktree = configuredWorktree(gitDir);
  if (worktree !== null)
    return worktree === realPath(root) ? { root, gitDir, commonDir: gitDir, kind: 'submodule' } : null;
  // A folder named .git is the git dir of the repository around it, which is not this one.
  return basename(gitDir) === '.git' ? null : { root, gitDir, commonDir: gitDir, kind: 'elsewhere' };
}

/** Where a git dir says its files are (git writes this for submodules). Null if it does not say. */
function configuredWorktree(gitDir: string): string | null {
  const config = readText(join(gitDir, 'config'));
  const path = /^\s*worktree\s*=\s*(.+?)\s*$/m.exec(config)?.[1];
  return path === undefined ? null : realPath(resolve(gitDir, path));
}

function pointedAt(root: string, dotGit: string): string | null {
  const target = /^gitdir: (.+)$/.exec(readLine(dotGit) ?? '')?.[1];
  if (target === undefined) return null;
  return isAbsolute(target) ? target : resolve(root, target);
}

/** A pointer may be crafted: a worktree's git dir is in the common dir and points back to exactly this `.git` file. */
function linkedWorktree(root: string, dotGit: string, gitDir: string, commonDir: string): Repository | null {
  const back = readLine(join(gitDir, 'gitdir'));
  const isMutual = back !== null && realPath(resolve(gitDir, back)) === realPath(dotGit);
  const isInside = realPath(dirname(gitDir)) === realPath(join(commonDir, 'worktrees'));
  return isMutual && isInside ? { root, gitDir, commonDir, kind: 'worktree' } : null;
}

/** Null if it is empty or missing. */
const readLine = (path: string): string | null => readText(path).split('\n')[0]?.trimEnd() || null;

export function linkedWorktrees(commonDir: string): string[] {
  const folder = join(commonDir, 'worktrees');
  return fs.existsSync(folder) ? fs.readdirSync(folder) : [];
}

/** Top folders of the repository's other worktrees on this machine. */
export function otherRoots({ commonDir, root }: Repository): string[] {
  const folders = linkedWorktrees(commonDir).map((name) => join(commonDir, 'worktrees', name));
  // The pointer may be relative (git worktree add --relative-paths).
  const linked = folders.map((folder) => dirname(resolve(folder, readLine(join(folder, 'gitdir')) ?? '.')));
  return [dirname(commonDir), ...linked].filter((other) => other !== root);
}

/** The identity for trust: what linked worktrees provably share, or else the folder itself. */
export function identityOf(root: string, repository: Repository | null): string {
  const sharing = repository?.root === root && (repository.kind === 'main' || repository.kind === 'worktree');
  return fs.realpathSync.native(sharing ? repository.commonDir : root);
}

/** A message that git passes to a hook. `replace` writes in place, because git opened it by this name. */
export function readGitFile(from: string, name: string) {
  const path = fs.realpathSync.native(resolve(from, name));
  return { path, bytes: fs.readFileSync(path), replace: (text: string) => fs.writeFileSync(path, text) };
}

/** Exit 6 for a `.forge/` of another user unless `safe.directory` allows it, as in git (CVE-2022-24765). */
export function refuseForeign({ root, dir, repository }: Found, env: NodeJS.ProcessEnv): void {
  const { uid } = fs.statSync(dir);
  if (process.geteuid === undefined || uid === process.geteuid()) return;
  const { GIT_DIR: _dir, GIT_WORK_TREE: _tree, ...rest } = env;
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  // Git knows its `safe.directory`, and whom sudo works for.
  if (spawnSync('git', ['rev-parse', '--git-dir'], { cwd: root, env: rest, timeout: 5000 }).status === 0)
    return;
  throw outside('git.unsafe', `detected dubious ownership: ${dir} belongs to another user (${uid}).`, {
    file: dir,
    hint: formatArgv(['git', 'config', '--global', '--add', 'safe.directory', repository?.root ?? root]),
  });
}

/** Whether the index file contains these bytes: hooks cannot wait for git. Version 4 compresses names, which are not found. */
export function indexHas({ gitDir }: Repository, bytes: string): boolean {
  try {
    return fs.readFileSync(join(gitDir, 'index')).includes(bytes, 'latin1');
  } catch {
    return false;
  }
}

const OPERATIONS = [
  ['rebase-merge', 'a rebase'],
  ['rebase-apply/applying', 'git am'],
  ['rebase-apply', 'a rebase'],
  ['MERGE_HEAD', 'a merge'],
  ['CHERRY_PICK_HEAD', 'a cherry-pick'],
  ['REVERT_HEAD', 'a revert'],
  // Between two commits of a series only the rest of the series is left.
  ['sequencer/todo', 'a cherry-pick or revert'],
  ['BISECT_LOG', 'a bisect'],
] as const;

export const operationInProgress = ({ gitDir }: Repository): string | null =>
  OPERATIONS.find(([file]) => fs.existsSync(join(gitDir, file)))?.[1] ?? null;

const BRINGING = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REBASE_HEAD', 'REVERT_HEAD'];

/** Whose files the operation in progress brings, also `git merge --squash` until it is committed. */
export function mergedCommit({ gitDir }: Repository): string | undefined {
  const name = BRINGING.find((file) => fs.existsSync(join(gitDir, file)));
  if (name === 'REVERT_HEAD') return `${name}^`;
  return name ?? /^commit ([0-9a-f]{40,64})$/m.exec(readText(join(gitDir, 'SQUASH_MSG')))?.[1];
}

/** Whether this clone may lack part of its history. */
export const isShallow = (repository: Repository | null): boolean =>
  repository !== null && fs.existsSync(join(repository.commonDir, 'shallow'));

/** Whether this clone was made with `--filter`: git fetches trees and files when they are asked for. */
export const isPartial = (repository: Repository | null): boolean =>
  repository !== null && /^\s*promisor\s*=/im.test(readText(join(repository.commonDir, 'config')));

/** The commits where the history of a shallow clone ends; none in a complete clone. */
export const readBoundary = ({ commonDir }: Repository): Set<string> =>
  new Set(readText(join(commonDir, 'shallow')).split('\n').filter(Boolean));

/** The branch checked out, from the HEAD file; null when detached. An unborn branch has its name too. */
export async function readBranch(
  repository: Repository,
  git: (args: readonly string[]) => Promise<{ stdout: string }>,
): Promise<string | null> {
  const head = fs.readFileSync(join(repository.gitDir, 'HEAD'), 'utf8').trim();
  const branch = /^ref: refs\/heads\/(.+)$/.exec(head)?.[1];
  // A reftable repository keeps a placeholder there.
  if (branch === '.invalid')
    return (await git(['symbolic-ref', '--short', '-q', 'HEAD'])).stdout.trim() || null;
  return branch ?? null;
}
