import { outside, usage } from '../core/error.js';
import { readTarget } from '../core/files.js';
import { oneLine, plural } from '../core/text.js';
import { commitAt, listCommits, mergeBase } from '../git/read.js';
import { knownRemote, ORIGIN } from '../git/remote.js';
import type { Repository } from '../git/repository.js';
import { readBoundary } from '../git/state.js';
import type { Context } from '../project/project.js';
import { ciFormat } from './rules.js';

type Env = Record<string, string | undefined>;

/** Where a pipeline says that its commits begin. All of it is data: a revision here can be no option of git's. */
export interface NamedStart {
  /** The variable. */
  from: string;
  /** A full ref, or an id. */
  rev: string;
  shown: string;
  /** What a push replaced: after a forced one no clone may have it any more. */
  isPushed: boolean;
}

/** By the variables that each system documents; null where it names nothing, as for a new branch. */
export function namedStart(env: Env, event: unknown, remote: string): NamedStart | null {
  switch (ciFormat(env)) {
    case 'github':
      if (env.GITHUB_BASE_REF) return branchStart('GITHUB_BASE_REF', env.GITHUB_BASE_REF, remote);
      return (
        // Of a merge queue: one pull request or several, on what the branch will be by then.
        idStart('GITHUB_EVENT_PATH (base_sha)', fieldOf(fieldOf(event, 'merge_group'), 'base_sha'), false) ??
        idStart('GITHUB_EVENT_PATH (before)', fieldOf(event, 'before'), true)
      );
    case 'gitlab':
      return (
        idStart('CI_MERGE_REQUEST_DIFF_BASE_SHA', env.CI_MERGE_REQUEST_DIFF_BASE_SHA, false) ??
        idStart('CI_COMMIT_BEFORE_SHA', env.CI_COMMIT_BEFORE_SHA, true)
      );
    default:
      return null;
  }
}

/** Refs of the remote's default branch, the likeliest first. */
export function defaultRefs(env: Env, event: unknown, remote: string): string[] {
  const named = [env.CI_DEFAULT_BRANCH, fieldOf(fieldOf(event, 'repository'), 'default_branch')];
  const names = [...named, 'main', 'master'].filter(isBranch);
  return ['HEAD', ...names].map((name) => `refs/remotes/${remote}/${name}`);
}

