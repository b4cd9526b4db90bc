import { type Git, gitIn } from '../../adapters/git/git.js';
import { madeBeside, newCommits, parsePushed } from '../../adapters/git/push.js';
import { findGuarded } from '../../adapters/git/repository.js';
import type { World } from '../../adapters/world.js';
import { ForgeError } from '../../domain/error.js';
import { configFile, shownFrom } from '../../store/layout.js';
import {
  type CheckedCommit,
  checkCommits,
  type Enforcement,
  enforcementHere,
  whyUnread,
} from '../commit/check.js';
import { type Context, contextAt } from '../context.js';
import { type Scan, scanTree } from '../guard/scan.js';
import { requireMemory } from '../memory/integrity.js';

/** What is wrong with what is about to be pushed. */
export interface HookedPush extends Pick<Enforcement, 'enforce' | 'unread'> {
  /** Those that do not follow the protocol. */
  commits: CheckedCommit[];
  secrets: Scan['findings'];
  /** What is wrong with memory; null: nothing. */
  memory: string | null;
}

/**
 * The `pre-push` hook: the commits that the remote lacks, what they add, and memory itself. This is the gate: `commit-msg`
 * runs for neither picks nor reverts, nor with `--no-verify`. `refs`: what git says on stdin. Null where there is nothing to
 * look at.
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
  const range = await newCommits(git, remote, pushed);
  if (range.length === 0) return null;
  const context = contextAt(found.root, found.repository, world, false);
  const { enforce, unread } = enforcementHere(context);
  const fresh = enforce === 'off' ? [] : await newCommits(git, null, pushed);
  const judged = await judge(git, context, fresh).catch((error: unknown) => whyUnread(error));
  const [commits, why] = typeof judged === 'string' ? [[], judged] : [judged, unread];
  const { findings } = await scanTree(from, world, { range });
  return {
    enforce,
    unread: why,
    commits,
    secrets: findings,
    memory: await damage(() => requireMemory(context)),
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

async function damage(look: () => Promise<unknown>): Promise<string | null> {
  try {
    await look();
    return null;
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'corrupted') return error.message;
    throw error;
  }
}
