import { refused } from '../core/error.js';
import { addWorktree } from '../git/worktree.js';
import type { Context } from '../project/project.js';
import { type RecoveryPlan, requirePlace, type Target } from './plan.js';

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
