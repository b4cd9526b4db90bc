import { basename, resolve } from 'node:path';
import type { Io } from '../cli/spec.js';
import {
  checkRange,
  operationFor,
  operationOf,
  type RangeCommit,
  readEnforcement,
  readMessageRules,
  readMessageState,
  withoutSecrets,
} from '../commit/check.js';
import { aboveScissors, cleanMessage, formatCommitMessage, protectHeadings } from '../commit/message.js';
import { checkMessage } from '../commit/protocol.js';
import { fixLines, isBound, type MessageState, type Who } from '../commit/rules.js';
import { formatArgv } from '../core/argv.js';
import { agentMark } from '../core/environment.js';
import { ForgeError, toForgeError } from '../core/error.js';
import { hooksRecordFile, shownFrom } from '../core/paths.js';
import { oneLine, plural } from '../core/text.js';
import { systemWorld, type World } from '../core/world.js';
import { type Git, gitIn, hookGit } from '../git/client.js';
import { newCommits, parsePushed } from '../git/remote.js';
import { findForge, findGuarded, type Repository, readGitFile } from '../git/repository.js';
import { findMarked, readStagedFiles, readStatus } from '../git/status.js';
import { knowAllowed } from '../guard/allow.js';
import { loadGuard, maskText } from '../guard/guard.js';
import { type Scan, scanTree } from '../guard/scan-tree.js';
import { notePushed } from '../ledger/git.js';
import { requireUndamaged } from '../ledger/integrity.js';
import { type Context, contextAt, readConfig } from '../project/project.js';
import { HOOKS_RECORD, NO_HOOKS } from './install.js';
import { type GitHook, isGitHook, PREPARE, quoted, SHIM_EXIT } from './shim.js';

/** What a hook prints, and its exit code: 1 refuses, 5 is a secret. */
interface Verdict {
  lines: string[];
  exit: 0 | 1 | 5;
}

const FINE: Verdict = { lines: [], exit: 0 };

/** ms. Then the commit goes on unchecked. A push is bounded by its commits instead. */
const DEADLINE = 10_000;

/** `forge hook HOOK …`. Any other failure is one line and blocks nobody. */
export async function runGitHook(io: Io, [word = '', ...args]: readonly string[]): Promise<number> {
  if (!isGitHook(word)) return 0;
  const nothing = `nothing was ${word === PREPARE ? 'filled in' : 'checked'}`;
  if (word !== 'pre-push')
    io.deadline?.(DEADLINE, `forge: ${word} took longer than ${DEADLINE / 1000} s; ${nothing}\n`);
  try {
    const { lines, exit } = await runHook(io, word, args);
    if (lines.length > 0) io.stderr.write(`${lines.join('\n')}\n`);
    return exit > 0 && io.env.FORGE_SHIM === '1' ? SHIM_EXIT + exit : exit;
  } catch (error) {
    const { maskError } = await import('../cli/input-guard.js');
    const { message } = await maskError(toForgeError(error));
    io.stderr.write(`forge: ${nothing}: ${oneLine(message, 300)}\n`);
    return 0;
  }
}

async function runHook(io: Io, hook: GitHook, [file = '']: readonly string[]): Promise<Verdict> {
  const world = io.world ?? systemWorld(io.env, false);
  if (hook === 'commit-msg') return judgeMessage(io.cwd(), world, file);
  if (hook === 'pre-push') {
    const refs = (await io.stdin.read()).toString('utf8');
    const verdict = await judgePush(io.cwd(), world, refs);
    if (verdict.exit === 0) keepPushed(io.cwd(), world, refs, file);
    return verdict;
  }
  if (hook === PREPARE) await prepareMessage(io.cwd(), world, file);
  return FINE;
}

const isAgent = ({ env }: World): boolean =>
  agentMark(env) !== null || /^\s*builder\s*$/i.test(env.FORGE_ROLE ?? '');

/**
 * The `commit-msg` hook: checks the message as git will store it (docs/commits.md) and what is staged, and indents headings
 * that git would drop as comments. Git itself rejects an empty message.
 */
