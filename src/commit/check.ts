import { toForgeError, usage } from '../core/error.js';
import type { World } from '../core/world.js';
import { readFeatures } from '../feature/store.js';
import { type Git, gitIn, streamGit } from '../git/client.js';
import { findForge, findRepository, type Repository } from '../git/repository.js';
import { readTip } from '../git/state.js';
import { knowAllowed } from '../guard/allow.js';
import { type Guard, loadGuard } from '../guard/guard.js';
import { type Context, contextAt, readConfig } from '../project/project.js';
import { type CheckedMessage, checkMessage, type MessageState } from './check-message.js';
import { aboveScissors, cleanupOf } from './clean.js';
import type { Exemption, Mark, People } from './exempt.js';
import { operationOf, type Range, readMessageSettings, readMessages } from './git-messages.js';
import {
  type CommitRules,
  type CommitSettings,
  DEFAULT_SETTINGS,
  makeRules,
  NO_ISSUE,
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
  input: CommitCheckInput,
): Promise<CommitCheck> {
  if ((input.message === undefined) === (input.range === undefined))
    throw usage('commit.way', 'Give a file (or - for stdin), or --range A..B.', {
      hint: 'forge commit check --help',
    });
  const found = findForge(from);
  const repository = found ? found.repository : findRepository(from);
  const context = found ? contextAt(found.root, repository, world, true) : undefined;
  const rules = context ? rulesHere(context) : makeRules();
  if (context) knowAllowed(context);
  if (input.message !== undefined) {
    const state = repository ? await stateOf(repository, world, input.message, input.file) : {};
    const message = aboveScissors(input.message, state.comment);
    const checked = checkMessage(message, rules, state);
    return conclude([withoutSecrets(message, checked, await loadGuard(world.env, context))]);
  }
  if (!repository)
    throw usage('commit.no_git', `${from} is in no git repository.`, { hint: 'forge commit check FILE' });
  return conclude(await checkRange(repository, world, input.range as Range, rules, context));
}

const conclude = (commits: readonly CheckedCommit[]): CommitCheck => ({
  ok: commits.every(({ problems }) => problems.length === 0),
  commits: commits.map(({ sha, subject, exempt, problems }) => ({
    ...(sha === undefined ? {} : { sha }),
    subject,
    ...(exempt ? { exempt } : {}),
    problems,
  })),
});

/** The rules of this `.forge/`. The ids of its features may stand in a subject. */
export function rulesHere(context: Context): CommitRules {
  return makeRules(
    readConfig(context).commit,
    readFeatures(context).map(({ id }) => id),
  );
}

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
    return { enforce: 'off', settings: DEFAULT_SETTINGS, unread: whyUnread(error) };
  }
}

export const whyUnread = (error: unknown): string => toForgeError(error).message;

/** An id that a commit of forge's own may have: a checkpoint may have another name. */
export const idHere = (context: Context, id: string): string => (rulesHere(context).isId(id) ? id : NO_ISSUE);

export async function stateOf(
  repository: Repository,
  world: World,
  message: Buffer,
  file = '',
): Promise<MessageState> {
  const git = gitIn(repository.root, world.env);
  const [settings, parents] = await Promise.all([
    readMessageSettings(git, world.env),
    parentsOf(repository, git, message.toString('latin1')),
  ]);
  const isGits = file.startsWith(`${repository.gitDir}/`);
  return {
    comment: settings.comment,
    cleanup: cleanupOf(settings.cleanup),
    operation: isGits ? operationOf(repository) : undefined,
    ...parents,
  };
}

const PARENT = /^[ \t]*[-*+] Parent:[ \t]*([0-9a-f]{7,64})(?![^ \t\r\n])/gm;

/** Git is asked only about a parent that is not the commit of HEAD. */
async function parentsOf(
  repository: Repository,
  git: Git,
  text: string,
): Promise<Pick<MessageState, 'parent' | 'unknownParent'>> {
  const parent = readTip(repository) ?? undefined;
  const named = [...text.matchAll(PARENT)].at(-1)?.[1];
  if (named === undefined || parent?.startsWith(named)) return { parent };
  const { code } = await git(['cat-file', '-e', `${named}^{commit}`]);
  return code === 0 ? { parent } : { parent, unknownParent: named };
}

/** Messages that the guard scans at once. A scan costs the same for a line and for a page. */
const PAGE = 256;

/** A commit of a range, and whose it is. */
export interface RangeCommit extends CheckedCommit {
  sha: string;
  mark: Mark;
  people: People;
}

/** The commits of a range. The guard is loaded while git writes and messages are checked. */
export async function checkRange(
  { root }: Repository,
  { env }: World,
  range: Range,
  rules: CommitRules,
  context?: Context,
): Promise<RangeCommit[]> {
  const commits: RangeCommit[] = [];
  const messages: Buffer[] = [];
  /** No message of the page has a secret, so none is scanned alone. */
  let isClean = false;
  const reading = readMessages(streamGit(root, env), range, ({ hash, parents, people, message }) => {
    const state = { stored: true, parents: parents.length, parent: parents[0] ?? null, people };
    const { subject, exempt, problems, mark } = checkMessage(message, rules, state);
    commits.push({ sha: hash, subject, ...(exempt ? { exempt } : {}), problems, mark, people });
    messages.push(message);
  });
  const [guard] = await Promise.all([loadGuard(env, context), reading]);
  return commits.map((commit, i) => {
    if (i % PAGE === 0) isClean = guard.scanCritical(messages.slice(i, i + PAGE).join('\n\n')).length === 0;
    return isClean ? commit : withoutSecrets(messages[i] as Buffer, commit, guard);
  });
}

/** A secret is named, never shown: neither in the subject nor in what another rule would quote. */
export function withoutSecrets<T extends CheckedCommit | CheckedMessage>(
  message: Buffer,
  checked: T,
  guard: Guard,
): T {
  const text = message.toString('utf8');
  const hits = guard.scanCritical(text);
  if (hits.length === 0) return checked;
  const fix = 'sha' in checked ? 'The same without it; if it is real, revoke it.' : 'The same without it.';
  const problems = hits.slice(0, 20).map(
    ({ rule, what, start }): Problem => ({
      rule: 'secret',
      line: text.slice(0, start).split('\n').length,
      message: `${what} (rule ${rule}).`,
      fix,
    }),
  );
  return { ...checked, subject: '…', problems };
}
