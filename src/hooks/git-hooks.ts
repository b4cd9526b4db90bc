import {
  type CheckedCommit,
  checkRange,
  type Enforcement,
  type RangeCommit,
  operationOf,
  readEnforcement,
  readMessageState,
  readRules,
  withoutSecrets,
} from '../commit/check.js';
import { readWork } from '../commit/commit.js';
import { composeMessage } from '../commit/compose.js';
import { aboveScissors, cleanMessage, formatCommitMessage, protectHeadings } from '../commit/message.js';
import { checkMessage } from '../commit/protocol.js';
import { isBound, type Problem, type Who } from '../commit/rules.js';
import { agentMark } from '../core/environment.js';
import { ForgeError, toForgeError } from '../core/error.js';
import { hooksRecordFile } from '../core/paths.js';
import type { World } from '../core/world.js';
import { type Git, gitIn } from '../git/client.js';
import { newCommits, parsePushed } from '../git/remote.js';
import { findForge, findGuarded, type Repository, readGitFile } from '../git/repository.js';
import { readStagedFiles } from '../git/status.js';
import { knowAllowed } from '../guard/allow.js';
import { loadGuard } from '../guard/guard.js';
import { type Scan, scanTree } from '../guard/scan-tree.js';
import { requireUndamaged } from '../ledger/integrity.js';
import { type Context, contextAt } from '../project/project.js';
import { HOOKS_RECORD, NO_HOOKS } from './install.js';

export interface HookedMessage {
  problems: Problem[];
  /** In what is staged (LTM-13). */
  secrets: Scan['findings'];
  enforce: Enforcement['enforce'];
  /** Why only secrets were looked for. */
  unread: string | null;
}

const isAgent = ({ env }: World): boolean =>
  agentMark(env) !== null || /^\s*builder\s*$/i.test(env.FORGE_ROLE ?? '');

/**
 * The `commit-msg` hook: checks the message as git will store it (docs/commits.md), and indents headings that git would
 * drop as comments. Null if there is nothing to check: no `.forge/` here, or an empty message, which git rejects itself.
 */
export async function checkHookedMessage(
  from: string,
  world: World,
  path: string,
): Promise<HookedMessage | null> {
  const found = findGuarded(from);
  if (!found?.repository) return null;
  const { path: file, bytes, replace } = readGitFile(from, path);
  const context = contextAt(found.root, found.repository, world, true);
  knowAllowed(context);
  // Git sets this when it uses no editor. Then it writes no scissors line, and stores one that is part of the text.
  const isEdited = world.env.GIT_EDITOR !== ':';
  const [state, guard] = await Promise.all([
    readMessageState(found.repository, world, { message: bytes, file, isEdited }),
    loadGuard(world.env, context),
  ]);
  const message = isEdited ? aboveScissors(bytes, state.comment) : bytes;
  if (cleanMessage(message.toString(), isEdited ? state.comment : undefined).length === 0) return null;
  const { enforce, settings, unread } = readEnforcement(context);
  const judged: HookedMessage = { problems: [], secrets: [], enforce, unread };
  try {
    const { problems, mark } = unread === null ? checkMessage(message, readRules(context), state) : UNJUDGED;
    judged.problems = problems;
    if (settings.who === 'agents' && !isAgent(world) && mark === null) judged.enforce = 'off';
  } catch (error) {
    // The features cannot be read.
    Object.assign(judged, { enforce: 'off', unread: (error as Error).message });
  }
  judged.problems = withoutSecrets(message, { subject: '', problems: judged.problems }, guard).problems;
  // A merge and its like bring other people's commits; the push looks at those.
  if (!state.operation)
    judged.secrets = (await scanTree(from, world, { staged: true, readOnly: true })).findings;
  if (judged.problems.length === 0 && (state.operation || state.strips)) {
    const text = bytes.toString('utf8');
    const safe = protectHeadings(text, state.comment);
    if (safe !== text) replace(safe);
  }
  return judged;
}

const UNJUDGED = { problems: [], mark: null };

const REMARK =
  'Filled in by forge. To commit nothing, delete all of it: an editor that is just closed commits it.';

