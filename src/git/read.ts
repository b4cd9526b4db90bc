import { type Git, gitError, isNoRange, lines, must, PORCELAIN, records, words } from './client.js';

export interface Commit {
  hash: string;
  short: string;
  at: string;
  author: string;
  subject: string;
  parents: number;
}

export interface LoggedCommit extends Commit {
  message: string;
  /** The message below the subject. */
  body: string;
}

const FIELDS = ['H', 'h', 'cI', 'an', 's', 'P', 'B', 'b'];

/** The last commits of HEAD (or of a range), newest first; none on an unborn branch. One git call. */
export async function readLog(
  git: Git,
  count: number,
  range: string | readonly string[] = 'HEAD',
): Promise<LoggedCommit[]> {
  const format = FIELDS.map((field) => `%${field}%x00`).join('');
  // With a count of 0 the branch would not be checked.
  const form = [`-${Math.max(count, 1)}`, '--encoding=UTF-8', `--format=${format}`];
  const args = ['log', ...form, ...[range].flat(), '--'];
  const { code, stdout, stderr } = await git(args);
  if (code === 0) return records(stdout, FIELDS.length).map(parseCommit);
  if (/unknown revision|bad revision|Invalid revision range|does not have any commits/.test(stderr))
    return [];
  throw gitError(args, stderr);
}

function parseCommit(fields: readonly string[]): LoggedCommit {
  const [hash = '', short = '', at = '', author = '', subject = '', ids = '', message = '', body = ''] =
    fields;
  const parents = ids.split(' ').filter(Boolean).length;
  return { hash, short, at, author, subject, parents, message: `${message.trimEnd()}\n`, body: body.trim() };
}

/** One commit. Null on an unborn branch. `rev` comes from forge itself, such as `HEAD^1`. */
export const readCommit = async (git: Git, rev = 'HEAD'): Promise<LoggedCommit | null> =>
  (await readLog(git, 1, rev))[0] ?? null;

/** How git's reflog names a move of HEAD to commits that were there already. */
const BRINGS = /^\w+ (?:checkout|reset|(?:pull|merge)\b.*: Fast-forward$|[^:]*\((?:start|finish|abort)\))/;

/** The commits made in this worktree since HEAD was last at `from`. A pull, a switch or a merge brings those of others. */
export async function madeSince(git: Git, from: string): Promise<Set<string>> {
  const { stdout } = await git(['log', '--walk-reflogs', '-500', '--format=%H %gs', 'HEAD', '--']);
  const moves = lines(stdout);
  const known = moves.findIndex((move) => move.startsWith(from));
  const since = moves.slice(0, known < 0 ? undefined : known).filter((move) => !BRINGS.test(move));
  return new Set(since.map((move) => move.slice(0, from.length)));
}

/** The name of the person who commits here; null while git has none. */
export const readPerson = async (git: Git): Promise<string | null> =>
  /^(.+) <[^<]*$/.exec((await git(['var', 'GIT_AUTHOR_IDENT'])).stdout.trim())?.[1] ?? null;

/** Who added each file below a folder since an ISO time, by its path from the top. `isWanted` chooses commits by subject. */
export async function newFileAuthors(
  git: Git,
  [folder, since]: [folder: string, since: string],
  isWanted: (subject: string) => boolean,
): Promise<Map<string, string>> {
  const form = ['log', `--since=${since}`, '--diff-filter=A', '--name-only', '--encoding=UTF-8'];
  const { stdout } = await git([...form, '--format=%x01%an%x00%s', '--', folder]);
  const commits = stdout.split('\u0001').slice(1).map(lines);
  const added = commits.flatMap(([title = '', ...paths]) => {
    const [author = '', subject = ''] = title.split('\0');
    return isWanted(subject) ? paths.map((path) => [path, author] as const) : [];
  });
  return new Map(added);
}

/** Commits that touched a path, newest first. */
export async function commitsTouching(git: Git, path: string, count: number): Promise<string[]> {
  const { code, stdout } = await git(['log', `-${count}`, '--format=%H', '--', path]);
  return code === 0 ? lines(stdout) : [];
}

/** The commit of a revision; null if this clone does not have it. The caller rejects options first. */
export async function commitAt(git: Git, rev: string): Promise<string | null> {
  const { code, stdout } = await git(['rev-parse', '-q', '--verify', `${rev}^{commit}`]);
  return code === 0 ? stdout.trim() : null;
}

/** The last commit that both have; null without one. */
export async function mergeBase(git: Git, a: string, b: string): Promise<string | null> {
  const { code, stdout } = await git(['merge-base', a, b], PORCELAIN);
  return code === 0 ? (stdout.trim().split('\n')[0] ?? null) : null;
}

