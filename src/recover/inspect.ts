import { existsSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { refused, usage } from '../core/error.js';
import { type Git, must, PORCELAIN } from '../git/client.js';
import { withoutLocalFilters } from '../git/config.js';
import type { Context } from '../project/project.js';
import { chooseTarget, requirePlace, type Target, targetOf } from './plan.js';

/** A checkpoint in a folder of its own. */
export interface InspectedCheckpoint {
  checkpoint: Target;
  /** Null in a dry run. */
  worktree: string | null;
}

/** Only a worktree of the checkpoint: nothing is compared, run or changed. */
export async function addInspection(
  context: Context,
  { to, dir }: { to?: string; dir: string },
): Promise<InspectedCheckpoint> {
  const { git } = requirePlace(context);
  const { manifest, state } = await chooseTarget(context, to);
  if (!manifest)
    throw refused('recover.no_checkpoint', `There is no checkpoint here to look at (${state}).`, {
      hint: 'forge checkpoint list',
    });
  const worktree = context.disk.dryRun ? null : await addWorktree(git, dir, manifest.commit);
  return { checkpoint: targetOf(manifest), worktree };
}

/** A worktree of a commit, on no branch, in a new or empty folder. No hook runs. */
async function addWorktree(unsafe: Git, dir: string, commit: string): Promise<string> {
  const folder = resolve(dir);
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw usage('recover.folder', `${folder} is there already, and not empty.`, { file: folder });
  const git = await withoutLocalFilters(unsafe);
  const args = ['worktree', 'add', '--quiet', '--detach', '--', folder, commit];
  await must(git, args, { ...PORCELAIN, timeout: 600_000 });
  return folder;
}
