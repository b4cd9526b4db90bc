import { gitIn, streamGit } from '../adapters/git.js';
import { operationOf, readMessageSettings, readMessages } from '../adapters/git-messages.js';
import { type Found, findForge, findRepository } from '../adapters/repository.js';
import type { World } from '../adapters/world.js';
import {
  type CheckedMessage,
  checkMessage,
  type MessageState,
  type Problem,
} from '../domain/commit/check.js';
import { cleanupOf } from '../domain/commit/clean.js';
import type { Exemption } from '../domain/commit/exempt.js';
import { type CommitRules, makeRules } from '../domain/commit/rules.js';
import { usage } from '../domain/error.js';
import { FEATURES } from '../domain/feature.js';
import { featuresFile } from '../store/layout.js';
import { type Context, contextAt, readConfig } from './context.js';
import { type Guard, loadGuard } from './guard.js';

export interface CommitCheckInput {
  /** A message that is to become a commit. */
  message?: Buffer;
  /** The message's file, absolute: git's own are exempt while git is in the middle of something. */
  file?: string;
  /** Commits that are there, `A..B`. */
  range?: string;
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
  const rules = found ? rulesHere(contextAt(found.root, repository, world, true)) : makeRules();
  const guard = await loadGuard(world.env);
  const { range, message } = input;
  if (message !== undefined) {
    const state = repository ? await stateOf(repository, world, input.file) : {};
    return conclude([guarded(message, checkMessage(message, rules, state), guard)]);
  }
  if (!repository)
    throw usage('commit.no_git', `${from} is in no git repository.`, { hint: 'forge commit check FILE' });
  return conclude(await checkRange(streamGit(repository.root, world.env), range as string, rules, guard));
}

const conclude = (commits: CheckedCommit[]): CommitCheck => ({
  ok: commits.every(({ problems }) => problems.length === 0),
  commits,
});

/** The rules of this `.forge/`; its features' ids may stand in a subject. */
export function rulesHere(context: Context): CommitRules {
  const { disk, layout } = context;
  const none = { schema_version: '1.0', features: [] };
  const { features } = disk.readDocument(FEATURES, featuresFile(layout), none).value;
  return makeRules(
    readConfig(context).commit,
    features.map(({ id }) => id),
  );
}

async function stateOf(
  repository: NonNullable<Found['repository']>,
  world: World,
  file = '',
): Promise<MessageState> {
  const settings = await readMessageSettings(gitIn(repository.root, world.env));
  const isGits = file.startsWith(`${repository.gitDir}/`);
  return {
    comment: settings.comment,
    cleanup: cleanupOf(settings.cleanup),
    encoding: settings.encoding,
    operation: isGits ? operationOf(repository) : undefined,
  };
}

/** As much as the guard looks at in one go: a look costs the same for a line and for a page. */
const PAGE = 128 * 1024;

async function checkRange(
  git: ReturnType<typeof streamGit>,
  range: string,
  rules: CommitRules,
  guard: Guard,
): Promise<CheckedCommit[]> {
  const commits: CheckedCommit[] = [];
  let page: { message: Buffer; at: number }[] = [];
  let size = 0;
  const look = (): void => {
    const text = Buffer.concat(page.flatMap(({ message }) => [message, BETWEEN])).toString('utf8');
    if (guard.scanCritical(text.replace(FORM, '\n')).length > 0)
      for (const { message, at } of page) commits[at] = guarded(message, commits[at] as CheckedCommit, guard);
    page = [];
    size = 0;
  };
  await readMessages(git, range, ({ hash, parents, message }) => {
    const checked = checkMessage(message, rules, { stored: true, parents });
    page.push({ message, at: commits.length });
    commits.push({ sha: hash, ...shownOf(checked) });
    size += message.length;
    if (size > PAGE) look();
  });
  look();
  return commits;
}

/** Lines of the protocol that can hold nothing else; the others keep their neighbours. */
const FORM =
  /^(?:## \w{3,9}|- (?:Parent: [0-9a-f]{7,64} \(previous working state\)|Linear: [A-Z][A-Z0-9]{0,9}-\d{1,9}|Session: [\d-]{10}-session-\d{3,6})|Forge-Ledger: \w{1,12} \d{1,9} [0-9a-f]{64})?\n/gm;

const BETWEEN = Buffer.from('\n\n');

const shownOf = ({ subject, exempt, problems }: CheckedMessage): CheckedCommit => ({
  subject,
  ...(exempt ? { exempt } : {}),
  problems,
});

/** What is secret is named, never shown: neither in the subject nor in what another rule would quote. */
function guarded(message: Buffer, checked: CheckedCommit, guard: Guard): CheckedCommit {
  const text = message.toString('utf8');
  const hits = guard.scanCritical(text);
  const { sha, subject, exempt, problems } = checked;
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
