import {
  type CheckedCommit,
  checkCommits,
  type Enforcement,
  enforcementHere,
  whyUnread,
} from '../commit/check.js';
import { ForgeError } from '../core/error.js';
import { configFile, shownFrom } from '../core/paths.js';
import type { World } from '../core/world.js';
import { type Git, gitIn } from '../git/client.js';
import { madeBeside, newCommits, parsePushed } from '../git/remote.js';
import { findGuarded } from '../git/repository.js';
import { type Scan, scanTree } from '../guard/scan-tree.js';
import { requireUndamaged } from '../ledger/integrity.js';
import { type Context, contextAt } from '../project/project.js';

/** What is wrong with what is about to be pushed. */
export interface HookedPush extends Pick<Enforcement, 'enforce'> {
  secrets: Scan['findings'];
  /** Those that do not follow the protocol. */
  commits: CheckedCommit[];
  /** What is wrong with memory; null: nothing. */
  memory: string | null;
  /** The checks that failed, and why. What the others found counts. */
  failed: { check: 'secrets' | 'messages' | 'memory'; why: string }[];
}

/**
 * The `pre-push` hook: the commits that the remote lacks, what they add, and memory itself. This is the gate: `commit-msg`
 * runs for neither picks nor reverts, nor with `--no-verify`. `refs`: what git says on stdin. Null where there is nothing to
 * check. Writes nothing: records that left the working tree are put back by the next command that writes memory.
 */
export async function checkHookedPush(
  from: string,
  world: World,
  { remote, refs }: { remote: string; refs: string },
): Promise<HookedPush | null> {
  const found = findGuarded(from);
  if (!found?.repository) return null;
  const git = gitIn(found.repository.root, world.env);
  const pushed = parsePushed(refs);
  const range = newCommits(git, remote, pushed);
  // If git cannot list them, the check that needs them reports it.
  if ((await range.catch(() => null))?.length === 0) return null;
  const context = contextAt(found.root, found.repository, world, true);
  const { enforce, unread } = enforcementHere(context);
  const failed: HookedPush['failed'] = unread === null ? [] : [{ check: 'messages', why: unread }];
  const attempt = <T>(
    check: 'secrets' | 'messages' | 'memory',
    work: () => Promise<T>,
    none: T,
  ): Promise<T> =>
    work().catch((error: unknown) => {
      failed.push({ check, why: whyUnread(error) });
      return none;
    });
  const scan = async () => scanTree(from, world, { range: await range, readOnly: true });
  const fresh = async () => (enforce === 'off' ? [] : newCommits(git, null, pushed));
  return {
    enforce,
    secrets: await attempt('secrets', async () => (await scan()).findings, []),
    commits: await attempt('messages', async () => judge(git, context, await fresh()), []),
    memory: await attempt('memory', () => damageOf(context), null),
    failed,
  };
}

/**
 * Those that should have followed the protocol, and do not: it counts from the commit on that brought `.forge/`. What is
 * on some remote already is in `range` no more: nobody can put it right.
 */
async function judge(git: Git, context: Context, range: readonly string[]): Promise<CheckedCommit[]> {
  if (range.length === 0) return [];
  const { layout, world, repository } = context;
  const { commits } = await checkCommits(layout.root, world, { range });
  const wrong = commits.filter(({ problems }) => problems.some(({ rule }) => rule !== 'secret'));
  const config = shownFrom(repository?.root ?? layout.root, configFile(layout));
  const bound = await madeBeside(
    git,
    wrong.map(({ sha = '' }) => sha),
    config,
  );
  return wrong.filter(({ sha = '' }) => bound.has(sha));
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
