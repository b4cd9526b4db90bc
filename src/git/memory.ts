import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { outside, systemCode } from '../core/error.js';
import { type Git, gitError, must } from './client.js';
import { withoutLocalFilters } from './config.js';
import { isLedger, parseRawList } from './raw.js';
import { knownRemote, ORIGIN } from './remote.js';
import type { Repository } from './repository.js';
import { readBranch } from './state.js';

export { readBlobs } from './blobs.js';
export { type FoundRecord, findRecords, type RecordQuery } from './find-records.js';
export { type HistoryOutcome, type HistoryQuery, readRemovedLines } from './history.js';
export { findHeld, type Held, type HeldFiles } from './ledger-blobs.js';
export type { RemovedLine } from './moves.js';

import type { ChangedFile } from './set-back.js';

export { type ChangedFile, findSetBack, type SetBack } from './set-back.js';

const NO_COMMIT = /ambiguous argument 'HEAD'|bad revision 'HEAD'|does not have any commits/;

/**
 * What is on the disk against HEAD, whatever is staged. Git tells by the times in its index, which are only a hint:
 * where they do not fit, the content decides. Files marked `assume-unchanged` are looked at too.
 */
export async function changedMemory(
  unsafe: Git,
  { repository, folder }: { repository: Repository; folder: string },
): Promise<ChangedFile[]> {
  // For a file as old as the index git reads the content, and would pass it through the filter.
  const git = await withoutLocalFilters(unsafe);
  const args = ['diff-index', '-z', '--no-renames', 'HEAD', '--', folder];
  const [{ code, stdout, stderr }, flags] = await Promise.all([git(args), readFlags(git, folder)]);
  if (code !== 0 && NO_COMMIT.test(stderr)) return [];
  if (code !== 0) throw gitError(args, stderr);
  const changes = parseRawList(stdout).filter(({ path, wasFile }) => wasFile && !flags.leftOut.has(path));
  const suspects = new Map(changes.map(({ path, oldOid }) => [path, oldOid]));
  const tree = flags.trusted.size > 0 ? await memoryTree(git, 'HEAD', folder) : [];
  for (const [path, oid] of tree) if (flags.trusted.has(path)) suspects.set(path, oid);
  return [...suspects].flatMap(([path, oid]) => {
    const found = hashFile(repository.root, path, oid);
    // A conflict may leave HEAD's bytes on the disk until somebody decides.
    if (found === oid && !flags.unmerged.has(path)) return [];
    return [{ path, oid, state: found === '' ? 'deleted' : 'edited', found }];
  });
}

/** Of the raw bytes: what git would turn them into is no matter, the ledgers' attributes say that it is nothing. */
function hashFile(root: string, path: string, oid: string): string {
  const file = join(root, path);
  try {
    const stat = fs.lstatSync(file);
    // Behind a folder that is a link now there is another file, not this one.
    if (stat.isDirectory() || fs.realpathSync.native(dirname(file)) !== dirname(file)) return '';
    return stat.isFile() ? blobId(file, oid.length === 64 ? 'sha256' : 'sha1') : 'not a file';
  } catch (error) {
    // A fold may take it away while it is looked at.
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return '';
    throw outside('disk.unreadable', `${path}: ${(error as Error).message}`, { file: path, cause: error });
  }
}

function blobId(file: string, algorithm: string): string {
  const fd = fs.openSync(file, fs.constants.O_RDONLY | (fs.constants.O_NOFOLLOW ?? 0));
  try {
    const hash = createHash(algorithm).update(`blob ${fs.fstatSync(fd).size}\0`);
    const buffer = Buffer.allocUnsafe(256 * 1024);
    for (let read = fs.readSync(fd, buffer); read > 0; read = fs.readSync(fd, buffer))
      hash.update(buffer.subarray(0, read));
    return hash.digest('hex');
  } finally {
    fs.closeSync(fd);
  }
}

interface Flags {
  leftOut: Set<string>;
  unmerged: Set<string>;
  /** Marked `assume-unchanged`. */
  trusted: Set<string>;
}

async function readFlags(git: Git, folder: string): Promise<Flags> {
  const entries = (await must(git, ['ls-files', '-v', '-z', '--', folder])).split('\0');
  const having = (tag: RegExp): Set<string> =>
    new Set(entries.filter((entry) => tag.test(entry) && isLedger(entry)).map((entry) => entry.slice(2)));
  return { leftOut: having(/^[Ss] /), unmerged: having(/^[Mm] /), trusted: having(/^[a-rt-z] /) };
}