async function judgeMessage(from: string, world: World, path: string): Promise<Verdict> {
  const found = findGuarded(from);
  if (!found?.repository) return FINE;
  const { path: file, bytes, replace } = readGitFile(from, path);
  const context = contextAt(found.root, found.repository, world, true);
  knowAllowed(context);
  // Git sets this when it uses no editor. Then it writes no scissors line, and stores one that is part of the text.
  const isEdited = world.env.GIT_EDITOR !== ':';
  // A merge and its like bring other people's commits; the push looks at those.
  const isOurs = operationFor(found.repository, file) === undefined;
  const [state, guard, { findings: secrets }, conflicts] = await Promise.all([
    readMessageState(found.repository, world, { message: bytes, file, isEdited }),
    loadGuard(world.env, context),
    isOurs ? scanTree(from, world, { staged: true, readOnly: true }) : { findings: [] },
    findStagedConflicts(context, found.repository),
  ]);
  const message = isEdited ? aboveScissors(bytes, state.comment) : bytes;
  if (cleanMessage(message.toString(), isEdited ? state.comment : undefined).length === 0) return FINE;
  const { enforce, unread, broken } = await checkProtocol(context, message, state);
  const { problems } = withoutSecrets(message, { subject: '', problems: broken }, guard);
  if (problems.length === 0 && (state.operation || state.strips)) {
    const text = bytes.toString('utf8');
    const safe = protectHeadings(text, state.comment);
    if (safe !== text) replace(safe);
  }
  const lines = unread === null ? [] : [`forge: only secrets were checked: ${oneLine(unread, 300)}`];
  if (secrets[0]) {
    const scan = formatArgv(['forge', 'guard', 'scan', forUser(from, world, secrets[0].file)]);
    lines.push('forge: what is staged contains a secret; nothing was committed');
    lines.push(...shorten(secrets, 'secret', lineOfSecret));
    lines.push(`    → remove it and stage the file again; for a false alarm: ${scan}`);
    return { lines, exit: 5 };
  }
  if (conflicts.length > 0) {
    lines.push('forge: what is staged has conflict markers; nothing was committed');
    lines.push(...shorten(conflicts, 'file', (path) => [`  ${oneLine(path, 200)}`]));
    const paths = conflicts.map((path) => forUser(from, world, path));
    lines.push(`    → ${formatArgv(['git', 'checkout', '--merge', '--', ...paths])} && forge doctor --fix`);
    return { lines, exit: 1 };
  }
  const isSecret = problems.some(({ rule }) => rule === 'secret');
  if (problems.length === 0 || (enforce === 'off' && !isSecret)) return { lines, exit: 0 };
  const isRefused = isSecret || enforce === 'block';
  const what = isSecret ? 'contains a secret' : 'does not follow the commit protocol';
  lines.push(`forge: the message ${what}${isRefused ? '; nothing was committed' : ''}`);
  for (const { line, message: text, fix } of problems) {
    lines.push(`  line ${line}: ${text}`);
    lines.push(...fixLines(fix).map((part, i) => `    ${i === 0 ? '→' : ' '} ${part}`));
  }
  if (!isRefused) return { lines, exit: 0 };
  return {
    lines: [...lines, ...(await describeRetry(from, world, path, found.repository.root))],
    exit: isSecret ? 5 : 1,
  };
}

/** Files of `.forge/` that this commit changes and that have conflict markers. */
async function findStagedConflicts({ layout, world }: Context, repository: Repository): Promise<string[]> {
  const git = hookGit(repository.root, world.env);
  const folder = `${shownFrom(repository.root, layout.dir)}/`;
  const staged = (await readStagedFiles(git, false)).map(({ path }) => path);
  const ours = staged.filter((path) => path.startsWith(folder));
  return ours.length === 0 ? [] : findMarked(git, ours, '--cached');
}

/** The rules that the message breaks. If the settings or the features cannot be read, it is not judged. */
async function checkProtocol(context: Context, message: Buffer, state: MessageState) {
  const { enforce, settings, unread } = readEnforcement(context);
  if (unread !== null) return { enforce, unread, broken: [] };
  try {
    const { problems: broken, mark } = checkMessage(message, await readMessageRules(context), state);
    const isBoundHere = settings.who !== 'agents' || isAgent(context.world) || mark !== null;
    return { enforce: isBoundHere ? enforce : 'off', unread, broken };
  } catch (error) {
    return { enforce: 'off', unread: (error as Error).message, broken: [] };
  }
}

/** A path for a command that the user types: git runs hooks at the top, but the user may be in a subfolder. */
const forUser = (from: string, { env }: World, path: string): string =>
  env.GIT_PREFIX ? resolve(from, path) : path;

