import { refused } from '../core/error.js';
import { operationInProgress, readBranch } from '../git/state.js';
import type { Config } from '../project/config.js';
import { type Context, mainBranch, requireSupervisor } from '../project/project.js';
import { requireMemory } from './integrity.js';
import { TIERS } from './rules/record.js';
import { type Folded, foldTier } from './store/fold.js';

/** `forge memory fold`: on the default branch alone, or two branches would both write the fixed files. */
export async function foldMemory(context: Context): Promise<{ folded: Folded[] }> {
  requireSupervisor(context, 'memory');
  const reason = await whyNotFold(context);
  if (reason)
    throw refused('fold.branch', `Nothing was folded: ${reason}.`, {
      hint: 'Fold on the default branch, after the merge.',
    });
  await requireMemory(context);
  return { folded: foldAll(context) };
}

/** All tiers, each for itself; only those with something to fold. */
export const foldAll = ({ disk }: Context): Folded[] =>
  TIERS.map((tier) => foldTier(disk, tier)).filter(({ segments }) => segments > 0);

/** Null where fixed files may be written: on the default branch with nothing in progress, or without git. */
export async function whyNotFold(context: Context): Promise<string | null> {
  const { git, repository } = context;
  if (!git || !repository) return null;
  const operation = operationInProgress(repository);
  if (operation) return `${operation} is in progress`;
  const [branch, main] = await Promise.all([readBranch(repository, git), mainBranch(context)]);
  if (main === null) return 'this repository has no branch that is known to be the default one';
  return branch === main ? null : `this is ${branch ?? 'a detached HEAD'}, the default branch is ${main}`;
}

/** Before the session-end commit, as `[memory] fold` says. Why not is of no interest then. */
export async function foldsAtSessionEnd(context: Context, { memory }: Config): Promise<boolean> {
  return memory.fold !== 'never' && (await whyNotFold(context)) === null;
}