/** What a sparse checkout leaves out: in git, and rightly not on the disk. */
export async function leftOut(git: Git, folder: string): Promise<Set<string>> {
  return (await readFlags(git, folder)).leftOut;
}

/** The memory files of a commit and their blobs. */
export async function memoryTree(git: Git, commit: string, folder: string): Promise<Map<string, string>> {
  const output = await must(git, ['ls-tree', '-r', '-z', '--full-tree', commit, '--', folder]);
  const entries = output.split('\0').filter((entry) => entry.startsWith('100') && isLedger(entry));
  return new Map(
    entries.map((entry) => {
      const tab = entry.indexOf('\t');
      return [entry.slice(tab + 1), entry.slice(entry.lastIndexOf(' ', tab) + 1, tab)];
    }),
  );
}

/** Null when this repository does not know `a` (any more). */
export async function isAncestor(git: Git, a: string, b: string): Promise<boolean | null> {
  const args = ['merge-base', '--is-ancestor', a, b];
  const { code, stderr } = await git(args);
  if (code === 0 || code === 1) return code === 0;
  if (/Not a valid (commit|object) name/.test(stderr) && stderr.includes(a)) return null;
  throw gitError(args, stderr);
}

/** What git itself keeps alive. */
export const ALL_REFS = ['HEAD', '--branches', '--remotes', '--tags', '--glob=refs/stash'];

/** Those of the commits that none of these leads to; without what is gone from the repository. */
export async function notReachable(
  git: Git,
  commits: readonly string[],
  from: readonly string[],
): Promise<string[]> {
  if (commits.length === 0) return [];
  const args = ['rev-list', '--ignore-missing', '--stdin', '--not', ...from];
  const input = commits.map((commit) => `${commit}\n`).join('');
  const alone = new Set((await must(git, args, { input })).split('\n'));
  return commits.filter((commit) => alone.has(commit));
}

export async function listBranches(git: Git): Promise<string[]> {
  const list = await must(git, ['for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads']);
  return list.split('\n').filter(Boolean);
}

/** The memory files of commit `a` that `b` lacks or has otherwise, with their blobs in `a`. */
export async function changedBetween(
  git: Git,
  a: string,
  b: string,
  folder: string,
): Promise<{ path: string; oid: string }[]> {
  const output = await must(git, [
    'diff-tree',
    '-r',
    '-z',
    '--no-renames',
    '--no-relative',
    a,
    b,
    '--',
    folder,
  ]);
  return parseRawList(output)
    .filter(({ wasFile, oldOid, newOid }) => wasFile && oldOid !== newOid)
    .map(({ path, oldOid }) => ({ path, oid: oldOid }));
}

/** The first of HEAD's root commits by hash: all clones agree on it. Null on an unborn branch and in a shallow clone. */
export async function rootCommit(git: Git): Promise<string | null> {
  const args = ['rev-list', '--max-parents=0', 'HEAD', '--'];
  const [shallow, { code, stdout, stderr }] = await Promise.all([
    must(git, ['rev-parse', '--is-shallow-repository']),
    git(args),
  ]);
  if (shallow.trim() === 'true' || NO_COMMIT.test(stderr)) return null;
  if (code !== 0) throw gitError(args, stderr);
  return stdout.split('\n').filter(Boolean).sort()[0] ?? null;
}

/** The branch that the others are merged into, as far as this clone can know it. */
export async function defaultBranch(repository: Repository, git: Git): Promise<string | null> {
  const remote = (await knownRemote(repository, git)) ?? ORIGIN;
  const [head, setting, branches, current] = await Promise.all([
    git(['symbolic-ref', '-q', `refs/remotes/${remote}/HEAD`]),
    git(['config', '--get', 'init.defaultBranch']),
    listBranches(git),
    readBranch(repository, git),
  ]);
  const told = head.stdout.trim();
  const folder = `refs/remotes/${remote}/`;
  if (told.startsWith(folder)) return told.slice(folder.length);
  const known = [setting.stdout.trim(), 'main', 'master', 'trunk'].find((name) => branches.includes(name));
  return known ?? (branches.every((name) => name === current) ? current : null);
}
