import { join } from 'node:path';
import { formatArgv } from '../core/argv.js';
import { isRelied, wasWritten } from '../core/disk.js';
import { ForgeError } from '../core/error.js';
import {
  architectureFile,
  configFile,
  featuresFolder,
  learnedFolder,
  localPaths,
  shown,
  shownFrom,
} from '../core/paths.js';
import { plural } from '../core/text.js';
import { readUncommitted, trackedFiles } from '../git/status.js';
import type { Context } from './project.js';

/**
 * Features, learnings and architecture.md that differ from HEAD and were not last written by forge, as paths from the
 * top folder. A commit accepts them.
 */
export async function findForeignEdits({ git, repository, layout, disk }: Context): Promise<string[]> {
  if (!git || !repository) return [];
  const watched = [featuresFolder(layout), learnedFolder(layout), architectureFile(layout)];
  const paths = watched.map((path) => shownFrom(repository.root, path));
  const changed = (await readUncommitted(git, paths)).map(({ path }) => path);
  const isForeign = (path: string): boolean => {
    try {
      const bytes = disk.read(path);
      return bytes !== null && !wasWritten(layout, path, bytes);
    } catch (error) {
      // A symlink or a folder.
      if (error instanceof ForgeError) return true;
      throw error;
    }
  };
  const foreign = changed
    .map((path) => join(repository.root, path))
    .filter((path) => isRelied(layout, path) && isForeign(path))
    .map((path) => shown(layout, path));
  // Before its first commit, .forge/ came from nobody else: the folder may have been made before the repository.
  const isCommitted = async (): Promise<boolean> =>
    (await git(['ls-files', '--', shownFrom(repository.root, configFile(layout))])).stdout !== '';
  return foreign.length > 0 && (await isCommitted()) ? foreign : [];
}

const SHOWN = 3;
export const FOREIGN_EDITS_COMMAND = 'git status .forge/memory/long-term';

/** The first few by name; '' for none. */
export function firstPaths(paths: readonly string[]): string {
  const more = paths.length - SHOWN;
  return `${paths.slice(0, SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** One line for a report, or none. */
export const describeForeignEdits = (paths: readonly string[]): string[] =>
  paths.length === 0
    ? []
    : [`edited outside forge and not committed: ${firstPaths(paths)} (${FOREIGN_EDITS_COMMAND})`];

/** SES-13: machine-local files that were committed, so that every clone gets them; null without any. */
export async function findTracked({
  git,
  repository,
  layout,
}: Context): Promise<{ message: string; fix: string } | null> {
  if (!git || !repository) return null;
  const paths = localPaths(layout).map((path) => shownFrom(repository.root, path));
  const found = await trackedFiles(git, paths);
  if (found.length === 0) return null;
  return {
    message: `git tracks ${plural(found.length, 'machine-local file')}: ${firstPaths(found)}`,
    fix: `git rm -r --cached -q --ignore-unmatch -- ${formatArgv(paths)}`,
  };
}
