import { type Git, must } from './client.js';
import type { Repository } from './repository.js';
import { isReftable, readBranch, remotesSeen } from './state.js';

export const ORIGIN = 'origin';

/**
 * The remote that this clone works with: `origin`, else the one that the branch checked out follows, else the one that
 * all branches follow, else the only one. Null without a remote, or with several equal ones.
 */
export async function findRemote(repository: Repository, git: Git): Promise<string | null> {
  const keys = String.raw`^(remote\..*\.url|branch\..*\.remote)$`;
  const { stdout } = await git(['config', '-z', '--get-regexp', keys]);
  const [names, tracked] = readRemotes(stdout);
  if (names.has(ORIGIN)) return ORIGIN;
  const branch = await readBranch(repository, git);
  const own = branch === null ? undefined : tracked.get(branch);
  const followed = new Set(own === undefined ? tracked.values() : [own]);
  return onlyOne([...followed].filter((name) => names.has(name))) ?? onlyOne([...names]);
}

const onlyOne = ([first, ...more]: string[]): string | null =>
  first === undefined || more.length > 0 ? null : first;

/** The remotes that have an address, and the remote of each branch that has one. */
function readRemotes(settings: string): [Set<string>, Map<string, string>] {
  const names = new Set<string>();
  const tracked = new Map<string, string>();
  for (const setting of settings.split('\0')) {
    const [, kind, name = '', value = ''] = /^(remote|branch)\.(.*)\.[a-z]+\n(.*)$/s.exec(setting) ?? [];
    if (kind === 'remote') names.add(name);
    else if (kind === 'branch') tracked.set(name, value);
  }
  return [names, tracked];
}

/** The same if only the remote's refs in this clone matter. Without refs, or with those of `origin`, git is not run. */
export async function knownRemote(repository: Repository, git: Git): Promise<string | null> {
  if (isReftable(repository.commonDir)) return (await findRemote(repository, git)) ?? ORIGIN;
  const seen = remotesSeen(repository);
  if (seen.includes(ORIGIN)) return ORIGIN;
  return seen.length === 0 ? null : findRemote(repository, git);
}

/** A ref that is about to be pushed, as git passes it to `pre-push`: `<local ref> <local id> <remote ref> <remote id>`. */
interface Pushed {
  ref: string;
  id: string;
  /** The commit on the other side; null if the ref does not exist there. */
  remoteId: string | null;
}

const isNothing = (id: string): boolean => /^0+$/.test(id);
const isId = (word: string): boolean => /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(word);

/** Parses stdin of `pre-push`. A ref that is deleted brings nothing new. */
export function parsePushed(text: string): Pushed[] {
  return text.split('\n').flatMap((line) => {
    const [ref = '', id = '', , remoteId = ''] = line.split(' ');
    if (!isId(id) || !isId(remoteId) || isNothing(id)) return [];
    return [{ ref, id, remoteId: isNothing(remoteId) ? null : remoteId }];
  });
}

/** Commits for git: the tips to push, and with `^` in front the last commits that are left out. */
interface NewCommits {
  range: string[];
  /** How many older commits the limit left out. */
  leftOut: number;
}

/** What no remote-tracking ref has of the commits to push: the newest ones, at most `limit`. */
export async function newCommits(git: Git, pushed: readonly Pushed[], limit: number): Promise<NewCommits> {
  const tips = pushed.map(({ id }) => id);
  const input = [...tips, ...pushed.flatMap(({ remoteId }) => (remoteId ? [`^${remoteId}`] : []))].join('\n');
  // This clone may lack commits of the other side.
  const known = ['--ignore-missing', '--stdin', '--not', '--remotes'];
  const list = async (...args: string[]): Promise<string[]> =>
    (await must(git, ['rev-list', ...args, ...known], { input: `${input}\n` })).split('\n').filter(Boolean);
  if (tips.length === 0) return { range: [], leftOut: 0 };
  const listed = await list('--boundary', `--max-count=${limit}`);
  const borders = listed.filter((line) => line.startsWith('-')).map((line) => `^${line.slice(1)}`);
  const count = listed.length - borders.length;
  const all = count < limit ? count : Number((await list('--count'))[0]);
  return { range: count > 0 ? [...tips, ...borders] : [], leftOut: all - count };
}
