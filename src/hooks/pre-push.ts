import {
  type CheckedCommit,
  checkRange,
  type Enforcement,
  enforcementHere,
  rulesHere,
  whyUnread,
} from '../commit/check.js';
import { isOurs, type Owner } from '../commit/exempt.js';
import type { Who } from '../commit/rules.js';
import { ForgeError } from '../core/error.js';
import { configFile, hooksRecordFile, shownFrom } from '../core/paths.js';
import type { World } from '../core/world.js';
import { type Git, gitIn } from '../git/client.js';
import { madeBeside, newCommits, parsePushed } from '../git/remote.js';
import { findGuarded, type Repository } from '../git/repository.js';
import { type Scan, scanTree } from '../guard/scan-tree.js';
import { requireUndamaged } from '../ledger/integrity.js';
import { type Context, contextAt } from '../project/project.js';
import { HOOKS_RECORD, NO_HOOKS } from './record.js';

/** What is wrong with what is about to be pushed. */
export interface HookedPush extends Pick<Enforcement, 'enforce'> {
  secrets: Scan['findings'];
  /** Those that do not follow the protocol. */
  commits: CheckedCommit[];
  /** What is wrong with memory; null for nothing. */
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
  const range = async (): Promise<string[]> => (await listing).range;
  const context = contextAt(root, repository, world, true);
  const { enforce, settings, unread } = enforcementHere(context);
  const failed: HookedPush['failed'] = unread === null ? [] : [{ check: 'messages', why: unread }];
  const attempt = <T>(check: HookedPush['failed'][number]['check'], work: () => Promise<T>, none: T) =>
    work().catch((error: unknown): T => {
      failed.push({ check, why: whyUnread(error) });
      return none;
    });
  const scan = async () => scanTree(from, world, { range: await range(), readOnly: true });
  const judge = async () =>
    enforce === 'off' ? [] : findWrong(context, repository, git, await range(), settings.who);
  return {
    enforce,
    secrets: await attempt('secrets', async () => (await scan()).findings, []),
    commits: await attempt('messages', judge, []),
    memory: await attempt('memory', () => damageOf(context), null),
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
  const { world, layout } = context;
  const commits = await checkRange(repository, world, range, rulesHere(context));
  const wrong = commits.filter(({ problems }) => problems.some(({ rule }) => rule !== 'secret'));
  if (wrong.length === 0) return [];
  const owner = await ownerOf(context, git);
  const ours = wrong.filter((commit) => isOurs(who, commit, owner));
  const config = shownFrom(repository.root, configFile(layout));
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
