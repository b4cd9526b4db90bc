import { type Git, must } from './client.js';
import { type Repository, readBranch } from './repository.js';

export const ORIGIN = 'origin';

/** The remote that this clone works with: `origin`, else the one of the current branch, else the only one. Null otherwise. */
export async function findRemote(repository: Repository, git: Git): Promise<string | null> {
  const names = (await must(git, ['remote'])).split('\n').filter(Boolean);
  if (names.length < 2 || names.includes(ORIGIN)) return names.includes(ORIGIN) ? ORIGIN : (names[0] ?? null);
  const branch = await readBranch(repository, git);
  const own = (await git(['config', '--get', `branch.${branch}.remote`])).stdout.trim();
  return names.includes(own) ? own : null;
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

/** The remote's default branch. */
interface RemoteDefault {
  /** `origin/main` */
  name: string;
  /** `main` */
  branch: string;
  ref: string;
}

/** The default branch as this clone knows it, or from `setting` unless that is ''; null if neither has one. */
export async function readRemoteDefault(
  git: Git,
  remote: string,
  setting: string,
): Promise<RemoteDefault | null> {
  const folder = `refs/remotes/${remote}/`;
  const usual = ['main', 'master', 'trunk'];
  const refs = [setting || 'HEAD', ...usual].map((name) => folder + name);
  const lines = await must(git, ['for-each-ref', '--format=%(refname)%00%(symref)', ...refs]);
  const known = new Map(lines.split('\n').map((line) => line.split('\0') as [string, string]));
  const head = known.get(`${folder}HEAD`)?.slice(folder.length);
  const branch = [setting || head, ...(setting || head ? [] : usual)].find(
    (name) => name && (name === head || known.has(folder + name)),
  );
  return branch ? { name: `${remote}/${branch}`, branch, ref: folder + branch } : null;
}

/** The branch that the others are merged into, as far as this clone can know it. */
export async function defaultBranch(repository: Repository, git: Git): Promise<string | null> {
  const remote = (await findRemote(repository, git)) ?? ORIGIN;
  const format = ['for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads'];
  const [head, setting, list, current] = await Promise.all([
    git(['symbolic-ref', '-q', `refs/remotes/${remote}/HEAD`]),
    git(['config', '--get', 'init.defaultBranch']),
    must(git, format),
    readBranch(repository, git),
  ]);
  const folder = `refs/remotes/${remote}/`;
  if (head.stdout.startsWith(folder)) return head.stdout.trim().slice(folder.length);
  const branches = list.split('\n').filter(Boolean);
  const known = [setting.stdout.trim(), 'main', 'master', 'trunk'].find((name) => branches.includes(name));
  return known ?? (branches.every((name) => name === current) ? current : null);
}
