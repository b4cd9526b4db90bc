import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { toForgeError, usage } from '../core/error.js';
import { oneLine } from '../core/text.js';
import type { World } from '../core/world.js';
import { readFeatures } from '../feature/store.js';
import { gitError, gitIn, isNoRange, streamGit } from '../git/client.js';
import { Cutter } from '../git/cutter.js';
import { findForge, findRepository, type Repository } from '../git/repository.js';
import { readTip } from '../git/state.js';
import { knowAllowed } from '../guard/allow.js';
import { type Guard, loadGuard } from '../guard/guard.js';
import { type Context, contextAt, readConfig } from '../project/project.js';
import { aboveScissors, DEFAULT_COMMENT } from './message.js';
import { type CheckedMessage, checkMessage, type MessageState } from './protocol.js';
import {
  type CommitRules,
  type CommitSettings,
  DEFAULT_SETTINGS,
  type Exemption,
  type Mark,
  makeRules,
  NO_ISSUE,
  type Operation,
  type People,
  type Problem,
} from './rules.js';

export interface CommitCheckInput {
  /** A message that is to become a commit. */
  message?: Buffer;
  /** The message's file, absolute: git's own are exempt while git is in the middle of something. */
  file?: string;
  /** Commits that are there, `A..B`; or ids of commits, those left out with `^` in front. */
  range?: Range;
}

/** Commits as people name them, `A..B`; or as forge found them: ids, those left out with `^` in front. */
export type Range = string | readonly string[];

export interface CheckedCommit {
  sha?: string;
  subject: string;
  exempt?: Exemption;
  problems: Problem[];
}

export interface CommitCheck {
  ok: boolean;
  commits: CheckedCommit[];
}

/** GIT-01: what a message has to say otherwise. Needs no `.forge/`: without one the defaults hold. */
export async function checkCommits(
  from: string,
  world: World,
  { message, file, range }: CommitCheckInput,
): Promise<CommitCheck> {
  if ((message === undefined) === (range === undefined))
    throw usage('commit.way', 'Give a file (or - for stdin), or --range A..B.', {
      hint: 'forge commit check --help',
    });
  const found = findForge(from);
  const repository = found ? found.repository : findRepository(from);
  const context = found ? contextAt(found.root, repository, world, true) : undefined;
  const rules = context ? rulesHere(context) : makeRules();
  if (context) knowAllowed(context);
  const commits: CheckedCommit[] = [];
  if (message !== undefined) {
    const state: MessageState = repository
      ? await stateOf(repository, world, message, file)
      : { strips: true };
    const text = aboveScissors(message, state.comment);
    const checked = checkMessage(text, rules, state);
    const { subject, exempt, problems } = withoutSecrets(text, checked, await loadGuard(world.env, context));
    commits.push({ subject, ...(exempt ? { exempt } : {}), problems });
  } else {
    if (!repository)
      throw usage('commit.no_git', `${from} is not in a git repository.`, {
        hint: 'forge commit check FILE',
      });
    const checked = await checkRange(repository, world, range as Range, rules, context);
    commits.push(...checked.map(({ mark: _, people: __, ...commit }) => commit));
  }
  return { ok: commits.every(({ problems }) => problems.length === 0), commits };
}

/** The rules of this `.forge/`. The ids of its features may stand in a subject. */
export const rulesHere = (context: Context): CommitRules =>
  makeRules(
    readConfig(context).commit,
    readFeatures(context).map(({ id }) => id),
  );

/** What the settings ask of git's hooks. */
export interface Enforcement {
  enforce: 'block' | 'warn' | 'off';
  settings: CommitSettings;
  /** Why only secrets are looked for, which no setting turns off; null where everything is. */
  unread: string | null;
}

/** Unreadable settings refuse nobody's commit. */
export function enforcementHere(context: Context): Enforcement {
  try {
    const { enforce, ...settings } = readConfig(context).commit;
    return { enforce, settings, unread: null };
  } catch (error) {
    return { enforce: 'off', settings: DEFAULT_SETTINGS, unread: toForgeError(error).message };
  }
}

/** An id that a commit of forge's own may have: a checkpoint may have another name. */
export const idHere = (context: Context, id: string): string => (rulesHere(context).isId(id) ? id : NO_ISSUE);

/** The state files of the git dir, in this order. The first that exists names the operation. */
const STATE_FILES: readonly (readonly [file: string, operation: Operation])[] = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
];

/** The operation whose message git would ask for now. */
export const operationOf = ({ gitDir }: Repository): Operation | undefined =>
  STATE_FILES.find(([file]) => existsSync(join(gitDir, file)))?.[1];

/** How git reads the message files of this repository. */
export interface MessageSettings {
  comment: string;
  /** `commit.cleanup`; undefined: with an editor git drops comments, without one it keeps them. */
  cleanup: string | undefined;
}

/** The environment of a hook may have settings of its own (`git -c core.commentChar=…`). */
export async function readMessageSettings({ root }: Repository, { env }: World): Promise<MessageSettings> {
  const own = Object.entries(env).filter(([key]) =>
    /^GIT_CONFIG_(PARAMETERS|COUNT|KEY_\d+|VALUE_\d+)$/.test(key),
  );
  const args = ['config', '-z', '--get-regexp', '^(core\\.comment(char|string)|commit\\.cleanup)$'];
  const { stdout } = await gitIn(root, env)(args, { env: Object.fromEntries(own) as Record<string, string> });
  const settings: MessageSettings = { comment: DEFAULT_COMMENT, cleanup: undefined };
  for (const entry of stdout.split('\0').filter(Boolean)) {
    const [key = '', value = ''] = entry.split('\n');
    if (key === 'commit.cleanup') settings.cleanup = value;
    else if (value !== 'auto') settings.comment = value;
  }
  return settings;
}

