import { formatArgv } from '../core/argv.js';
import { outside, usage } from '../core/error.js';
import { readTarget } from '../core/files.js';
import { isBranchName, oneLine } from '../core/text.js';
import type { Git } from '../git/client.js';
import { commitAt, listCommits, mergeBase } from '../git/read.js';
import { findRemote, ORIGIN } from '../git/remote.js';
import { readBoundary } from '../git/repository.js';
import { type Context, mainBranch } from '../project/project.js';

type Env = Record<string, string | undefined>;

/** The commits that a pipeline checks. */
export interface CiRange {
  /** For git: what the user typed, or ids, with `^` in front of those that are left out. */
  range: string | readonly string[];
  shown: string;
  /** The flag, variable or rule that chose the range. */
  from: string;
  ids: ReadonlySet<string>;
}

type Chosen = Omit<CiRange, 'ids'>;

/**
 * GIT-07: the flag, else the range of the CI's variables, else the commits since the default branch, else the last commit.
 * Null without a commit. Exit 6 in a shallow clone that lacks a part: missing commits would pass unchecked.
 */
export async function findRange(context: Context, typed: string | undefined): Promise<CiRange | null> {
  const { git, repository } = context;
  if (!git || !repository) {
    if (typed === undefined) return null;
    throw usage('ci.no_git', `${context.layout.root} is not in a git repository.`, { hint: 'forge ci' });
  }
  const boundary = readBoundary(repository);
  const known = await findRemote(repository, git);
  const remote = known ?? ORIGIN;
  const chosen =
    typed === undefined
      ? await chooseRange(context, git, known, boundary.size > 0)
      : { range: typed, shown: typed, from: '--range' };
  if (!chosen) return null;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no revision contains one, and git would cut there
  const ids = /^-|^$|[\u0000-\u001f]/.test(typed ?? 'HEAD') ? null : await listCommits(git, chosen.range);
  if (boundary.size > 0 && (ids === null || ids.some((id) => boundary.has(id))))
    throw incomplete(chosen.shown, remote, true);
  if (ids !== null) return { ...chosen, ids: new Set(ids) };
  throw usage('ci.range', `${JSON.stringify(oneLine(chosen.shown, 80))} matches no commits here.`, {
    hint: 'A..B, as for git log',
  });
}

async function chooseRange(
  context: Context,
  git: Git,
  known: string | null,
  isShallow: boolean,
): Promise<Chosen | null> {
  const remote = known ?? ORIGIN;
  const head = await commitAt(git, 'HEAD');
  if (head === null) return null;
  const since = (start: string, shown: string, from: string): Chosen => ({
    range: [head, `^${start}`],
    shown: `${shown}..HEAD`,
    from,
  });
  const named = namedStart(context.world.env, remote);
  const start = named && (await commitAt(git, named.rev));
  if (start) return since(start, named.shown, named.from);
  const branch = `${remote}/${await mainBranch(context)}`;
  const tip = await commitAt(git, `refs/remotes/${branch}`);
  const base = tip === null ? null : await mergeBase(git, head, tip);
  // A forced push may have replaced the commit of a push. The base of a pull request always exists.
  if (named?.isBase || (isShallow && (named || (tip !== null && base === null))))
    throw incomplete(`${named?.shown ?? branch}..HEAD`, remote, isShallow);
  if (base !== null && base !== head) return since(base, base.slice(0, 12), `where it left ${branch}`);
  const from = 'the last commit';
  const parent = await commitAt(git, 'HEAD^1');
  if (parent === null) return { range: [head], shown: 'HEAD', from };
  if (tip === null && known !== null)
    context.warnings.push(
      `Only the last commit was checked: this clone does not have the default branch. ${fetchAll(remote)}`,
    );
  return since(parent, 'HEAD^1', from);
}

/** Where a pipeline says that its commits begin. `rev` is a full ref or an id, so it cannot be an option of git. */
interface NamedStart {
  from: string;
  rev: string;
  shown: string;
  /** Of a pull request. */
  isBase: boolean;
}

/**
 * The first documented variable or field that names a branch or a commit. A push names the commit that it replaced: zeros
 * for a new branch, and no commit of this clone after a forced push.
 */
export function namedStart(env: Env, remote: string): NamedStart | null {
  const base = env.GITHUB_BASE_REF ?? '';
  if (isBranchName(base)) {
    const shown = `${remote}/${base}`;
    return { from: 'GITHUB_BASE_REF', rev: `refs/remotes/${shown}`, shown, isBase: true };
  }
  const event = readEvent(env);
  const ids: [from: string, id: unknown, isBase: boolean][] = [
    ['CI_MERGE_REQUEST_TARGET_BRANCH_SHA', env.CI_MERGE_REQUEST_TARGET_BRANCH_SHA, true],
    ['CI_MERGE_REQUEST_DIFF_BASE_SHA', env.CI_MERGE_REQUEST_DIFF_BASE_SHA, true],
    ['CI_COMMIT_BEFORE_SHA', env.CI_COMMIT_BEFORE_SHA, false],
    ['GITHUB_EVENT_PATH (before)', event.before, false],
  ];
  for (const [from, id, isBase] of ids)
    if (typeof id === 'string' && /^(?=.*[1-9a-f])(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(id))
      return { from, rev: id, shown: id.slice(0, 12), isBase };
  return null;
}

/** True for a pull request by someone who cannot write to this repository. */
export function isFromFork(env: Env): boolean {
  const { base, head } = readEvent(env).pull_request ?? {};
  return (
    base?.repo?.full_name !== head?.repo?.full_name ||
    env.CI_MERGE_REQUEST_SOURCE_PROJECT_ID !== env.CI_MERGE_REQUEST_PROJECT_ID
  );
}

/** The fields of GitHub's description of the event that forge reads. */
interface Event {
  before?: unknown;
  pull_request?: Partial<Record<'base' | 'head', { repo?: { full_name?: unknown } }>>;
}

const MAX_EVENT_BYTES = 64 * 1024 * 1024;

/** Empty outside of GitHub. */
function readEvent({ GITHUB_EVENT_PATH: path }: Env): Event {
  try {
    return JSON.parse(readTarget(path ?? '', MAX_EVENT_BYTES)?.toString('utf8') ?? '{}') ?? {};
  } catch {
    return {};
  }
}

/** A clone of one branch fetches no other by itself. */
const fetchAll = (remote: string, option = ''): string =>
  `git fetch ${option}${formatArgv([remote])} '+refs/heads/*:refs/remotes/${remote}/*'`;

const incomplete = (range: string, remote: string, isShallow: boolean): Error =>
  outside('ci.shallow', `This clone does not have all commits of ${oneLine(range, 120)}.`, {
    hint: `${fetchAll(remote, isShallow ? '--unshallow ' : '')}   # GitHub: fetch-depth: 0; GitLab: GIT_DEPTH: "0"`,
  });
