import { plural } from '../core/text.js';
import type { Commit } from '../git/read.js';
import { type Context, readConfig } from '../project/project.js';
import { rulesHere } from './check.js';
import { breaksProtocol } from './check-rules.js';
import { readNoted, writeNoted } from './recent.js';

/**
 * B-50: commits since the last look that went past git's hooks (`--no-verify`), by the subjects that are at hand. Each is told of
 * once. `since`: where the last session began, for the first look.
 */
export function notePastHooks(context: Context, commits: readonly Commit[], since: string | null): void {
  const { disk, layout, warnings } = context;
  const [newest] = commits;
  if (!newest || readConfig(context).commit.enforce === 'off') return;
  const noted = readNoted(layout) ?? { head: since, at: '' };
  if (noted.head === newest.hash) return;
  if (!disk.dryRun) writeNoted(layout, { head: newest.hash, at: later(noted.at, newest.at) });
  const fresh = commitsAfter(commits, noted);
  const rules = fresh.length > 0 ? rulesHere(context) : null;
  const past = rules ? fresh.filter((commit) => breaksProtocol(commit, rules)) : [];
  const first = past.at(-1);
  if (!first) return;
  warnings.push(
    `${plural(past.length, 'commit')} since the last session ${past.length === 1 ? 'does' : 'do'} not follow the commit protocol (the first: ${first.short}); the hooks were not asked. More: forge commit check --range ${String(noted.head).slice(0, 12)}..${newest.short}`,
  );
}

const later = (a: string, b: string): string => (Date.parse(a) > Date.parse(b) ? a : b);

/** On top of what was looked at, and no older: a switch to another branch brings no news. */
function commitsAfter(
  commits: readonly Commit[],
  { head, at }: { head: string | null; at: string },
): Commit[] {
  const end = commits.findIndex(({ hash }) => hash === head);
  // The first look knows where the last session began, or nothing.
  if (at === '') return commits.slice(0, Math.max(end, 0));
  const fresh = end < 0 ? commits : commits.slice(0, end);
  return fresh.filter((commit) => Date.parse(commit.at) >= Date.parse(at));
}