/** Git drops comments by this setting, or because its editor showed the message. */
export const dropsComments = ({ cleanup = 'default' }: MessageSettings, isEdited: boolean): boolean =>
  cleanup === 'strip' || (cleanup === 'default' && isEdited);

const PARENT = /^[ \t]*[-*+] Parent:[ \t]*([0-9a-f]{7,64})(?![^ \t\r\n])/gm;

/** `isEdited`: whether git's editor showed the message, which is not known of a file. */
export async function stateOf(
  repository: Repository,
  world: World,
  message: Buffer,
  file = '',
  isEdited = true,
): Promise<MessageState & { comment: string }> {
  const settings = readMessageSettings(repository, world);
  const parent = readTip(repository) ?? undefined;
  const named = [...message.toString('latin1').matchAll(PARENT)].at(-1)?.[1];
  // Git is asked only about a parent that is not the commit of HEAD.
  const isAsked = named !== undefined && !parent?.startsWith(named);
  const known =
    isAsked && (await gitIn(repository.root, world.env)(['cat-file', '-e', `${named}^{commit}`])).code === 0;
  const { comment } = await settings;
  return {
    comment,
    strips: dropsComments(await settings, isEdited),
    operation: file.startsWith(`${repository.gitDir}/`) ? operationOf(repository) : undefined,
    parent,
    unknownParent: isAsked && !known ? named : undefined,
  };
}

/** A commit of a range, and whose it is. */
export interface RangeCommit extends CheckedCommit {
  sha: string;
  mark: Mark;
  people: People;
}

/** Five lines, then the message. */
const FORMAT = '--format=%H %P%n%an%n%ae%n%ce%n%ct%n%B';
const LOG = ['log', '-z', '--no-show-signature', '--no-notes', '--encoding=UTF-8', FORMAT];
const MAX_MESSAGE = 16 * 1024 * 1024;
/** Messages that the guard scans at once. A scan costs the same for a line and for a page. */
const PAGE = 256;

/** The commits of a range, newest first. Exit 2 for an invalid range. */
export async function checkRange(
  { root }: Repository,
  { env }: World,
  named: Range,
  rules: CommitRules,
  context?: Context,
): Promise<RangeCommit[]> {
  const range = typeof named === 'string' ? named : named.join(' ');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no revision has one, and git would cut there
  if (range === '' || range.startsWith('-') || /[\u0000-\u001f]/.test(range))
    throw noRange(range, 'it is not a revision');
  const messages: Buffer[] = [];
  const commits: RangeCommit[] = [];
  const cutter = new Cutter(
    (bytes) => {
      const { message, ...commit } = checkStored(bytes, rules);
      messages.push(message);
      commits.push(commit);
    },
    0,
    MAX_MESSAGE,
  );
  const args = [...LOG, '--end-of-options', ...[named].flat(), '--'];
  const [guard, { code, stderr }] = await Promise.all([
    loadGuard(env, context),
    streamGit(root, env)(args, (chunk) => cutter.push(chunk)),
  ]);
  if (code !== 0)
    throw isNoRange(stderr) ? noRange(range, 'git knows no such revision') : gitError(args, stderr);
  let isClean = false;
  return commits.map((commit, i) => {
    if (i % PAGE === 0) isClean = guard.scanGrave(messages.slice(i, i + PAGE).join('\n\n')).length === 0;
    return isClean ? commit : withoutSecrets(messages[i] as Buffer, commit, guard);
  });
}

function checkStored(bytes: Buffer, rules: CommitRules): RangeCommit & { message: Buffer } {
  let end = -1;
  for (let i = 0; i < 5; i++) end = bytes.indexOf('\n', end + 1);
  const head = bytes.toString('utf8', 0, end).split('\n');
  const [ids = '', author = '', authorEmail = '', committerEmail = '', at = ''] = head;
  const [sha = '', ...parents] = ids.split(' ').filter(Boolean);
  const people = { author, authorEmail, committerEmail, at: Number(at) };
  const message = bytes.subarray(end + 1);
  const state = { stored: true, parents: parents.length, parent: parents[0] ?? null, people };
  const { subject, exempt, problems, mark } = checkMessage(message, rules, state);
  return { sha, subject, ...(exempt ? { exempt } : {}), problems, mark, people, message };
}

const noRange = (range: string, why: string): Error =>
  usage('commit.range', `${JSON.stringify(oneLine(range, 80))} matches no commits here: ${why}.`, {
    hint: 'A..B, as for git log. In a shallow clone: git fetch --unshallow',
  });

/** A secret is named, never shown: neither in the subject nor in what another rule would quote. */
export function withoutSecrets<T extends CheckedCommit | CheckedMessage>(
  message: Buffer,
  checked: T,
  guard: Guard,
): T {
  const text = message.toString('utf8');
  const hits = guard.scanGrave(text);
  if (hits.length === 0) return checked;
  const fix = 'sha' in checked ? 'The same without it; if it is real, revoke it.' : 'The same without it.';
  const problems = hits.slice(0, 20).map(
    ({ rule, what, line }): Problem => ({
      rule: 'secret',
      line,
      message: `${what} (rule ${rule}).`,
      fix,
    }),
  );
  return { ...checked, subject: '…', problems };
}
