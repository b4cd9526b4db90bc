import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Git, gitError, must, withoutLocalFilters } from './client.js';
import type { Repository } from './repository.js';

/** What `git status` says, one folder left out. */
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
}

/** One git call. Files in an untracked folder are counted as one, as git shows them. */
export async function readTreeStatus(
  unsafe: Git,
  { repository, folder }: { repository: Repository; folder: string },
): Promise<TreeStatus> {
  const git = mayHaveFilters(repository) ? await withoutLocalFilters(unsafe) : unsafe;
  const form = ['status', '--porcelain=v2', '--branch', '-z', '--no-renames', '--untracked-files=normal'];
  const outside = ['--', ':(top)', `:(top,exclude,literal)${folder}`];
  const records = (await must(git, ['--no-literal-pathspecs', ...form, ...outside])).split('\0');
  const said = new Map(records.flatMap(headerOf));
  const count = (mark: string): number => records.filter((record) => record.startsWith(mark)).length;
  const oid = said.get('oid');
  const branch = said.get('head');
  return {
    head: oid === undefined || oid === '(initial)' ? null : oid,
    branch: branch === undefined || branch === '(detached)' ? null : branch,
    upstream: upstreamOf(said),
    changed: count('1 '),
    untracked: count('? '),
    unmerged: count('u '),
  };
}

function headerOf(record: string): [string, string][] {
  const [, name, value] = /^# branch\.([a-z]+) (.*)$/s.exec(record) ?? [];
  return name === undefined || value === undefined ? [] : [[name, value]];
}

/** Without numbers: its branch is gone. */
function upstreamOf(said: ReadonlyMap<string, string>): TreeStatus['upstream'] {
  const name = said.get('upstream');
  const [, ahead, behind] = /^\+(\d+) -(\d+)$/.exec(said.get('ab') ?? '') ?? [];
  return name === undefined || ahead === undefined
    ? null
    : { name, ahead: Number(ahead), behind: Number(behind) };
}

/** Filters are programs that a repository's own config may name; a config that names none need not be asked. */
const mayHaveFilters = ({ gitDir, commonDir }: Repository): boolean =>
  [join(commonDir, 'config'), join(gitDir, 'config.worktree')].some((path) =>
    /filter|include/i.test(readText(path)),
  );

/** Commits that only HEAD has, and that only the other one has. Null where one of them is no commit. */
export async function readDistance(git: Git, ref: string): Promise<{ ahead: number; behind: number } | null> {
  const args = ['rev-list', '--left-right', '--count', `HEAD...${ref}`, '--'];
  const { code, stdout, stderr } = await git(args);
  if (code !== 0 && /unknown revision|bad revision/.test(stderr)) return null;
  if (code !== 0) throw gitError(args, stderr);
  const [ahead = 0, behind = 0] = stdout.trim().split('\t').map(Number);
  return { ahead, behind };
}

/** The remote's default branch. `commit` is empty where only git can tell it (a reftable repository). */
export interface RemoteDefault {
  /** `origin/main` */
  name: string;
  /** `main` */
  branch: string;
  ref: string;
  commit: string;
}

/** As this clone knows it, from files alone, or as a setting has it ('' is none); null where there is none. */
export function readRemoteDefault(
  { commonDir }: Repository,
  remote: string,
  setting: string,
): RemoteDefault | null {
  const folder = `refs/remotes/${remote}/`;
  const of = (branch: string, commit: string): RemoteDefault => ({
    name: `${remote}/${branch}`,
    branch,
    ref: folder + branch,
    commit,
  });
  if (isReftable(commonDir)) return of(setting || 'HEAD', '');
  const packed = readText(join(commonDir, 'packed-refs')).split('\n');
  const tip = (ref: string): string =>
    readText(join(commonDir, ref)).trim() ||
    (packed.find((line) => line.endsWith(` ${ref}`))?.split(' ')[0] ?? '');
  const head = readText(join(commonDir, folder, 'HEAD')).trim();
  const told = head.startsWith(`ref: ${folder}`) ? head.slice(`ref: ${folder}`.length) : '';
  const named = setting || told;
  const branches = named === '' ? ['main', 'master', 'trunk'] : [named];
  const branch = branches.find((candidate) => tip(folder + candidate) !== '');
  return branch === undefined ? null : of(branch, tip(folder + branch));
}

const isReftable = (commonDir: string): boolean => existsSync(join(commonDir, 'reftable'));

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
