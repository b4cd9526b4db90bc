import { join } from 'node:path';
import { isRelied, wasWritten } from '../core/disk.js';
import { ForgeError } from '../core/error.js';
import {
  architectureFile,
  featuresFolder,
  type Layout,
  learnedFolder,
  shown,
  shownFrom,
} from '../core/paths.js';
import { readUncommitted } from '../git/status.js';
import type { Context } from './project.js';

/**
 * Features, learnings and architecture.md that differ from HEAD and were not last written by forge. A commit accepts them.
 * Returns paths as people see them.
 */
export async function findForeignEdits({ git, repository, layout, disk }: Context): Promise<string[]> {
  if (!git || !repository) return [];
  const watched = [featuresFolder(layout), learnedFolder(layout), architectureFile(layout)];
  const paths = watched.map((path) => shownFrom(repository.root, path));
  const changed = await readUncommitted(git, { repository, paths });
  return changed
    .map((path) => join(repository.root, path))
    .filter((path) => isRelied(layout, path))
    .filter((path) => isForeign(layout, path, () => disk.read(path)))
    .map((path) => shown(layout, path));
}

/** forge writes neither a link nor a folder there. */
function isForeign(layout: Layout, path: string, read: () => Buffer | null): boolean {
  try {
    const bytes = read();
    return bytes !== null && !wasWritten(layout, path, bytes);
  } catch (error) {
    if (error instanceof ForgeError) return true;
    throw error;
  }
}

const SHOWN = 3;
export const FOREIGN_EDITS_COMMAND = 'git status .forge/memory/long-term';

/** The first few by name. Empty where there are none. */
export function nameForeignEdits(paths: readonly string[]): string {
  const left = paths.length - SHOWN;
  return `${paths.slice(0, SHOWN).join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
}

/** One line for a report, or none. */
export const describeForeignEdits = (paths: readonly string[]): string[] =>
  paths.length === 0
    ? []
    : [`edited outside forge and not committed: ${nameForeignEdits(paths)} (${FOREIGN_EDITS_COMMAND})`];