/** The `prepare-commit-msg` hook: puts the message of `forge commit` above git's comments if the message is empty. */
export async function prepareMessage(from: string, world: World, path: string): Promise<void> {
  const found = findForge(from);
  if (!found?.repository || operationOf(found.repository)) return;
  const { root, repository } = found;
  const { bytes, replace } = readGitFile(from, path);
  const { comment, strips } = await readMessageState(repository, world, { message: bytes, isEdited: true });
  if (cleanMessage(aboveScissors(bytes, comment).toString(), comment).length > 0) return;
  const draft = await draftMessage(contextAt(root, repository, world, true), repository, world);
  const before = bytes.toString('utf8');
  // If git keeps comment lines, headings are safe, and the remark would be stored.
  replace(
    strips
      ? `${protectHeadings(draft, comment)}\n${comment} ${REMARK}\n${before.replace(/^\n/, '')}`
      : `${draft}${before}`,
  );
}

/** With `-a` and with paths, git hands the hook another index. */
async function draftMessage(context: Context, { root }: Repository, { env }: World): Promise<string> {
  const index = env.GIT_INDEX_FILE === undefined ? {} : { GIT_INDEX_FILE: env.GIT_INDEX_FILE };
  const plain = gitIn(root, env);
  const git: Git = (args, options) => plain(args, { ...options, env: { ...options?.env, ...index } });
  const files = await readStagedFiles(git, false);
  const work = await readWork(context, { git, files, all: false });
  // Without ledger heads: an editable text proves nothing.
  return formatCommitMessage(composeMessage({}, { ...work, ledger: [] }));
}

/** Problems with the commits of a push. */
export interface HookedPush {
  enforce: Enforcement['enforce'];
  secrets: Scan['findings'];
  /** Commits that break the protocol. */
  commits: CheckedCommit[];
  /** The problem with memory, or null. */
  memory: string | null;
  /** Checks that could not be made, and why. The other checks still count. */
  failed: { check: 'secrets' | 'messages' | 'memory'; why: string }[];
  /** How many older commits were not checked. */
  leftOut: number;
}

/** A first push of a large history would take minutes. */
const MAX_COMMITS = 1000;

/**
 * The `pre-push` hook: checks the commits that no remote has, and memory. Git runs no `commit-msg` for picks and reverts,
 * nor with `--no-verify`. `refs` is git's stdin. Null if there is nothing to check. Writes nothing.
 */
export async function checkHookedPush(
  from: string,
  world: World,
  { refs }: { refs: string },
): Promise<HookedPush | null> {
  const found = findGuarded(from);
  if (!found?.repository) return null;
  const { root, repository } = found;
  const git = gitIn(repository.root, world.env);
  const { range, leftOut } = await newCommits(git, parsePushed(refs), MAX_COMMITS);
  if (range.length === 0) return null;
  const context = contextAt(root, repository, world, true);
  const { enforce, settings, unread } = readEnforcement(context);
  const failed: HookedPush['failed'] = unread === null ? [] : [{ check: 'messages', why: unread }];
  const attempt = async <T>(check: 'secrets' | 'messages' | 'memory', none: T, work: () => Promise<T>) =>
    work().catch((error: unknown): T => {
      failed.push({ check, why: toForgeError(error).message });
      return none;
    });
  const readSecrets = async () => (await scanTree(from, world, { range, readOnly: true })).findings;
  return {
    enforce,
    secrets: await attempt('secrets', [], readSecrets),
    commits: await attempt('messages', [], async () =>
      enforce === 'off' ? [] : findBroken(context, repository, git, range, settings.who),
    ),
    memory: await attempt('memory', null, () => findDamage(context)),
    failed,
    leftOut,
  };
}

/** GIT-08: commits of this clone that should follow the protocol, and do not. */
async function findBroken(
  context: Context,
  repository: Repository,
  git: Git,
  range: readonly string[],
  who: Who,
): Promise<CheckedCommit[]> {
  const commits = await checkRange(repository, context.world, range, readRules(context));
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
