import {
  type CheckedCommit,
  checkRange,
  dropsComments,
  type Enforcement,
  enforcementHere,
  operationOf,
  readMessageSettings,
  rulesHere,
  stateOf,
  withoutSecrets,
} from '../commit/check.js';
import { composeMessage } from '../commit/compose.js';
import { aboveScissors, cleanMessage, formatCommitMessage, protectHeadings } from '../commit/message.js';
import { type CheckedMessage, checkMessage, type MessageState } from '../commit/protocol.js';
import { isOurs, makeRules, type Owner, type Who } from '../commit/rules.js';
import { knownWork } from '../commit/work.js';
import { agentMark } from '../core/environment.js';
import { ForgeError, toForgeError } from '../core/error.js';
import { configFile, hooksRecordFile, shownFrom } from '../core/paths.js';
import type { World } from '../core/world.js';
import { type Git, gitIn } from '../git/client.js';
import { madeBeside, newCommits, parsePushed } from '../git/remote.js';
import { findForge, findGuarded, type Repository, readGitFile } from '../git/repository.js';
import { readStagedFiles } from '../git/status.js';
import { knowAllowed } from '../guard/allow.js';
import { loadGuard } from '../guard/guard.js';
import { type Scan, scanTree } from '../guard/scan-tree.js';
import { requireUndamaged } from '../ledger/integrity.js';
import { type Context, contextAt } from '../project/project.js';
import { HOOKS_RECORD, NO_HOOKS } from './install.js';

/** What the hook found, and what the repository asks of it. */
export interface HookedMessage
  extends Pick<CheckedMessage, 'problems'>,
    Pick<Enforcement, 'enforce' | 'unread'> {
  /** The file goes on below a scissors line, where git cuts it with `-v` again. */
  isCut: boolean;
}

/** Git sets this where no editor was used. One that continues a pick does so too, and cleans all the same. */
const isEdited = ({ env }: World): boolean => env.GIT_EDITOR !== ':';

const isAgent = ({ env }: World): boolean =>
  agentMark(env) !== null || /^\s*builder\s*$/i.test(env.FORGE_ROLE ?? '');

/**
 * The `commit-msg` hook: the message as git is about to store it (docs/commits.md). Where git would take headings for
 * comments, they are moved in by a space. Null where there is nothing to check: no `.forge/` here, or a message that git
 * refuses by itself.
 */
export async function checkHookedMessage(
  from: string,
  world: World,
  path: string,
): Promise<HookedMessage | null> {
  const found = findGuarded(from);
  if (!found) return null;
  const file = readGitFile(from, path);
  const context = contextAt(found.root, found.repository, world, true);
  const wanted = enforcementHere(context);
  knowAllowed(context);
  // The guard is loaded while git reads its settings.
  const [state, guard] = await Promise.all([
    found.repository
      ? stateOf(found.repository, world, file.bytes, file.path, isEdited(world))
      : ({} as MessageState),
    loadGuard(world.env, wanted.unread === null ? context : undefined),
  ]);
  // Without an editor, git writes no scissors line and stores one that is part of the text.
  const message = isEdited(world) ? aboveScissors(file.bytes, state.comment) : file.bytes;
  // Only comments are left: who closes the editor on them wants no commit, and git says so.
  if (cleanMessage(message.toString(), isEdited(world) ? state.comment : undefined).length === 0) return null;
  const checked = judge(context, message, state, wanted);
  const { problems } = withoutSecrets(message, checked, guard);
  if (problems.length === 0 && (state.operation || state.strips)) {
    const text = file.bytes.toString('utf8');
    const safe = protectHeadings(text, state.comment);
    if (safe !== text) file.replace(safe);
  }
  const isBound = wanted.settings.who !== 'agents' || isAgent(world) || checked.mark !== null;
  const { enforce, unread } = wanted;
  return { problems, enforce: isBound ? enforce : 'off', unread, isCut: message.length < file.bytes.length };
}

/** The list of features is read only for an id that is not an issue's. */
function judge(context: Context, bytes: Buffer, state: MessageState, wanted: Enforcement): CheckedMessage {
  const quick = checkMessage(bytes, makeRules(wanted.settings), state);
  const mayBeFeature = quick.problems.some(({ rule }) => rule === 'id' || rule === 'backtrace');
  if (wanted.unread !== null || !mayBeFeature) return quick;
  try {
    return checkMessage(bytes, rulesHere(context), state);
  } catch (error) {
    Object.assign(wanted, { enforce: 'off', unread: toForgeError(error).message });
    return quick;
  }
}

const REMARK =
  'Filled in by forge. To commit nothing, delete all of it: an editor that is just closed commits it.';

/**
 * The `prepare-commit-msg` hook: what `forge commit` would write, in front of git's remarks, where nothing stands yet. False
 * where it is left as it is: a text of somebody's, no `.forge/`.
 */
