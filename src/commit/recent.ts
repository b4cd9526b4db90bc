import { readHint, writeHint } from '../core/cache.js';
import { commitsFile, type Layout, notedFile } from '../core/paths.js';
import { type Commit, readLog } from '../git/read.js';
import { readTip } from '../git/state.js';
import type { Context } from '../project/project.js';

interface Known {
  /** The commit that was HEAD then. */
  tip: string;
  /** How many were asked for. */
  count: number;
  commits: Commit[];
}

/**
 * The last commits of HEAD, newest first. What a commit follows never changes, so git is asked once for each HEAD:
 * starting it would take a third of what a briefing takes.
 */
export async function recentCommits({ git, repository, layout }: Context, count: number): Promise<Commit[]> {
  if (!git || !repository) return [];
  const tip = readTip(repository);
  const known = tip === null ? null : readHint<Known>(commitsFile(layout));
  if (known?.tip === tip && isSound(known) && known.count >= count)
    return known.commits.slice(0, Math.max(count, 1));
  return readLog(git, count);
}

/** Subjects of the commits that forge makes by itself; a repository's subject may have an id before it. */
const OWN =
  /^(?:\[[^\]]*\] )?(?:Session end: |Checkpoint \S+$|Memory at a checkpoint$|Roll back to |Undo the rollback)/;

/** Commits of people and agents: what forge commits by itself says nothing about the work. */
export const withoutOwn = (commits: readonly Commit[]): Commit[] =>
  commits.filter(({ subject }) => !OWN.test(subject));

/** So many are read to show `count` that are not forge's. */
export const lookBack = (count: number): number => count * 3;

/** For the next one that asks. Who only reads leaves nothing behind, so this is for who writes anyway. */
export function rememberCommits(
  { repository, layout, disk }: Context,
  count: number,
  commits: Commit[],
): void {
  const tip = repository && readTip(repository);
  if (!tip || commits[0]?.hash !== tip || disk.dryRun) return;
  const known = readHint<Known>(commitsFile(layout));
  if (known?.tip !== tip || !isSound(known) || known.count < count)
    writeHint(commitsFile(layout), { tip, count, commits });
}

/** Two that wrote it at once may have left something of both. */
const isSound = ({ tip, count, commits }: Known): boolean =>
  typeof count === 'number' &&
  Array.isArray(commits) &&
  commits[0]?.hash === tip &&
  commits.every(
    ({ hash, short, at, author, subject, parents }) =>
      typeof parents === 'number' &&
      [hash, short, at, author, subject].every((field) => typeof field === 'string'),
  );

/** The newest commit whose message a session start has looked at. */
export interface Noted {
  head: string;
  /** The latest time of any such, as git has it. */
  at: string;
}

export const readNoted = (layout: Layout): Noted | null => readHint<Noted>(notedFile(layout));
export const writeNoted = (layout: Layout, noted: Noted): void => writeHint(notedFile(layout), noted);
