import { ForgeError } from '../core/error.js';
import { activeIssuesFile, doneIssueFile, doneIssuesFolder } from '../core/paths.js';
import { encodeDocument, type Format } from '../core/schema.js';
import { ACTIVE_ISSUES, Unit } from '../feature/tasks.js';
import { type Git, must } from '../git/client.js';
import { commitAt } from '../git/read.js';
import { changeActive } from '../learning/knowledge.js';
import type { Context } from '../project/project.js';
import { cleanMessage, fieldOf, readMessage } from './message.js';

/** How far back commits are looked at: more are not made between two ends of a session. */
const RECENT = 1000;

const DONE_ISSUE: Format<Unit> = { name: 'issue', version: ACTIVE_ISSUES.version, schema: Unit };

/**
 * LIN-04: commits that name an issue stand in its `git_refs`, whoever made them; those that an amend or a rebase replaced
 * stand there no more. Asked of git itself, just before forge commits `.forge/`: it leaves nothing to be committed, and
 * keeps no list of its own. What hinders it is told, not thrown.
 */
export async function linkCommits(context: Context): Promise<void> {
  const { git, disk } = context;
  if (!git || disk.dryRun) return;
  try {
    await link(context, git);
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind === 'secret') throw error;
    context.warnings.push(`Commits were not added to the issues that they name: ${error.message}`);
  }
}

async function link(context: Context, git: Git): Promise<void> {
  const { disk, layout } = context;
  const { issues } = disk.readDocument(ACTIVE_ISSUES, activeIssuesFile(layout), { issues: [] }).value;
  const past = disk.list(doneIssuesFolder(layout)).flatMap((name) => /^(.+)\.json$/.exec(name)?.[1] ?? []);
  if (issues.length + past.length === 0) return;
  const active = new Set(issues.map(({ linear_id }) => linear_id));
  const named = await commitsByIssue(git, new Set([...active, ...past]));
  // Of those that are done, which may be thousands, only the ones that a recent commit names.
  const done = past
    .filter((id) => named.has(id) && !active.has(id))
    .map((id) => disk.requireDocument(DONE_ISSUE, doneIssueFile(layout, id)));
  const gone = await unreachableOf(git, [...issues, ...done.map(({ value }) => value)].flatMap(commitsOf));
  /** Itself where nothing changes. */
  const linked = (unit: Unit): Unit => {
    const before = commitsOf(unit);
    const kept = before.filter((hash) => !gone.has(hash));
    const fresh = (named.get(unit.linear_id) ?? []).filter((hash) => !before.includes(hash));
    if (kept.length === before.length && fresh.length === 0) return unit;
    return { ...unit, git_refs: { branch: null, ...unit.git_refs, commits: [...kept, ...fresh] } };
  };
  disk.withLock(() => {
    changeActive(context, (units) => units.map(linked));
    for (const { path, value, bytes } of done) {
      const unit = linked(value);
      if (unit !== value) disk.replace(path, encodeDocument(unit), bytes);
    }
  });
}

const commitsOf = ({ git_refs }: Unit): string[] => git_refs?.commits ?? [];

const LOG = ['log', '-z', `-${RECENT}`, '--no-merges', '--reverse', '--no-show-signature', '--no-notes'];
const WORD = /[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?/g;

/** Of each known issue the commits that name it, as a word of the subject or as `Linear` of the Backtrace; oldest first. */
async function commitsByIssue(git: Git, known: ReadonlySet<string>): Promise<Map<string, string[]>> {
  const named = new Map<string, string[]>();
  if ((await commitAt(git, 'HEAD')) === null) return named;
  const out = await must(git, [...LOG, '--encoding=UTF-8', '--format=%H%n%B', 'HEAD', '--']);
  for (const record of out.split('\0').filter(Boolean)) {
    const [hash = '', ...lines] = record.split('\n');
    const reading = readMessage(cleanMessage(lines.join('\n')));
    // Nobody names an issue further behind.
    const words = reading.subject.text.slice(0, 1000).match(WORD) ?? [];
    const issue = fieldOf(reading, 'Backtrace', 'Linear')?.text ?? '';
    for (const id of new Set([...words, issue]))
      if (known.has(id)) named.set(id, [...(named.get(id) ?? []), hash]);
  }
  return named;
}

const FULL = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/** No branch of anybody's: what they lead to was given up. */
const ASIDE = ['--exclude=refs/stash', '--exclude=refs/forge/*', '--exclude=refs/notes/*'];

/** Those that are here, and to which neither HEAD nor any branch or tag leads. What another clone has is not known here. */
async function unreachableOf(git: Git, hashes: readonly string[]): Promise<Set<string>> {
  const asked = hashes.filter((hash) => FULL.test(hash));
  if (asked.length === 0) return new Set();
  const args = ['rev-list', '--ignore-missing', '--stdin', '--not', ...ASIDE, '--all', 'HEAD'];
  const found = new Set((await must(git, args, { input: `${asked.join('\n')}\n` })).split('\n'));
  return new Set(asked.filter((hash) => found.has(hash)));
}
