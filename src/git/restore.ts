import { join } from 'node:path';
import { outside } from '../core/error.js';
import { type Bench, toBytes, words } from './bytes.js';

/** A sparse checkout: in git, and rightly not on the disk. */
export const hasLeftOut = async ({ git }: Bench): Promise<boolean> =>
  words(await git(['ls-files', '-v', '-z'])).some((line) => /^[Ss] /.test(line));

/** An index with that tree, once it is made. */
export const restoredIndex = ({ folder }: Bench): string => join(folder, 'restored');

/**
 * The tree of a commit, but one folder as HEAD has it. Made in an index of its own, and compared with both (B-108) before
 * anybody builds on it.
 */
export async function restoreTree(
  bench: Bench,
  { commit, head, folder }: { commit: string; head: string; folder: string },
): Promise<string> {
  const { git } = bench;
  const env = { GIT_INDEX_FILE: restoredIndex(bench) };
  await git(['read-tree', commit], { env });
  const old = await git(['ls-files', '-z', '--full-name', '--', folder], { env });
  await git(['update-index', '--force-remove', '-z', '--stdin'], { env, input: old });
  const kept = await git(['ls-tree', '-r', '-z', '--full-tree', head, '--', folder]);
  await git(['update-index', '-z', '--index-info'], { env, input: kept });
  // A partial clone may lack some of its files; before any of them is written that is asked for.
  const tree = (await git(['write-tree', '--missing-ok'], { env })).trim();
  const differing = async (from: string): Promise<string[]> =>
    words(await git(['diff-tree', '-r', '-z', '--name-only', '--no-renames', from, tree]));
  const isInside = (path: string): boolean => path === folder || path.startsWith(`${folder}/`);
  const [since, beside] = [await differing(commit), await differing(head)];
  if (!since.every(isInside) || beside.some(isInside))
    throw outside('recover.tree', 'git made another tree than the checkpoint; nothing was changed.', {
      hint: 'git fsck',
    });
  return tree;
}

/** A commit on HEAD; HEAD itself when it has this very tree. No hook and no signing program runs. */
export async function commitTree(
  { git }: Bench,
  { tree, head, message }: { tree: string; head: string; message: string },
): Promise<string> {
  if ((await git(['rev-parse', `${head}^{tree}`])).trim() === tree) return head;
  const args = ['-c', 'i18n.commitEncoding=UTF-8', 'commit-tree', tree, '-p', head, '-F', '-'];
  return (await git(args, { input: toBytes(message) })).trim();
}
