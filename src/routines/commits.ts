import { type Commit, readLog, readTip } from '../adapters/git-read.js';
import { readHint, writeHint } from '../store/hint.js';
import { commitsFile } from '../store/layout.js';
import type { Context } from './context.js';

interface Known {
  /** The commit that was HEAD then. */
  tip: string;
  /** How many were asked for. */
  count: number;
  commits: Commit[];
}

/** Room for a hundred commits with long subjects. */
const LENGTH = 32 * 1024;

/**
 * The last commits of HEAD, newest first. What a commit follows never changes, so git is asked once for each HEAD:
 * starting it would take a third of what a briefing takes. `remember`: who only reads leaves nothing behind.
 */
export async function recentCommits(context: Context, count: number, remember: boolean): Promise<Commit[]> {
  const { git, repository, layout, disk } = context;
  if (!git || !repository) return [];
  const tip = readTip(repository);
  const known = tip === null ? null : readHint<Known>(commitsFile(layout));
  if (known && known.tip === tip && known.count >= count && isSound(known))
    return known.commits.slice(0, Math.max(count, 1));
  const commits = await readLog(git, count);
  if (tip !== null && commits[0]?.hash === tip && remember && !disk.dryRun)
    writeHint(commitsFile(layout), { tip, count, commits }, LENGTH);
  return commits;
}

/** Two that wrote it at once may have left something of both. */
const isSound = ({ tip, commits }: Known): boolean =>
  Array.isArray(commits) &&
  commits[0]?.hash === tip &&
  commits.every(({ hash, short, at, author, subject }) =>
    [hash, short, at, author, subject].every((field) => typeof field === 'string'),
  );
