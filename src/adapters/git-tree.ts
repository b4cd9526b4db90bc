import { copyFileSync, mkdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { type Git, must } from './git.js';
import { withoutLocalFilters } from './git-commit.js';
import type { Repository } from './repository.js';

/** The working tree at one moment, as git would store it. */
export interface TreeReader {
  /** Its tree id: all that git tracks or would track. */
  read(): Promise<string>;
  /** Paths that differ between two of its trees, from the repository's top. */
  changed(before: string, after: string): Promise<string[]>;
}

/**
 * Reads the working tree through an index and an object folder of its own in `folder`: the repository's index stays as
 * it is, and nothing is left in its objects.
 */
export function readTrees(repository: Repository, unsafe: Git, folder: string): TreeReader {
  const index = join(folder, 'index');
  const objects = join(folder, 'objects');
  mkdirSync(objects, { recursive: true });
  const own = join(repository.gitDir, 'index');
  // With what git knows of unchanged files in it, they are not read.
  copyIndex(own, index);
  const env = {
    GIT_INDEX_FILE: index,
    GIT_OBJECT_DIRECTORY: objects,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(join(repository.commonDir, 'objects')),
  };
  return {
    read: async () => {
      // Each time anew: what runs between two looks may have set one.
      const git = await withoutLocalFilters(unsafe);
      await must(git, ['add', '--all', '--', '.'], { env });
      return (await must(git, ['write-tree'], { env })).trim();
    },
    changed: async (before, after) => {
      const args = ['diff-tree', '-r', '--name-only', '--no-renames', '-z', before, after];
      return (await must(unsafe, args, { env })).split('\0').filter(Boolean);
    },
  };
}

/** A colon in a path would make two of it. */
const quoted = (path: string): string => `"${path.replace(/["\\]/g, '\\$&')}"`;

/** With its time: by that git tells which files it has to look into once more. */
function copyIndex(from: string, to: string): void {
  const stat = statSync(from, { throwIfNoEntry: false });
  if (!stat) return;
  copyFileSync(from, to);
  utimesSync(to, stat.atime, stat.mtime);
}
