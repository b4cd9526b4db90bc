import { usage } from '../core/error.js';
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
