import { type Git, must } from './client.js';

/** Pathspecs of everything but one folder, whatever characters its name has. They need `--no-literal-pathspecs`. */
export const outsideOf = (folder: string): string[] => ['--', ':(top)', `:(top,exclude,literal)${folder}`];

/** Whether two commits have the same files outside a folder; false where one of them is not here. */
export async function isSameOutside(git: Git, a: string, b: string, folder: string): Promise<boolean> {
  const form = ['diff-tree', '-r', '--quiet', '--no-renames', '--end-of-options', a, b];
  return (await git(['--no-literal-pathspecs', ...form, ...outsideOf(folder)])).code === 0;
}

/** A squash of more commits than this is not looked for. */
const SEARCHED = 500;

/**
 * Whether HEAD's history since `base` has a commit with the files of `commit`: a squash merge, a rebase or an amended
 * message leaves the state and replaces the commit.
 */
export async function leadsTo(
  git: Git,
  { base, commit, folder }: { base: string; commit: string; folder: string },
): Promise<boolean> {
  const args = ['rev-list', `--max-count=${SEARCHED}`, `${base}..HEAD`, '--'];
  for (const candidate of (await must(git, args)).split('\n').filter(Boolean))
    if (await isSameOutside(git, commit, candidate, folder)) return true;
  return false;
}
