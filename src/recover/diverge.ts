import { join } from 'node:path';
import { toBytes } from '../git/bytes.js';
import { type Git, type GitResult, must } from '../git/client.js';
import { withoutLocalFilters } from '../git/config.js';
import { type Filtered, findFiltered } from '../git/filtered.js';
import { stampIn } from '../git/move.js';
import { isSameOutside, leadsTo, outsideOf } from '../git/outside.js';
import { mergeBase } from '../git/read.js';
import type { Repository } from '../git/repository.js';
import { isShallow, operationInProgress } from '../git/state.js';
import type { Divergence, Relation } from './rules.js';

/** What git knows of the divergence; the rest only forge knows. */
interface Measured extends Omit<Divergence, 'features_lost' | 'ledger'> {
  head: string | null;
  isShallow: boolean;
  isHeadSame: boolean;
  /** Files that cannot be compared. */
  filtered: Filtered | null;
  /** Absolute paths of files of the checkpoint that are not on the disk. */
  gone: ReadonlySet<string>;
}

/** Reads side by side; writes nothing. */
export async function measureDivergence(
  { repository, git: unsafe, folder }: { repository: Repository; git: Git; folder: string },
  commit: string | null,
): Promise<Measured> {
  const git = await withoutLocalFilters(unsafe);
  const [status, history, changes] = await Promise.all([
    readStatus(git, folder),
    commit === null ? null : readHistory(git, commit, folder),
    commit === null ? NO_CHANGES : readChanges(git, commit, folder),
  ]);
  const { root } = repository;
  const filtered = await findFiltered(unsafe, status.changed);
  const gone = changes.deleted.filter((path) => stampIn(root, toBytes(path)) === null);
  return {
    commits: history?.commits ?? 0,
    behind: history?.behind ?? 0,
    files: changes.files,
    insertions: changes.insertions,
    deletions: changes.deletions,
    untracked: status.untracked.length,
    uncommitted: status.changed.length - (filtered?.paths.length ?? 0) + status.untracked.length,
    filtered,
    branch: status.head === null ? 'unborn' : (history?.branch ?? 'missing'),
    operation: operationInProgress(repository) ?? (status.isUnmerged ? 'an unresolved conflict' : null),
    head: status.head,
    isShallow: isShallow(repository),
    isHeadSame: history?.isHeadSame ?? false,
    gone: new Set(gone.map((path) => join(root, path))),
  };
}

interface Status {
  head: string | null;
  changed: string[];
  untracked: string[];
  isUnmerged: boolean;
}

async function readStatus(git: Git, folder: string): Promise<Status> {
  const form = ['status', '--porcelain=v2', '--branch', '-z', '--no-renames', '--untracked-files=all'];
  const lines = (await must(git, ['--no-literal-pathspecs', ...form, ...outsideOf(folder)])).split('\0');
  const oid = lines.find((line) => line.startsWith('# branch.oid '))?.slice(13) ?? '(initial)';
  return {
    head: oid === '(initial)' ? null : oid,
    changed: lines.flatMap((line) => /^(?:1(?: \S+){7}|u(?: \S+){9}) (.*)$/s.exec(line)?.[1] ?? []),
    untracked: lines.flatMap((line) => (line.startsWith('? ') ? [line.slice(2)] : [])),
    isUnmerged: lines.some((line) => line.startsWith('u ')),
  };
}

interface History {
  commits: number;
  behind: number;
  branch: Relation;
  isHeadSame: boolean;
}

async function readHistory(git: Git, commit: string, folder: string): Promise<History> {
  const args = ['rev-list', '--left-right', '--count', `${commit}...HEAD`, '--'];
  const { code, stdout } = await git(args);
  if (code !== 0) return { commits: 0, behind: 0, branch: 'missing', isHeadSame: false };
  const [behind = 0, ahead = 0] = stdout.trim().split('\t').map(Number);
  const branch = await relate(git, commit, folder, { behind, ahead });
  const isHeadSame = await isSameOutside(git, commit, 'HEAD', folder);
  const own = ['rev-list', '--count', '--first-parent', '--no-merges', `${commit}..HEAD`];
  const commits = Number(await must(git, ['--no-literal-pathspecs', ...own, ...outsideOf(folder)]));
  return { commits, behind: branch === 'descendant' ? 0 : behind, branch, isHeadSame };
}

async function relate(
  git: Git,
  commit: string,
  folder: string,
  { behind, ahead }: { behind: number; ahead: number },
): Promise<Relation> {
  if (behind === 0) return 'descendant';
  if (ahead === 0) return 'behind';
  if ((await mergeBase(git, commit, 'HEAD')) === null) return 'unrelated';
  return (await leadsTo(git, commit, folder)) ? 'descendant' : 'diverged';
}

type Changes = Pick<Divergence, 'files' | 'insertions' | 'deletions'> & {
  /** Paths that the commit has and git does not know now. */
  deleted: string[];
};
const NO_CHANGES: Changes = { files: 0, insertions: 0, deletions: 0, deleted: [] };

async function readChanges(git: Git, commit: string, folder: string): Promise<Changes> {
  if ((await git(['cat-file', '-e', `${commit}^{commit}`])).code !== 0) return NO_CHANGES;
  const plain = ['-z', '--no-renames', '--no-ext-diff', '--no-textconv', '--no-color', '--no-relative'];
  const diff = (form: string): Promise<GitResult> => {
    const args = ['diff', form, ...plain, '--ignore-submodules=none', commit, ...outsideOf(folder)];
    return git(['--no-literal-pathspecs', ...args]);
  };
  const words = (await must(() => diff('--name-status'), ['diff'])).split('\0').slice(0, -1);
  const { code, stdout } = await diff('--numstat');
  const counts = [...stdout.matchAll(/(?:^|\0)(\d+)\t(\d+)\t/g)];
  // Lines cannot be counted in a file that git lacks, as in a partial clone.
  const sum = (column: number): number | null =>
    code === 0 ? counts.reduce((total, count) => total + Number(count[column]), 0) : null;
  return {
    files: words.length / 2,
    insertions: sum(1),
    deletions: sum(2),
    deleted: words.filter((_, i) => i % 2 === 1 && words[i - 1] === 'D'),
  };
}
