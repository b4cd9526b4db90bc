import { Cutter } from '../core/cutter.js';
import { toForgeError, usage } from '../core/error.js';
import { focusFile } from '../core/paths.js';
import { compilePattern, patternProblem } from '../core/pattern.js';
import { oneLine } from '../core/text.js';
import type { World } from '../core/world.js';
import { readFeatures } from '../feature/store.js';
import { gitError, gitIn, isNoRange } from '../git/client.js';
import { commitAt } from '../git/read.js';
import {
  findForge,
  findRepository,
  isShallow,
  operationInProgress,
  type Repository,
} from '../git/repository.js';
import { knowAllowed } from '../guard/allow.js';
import { type Guard, loadGuard } from '../guard/guard.js';
import { type Context, contextAt, readConfig } from '../project/project.js';
import { FOCUS, NO_FOCUS } from '../session/rules.js';
import { aboveScissors, DEFAULT_COMMENT } from './message.js';
import { type CheckedMessage, checkMessage } from './protocol.js';
import {
  type CommitRules,
  DEFAULT_SETTINGS,
  type Mark,
  type MessageState,
  makeRules,
  NO_ISSUE,
  type Operation,
  type People,
  type Problem,
} from './rules.js';

export interface CommitCheckInput {
  /** The message of a commit that is not made yet. */
  message?: Buffer | undefined;
  /** The absolute path of the message. Git's own messages are exempt during a merge, rebase and the like. */
  file?: string | undefined;
  range?: Range | undefined;
}

/** `A..B`, or commit ids, with `^` in front of those that are left out. */
export type Range = string | readonly string[];

export interface CheckedCommit extends Omit<CheckedMessage, 'mark'> {
  sha?: string;
}

export type CommitCheck = Awaited<ReturnType<typeof checkCommits>>;

/** GIT-01: checks one message or the commits of a range. Outside a `.forge/` the default settings apply. */
export async function checkCommits(from: string, world: World, { message, file, range }: CommitCheckInput) {
  const found = findForge(from);
  const repository = found ? found.repository : findRepository(from);
  const context = found ? contextAt(found.root, repository, world, true) : undefined;
  if (context) knowAllowed(context);
  const rules = context ? await readMessageRules(context) : makeRules();
  let commits: CheckedCommit[];
  if (message !== undefined && range === undefined) {
    const state =
      repository && (await readMessageState(repository, world, { message, file, isEdited: true }));
    const text = aboveScissors(message, state?.comment);
    const { mark: _, ...checked } = checkMessage(text, rules, state ?? { strips: true });
    commits = [withoutSecrets(text, checked, await loadGuard(world.env, context))];
  } else if (message !== undefined || range === undefined)
    throw usage('commit.way', 'Give a file (or - for stdin), or --range A..B.', {
      hint: 'forge commit check --help',
    });
  else if (!repository)
    throw usage('commit.no_git', `${from} is not in a git repository.`, { hint: 'forge commit check FILE' });
  else {
    const all = await checkRange(repository, world, range, rules, context);
    commits = all.map(({ mark: _, people: __, ...commit }) => commit);
  }
  return { ok: commits.every(({ problems }) => problems.length === 0), commits };
}

/** The rules of this `.forge/`. Feature ids are valid ids. */
export const readRules = (context: Context): CommitRules =>
  makeRules(readConfig(context).commit, () => readFeatures(context).map(({ id }) => id));

/** The same with the rule of the active skill, for whole messages. */
export async function readMessageRules(context: Context): Promise<CommitRules> {
  const rules = readRules(context);
  const { skill: active } = context.disk.readDocument(FOCUS, focusFile(context.layout), NO_FOCUS).value;
  if (!active) return rules;
  const { commitPattern } = await import('../skill/skill.js');
  const skill = commitPattern(context, active);
  if (!skill || patternProblem(skill.pattern) !== null) return rules;
  return { ...rules, skill: { ...skill, matches: compilePattern(skill.pattern) } };
}

/**
 * `[commit]` as the git hooks apply it. Unreadable settings must not block commits: hooks then look for secrets only.
 * `unread`: why they cannot be read.
 */
export function readEnforcement(context: Context) {
  try {
    const { enforce, ...settings } = readConfig(context).commit;
    return { enforce, settings, unread: null };
  } catch (error) {
    return { enforce: 'off' as const, settings: DEFAULT_SETTINGS, unread: toForgeError(error).message };
  }
}

/** The id for one of forge's own commits. A checkpoint may have a name that is not an id. */
export const validId = (context: Context, id: string): string =>
  readRules(context).isId(id) ? id : NO_ISSUE;

const OPERATIONS: Readonly<Record<string, Operation>> = {
  ...{ 'a rebase': 'rebase', 'git am': 'rebase', 'a merge': 'merge' },
  ...{ 'a cherry-pick': 'cherry-pick', 'a revert': 'revert' },
};

/** The git operation in progress that writes messages itself. */
export const operationOf = (repository: Repository): Operation | undefined =>
  OPERATIONS[operationInProgress(repository) ?? ''];

/** The one whose message this file is. */
export const operationFor = (repository: Repository, file: string): Operation | undefined =>
  file.startsWith(`${repository.gitDir}/`) ? operationOf(repository) : undefined;