export async function prepareMessage(from: string, world: World, path: string): Promise<boolean> {
  const found = findForge(from);
  if (!found?.repository || operationOf(found.repository)) return false;
  const { root, repository } = found;
  const file = readGitFile(from, path);
  const settings = await readMessageSettings(repository, world);
  const { comment } = settings;
  if (cleanMessage(aboveScissors(file.bytes, comment).toString(), comment).length > 0) return false;
  const draft = await draftOf(contextAt(root, repository, world, true), repository, world);
  const before = file.bytes.toString('utf8');
  // Where git keeps lines with its comment character, headings are safe, and a remark would be stored.
  file.replace(
    dropsComments(settings, true)
      ? `${protectHeadings(draft, comment)}\n${comment} ${REMARK}\n${before.replace(/^\n/, '')}`
      : `${draft}${before}`,
  );
  return true;
}

/** From the index of the commit that is being made, which is another one with `-a` and with paths. */
async function draftOf(context: Context, { root }: Repository, { env }: World): Promise<string> {
  const { GIT_INDEX_FILE: index } = env;
  const plain = gitIn(root, env);
  const git: Git = (args, options = {}) =>
    plain(
      args,
      index === undefined ? options : { ...options, env: { ...options.env, GIT_INDEX_FILE: index } },
    );
  const files = await readStagedFiles(git, false);
  const work = await knownWork(context, { root, git, files, all: false });
  // Without the ledgers' heads: a proof is nothing to be edited.
  return formatCommitMessage(composeMessage({}, { ...work, ledger: [] }));
}

/** Problems with the commits to be pushed. */
export interface HookedPush extends Pick<Enforcement, 'enforce'> {
  secrets: Scan['findings'];
  /** Those that do not follow the protocol. */
  commits: CheckedCommit[];
  /** The problem with memory, or null. */
  memory: string | null;
  /** The checks that failed, and why. What the others found counts. */
  failed: { check: 'secrets' | 'messages' | 'memory'; why: string }[];
  /** How many older commits were not looked at. */
  leftOut: number;
}

/** The newest commits of a push that are checked. A first push of a large history would take minutes. */
const MAX_COMMITS = 1000;

/**
 * The `pre-push` hook: the commits that no remote has, what they add, and memory itself. This is the gate: `commit-msg`
 * runs for neither picks nor reverts, nor with `--no-verify`. `refs`: git's stdin. Null where there is nothing to check.
 * Writes nothing: records that left the working tree are put back by the next command that writes memory.
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
  const listing = newCommits(git, parsePushed(refs), MAX_COMMITS);
  // If git cannot list them, the checks that need them report it.
  const listed = await listing.catch(() => null);
  if (listed?.range.length === 0) return null;
  const context = contextAt(root, repository, world, true);
  const { enforce, settings, unread } = enforcementHere(context);
  const failed: HookedPush['failed'] = unread === null ? [] : [{ check: 'messages', why: unread }];
  const attempt = <T>(check: HookedPush['failed'][number]['check'], none: T, work: () => Promise<T>) =>
    work().catch((error: unknown): T => {
      failed.push({ check, why: toForgeError(error).message });
      return none;
    });
  return {
    enforce,
    secrets: await attempt('secrets', [], async () => {
      const { range } = await listing;
      return (await scanTree(from, world, { range, readOnly: true })).findings;
    }),
    commits: await attempt('messages', [], async () =>
      enforce === 'off' ? [] : findWrong(context, repository, git, (await listing).range, settings.who),
    ),
    memory: await attempt('memory', null, () => damageOf(context)),
    failed,
    leftOut: listed?.leftOut ?? 0,
  };
}

/**
 * GIT-08: commits of this clone that should have followed the protocol, and do not. It counts from the commit on that
 * brought `.forge/`.
 */
async function findWrong(
  context: Context,
  repository: Repository,
  git: Git,
  range: readonly string[],
  who: Who,
): Promise<CheckedCommit[]> {
  const commits = await checkRange(repository, context.world, range, rulesHere(context));
  const wrong = commits.filter(({ problems }) => problems.some(({ rule }) => rule !== 'secret'));
  if (wrong.length === 0) return [];
  const owner = await ownerOf(context, git);
  const ours = wrong.filter((commit) => isOurs(who, commit, owner));
  const config = shownFrom(repository.root, configFile(context.layout));
  const bound = await madeBeside(
    git,
    ours.map(({ sha }) => sha),
    config,
  );
  return ours.filter(({ sha }) => bound.has(sha));
}

/** As git would write it into a commit. */
async function ownerOf({ disk, layout }: Context, git: Git): Promise<Owner> {
  const { stdout } = await git(['var', 'GIT_COMMITTER_IDENT']);
  const { installed_at } = disk.readDocument(HOOKS_RECORD, hooksRecordFile(layout), NO_HOOKS).value;
  const since = installed_at === undefined ? 0 : Math.floor(Date.parse(installed_at) / 1000);
  return { email: /<([^<>]*)>/.exec(stdout)?.[1] ?? '', since };
}

async function damageOf(context: Context): Promise<string | null> {
  try {
    await requireUndamaged(context);
    return null;
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'corrupted') return error.message;
    throw error;
  }
}
