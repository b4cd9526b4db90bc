import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Git, gitError, isNoRange } from './git.js';
import type { Repository } from './repository.js';

/** The id of the commit that a revision leads to; null where this clone has none. The caller knows that it is no option. */
export async function commitAt(git: Git, rev: string): Promise<string | null> {
  const { code, stdout } = await git(['rev-parse', '-q', '--verify', `${rev}^{commit}`]);
  return code === 0 ? stdout.trim() : null;
}

/** The last commit that both have; null without one. */
export async function mergeBase(git: Git, a: string, b: string): Promise<string | null> {
  const { code, stdout } = await git(['merge-base', a, b]);
  return code === 0 ? (stdout.trim().split('\n')[0] ?? null) : null;
}

/** The ids of a range's commits; null where git knows no such range. */
export async function listCommits(git: Git, range: string | readonly string[]): Promise<string[] | null> {
  const args = ['rev-list', '--end-of-options', ...[range].flat(), '--'];
  const { code, stdout, stderr } = await git(args);
  if (code === 0) return stdout.split('\n').filter(Boolean);
  if (isNoRange(stderr)) return null;
  throw gitError(args, stderr);
}

/** The commits at which the history of a shallow clone ends; none in a whole one. */
export function readBoundary({ commonDir }: Repository): Set<string> {
  const file = join(commonDir, 'shallow');
  return new Set(existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []);
}
