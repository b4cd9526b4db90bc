import { join } from 'node:path';
import { plural } from '../core/text.js';
import type { Commit } from '../git/read.js';
import { readText } from '../git/state.js';
import { type Context, readConfig } from '../project/project.js';
import { rulesHere } from './check.js';
import { breaksProtocol } from './check-message.js';
import { readNoted, writeNoted } from './recent.js';

/**
 * B-50: commits that were made in this clone since the last session start and went past git's hooks (`--no-verify`), by
 * their subjects. The first start looks at nothing. Each commit is reported once.
 */
export function notePastHooks(context: Context, commits: readonly Commit[]): void {
  const [newest] = commits;
  const since = readNoted(context.layout);
  if (newest && !context.disk.dryRun) writeNoted(context.layout, newest.hash);
  const { enforce, who } = readConfig(context).commit;
  // A subject does not tell whether an agent wrote it.
  if (!newest || since === null || enforce === 'off' || who === 'agents') return;
  const made = madeSince(context, since);
  const fresh = commits.filter(({ hash }) => made.has(hash));
  const rules = fresh.length > 0 ? rulesHere(context) : null;
  const past = rules ? fresh.filter((commit) => breaksProtocol(commit, rules)) : [];
  const first = past.at(-1);
  if (!first) return;
  context.warnings.push(
    `${plural(past.length, 'commit')} since the last session ${past.length === 1 ? 'does' : 'do'} not follow the commit protocol (the first: ${first.short}); the hooks were not asked. More: forge commit check --range ${since.slice(0, 12)}..${newest.short}`,
  );
}

/** The commits that the reflog of HEAD has since HEAD was last at `since`. A pull or a switch makes none. */
function madeSince({ repository }: Context, since: string): Set<string> {
  const log = readText(join(repository?.gitDir ?? '', 'logs', 'HEAD')).split('\n');
  const start = log.findLastIndex((line) => line.split(' ')[1] === since);
  const lines = start < 0 ? [] : log.slice(start + 1);
  return new Set(lines.flatMap((line) => /^\w+ (\w+) .*\tcommit\b/.exec(line)?.[1] ?? []));
}
