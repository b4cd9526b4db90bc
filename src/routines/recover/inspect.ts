import { addWorktree } from '../../adapters/git/worktree.js';
import { refused } from '../../domain/error.js';
import type { Context } from '../context.js';
import { type RecoveryPlan, requirePlace, type Target } from './look.js';

/** A checkpoint in a folder of its own. */
export interface InspectedCheckpoint {
  checkpoint: Target;
  /** Null in a dry run. */
  worktree: string | null;
}

/** Only a worktree of the checkpoint: nothing else is touched. */
export async function addInspection(
  context: Context,
  { checkpoint, divergence }: RecoveryPlan,
  dir: string,
): Promise<InspectedCheckpoint> {
  const { git } = requirePlace(context);
  if (!checkpoint || divergence.branch === 'missing')
    throw refused('recover.no_checkpoint', 'There is no checkpoint here to look at.', {
      hint: 'forge checkpoint list',
    });
  const worktree = context.disk.dryRun ? null : await addWorktree(git, dir, checkpoint.commit);
  return { checkpoint, worktree };
}
