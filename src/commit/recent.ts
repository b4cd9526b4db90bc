import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { readHint, readText, writeHint } from '../core/files.js';
import { notedFile } from '../core/paths.js';
import { plural } from '../core/text.js';
import { type Commit, readLog } from '../git/read.js';
import { cleanForeign } from '../guard/guard.js';
import { type Context, hasHooks, orWarn, readConfig } from '../project/project.js';
import { readRules } from './check.js';
import { isOwnSubject } from './message.js';
import { breaksProtocol } from './protocol.js';

const LOGGED = 50;

/** The last commits of HEAD, newest first. Only subjects are shown, so only they are masked. */
export const recentCommits = async ({ git }: Context): Promise<Commit[]> =>
  git ? (await readLog(git, LOGGED)).map(({ body: _, message: __, ...commit }) => commit) : [];

/** Forge's own commits say nothing about the work, except that it was rolled back. */
export const withoutOwn = <T extends Commit>(commits: readonly T[]): T[] =>
  commits.filter(({ subject }) => !isOwnSubject(subject) || /\broll ?back\b/i.test(subject));

const SHARED = ['.husky/commit-msg', 'lefthook.yml'];

/** Warns at a session's start about git hooks that check nothing, or that commits bypassed. */
export function noteHooks(context: Context, commits: readonly Commit[]): void {
  const { layout, warnings, repository } = context;
  if (hasHooks(context)) notePastHooks(context, commits);
  else if (repository && SHARED.some((name) => startsForge(join(layout.root, name))))
    warnings.push(
      "This project's git hooks call forge, but they check nothing in this clone yet. Run: forge hooks install",
    );
}

/** A link in a clone may lead to a device. */
const startsForge = (hook: string): boolean =>
  lstatSync(hook, { throwIfNoEntry: false })?.isFile() === true && readText(hook).includes('/forge/hook"');

/** B-50: warns once about commits made in this clone since the last session start that bypassed the git hooks. */
function notePastHooks(context: Context, commits: readonly Commit[]): void {
  const { layout, disk, warnings, repository } = context;
  const moves = readText(join(repository?.gitDir ?? '', 'logs', 'HEAD'))
    .trimEnd()
    .split('\n');
  const move = moves.at(-1);
  // The line and not its commit: HEAD comes back to a commit when the branch is switched.
  const since = readHint<{ move?: string }>(notedFile(layout))?.move;
  const [newest] = commits;
  if (!newest || move === since) return;
  if (!disk.dryRun) writeHint(notedFile(layout), { move });
  const { enforce, who } = readConfig(context).commit;
  // A subject does not show whether an agent wrote it.
  if (since === undefined || enforce === 'off' || who === 'agents') return;
  const made = madeIn(moves.slice(moves.lastIndexOf(since) + 1 || moves.length));
  const rules = readRules(context);
  const wrong = commits.filter((commit) => made.has(commit.hash) && breaksProtocol(commit, rules));
  const first = wrong.at(-1);
  if (!first) return;
  warnings.push(
    `${plural(wrong.length, 'commit')} since the last session began ${wrong.length === 1 ? 'does' : 'do'} not follow the commit protocol (the first: ${first.short})${enforce === 'warn' ? '' : ' and bypassed the hooks'}. More: forge commit check --range ${first.short}~..${newest.short}`,
  );
}

/** The commits that these lines of HEAD's reflog made. A pull, a switch or a rebase makes none. */
const madeIn = (moves: readonly string[]): Set<string> =>
  new Set(moves.flatMap((line) => /^\w+ (\w+) .*\tcommit\b/.exec(line)?.[1] ?? []));

const FIELDS = ['HEAD', 'objectname', 'committerdate:iso-strict', 'upstream:short', 'refname:short'];
const REFS = [
  ...['for-each-ref', '--count=200', '--sort=-committerdate'],
  `--format=${FIELDS.map((field) => `%(${field})`).join('%09')}`,
  'refs/heads',
];

/**
 * GIT-04: the content of `git/commits.log` and `git/branches.json`. Empty where git hooks write them. `reading`: the last
 * commits, if the caller reads them.
 */
export async function readGitState(context: Context, reading?: Promise<Commit[]>) {
  const { git, disk } = context;
  if (!git || disk.dryRun || hasHooks(context)) return {};
  const [commits, refs] = await Promise.all([reading ?? recentCommits(context), git(REFS)]);
  const lines = commits.map(({ short, at, subject }) => `${short} ${at} ${subject}\n`);
  const branches = refs.code === 0 ? formatBranches(refs.stdout) : '';
  const [log, names] = await cleanForeign(context, [lines.join(''), branches]);
  return { ...(log ? { 'commits.log': log } : {}), ...(names ? { 'branches.json': names } : {}) };
}

/** Writes the files that have changed. A failure is a warning, because both can be derived again. */
export async function keepGitState(context: Context, read = readGitState(context)): Promise<void> {
  const { disk, layout } = context;
  await orWarn(context, '.forge/git/commits.log and branches.json are not up to date', async () => {
    const files = Object.entries(await read)
      .map(([name, text]) => ({ path: join(layout.dir, 'git', name), bytes: Buffer.from(text) }))
      .filter(({ path, bytes }) => !disk.read(path)?.equals(bytes));
    if (files.length > 0) disk.withLock(() => disk.replaceAll(files));
  });
}

function formatBranches(refs: string): string {
  const rows = refs
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [current, head, committed_at, upstream, name] = line.split('\t');
      const branch = { name, head, committed_at, upstream: upstream || null, current: current === '*' };
      return `\n    ${JSON.stringify(branch)}`;
    });
  return `{\n  "schema_version": "1.0",\n  "branches": [${rows.join(',')}\n  ]\n}\n`;
}
