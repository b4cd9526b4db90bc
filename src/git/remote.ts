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

/** The same where only the remote's refs in this clone matter: without any, and with those of `origin`, git is not asked. */
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

/** Whose commits count as known: those of every remote, or of the one with that name. */
const knownTo = (remote: string | null): string[] => {
  if (remote === null) return ['--remotes'];
  // A remote that is only an address has no refs here.
  return /^[\w./-]+$/.test(remote) && !remote.startsWith('-') ? [`--remotes=${remote}`] : [];
};

/**
 * The commits that a remote (null: every one) lacks, as ids for git: the tips to push, and with `^` in front the last
 * commits that it has. Empty when it has them all.
 */
export async function newCommits(
  git: Git,
  remote: string | null,
  pushed: readonly Pushed[],
): Promise<string[]> {
  const tips = pushed.map(({ id }) => id);
  if (tips.length === 0) return [];
  const input = [...tips, ...pushed.flatMap(({ remoteId }) => (remoteId ? [`^${remoteId}`] : []))];
  // This clone may lack commits of the other side.
  const args = ['rev-list', '--boundary', '--ignore-missing', '--stdin', '--not', ...knownTo(remote)];
  const listed = (await must(git, args, { input: `${input.join('\n')}\n` })).split('\n').filter(Boolean);
  const borders = listed.filter((line) => line.startsWith('-')).map((line) => `^${line.slice(1)}`);
  return listed.some((line) => !line.startsWith('-')) ? [...tips, ...borders] : [];
}

/** The commits whose first parent already had that file. */
export async function madeBeside(git: Git, commits: readonly string[], file: string): Promise<Set<string>> {
  if (commits.length === 0) return new Set();
  const input = commits.map((id) => `${id}^1:${file}\n`).join('');
  const answers = (await must(git, ['cat-file', '--batch-check'], { input })).split('\n');
  return new Set(commits.filter((_, i) => !answers[i]?.endsWith(' missing')));
}