const fieldOf = (value: unknown, field: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[field] : undefined;

function branchStart(from: string, name: string, remote: string): NamedStart {
  if (!isBranch(name)) throw noStart(from, 'branch');
  return { from, rev: `refs/remotes/${remote}/${name}`, shown: `${remote}/${name}`, isPushed: false };
}

function idStart(from: string, id: unknown, isPushed: boolean): NamedStart | null {
  if (id === undefined || id === null || id === '') return null;
  if (typeof id !== 'string' || !/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(id)) throw noStart(from, 'commit');
  return /^0+$/.test(id) ? null : { from, rev: id, shown: id.slice(0, 12), isPushed };
}

/** What stands there may be anybody's, so it is not shown. */
const noStart = (from: string, what: string): Error =>
  usage('ci.variable', `${from} holds no ${what}.`, { hint: 'forge ci --range A..B' });

/** Git's rules for names (git check-ref-format), but for a part that ends in `.lock`, which no ref has either way. */
function isBranch(name: unknown): name is string {
  if (typeof name !== 'string' || name.length > 250) return false;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no ref has one
  return !/[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|^[-./]|\/\.|[./]$|^@$/.test(name) && name !== '';
}

/** Whether this is a pull request of somebody who cannot write to this repository. */
export function isFromFork(env: Env): boolean {
  if (ciFormat(env) === 'gitlab') {
    const { CI_MERGE_REQUEST_SOURCE_PROJECT_ID: source, CI_MERGE_REQUEST_PROJECT_ID: target } = env;
    return source !== undefined && target !== undefined && source !== target;
  }
  if (ciFormat(env) !== 'github') return false;
  try {
    const request = fieldOf(readEvent(env.GITHUB_EVENT_PATH), 'pull_request');
    const nameAt = (side: string): unknown => fieldOf(fieldOf(fieldOf(request, side), 'repo'), 'full_name');
    return nameAt('base') !== nameAt('head');
  } catch {
    return false;
  }
}

/** The commits that a pipeline is about. */
export interface CiRange {
  /** For git: what somebody typed, or ids, those left out with `^` in front. */
  range: string | readonly string[];
  shown: string;
  /** What said so. */
  from: string;
  ids: ReadonlySet<string>;
}

type Chosen = Omit<CiRange, 'ids'>;
type Git = NonNullable<Context['git']>;

/**
 * GIT-07: the flag, else what the CI's variables say, else all since the remote's default branch, else the last commit. Null
 * where there is no commit. A range of which this clone has only a part is none: what it lacks would pass unseen, and the
 * commit at the edge would count as having added the whole project. Exit 6 then.
 */
export async function findRange(context: Context, typed: string | undefined): Promise<CiRange | null> {
  const { git, repository, world } = context;
  if (!git || !repository) {
    if (typed === undefined) return null;
    throw usage('ci.no_git', `${context.layout.root} is not in a git repository.`, { hint: 'forge ci' });
  }
  const boundary = readBoundary(repository);
  const chosen =
    typed === undefined ? await choose({ git, repository }, world.env, boundary.size > 0) : typedRange(typed);
  if (!chosen) return null;
  const ids = await listCommits(git, chosen.range);
  if (boundary.size > 0 && (ids === null || ids.some((id) => boundary.has(id))))
    throw tooShallow(chosen.shown);
  if (ids === null) throw noRange(chosen.shown);
  return { ...chosen, ids: new Set(ids) };
}

function typedRange(typed: string): Chosen {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no revision has one, and git would cut there
  if (!/^[^-\u0000-\u001f][^\u0000-\u001f]{0,999}$/.test(typed)) throw noRange(typed);
  return { range: typed, shown: typed, from: '--range' };
}

const noRange = (range: string): Error =>
  usage('ci.range', `${JSON.stringify(oneLine(range, 80))} matches no commits here.`, {
    hint: 'A..B, as for git log',
  });

async function choose(
  { git, repository }: { git: Git; repository: Repository },
  env: NodeJS.ProcessEnv,
  isShallow: boolean,
): Promise<Chosen | null> {
  const head = await commitAt(git, 'HEAD');
  if (head === null) return null;
  const event = ciFormat(env) === 'github' ? readEvent(env.GITHUB_EVENT_PATH) : null;
  const remote = (await knownRemote(repository, git)) ?? ORIGIN;
  const named = namedStart(env, event, remote);
  const start = named && (await commitAt(git, named.rev));
  if (named && start !== null) return since(head, start as string, named.shown, named.from);
  if (named && isShallow) throw tooShallow(`${named.shown}..HEAD`);
  if (named && !named.isPushed) throw notHere(named, remote);
  const fork = await forkPoint(git, head, defaultRefs(env, event, remote), isShallow);
  if (fork) return fork;
  // On the default branch itself nothing else says what a forced push replaced.
  if (named) throw notHere(named, remote);
  const parent = await commitAt(git, 'HEAD^1');
  return parent === null
    ? { range: [head], shown: 'HEAD', from: 'the last commit' }
    : since(head, parent, 'HEAD^1', 'the last commit');
}

const since = (head: string, start: string, shown: string, from: string): Chosen => ({
  range: [head, `^${start}`],
  shown: `${shown}..HEAD`,
  from,
});

/** Where this branch left the default one; null on that one itself. */
async function forkPoint(
  git: Git,
  head: string,
  refs: readonly string[],
  isShallow: boolean,
): Promise<Chosen | null> {
  for (const ref of refs) {
    const tip = await commitAt(git, ref);
    if (tip === null) continue;
    const name = ref.replace('refs/remotes/', '');
    const base = await mergeBase(git, head, tip);
    if (base === null && isShallow) throw tooShallow(`${name}..HEAD`);
    return base === null || base === head
      ? null
      : since(head, base, base.slice(0, 12), `where it left ${name}`);
  }
  return null;
}

const MAX_EVENT_BYTES = 64 * 1024 * 1024;

/** What GitHub says of the event. Not read is not the same as naming nothing: less would be looked at. */
function readEvent(path: string | undefined): unknown {
  if (!path) return null;
  try {
    return JSON.parse((readTarget(path, MAX_EVENT_BYTES) ?? Buffer.alloc(0)).toString('utf8'));
  } catch (cause) {
    throw outside('ci.event', 'GITHUB_EVENT_PATH does not name a readable JSON file.', {
      hint: 'forge ci --range A..B',
      cause,
    });
  }
}

const tooShallow = (range: string): Error =>
  outside('ci.shallow', `This clone is shallow, and has not all commits of ${oneLine(range, 80)}.`, {
    hint: 'git fetch --unshallow   # GitHub: fetch-depth: 0; GitLab: GIT_DEPTH: "0"',
  });

/** What a forced push replaced no ref leads to any more; by its id the big servers still give it. */
const notHere = ({ from, rev, shown, isPushed }: NamedStart, remote: string): Error =>
  outside('ci.start', `${from} names ${oneLine(shown, 80)}, which this clone does not have.`, {
    hint: `git fetch ${remote}${isPushed ? ` ${rev}` : ''}\nforge ci --range A..B`,
  });

/** `12 commits in origin/main..HEAD (GITHUB_BASE_REF)`. */
export const describeRange = ({ shown, from, ids }: CiRange): string =>
  `${plural(ids.size, 'commit')} in ${shown} (${from})`;
