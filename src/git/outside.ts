import { type Git, must } from './client.js';
import { mergeBase } from './read.js';

/** Pathspecs of everything but one folder, for any folder name. They need `--no-literal-pathspecs`. */
export const outsideOf = (folder: string): string[] => ['--', ':(top)', `:(top,exclude,literal)${folder}`];

/** Whether two commits have the same files outside a folder. False if one of them is not here. */
export async function isSameOutside(git: Git, a: string, b: string, folder: string): Promise<boolean> {
  const form = ['diff-tree', '-r', '--quiet', '--no-renames', '--end-of-options', a, b];
  return (await git(['--no-literal-pathspecs', ...form, ...outsideOf(folder)])).code === 0;
}

/** An older squash than this many commits is not found. */
const SEARCHED = 500;

/**
 * Whether HEAD has the state of a commit in its history: the commit itself, or one since they forked with the same files
 * outside a folder. A squash merge, a rebase or an amended message keeps the files and replaces the commit.
 */
export async function leadsTo(git: Git, commit: string, folder: string): Promise<boolean> {
  const base = await mergeBase(git, commit, 'HEAD');
  if (base === null || base === commit) return base !== null;
  const log = ['log', `--max-count=${SEARCHED}`, '--format=%T', `${base}..HEAD`, '--'];
  const tree = (await must(git, ['rev-parse', `${commit}^{tree}`])).trim();
  const trees = (await must(git, log)).split('\n').filter(Boolean);
  const input = trees.map((candidate) => `${tree} ${candidate}\n`).join('');
  const form = ['diff-tree', '--stdin', '--raw', '--no-renames', '-r'];
  const lines = (await must(git, ['--no-literal-pathspecs', ...form, ...outsideOf(folder)], { input }))
    .split('\n')
    .filter(Boolean);
  // Each pair of trees is followed by its differences, which begin with a colon.
  return lines.some((line, i) => !line.startsWith(':') && lines[i + 1]?.startsWith(':') !== true);
}