const PARENT = /^[ \t]*[-*+] Parent:[ \t]*([0-9a-f]{7,64})(?![^ \t\r\n])/gm;

/** How git will read and store a message file. It drops comments by default if its editor showed them. */
export async function readMessageState(
  repository: Repository,
  world: World,
  { message, file = '', isEdited }: { message: Buffer; file?: string | undefined; isEdited: boolean },
): Promise<MessageState & { comment: string }> {
  const git = gitIn(repository.root, world.env);
  const settings = readMessageSettings(repository, world);
  const parent = (await commitAt(git, 'HEAD')) ?? undefined;
  const named = [...message.toString('latin1').matchAll(PARENT)].at(-1)?.[1];
  const isOther = named !== undefined && !parent?.startsWith(named);
  const isUnknown = isOther && (await git(['cat-file', '-e', `${named}^{commit}`])).code !== 0;
  const { comment, cleanup } = await settings;
  return {
    comment,
    strips: cleanup === 'strip' || (cleanup === 'default' && isEdited),
    operation: operationFor(repository, file),
    parent,
    unknownParent: isUnknown ? named : undefined,
  };
}

/** The settings may be in a hook's environment only (`git -c core.commentChar=…`). */
async function readMessageSettings({ root }: Repository, { env }: World) {
  const own = Object.entries(env).filter(([key]) =>
    /^GIT_CONFIG_(PARAMETERS|COUNT|KEY_\d+|VALUE_\d+)$/.test(key),
  );
  const args = ['config', '-z', '--get-regexp', '^(core\\.comment(char|string)|commit\\.cleanup)$'];
  const { stdout } = await gitIn(root, env)(args, { env: Object.fromEntries(own) as Record<string, string> });
  const settings = { comment: DEFAULT_COMMENT, cleanup: 'default' };
  for (const entry of stdout.split('\0').filter(Boolean)) {
    const [key = '', value = ''] = entry.split('\n');
    if (key === 'commit.cleanup') settings.cleanup = value;
    else if (value !== 'auto') settings.comment = value;
  }
  return settings;
}

/** A commit of a range with its author and origin. */
export interface RangeCommit extends CheckedCommit {
  sha: string;
  mark: Mark;
  people: People;
}

const FORMAT = '--format=%H %P%n%an%n%ae%n%ce%n%ct%n%B';
const LOG = ['log', '-z', '--no-show-signature', '--no-notes', '--encoding=UTF-8', FORMAT];
const MAX_MESSAGE = 16 * 1024 * 1024;

/** The commits of a range, newest first. Exit 2 for an invalid range. */
export async function checkRange(
  repository: Repository,
  { env }: World,
  named: Range,
  rules: CommitRules,
  context?: Context,
): Promise<RangeCommit[]> {
  const { root } = repository;
  const range = typeof named === 'string' ? named : named.join(' ');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no revision contains one, and git would cut there
  if (range === '' || range.startsWith('-') || /[\u0000-\u001f]/.test(range))
    throw noRange(repository, range);
  const guard = await loadGuard(env, context);
  const commits: RangeCommit[] = [];
  const cutter = new Cutter((bytes) => commits.push(checkStored(bytes, rules, guard)), MAX_MESSAGE, 0);
  const args = [...LOG, '--end-of-options', ...[named].flat(), '--'];
  const { code, stderr } = await gitIn(root, env)(args, {
    timeout: 600_000,
    onStdout: (chunk) => cutter.push(chunk),
  });
  if (code !== 0) throw isNoRange(stderr) ? noRange(repository, range) : gitError(args, stderr);
  return commits;
}

function checkStored(bytes: Buffer, rules: CommitRules, guard: Guard): RangeCommit {
  let end = -1;
  for (let i = 0; i < 5; i++) end = bytes.indexOf('\n', end + 1);
  const head = bytes.toString('utf8', 0, end).split('\n');
  const [ids = '', author = '', authorEmail = '', committerEmail = '', at = ''] = head;
  const [sha = '', ...parents] = ids.split(' ').filter(Boolean);
  const people = { author, authorEmail, committerEmail, at: Number(at) };
  const message = bytes.subarray(end + 1);
  const state = { stored: true, parents: parents.length, parent: parents[0] ?? null, people };
  return withoutSecrets(message, { sha, ...checkMessage(message, rules, state), people }, guard);
}

const noRange = (repository: Repository, range: string): Error =>
  usage('commit.range', `${JSON.stringify(oneLine(range, 80))} matches no commits here.`, {
    hint: isShallow(repository) ? 'git fetch --unshallow' : 'git log --oneline   # A..B, as for git log',
  });

/** A secret replaces all other problems, which could quote it. Its value is never shown. */
export function withoutSecrets<T extends { subject: string; problems: Problem[] }>(
  message: Buffer,
  checked: T,
  guard: Guard,
): T {
  const hits = guard.scanGrave(message.toString('utf8'));
  if (hits.length === 0) return checked;
  const problems = hits.slice(0, 20).map(
    ({ rule, what, line }): Problem => ({
      rule: 'secret',
      line,
      message: `${what} (rule ${rule}).`,
      fix: 'The same without it; if it is real, revoke it.',
    }),
  );
  return { ...checked, subject: '…', problems };
}
