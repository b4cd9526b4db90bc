import { formatArgv } from '../core/argv.js';
import { outside, usage } from '../core/error.js';
import { readTarget } from '../core/files.js';
import { isBranchName, oneLine } from '../core/text.js';
import type { Git } from '../git/client.js';
import { commitAt, listCommits, mergeBase } from '../git/read.js';
import { findRemote, ORIGIN } from '../git/remote.js';
import { readBoundary } from '../git/repository.js';
import type { Context } from '../project/project.js';
import { ciFormat } from './report.js';

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
    throw incomplete(`all commits of ${chosen.shown}`, remote, true);
  if (ids !== null) return { ...chosen, ids: new Set(ids) };
  throw usage('ci.range', `${JSON.stringify(oneLine(chosen.shown, 80))} matches no commits here.`, {
    hint: 'A..B, as for git log',
  });
}

async function chooseRange(
  { world: { env }, warnings }: Context,
  git: Git,
  known: string | null,
  isShallow: boolean,
): Promise<Chosen | null> {
  const remote = known ?? ORIGIN;
  const head = await commitAt(git, 'HEAD');
  if (head === null) return null;
  const event = ciFormat(env) === 'github' ? readEvent(env.GITHUB_EVENT_PATH) : null;
  const since = (start: string, shown: string, from: string): Chosen => ({
    range: [head, `^${start}`],
    shown: `${shown}..HEAD`,
    from,
  });
  const named = namedStart(env, event, remote);
  const start = named && (await commitAt(git, named.rev));
  if (start) return since(start, named.shown, named.from);
  // A forced push may have replaced the commit of a push event. The base of a pull request always exists.
  if (named && (isShallow || !named.isPush))
    throw incomplete(`${named.shown}, which ${named.from} names`, remote, isShallow);
  let isAlone = true;
  for (const ref of defaultRefs(env, event, remote)) {
    const tip = await commitAt(git, ref);
    if (tip === null) continue;
    isAlone = false;
    const base = await mergeBase(git, head, tip);
    const name = ref.replace('refs/remotes/', '');
    if (base === null && isShallow) throw incomplete(`all commits of ${name}..HEAD`, remote, isShallow);
    if (base !== null && base !== head) return since(base, base.slice(0, 12), `where it left ${name}`);
    break;
  }
  const parent = await commitAt(git, 'HEAD^1');
  if (isAlone && parent !== null && known !== null)
    warnings.push(
      `Only the last commit was checked: this clone does not have the default branch. ${fetchAll(remote, isShallow)}`,
    );
  const from = 'the last commit';
  return parent === null ? { range: [head], shown: 'HEAD', from } : since(parent, 'HEAD^1', from);
}

/** Where a pipeline says that its commits begin. */
interface NamedStart {
  /** The variable. */
  from: string;
  /** A full ref or an id, so it cannot be an option of git. */
  rev: string;
  shown: string;
  /** The commit that a push replaced. */
  isPush: boolean;
}

/** Reads the variables that each system documents. Null if they name nothing, as for a new branch. */
export function namedStart(env: Env, event: unknown, remote: string): NamedStart | null {
  const system = ciFormat(env);
  if (system === 'plain') return null;
  const { GITHUB_BASE_REF: base } = env;
  if (system === 'github' && base) {
    const shown = `${remote}/${base}`;
    const from = 'GITHUB_BASE_REF';
    if (isBranchName(base)) return { from, rev: `refs/remotes/${shown}`, shown, isPush: false };
    throw invalid(from, 'branch');
  }
  const { CI_MERGE_REQUEST_DIFF_BASE_SHA, CI_COMMIT_BEFORE_SHA } = env;
  if (system === 'gitlab')
    return (
      idStart('CI_MERGE_REQUEST_DIFF_BASE_SHA', CI_MERGE_REQUEST_DIFF_BASE_SHA, false) ??
      idStart('CI_COMMIT_BEFORE_SHA', CI_COMMIT_BEFORE_SHA, true)
    );
  return (
    idStart('GITHUB_EVENT_PATH (base_sha)', fieldOf(event, 'merge_group', 'base_sha'), false) ??
    idStart('GITHUB_EVENT_PATH (before)', fieldOf(event, 'before'), true)
  );
}

function idStart(from: string, id: unknown, isPush: boolean): NamedStart | null {
  if (id === undefined || id === null || id === '') return null;
  if (typeof id !== 'string' || !/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(id)) throw invalid(from, 'commit');
  return /^0+$/.test(id) ? null : { from, rev: id, shown: id.slice(0, 12), isPush };
}

/** Does not show the value, which could be anything. */
const invalid = (from: string, what: string): Error =>
  usage('ci.variable', `${from} is not a valid ${what}.`, { hint: 'forge ci --range A..B' });

/** Refs of the remote's default branch, the most reliable first. */
export function defaultRefs(env: Env, event: unknown, remote: string): string[] {
  const named = [env.CI_DEFAULT_BRANCH, fieldOf(event, 'repository', 'default_branch')];
  const names = named.filter((name) => typeof name === 'string' && isBranchName(name));
  return ['HEAD', ...names, 'main', 'master'].map((name) => `refs/remotes/${remote}/${name}`);
}

const fieldOf = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (found, field) => (found as Record<string, unknown> | null | undefined)?.[field],
    value,
  );

/** True for a pull request by someone who cannot write to this repository. */
export function isFromFork(env: Env): boolean {
  if (ciFormat(env) === 'gitlab') {
    const { CI_MERGE_REQUEST_SOURCE_PROJECT_ID: source, CI_MERGE_REQUEST_PROJECT_ID: target } = env;
    return source !== undefined && target !== undefined && source !== target;
  }
  const event = ciFormat(env) === 'github' ? readEvent(env.GITHUB_EVENT_PATH) : null;
  const nameOf = (side: string): unknown => fieldOf(event, 'pull_request', side, 'repo', 'full_name');
  return nameOf('base') !== nameOf('head');
}

const MAX_EVENT_BYTES = 64 * 1024 * 1024;

/** GitHub's description of the event. An unreadable one is an error, because it may name a longer range. */
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

const incomplete = (what: string, remote: string, isShallow: boolean): Error =>
  outside('ci.shallow', `This clone does not have ${oneLine(what, 120)}.`, {
    hint: `${fetchAll(remote, isShallow)}   # GitHub: fetch-depth: 0; GitLab: GIT_DEPTH: "0"`,
  });

/** A clone of one branch fetches no other by itself. */
const fetchAll = (remote: string, isShallow: boolean): string =>
  `git fetch ${isShallow ? '--unshallow ' : ''}${formatArgv([remote])} '+refs/heads/*:refs/remotes/${remote}/*'`;