/** The ids of a range's commits. Null if git does not know the range. */
export async function listCommits(git: Git, range: string | readonly string[]): Promise<string[] | null> {
  const args = ['rev-list', '--end-of-options', ...[range].flat(), '--'];
  const { code, stdout, stderr } = await git(args, PORCELAIN);
  if (code === 0) return lines(stdout);
  if (isNoRange(stderr)) return null;
  throw gitError(args, stderr);
}

/** Commits that only HEAD has, and that only the other one has. */
export interface Distance {
  ahead: number;
  behind: number;
}

/** Null if one of them is not a commit. */
export async function readDistance(git: Git, ref: string): Promise<Distance | null> {
  const args = ['rev-list', '--left-right', '--count', `HEAD...${ref}`, '--'];
  const { code, stdout, stderr } = await git(args);
  if (code !== 0 && isNoRange(stderr)) return null;
  if (code !== 0) throw gitError(args, stderr);
  const [ahead = 0, behind = 0] = stdout.trim().split('\t').map(Number);
  return { ahead, behind };
}

/** The bytes of a blob, by its id or as `COMMIT:PATH`; null when it is not there. */
export async function readBlob(git: Git, name: string): Promise<Buffer | null> {
  const { code, stdout } = await git(['cat-file', 'blob', name], { encoding: 'latin1' });
  return code === 0 ? Buffer.from(stdout, 'latin1') : null;
}

/** Null when this repository does not know `a` (any more). */
export async function isAncestor(git: Git, a: string, b: string): Promise<boolean | null> {
  const args = ['merge-base', '--is-ancestor', a, b];
  const { code, stderr } = await git(args);
  if (code === 0 || code === 1) return code === 0;
  if (/Not a valid (commit|object) name/.test(stderr) && stderr.includes(a)) return null;
  throw gitError(args, stderr);
}

/** The first of HEAD's root commits by hash: all clones agree on it. Null on an unborn branch and in a shallow clone. */
export async function rootCommit(git: Git): Promise<string | null> {
  const args = ['rev-list', '--max-parents=0', 'HEAD', '--'];
  const [shallow, { code, stdout, stderr }] = await Promise.all([
    must(git, ['rev-parse', '--is-shallow-repository']),
    git(args),
  ]);
  if (shallow.trim() === 'true' || /bad revision 'HEAD'/.test(stderr)) return null;
  if (code !== 0) throw gitError(args, stderr);
  return lines(stdout).sort()[0] ?? null;
}

/** Pathspecs of everything but one folder, for any folder name. They need `--no-literal-pathspecs`. */
export const outsideOf = (folder: string): string[] => ['--', ':(top)', `:(top,exclude,literal)${folder}`];

/** Whether two commits have the same files outside a folder. False if one of them is not here. */
export async function isSameOutside(git: Git, a: string, b: string, folder: string): Promise<boolean> {
  const form = ['diff-tree', '-r', '--quiet', '--no-renames', '--end-of-options', a, b];
  return (await git(['--no-literal-pathspecs', ...form, ...outsideOf(folder)])).code === 0;
}

/** An older squash than this many commits is not found. */
const SEARCHED = 500;

/** Whether HEAD's history has a commit or, since they forked, one with the same files outside a folder (a squash, an amend). */
export async function leadsTo(git: Git, commit: string, folder: string): Promise<boolean> {
  const base = await mergeBase(git, commit, 'HEAD');
  if (base === null || base === commit) return base !== null;
  const log = ['log', `--max-count=${SEARCHED}`, '--format=%T', `${base}..HEAD`, '--'];
  const tree = (await must(git, ['rev-parse', `${commit}^{tree}`])).trim();
  const trees = lines(await must(git, log));
  const input = trees.map((candidate) => `${tree} ${candidate}\n`).join('');
  const form = ['diff-tree', '--stdin', '--raw', '--no-renames', '-r'];
  const found = lines(await must(git, ['--no-literal-pathspecs', ...form, ...outsideOf(folder)], { input }));
  // Each pair of trees is followed by its differences, which begin with a colon.
  return found.some((line, i) => !line.startsWith(':') && found[i + 1]?.startsWith(':') !== true);
}

/** The files of a commit in a folder that contain a text, by their paths from the top. */
export async function filesWith(git: Git, commit: string, folder: string, text: string): Promise<string[]> {
  const args = ['grep', '-lz', '--no-color', '--fixed-strings', '--full-name', '-e', text, commit, '--'];
  const { stdout } = await git(['--no-literal-pathspecs', ...args, `:(top,literal)${folder}`]);
  return words(stdout).map((name) => name.slice(commit.length + 1));
}