/** Git forgets what `-a`, `-p` or paths staged. A `-v` in the commands cuts off a diff that is in the file already. */
async function describeRetry(from: string, world: World, file: string, top: string): Promise<string[]> {
  const index = basename(world.env.GIT_INDEX_FILE ?? '');
  const isUnstaged = async (): Promise<boolean> =>
    (await readStatus(hookGit(top, world.env), '--untracked-files=no')).files.some(
      ({ worktree }) => worktree !== '.',
    );
  const isAll = index === 'index.lock' && !(await isUnstaged());
  const all = isAll ? ' -a' : '';
  const stage = index.endsWith('.lock') && !isAll ? 'git add FILES && ' : '';
  if (isAgent(world)) return [`  → ${stage}forge commit${all} --why "TEXT"   # writes the message`];
  const path = forUser(from, world, file);
  const word = /^[\w./-]+$/.test(path) ? path : quoted(path);
  return [
    `  → ${stage}forge commit${all}   # writes the message`,
    `  → ${stage}git commit${all} -v -e -F ${word}   # your text is saved there; --no-verify skips all hooks`,
  ];
}

const MAX_SHOWN = 10;

const lineOfSecret = ({ file, line, what, commit }: Scan['findings'][number]): string[] => [
  `  ${commit ? `${commit.slice(0, 10)} ` : ''}${oneLine(file, 200)}:${line}: ${what}`,
];

const shorten = <T>(all: readonly T[], what: string, linesOf: (one: T) => string[]): string[] => [
  ...all.slice(0, MAX_SHOWN).flatMap(linesOf),
  ...(all.length > MAX_SHOWN ? [`  … ${plural(all.length - MAX_SHOWN, `more ${what}`)}`] : []),
];

const REMARK =
  'Filled in by forge. To commit nothing, delete all of it: an editor that is just closed commits it.';

/** The `prepare-commit-msg` hook: puts the message of `forge commit` above git's comments if the message is empty. */
async function prepareMessage(from: string, world: World, path: string): Promise<void> {
  const found = findForge(from);
  if (!found?.repository || operationOf(found.repository)) return;
  const { root, repository } = found;
  const { bytes, replace } = readGitFile(from, path);
  const { comment, strips } = await readMessageState(repository, world, { message: bytes, isEdited: true });
  if (cleanMessage(aboveScissors(bytes, comment).toString(), comment).length > 0) return;
  const context = contextAt(root, repository, world, true);
  const git = hookGit(repository.root, world.env);
  const files = await readStagedFiles(git, false);
  const { readWork } = await import('../commit/commit.js');
  const { composeMessage } = await import('../commit/compose.js');
  // Without ledger heads: an editable text proves nothing.
  const work = { ...(await readWork(context, { git, files, all: false })), ledger: [] };
  const draft = formatCommitMessage(composeMessage({}, work), readConfig(context).commit);
  const before = bytes.toString('utf8');
  // If git keeps comment lines, headings are safe, and the remark would be stored.
  replace(
    strips
      ? `${protectHeadings(draft, comment)}\n${comment} ${REMARK}\n${before.replace(/^\n/, '')}`
      : `${draft}${before}`,
  );
}

/** For when the remote's branch is gone and git no longer knows that it was there. */
function keepPushed(from: string, world: World, refs: string, remote: string): void {
  const found = findGuarded(from);
  // A remote without a name has no branches here.
  if (!found?.repository || /[/:\\]/.test(remote)) return;
  const branches = parsePushed(refs).filter(({ ref }) => ref.startsWith('refs/heads/'));
  const nameOf = (ref: string): string => ref.replace('refs/heads/', `refs/remotes/${remote}/`);
  const context = contextAt(found.root, found.repository, world, true);
  notePushed(context, Object.fromEntries(branches.map(({ ref, id }) => [nameOf(ref), id])));
}

/** A first push of a large history would take minutes. */
const MAX_COMMITS = 1000;

/**
 * The `pre-push` hook: checks the commits that no remote has, and memory. Git runs no `commit-msg` for picks and reverts,
 * nor with `--no-verify`. `refs` is git's stdin. A check that fails is reported, and the others count.
 */
