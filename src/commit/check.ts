import { toForgeError, usage } from '../core/error.js';
import type { World } from '../core/world.js';
import { readFeatures } from '../feature/store.js';
import { gitIn, streamGit } from '../git/client.js';
import { type Found, findForge, findRepository } from '../git/repository.js';
import { knowAllowed } from '../guard/allow.js';
import { type Guard, loadGuard } from '../guard/guard.js';
import { type Context, contextAt, readConfig } from '../project/project.js';
import { type CheckedMessage, checkMessage, type MessageState } from './check-rules.js';
import { aboveScissors, cleanupOf, markOf } from './clean.js';
import type { Exemption } from './exempt.js';
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

/** GIT-01: what the protocol has against messages. Needs no `.forge/`; without one the defaults hold. */
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
  const loading = loadGuard(world.env, context);
  const { range } = input;
  if (input.message !== undefined) {
    const state = repository ? await stateOf(repository, world, input.message, input.file) : {};
    const message = aboveScissors(input.message, state.comment);
    return conclude([guarded(message, checkMessage(message, rules, state), await loading)]);
  }
  if (!repository)
    throw usage('commit.no_git', `${from} is in no git repository.`, { hint: 'forge commit check FILE' });
  const git = streamGit(repository.root, world.env);
  return conclude(await checkRange(git, range as Range, rules, loading));
}

const conclude = (commits: CheckedCommit[]): CommitCheck => ({
  ok: commits.every(({ problems }) => problems.length === 0),
  commits,
});

/** The rules of this `.forge/`; its features' ids may stand in a subject. */
export function rulesHere(context: Context): CommitRules {
  return makeRules(
    readConfig(context).commit,
    readFeatures(context).map(({ id }) => id),
  );
}

/** What the settings want of git's hooks. */
export interface Enforcement {
  enforce: 'block' | 'warn' | 'off';
  settings: CommitSettings;
  /** Why only secrets are looked for, which no setting switches off; null where all is. */
  unread: string | null;
}

/** Settings that cannot be read hold nobody up. */
export function enforcementHere(context: Context): Enforcement {
  try {
    const { enforce, ...settings } = readConfig(context).commit;
    return { enforce, settings, unread: null };
  } catch (error) {
    return { enforce: 'off', settings: DEFAULT_SETTINGS, unread: whyUnread(error) };
  }
}

export const whyUnread = (error: unknown): string => toForgeError(error).message;

/** An id that a commit of forge's own may bear: a checkpoint may be called otherwise. */
export const idHere = (context: Context, id: string): string => (rulesHere(context).isId(id) ? id : NO_ISSUE);

export async function stateOf(
  repository: NonNullable<Found['repository']>,
  world: World,
  message: Buffer,
  file = '',
): Promise<MessageState> {
  const settings = await readMessageSettings(gitIn(repository.root, world.env), world.env);
  const isGits = file.startsWith(`${repository.gitDir}/`);
  return {
    // Resolve "auto" in the whole file: git's own lines may stand only below the scissors line.
    comment: markOf(message.toString('latin1'), settings.comment),
    cleanup: cleanupOf(settings.cleanup),
    encoding: settings.encoding,
    operation: isGits ? operationOf(repository) : undefined,
  };
}

/** As many as the guard looks at in one go: a look costs the same for a line and for a page. */
const PAGE = 256;

/** Git writes, and the guard is loaded, while messages are checked. */
async function checkRange(
  git: ReturnType<typeof streamGit>,
  range: Range,
  rules: CommitRules,
  loading: Promise<Guard>,
): Promise<CheckedCommit[]> {
  const commits: CheckedCommit[] = [];
  /** The texts of the last ones, which the guard has not seen. */
  let page: Buffer[] = [];
  let guard: Guard | null = null;
  const look = (by: Guard): void => {
    guardPage(commits, page, by);
    page = [];
  };
  const reading = readMessages(git, range, ({ hash, parents, message }) => {
    const { subject, exempt, problems } = checkMessage(message, rules, { stored: true, parents });
    commits.push(exempt ? { sha: hash, subject, exempt, problems } : { sha: hash, subject, problems });
    page.push(message);
    if (guard && page.length >= PAGE) look(guard);
  });
  const keep = loading.then((loaded) => {
    guard = loaded;
  });
  await Promise.all([reading, keep]);
  look(await loading);
  return commits;
}

/** Only where the page has something each message is looked at. */
function guardPage(commits: CheckedCommit[], page: readonly Buffer[], guard: Guard): void {
  const text = Buffer.concat(page.flatMap((message) => [message, BETWEEN])).toString('utf8');
  if (guard.scanCritical(text.replace(FORM, '\n')).length === 0) return;
  const first = commits.length - page.length;
  for (const [i, message] of page.entries())
    commits[first + i] = guarded(message, commits[first + i] as CheckedCommit, guard);
}

/**
 * Lines of the protocol that can hold nothing else, and the short hash in front of what is said of a parent: digits alone
 * could be somebody's number, and stay. All else keeps its neighbours.
 */
const FORM =
  /^(?:(?:## \w{3,9}|- (?:Parent: [0-9a-f]{7,64} \(previous working state\)|Linear: [A-Z][A-Z0-9]{0,9}-\d{1,9}|Session: [\d-]{10}-session-\d{3,6})|Forge-Ledger: \w{1,12} \d{1,9} [0-9a-f]{64})?\n|- Parent: (?=\d{0,11}[a-f])[0-9a-f]{7,12}(?= \())/gm;

const BETWEEN = Buffer.from('\n\n');

/** What is secret is named, never shown: neither in the subject nor in what another rule would quote. */
export function guarded(
  message: Buffer,
  checked: CheckedCommit | CheckedMessage,
  guard: Guard,
): CheckedCommit {
  const text = message.toString('utf8');
  const hits = guard.scanCritical(text);
  const { subject, exempt, problems } = checked;
  const sha = 'sha' in checked ? checked.sha : undefined;
  const shown = { ...(sha === undefined ? {} : { sha }), subject, ...(exempt ? { exempt } : {}), problems };
  if (hits.length === 0) return shown;
  const secrets = hits.slice(0, 20).map(
    ({ rule, what, start }): Problem => ({
      rule: 'secret',
      line: text.slice(0, start).split('\n').length,
      message: `${what} (rule ${rule}).`,
      fix: sha === undefined ? 'The same without it.' : 'The same without it; if it is real, revoke it.',
    }),
  );
  return { ...shown, subject: '…', problems: secrets };
}
