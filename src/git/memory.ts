import { type Git, gitError, must } from './client.js';
import { knownRemote, ORIGIN } from './remote.js';
import type { Repository } from './repository.js';
import { readBranch } from './state.js';

const NO_COMMIT = /ambiguous argument 'HEAD'|bad revision 'HEAD'|does not have any commits/;

/** Null when this repository does not know `a` (any more). */
export async function isAncestor(git: Git, a: string, b: string): Promise<boolean | null> {
  const args = ['merge-base', '--is-ancestor', a, b];
  const { code, stderr } = await git(args);
  if (code === 0 || code === 1) return code === 0;
  if (/Not a valid (commit|object) name/.test(stderr) && stderr.includes(a)) return null;
  throw gitError(args, stderr);
}

async function listBranches(git: Git): Promise<string[]> {
  const list = await must(git, ['for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads']);
  return list.split('\n').filter(Boolean);
}

/** The first of HEAD's root commits by hash: all clones agree on it. Null on an unborn branch and in a shallow clone. */
export async function rootCommit(git: Git): Promise<string | null> {
  const args = ['rev-list', '--max-parents=0', 'HEAD', '--'];
  const [shallow, { code, stdout, stderr }] = await Promise.all([
    must(git, ['rev-parse', '--is-shallow-repository']),
    git(args),
  ]);
  if (shallow.trim() === 'true' || NO_COMMIT.test(stderr)) return null;
  if (code !== 0) throw gitError(args, stderr);
  return stdout.split('\n').filter(Boolean).sort()[0] ?? null;
}

/** The branch that the others are merged into, as far as this clone can know it. */
export async function defaultBranch(repository: Repository, git: Git): Promise<string | null> {
  const remote = (await knownRemote(repository, git)) ?? ORIGIN;
  const [head, setting, branches, current] = await Promise.all([
    git(['symbolic-ref', '-q', `refs/remotes/${remote}/HEAD`]),
    git(['config', '--get', 'init.defaultBranch']),
    listBranches(git),
    readBranch(repository, git),
  ]);
  const told = head.stdout.trim();
  const folder = `refs/remotes/${remote}/`;
  if (told.startsWith(folder)) return told.slice(folder.length);
  const known = [setting.stdout.trim(), 'main', 'master', 'trunk'].find((name) => branches.includes(name));
  return known ?? (branches.every((name) => name === current) ? current : null);
}