async function judgePush(from: string, world: World, refs: string): Promise<Verdict> {
  const found = findGuarded(from);
  if (!found?.repository) return FINE;
  const { root, repository } = found;
  const git = gitIn(repository.root, world.env);
  const { range, leftOut } = await newCommits(git, parsePushed(refs), MAX_COMMITS);
  if (range.length === 0) return FINE;
  const context = contextAt(root, repository, world, true);
  const { enforce, settings, unread } = readEnforcement(context);
  const lines: string[] = [];
  const note = async (check: string, why: string): Promise<unknown> =>
    lines.push(
      `forge: ${check} could not be checked: ${oneLine(await maskText(why).catch(() => 'the guard failed'), 300)}`,
    );
  const attempt = async <T>(check: string, none: T, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      await note(check, toForgeError(error).message);
      return none;
    }
  };
  if (unread !== null) await note('messages', unread);
  const readSecrets = async () => (await scanTree(from, world, { range, readOnly: true })).findings;
  const secrets = await attempt('secrets', [], readSecrets);
  const commits = await attempt('messages', [], async () =>
    enforce === 'off' ? [] : findBroken(context, repository, git, range, settings.who),
  );
  const damage = await attempt('memory', null, () => findDamage(context));
  if (leftOut > 0)
    lines.push(
      `forge: ${plural(leftOut, 'older commit')} not checked; to look for secrets in all: forge guard scan --range HEAD`,
    );
  if (secrets.length + commits.length === 0 && damage === null) return { lines, exit: 0 };
  const isBroken = damage !== null || (commits.length > 0 && enforce === 'block');
  const exit = secrets.length > 0 ? 5 : isBroken ? 1 : 0;
  lines.push(`forge: ${exit > 0 ? 'nothing was pushed' : 'pushed with problems'}`);
  lines.push(...shorten(secrets, 'secret', lineOfSecret));
  if (secrets[0]) {
    const scan = `forge guard scan --range ${secrets[0].commit?.slice(0, 12)}^!`;
    lines.push('    → the same commit without it; if it is real, revoke it', `    → a false alarm: ${scan}`);
  }
  lines.push(...shorten(commits, 'commit', linesOfCommit));
  if (commits.length > 0)
    lines.push('    → the last commit: forge commit --amend; older ones: git rebase -i, reword');
  if (damage !== null) {
    lines.push(`  memory: ${oneLine(damage, 300)}`);
    lines.push('    → forge memory verify   # shows what is wrong and how to fix it');
  }
  if (exit === 1) lines.push('  To skip all hooks: --no-verify');
  return { lines, exit };
}

const linesOfCommit = ({ sha, subject, problems }: RangeCommit): string[] => [
  `  ${sha.slice(0, 10)} ${oneLine(subject, 80)}`,
  ...shorten(problems, 'problem', ({ line, message }) => [`  line ${line}: ${message}`]).map(
    (text) => `  ${text}`,
  ),
  `    → forge commit check --range ${sha.slice(0, 12)}^!   # shows what to write`,
];

/** GIT-08: commits of this clone that should follow the protocol, and do not. */
async function findBroken(
  context: Context,
  repository: Repository,
  git: Git,
  range: readonly string[],
  who: Who,
): Promise<RangeCommit[]> {
  const commits = await checkRange(repository, context.world, range, await readMessageRules(context));
  const broken = commits.filter(({ problems }) => problems.some(({ rule }) => rule !== 'secret'));
  if (broken.length === 0) return [];
  const { stdout } = await git(['var', 'GIT_COMMITTER_IDENT']);
  const email = /<([^<>]*)>/.exec(stdout)?.[1] ?? '';
  const { disk, layout } = context;
  const { installed_at, head } = disk.readDocument(HOOKS_RECORD, hooksRecordFile(layout), NO_HOOKS).value;
  const since = installed_at === undefined ? 0 : Math.floor(Date.parse(installed_at) / 1000);
  // The newest first: from this one on, commits of the same second are from before the hooks.
  const old = commits.find(({ sha }) => sha === head);
  const isOld = (commit: RangeCommit): boolean =>
    old !== undefined && commits.indexOf(commit) >= commits.indexOf(old);
  return broken.filter((commit) => isBound(who, commit, { email, since: isOld(commit) ? since + 1 : since }));
}

async function findDamage(context: Context): Promise<string | null> {
  try {
    await requireUndamaged(context);
    return null;
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'corrupted') return error.message;
    throw error;
  }
}
