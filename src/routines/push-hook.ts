import { gitIn } from '../adapters/git.js';
import { newCommits, parsePushed, readHead } from '../adapters/git-push.js';
import { findForge } from '../adapters/repository.js';
import type { World } from '../adapters/world.js';
import { ForgeError } from '../domain/error.js';
import { type CheckedCommit, checkCommits } from './commit-check.js';
import { contextAt, readConfig } from './context.js';
import { type Scan, scanTree } from './guard-scan.js';
import { requireMemory } from './integrity.js';

/** What is wrong with what is about to be pushed. */
export interface HookedPush {
  enforce: 'block' | 'warn' | 'off';
  /** Those that do not follow the protocol. */
  commits: CheckedCommit[];
  secrets: Scan['findings'];
  /** What is wrong with memory; null: nothing. */
  memory: string | null;
}

/**
 * The `pre-push` hook: the commits that the remote lacks, what they add, and memory itself. This is the gate: `commit-msg`
 * runs for neither picks nor reverts, nor with `--no-verify`. `refs`: what git says on stdin; null where it could not be read,
 * then what HEAD leads to counts. Null where there is nothing to look at.
 */
export async function checkHookedPush(
  from: string,
  world: World,
  { remote, refs }: { remote: string; refs: string | null },
): Promise<HookedPush | null> {
  const found = findForge(from);
  if (!found?.repository) return null;
  const git = gitIn(found.repository.root, world.env);
  const range = await newCommits(git, remote, refs === null ? await readHead(git) : parsePushed(refs));
  if (range.length === 0) return null;
  const context = contextAt(found.root, found.repository, world, false);
  const { enforce } = readConfig(context).commit;
  const { commits } = enforce === 'off' ? { commits: [] } : await checkCommits(from, world, { range });
  const { findings } = await scanTree(from, world, { range });
  const wrong = commits.filter(({ problems }) => problems.some(({ rule }) => rule !== 'secret'));
  return { enforce, commits: wrong, secrets: findings, memory: await damage(() => requireMemory(context)) };
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
