import { join } from 'node:path';
import { readHint, writeHint } from '../core/files.js';
import { notedFile } from '../core/paths.js';
import { plural } from '../core/text.js';
import { type Commit, readLog } from '../git/read.js';
import { readText } from '../git/state.js';
import { type Context, readConfig } from '../project/project.js';
import { rulesHere } from './check.js';
import { breaksProtocol } from './protocol.js';

/** The last commits of HEAD, newest first. */
export const recentCommits = async ({ git }: Context, count: number): Promise<Commit[]> =>
  git ? readLog(git, count) : [];

/** Subjects of the commits that forge makes by itself; a repository's subject may have an id before it. */
const OWN =
  /^(?:\[[^\]]*\] )?(?:Session end: |Checkpoint \S+$|Memory at a checkpoint$|Roll back to |Undo the rollback)/;

/** Commits of people and agents: what forge commits by itself says nothing about the work. */
export const withoutOwn = <T extends Commit>(commits: readonly T[]): T[] =>
  commits.filter(({ subject }) => !OWN.test(subject));

/** So many are read to show `count` that are not forge's. */
export const lookBack = (count: number): number => count * 3;

/**
 * B-50: commits that were made in this clone since the last session start and went past git's hooks (`--no-verify`), by
 * their subjects. The first start looks at nothing. Each commit is reported once.
 */
export function notePastHooks(context: Context, commits: readonly Commit[]): void {
  const { layout, disk, warnings, repository } = context;
  const [newest] = commits;
  const since = readHint<{ head?: string }>(notedFile(layout))?.head ?? null;
  if (newest?.hash === since) return;
  if (newest && !disk.dryRun) writeHint(notedFile(layout), { head: newest.hash });
  const { enforce, who } = readConfig(context).commit;
  // A subject does not tell whether an agent wrote it.
  if (!newest || since === null || enforce === 'off' || who === 'agents') return;
  const made = madeSince(join(repository?.gitDir ?? '', 'logs', 'HEAD'), since);
  const fresh = commits.filter(({ hash }) => made.has(hash));
  const rules = fresh.length > 0 ? rulesHere(context) : null;
  const past = rules ? fresh.filter((commit) => breaksProtocol(commit, rules)) : [];
  const first = past.at(-1);
  if (!first) return;
  const range = `${since.slice(0, 12)}..${newest.short}`;
  warnings.push(
    `${plural(past.length, 'commit')} since the last session ${past.length === 1 ? 'does' : 'do'} not follow the commit protocol (the first: ${first.short}); the hooks were not asked. More: forge commit check --range ${range}`,
  );
}

/** The commits that the reflog of HEAD has since HEAD was last at `since`. A pull or a switch makes none. */
function madeSince(reflog: string, since: string): Set<string> {
  const lines = readText(reflog).split('\n');
  const start = lines.findLastIndex((line) => line.split(' ')[1] === since);
  const after = start < 0 ? [] : lines.slice(start + 1);
  return new Set(after.flatMap((line) => /^\w+ (\w+) .*\tcommit\b/.exec(line)?.[1] ?? []));
}
