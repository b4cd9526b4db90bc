import { join } from 'node:path';
import { plural } from '../core/text.js';
import type { Commit } from '../git/read.js';
import { readText } from '../git/state.js';
import { type Context, readConfig } from '../project/project.js';
import { rulesHere } from './check.js';
import { breaksProtocol } from './check-message.js';
import { readNoted, writeNoted } from './recent.js';

/**
 * B-50: commits of this clone since the last look that went past git's hooks (`--no-verify`), by their subjects. Each is
 * reported once. `since`: where the last session began, for the first look.
 */
export function notePastHooks(context: Context, commits: readonly Commit[], since: string | null): void {
  const { disk, layout, warnings } = context;
  const [newest] = commits;
  const { enforce, who } = readConfig(context).commit;
  // A subject does not tell whether an agent wrote it.
  if (!newest || enforce === 'off' || who === 'agents') return;
  const noted = readNoted(layout) ?? { head: since, at: '' };
  if (noted.head === newest.hash) return;
  if (!disk.dryRun) writeNoted(layout, { head: newest.hash, at: later(noted.at, newest.at) });
  const fresh = commitsAfter(commits, noted);
  const rules = fresh.length > 0 ? rulesHere(context) : null;
  const past = rules ? fresh.filter((commit) => breaksProtocol(commit, rules)).filter(madeHere(context)) : [];
  const first = past.at(-1);
  if (!first) return;
  warnings.push(
    `${plural(past.length, 'commit')} since the last session ${past.length === 1 ? 'does' : 'do'} not follow the commit protocol (the first: ${first.short}); the hooks were not asked. More: forge commit check --range ${String(noted.head).slice(0, 12)}..${newest.short}`,
  );
}

/** As the reflog of HEAD tells it. What others made came by a pull. */
function madeHere({ repository }: Context): (commit: Commit) => boolean {
  const log = readText(join(repository?.gitDir ?? '', 'logs', 'HEAD'));
  const hashes = new Set([...log.matchAll(/^\w+ (\w+) .*\tcommit\b/gm)].map(([, hash]) => hash));
  return ({ hash }) => hashes.has(hash);
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
  if (end >= 0) return commits.slice(0, end).filter((commit) => Date.parse(commit.at) >= Date.parse(at));
  // The commit seen last was rewritten, or is on another branch.
  return commits.filter((commit) => Date.parse(commit.at) > Date.parse(at));
}
