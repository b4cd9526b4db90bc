import { type Git, lines, must } from './client.js';
import { type Repository, readBranch } from './repository.js';

export const ORIGIN = 'origin';

/** The remote that this clone works with: `origin`, else the only one, else that of the branch checked out. Null otherwise. */
export async function findRemote(repository: Repository, git: Git): Promise<string | null> {
  const names = lines(await must(git, ['remote']));
  if (names.includes(ORIGIN)) return ORIGIN;
  if (names.length < 2) return names[0] ?? null;
  const { stdout } = await git(['config', `branch.${await readBranch(repository, git)}.remote`]);
  return names.find((name) => name === stdout.trim()) ?? null;
}

/** A ref that is about to be pushed, as git passes it to `pre-push`: `<local ref> <local id> <remote ref> <remote id>`. */
interface Pushed {
  id: string;
  /** `refs/heads/main` on the other side. */
  ref: string;
  /** The commit on the other side; null if the ref does not exist there. */
  remoteId: string | null;
}

const isNothing = (id: string): boolean => /^0+$/.test(id);
const isId = (word: string): boolean => /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(word);

/** Parses stdin of `pre-push`. A ref that is deleted brings nothing new. */
export function parsePushed(text: string): Pushed[] {
  return text.split('\n').flatMap((line) => {
    const [, id = '', ref = '', remoteId = ''] = line.split(' ');
    if (!isId(id) || !isId(remoteId) || isNothing(id)) return [];
    return [{ id, ref, remoteId: isNothing(remoteId) ? null : remoteId }];
  });
}

/** Commits for git: the tips to push, and with `^` in front the last commits that are left out. */
interface NewCommits {
  range: string[];
  leftOut: number;
}

/** What no remote-tracking ref has of the commits to push: the newest ones, at most `limit`. */
export async function newCommits(git: Git, pushed: readonly Pushed[], limit: number): Promise<NewCommits> {
  const tips = pushed.map(({ id }) => id);
  const input = [...tips, ...pushed.flatMap(({ remoteId }) => (remoteId ? [`^${remoteId}`] : []))].join('\n');
  // This clone may lack commits of the other side.
  const known = ['--ignore-missing', '--stdin', '--not', '--remotes'];
  const list = async (...args: string[]): Promise<string[]> =>
    lines(await must(git, ['rev-list', ...args, ...known], { input: `${input}\n` }));
  if (tips.length === 0) return { range: [], leftOut: 0 };
  const listed = await list('--boundary', `--max-count=${limit}`);
  const borders = listed.filter((line) => line.startsWith('-')).map((line) => `^${line.slice(1)}`);
  const count = listed.length - borders.length;
  const all = count < limit ? count : Number((await list('--count'))[0]);
  return { range: count > 0 ? [...tips, ...borders] : [], leftOut: all - count };
}

/** The branch that the others are merged into, as far as this clone can know it. */
export async function defaultBranch(repository: Repository, git: Git, remote?: string | null) {
  const name = remote === undefined ? await findRemote(repository, git) : remote;
  const folder = `refs/remotes/${name ?? ORIGIN}/`;
  const [list, setting, current] = await Promise.all([
    must(git, ['for-each-ref', '--format=%(refname)%00%(symref)', 'refs/heads', folder]),
    git(['config', '--get', 'init.defaultBranch']),
    readBranch(repository, git),
  ]);
  const refs = new Map(list.split('\n').map((line) => line.split('\0') as [string, string]));
  const head = refs.get(`${folder}HEAD`);
  if (head) return head.slice(folder.length);
  const known = [setting.stdout.trim(), 'main', 'master', 'trunk'].find(
    (name) => refs.has(`refs/heads/${name}`) || refs.has(folder + name),
  );
  const local = [...refs.keys()].filter((ref) => ref.startsWith('refs/heads/'));
  return known ?? (local.every((ref) => ref === `refs/heads/${current}`) ? current : null);
}
