import { formatArgv } from '../core/argv.js';
import { localPaths, shownFrom } from '../core/paths.js';
import { plural } from '../core/text.js';
import { trackedFiles } from '../git/status.js';
import type { Context } from './project.js';

/** SES-13: machine-local files that a commit has, and so every clone gets; null without any. */
export async function findTracked({ git, repository, layout }: Context): Promise<{
  message: string;
  fix: string;
} | null> {
  if (!git || !repository) return null;
  const paths = localPaths(layout).map((path) => shownFrom(repository.root, path));
  const found = await trackedFiles(git, paths);
  if (found.length === 0) return null;
  const more = found.length > 3 ? ', …' : '';
  return {
    message: `git tracks ${plural(found.length, 'machine-local file')}: ${found.slice(0, 3).join(', ')}${more}`,
    fix: `git rm -r --cached -q --ignore-unmatch -- ${formatArgv(paths)}`,
  };
}
