import { existsSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { usage } from '../core/error.js';
import { type Git, must, withoutLocalFilters } from './client.js';

/** A worktree of a commit, on no branch, in a folder that is not there yet or empty. No hook runs. */
export async function addWorktree(unsafe: Git, dir: string, commit: string): Promise<string> {
  const folder = resolve(dir);
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw usage('recover.folder', `${folder} is there already, and not empty.`, { file: folder });
  const git = await withoutLocalFilters(unsafe);
  await must(git, ['worktree', 'add', '--quiet', '--detach', '--', folder, commit], { timeout: 600_000 });
  return folder;
}
