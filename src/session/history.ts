import { recentCommits } from '../commit/recent.js';
import type { Commit } from '../git/read.js';
import type { Context } from '../project/project.js';
import { maskSubjects } from './briefing.js';

const DEFAULT_COUNT = 200;

/** The last commits of HEAD, newest first, without secrets in their subjects. */
export async function readHistory(
  context: Context,
  { limit = DEFAULT_COUNT }: { limit?: number } = {},
): Promise<{ commits: Commit[] }> {
  return { commits: await maskSubjects(await recentCommits(context, limit)) };
}
