import { toBytes, toText } from '../git/bytes.js';
import { type Git, type GitResult, must } from '../git/client.js';
import { withoutLocalFilters } from '../git/config.js';
import type { Repository } from '../git/repository.js';
import { isShallow, operationInProgress } from '../git/state.js';
import { WorkTree } from '../git/work-tree.js';
import type { Divergence, Relation } from './rules.js';

/** What git tells of it: all but what only forge knows. */
interface Measured extends Omit<Divergence, 'features_lost' | 'ledger'> {
  head: string | null;
  isShallow: boolean;
}

/** Three calls that run side by side, and a fourth where history has forked. Writes nothing. */
export async function measureDivergence(
  { repository, git: unsafe, folder }: { repository: Repository; git: Git; folder: string },
  commit: string | null,
): Promise<Measured> {
  const git = await withoutLocalFilters(unsafe);
  const [status, history, changes] = await Promise.all([
    readStatus(git, folder),
    commit === null ? null : readHistory(git, commit),
    commit === null ? NO_CHANGES : readChanges(git, commit, folder),
  ]);
  const branch = status.head === null ? 'unborn' : (history?.branch ?? 'missing');
  const files = new WorkTree(repository.root);
  const others = new Set(status.untracked);
  const blocking = files.blocking(changes.deleted.map(toBytes)).map(toText);
  return {
    commits: history?.commits ?? 0,
    behind: history?.behind ?? 0,
    files: changes.files,
    insertions: changes.insertions,
    deletions: changes.deletions,
    deleted_files: changes.deleted.filter((path) => !files.isThere(toBytes(path))).length,
    untracked: status.untracked.length,
    in_the_way: blocking.filter((path) => !others.has(path) && !changes.paths.has(path)),
    branch,
    operation:
      operationInProgress(repository) ?? (status.isUnmerged ? 'a conflict that is not resolved' : null),
    head: status.head,
    isShallow: isShallow(repository),
  };
}

/** All but the folder, whatever characters its name has. */
const outside = (folder: string): string[] => ['--', ':(top)', `:(top,exclude,literal)${folder}`];

async function readStatus(
  git: Git,
  folder: string,
): Promise<{ head: string | null; untracked: string[]; isUnmerged: boolean }> {
  const form = ['status', '--porcelain=v2', '--branch', '-z', '--no-renames', '--untracked-files=all'];
  const lines = (await must(git, ['--no-literal-pathspecs', ...form, ...outside(folder)])).split('\0');
  const oid = lines.find((line) => line.startsWith('# branch.oid '))?.slice(13) ?? '(initial)';
  return {
    head: oid === '(initial)' ? null : oid,
    untracked: lines.flatMap((line) => (line.startsWith('? ') ? [line.slice(2)] : [])),
    isUnmerged: lines.some((line) => line.startsWith('u ')),
  };
}

type History = { commits: number; behind: number; branch: Relation };

async function readHistory(git: Git, commit: string): Promise<History> {
  const args = ['rev-list', '--left-right', '--count', `${commit}...HEAD`, '--'];
  const { code, stdout } = await git(args);
  if (code !== 0) return { commits: 0, behind: 0, branch: 'missing' };
  const [behind = 0, commits = 0] = stdout.trim().split('\t').map(Number);
  if (behind === 0) return { commits, behind, branch: 'descendant' };
  if (commits === 0) return { commits, behind, branch: 'behind' };
  const forked = (await git(['merge-base', commit, 'HEAD'])).code === 0;
  return { commits, behind, branch: forked ? 'diverged' : 'unrelated' };
}

interface Changes {
  files: number;
  insertions: number | null;
  deletions: number | null;
  /** Paths that the commit has and git does not know now. */
  deleted: string[];
  paths: ReadonlySet<string>;
}
const NO_CHANGES: Changes = { files: 0, insertions: 0, deletions: 0, deleted: [], paths: new Set() };

async function readChanges(git: Git, commit: string, folder: string): Promise<Changes> {
  const diff = async (...counts: string[]): Promise<GitResult> => {
    const form = ['diff', '--raw', ...counts, '-z', '--no-renames', '--no-ext-diff', '--no-textconv'];
    const plain = ['--no-color', '--no-relative', '--ignore-submodules=none', '-O/dev/null', commit];
    return git(['--no-literal-pathspecs', ...form, ...plain, ...outside(folder)]);
  };
  const whole = await diff('--numstat');
  if (whole.code === 0) return parseChanges(whole.stdout, true);
  if ((await git(['cat-file', '-e', `${commit}^{commit}`])).code !== 0) return NO_CHANGES;
  // Lines cannot be counted in a file that git has not got; that it is another one is known all the same.
  return parseChanges(await must(() => diff(), ['diff']), false);
}

function parseChanges(stdout: string, isCounted: boolean): Changes {
  const words = stdout.split('\0').filter(Boolean);
  const raw: { state: string | undefined; path: string }[] = [];
  // Pairs of what changed and where; then a line of numbers for each.
  for (let at = 0; words[at]?.startsWith(':'); at += 2)
    raw.push({ state: words[at]?.at(-1), path: words[at + 1] ?? '' });
  const counted = words.slice(raw.length * 2).map((word) => word.split('\t').map(Number));
  const sum = (column: number): number =>
    counted.reduce(
      (total, counts) => total + (Number.isNaN(counts[column] ?? 0) ? 0 : (counts[column] ?? 0)),
      0,
    );
  const deleted = raw.filter(({ state }) => state === 'D').map(({ path }) => path);
  return {
    files: raw.length,
    insertions: isCounted ? sum(0) : null,
    deletions: isCounted ? sum(1) : null,
    deleted,
    paths: new Set(raw.filter(({ state }) => state !== 'D').map(({ path }) => path)),
  };
}
