import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Git, gitError, isNoRange } from './client.js';
import type { Repository } from './repository.js';

/** The id of the commit that a revision leads to; null where this clone has none. The caller knows that it is no option. */
export async function commitAt(git: Git, rev: string): Promise<string | null> {
  const { code, stdout } = await git(['rev-parse', '-q', '--verify', `${rev}^{commit}`]);
  return code === 0 ? stdout.trim() : null;
}

/** The last commit that both have; null without one. */
export async function mergeBase(git: Git, a: string, b: string): Promise<string | null> {
  const { code, stdout } = await git(['merge-base', a, b]);
  return code === 0 ? (stdout.trim().split('\n')[0] ?? null) : null;
}

/** The ids of a range's commits; null where git knows no such range. */
export async function listCommits(git: Git, range: string | readonly string[]): Promise<string[] | null> {
  const args = ['rev-list', '--end-of-options', ...[range].flat(), '--'];
  const { code, stdout, stderr } = await git(args);
  if (code === 0) return stdout.split('\n').filter(Boolean);
  if (isNoRange(stderr)) return null;
  throw gitError(args, stderr);
}

/** The commits at which the history of a shallow clone ends; none in a whole one. */
export function readBoundary({ commonDir }: Repository): Set<string> {
  const file = join(commonDir, 'shallow');
  return new Set(existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []);
}

/** Deeper than any name of forge's. */
const DEPTH = 5;

/**
 * The names of the refs below a folder (`refs/tags/checkpoint`), without it, from the files alone: no program is started,
 * so a reftable repository shows none.
 */
export function refNames({ commonDir }: Repository, folder: string): string[] {
  const loose = walk(join(commonDir, ...folder.split('/')), '', DEPTH);
  const packed = readPacked(commonDir).flatMap((line) => {
    const at = line.indexOf(` ${folder}/`);
    return at > 0 ? [line.slice(at + folder.length + 2)] : [];
  });
  return [...new Set([...loose, ...packed])].sort();
}

function walk(folder: string, prefix: string, depth: number): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      if (entry.isFile()) return [prefix + entry.name];
      if (!entry.isDirectory() || depth === 0) return [];
      return walk(join(folder, entry.name), `${prefix}${entry.name}/`, depth - 1);
    });
  } catch {
    return [];
  }
}

function readPacked(commonDir: string): string[] {
  try {
    return readFileSync(join(commonDir, 'packed-refs'), 'utf8').split('\n');
  } catch {
    return [];
  }
}
