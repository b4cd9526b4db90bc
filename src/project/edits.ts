import { join } from 'node:path';
import { reliedPaths, writtenHere } from '../core/disk.js';
import { unlessFailed } from '../core/error.js';
import { configFile, shown, shownFrom } from '../core/paths.js';
import { firstPaths } from '../core/text.js';
import { commitAt } from '../git/read.js';
import { mergedCommit } from '../git/repository.js';
import { differingFrom, type FileState, readUncommitted, trackedFiles } from '../git/status.js';
import type { Context } from './project.js';

/** Files that agents rely on that differ from HEAD and were not last written by forge. A commit accepts them. */
export async function findForeignEdits({ git, repository, layout, disk }: Context): Promise<string[]> {
  if (!git || !repository) return [];
  const fromTop = (path: string): string => shownFrom(repository.root, path);
  const isOwn = writtenHere(layout);
  // A symlink or a folder cannot be read.
  const isForeign = (path: string): boolean => unlessFailed(true, () => !isOwn(path, disk.read(path)));
  const relied = reliedPaths(layout).map(fromTop);
  // Doctor reports conflicts.
  // A deletion in the index is the person's own (git rm).
  const isOpen = ({ kind, isGone, worktree }: FileState): boolean =>
    kind !== 'unmerged' && (!isGone || worktree === 'D');
  const changed = (await readUncommitted(git, relied)).filter(isOpen);
  const edited = changed.filter(({ path }) => isForeign(join(repository.root, path)));
  const name = edited.length > 0 ? mergedCommit(repository) : undefined;
  // A merge or a pick brings files of the other commit as they are. A reverted root commit has no parent.
  const merged = name === undefined ? null : await commitAt(git, name);
  const own = merged === null ? null : await differingFrom(git, merged, relied);
  const foreign = edited
    .filter(({ path, kind }) => own === null || kind === 'untracked' || own.includes(path))
    .map(({ path }) => join(repository.root, path));
  // Before its first commit, .forge/ came from nobody else: the folder may have been made before the repository.
  const isCommitted = async (): Promise<boolean> =>
    (await trackedFiles(git, [fromTop(configFile(layout))])).length > 0;
  return foreign.length > 0 && (await isCommitted()) ? foreign.map((path) => shown(layout, path)) : [];
}

export const FOREIGN_EDITS_COMMAND = 'git status .forge';

/** One line for a report, or none. */
export const describeForeignEdits = (paths: readonly string[]): string[] =>
  paths.length === 0
    ? []
    : [`edited outside forge and not committed: ${firstPaths(paths)} (${FOREIGN_EDITS_COMMAND})`];
