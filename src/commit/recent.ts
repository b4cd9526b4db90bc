import { readHint, writeHint } from '../core/cache.js';
import { type Layout, notedFile } from '../core/paths.js';
import { type Commit, readLog } from '../git/read.js';
import type { Context } from '../project/project.js';

/** The last commits of HEAD, newest first. */
export const recentCommits = async ({ git }: Context, count: number): Promise<Commit[]> =>
  git ? readLog(git, count) : [];

/** Subjects of the commits that forge makes by itself; a repository's subject may have an id before it. */
const OWN =
  /^(?:\[[^\]]*\] )?(?:Session end: |Checkpoint \S+$|Memory at a checkpoint$|Roll back to |Undo the rollback)/;

/** Commits of people and agents: what forge commits by itself says nothing about the work. */
export const withoutOwn = (commits: readonly Commit[]): Commit[] =>
  commits.filter(({ subject }) => !OWN.test(subject));

/** So many are read to show `count` that are not forge's. */
export const lookBack = (count: number): number => count * 3;

/** HEAD at the last session start that looked for commits past the hooks. */
export const readNoted = (layout: Layout): string | null =>
  readHint<{ head?: string }>(notedFile(layout))?.head ?? null;
export const writeNoted = (layout: Layout, head: string): void => writeHint(notedFile(layout), { head });
