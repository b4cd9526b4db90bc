import { createHash } from 'node:crypto';
import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeToken } from '../core/text.js';
import { type Git, must } from './client.js';
import { withoutLocalFilters } from './config.js';
import type { Repository } from './repository.js';

/** The working tree at one moment, as git would store it. */
export interface TreeReader {
  /** Its tree id: all that git tracks or would track. */
  read(): Promise<string>;
  /** Paths that differ between two of its trees, from the repository's top. */
  changed(before: string, after: string): Promise<string[]>;
  /** Paths in which one of its trees is not what a commit has; all of them without one. */
  against(commit: string | null, tree: string): Promise<string[]>;
  /** What tells one of its trees from others, but for what lies in a folder: the same in every process. */
  digest(tree: string, folder: string): Promise<string>;
}

/** An index as it was after a look. */
interface Kept {
  bytes: Buffer;
  mtime: Date;
}

/**
 * Git's own marks for files that it need not look at, and what makes it believe a file's times: whoever is judged by
 * the tree could set them in the repository.
 */
export const LOOK_AT_ALL: readonly [string, string][] = [
  ['core.ignoreStat', 'false'],
  ['core.trustctime', 'true'],
  ['core.checkStat', 'default'],
  ['core.sparseCheckout', 'false'],
  ['core.splitIndex', 'false'],
  // Nobody keeps what is stored for one look.
  ['core.looseCompression', '0'],
];

/**
 * Reads the working tree through an index and an object folder of its own: the repository's index stays as it is, and
 * nothing is left in its objects. They lie at `place`, a random word added, for one look alone: between two looks there
 * is nothing on the disk that somebody could change.
 */
export function readTrees(repository: Repository, unsafe: Git, place: string): TreeReader {
  let kept: Kept | null = null;
  const indexes = new Map<string, Kept>();
  const look = async (folder: string): Promise<string> => {
    const index = join(folder, 'index');
    if (kept) putIndex(kept, index);
    else copyIndex(join(repository.gitDir, 'index'), index);
    const env = privateEnvironment(repository, folder);
    // Each time anew: what runs between two looks may have set a filter.
    const safe = await withoutLocalFilters(unsafe, LOOK_AT_ALL);
    const git: Git = (args, options = {}) => safe(args, { ...options, env: { ...env, ...options.env } });
    if (!kept) await clearMarks(git, repository.root);
    await must(git, ['add', '--all', '--', '.']);
    // What an earlier look stored is gone with its folder; the ids are the same.
    const tree = (await must(git, ['write-tree', '--missing-ok'])).trim();
    kept = takeIndex(index);
    if (kept) indexes.set(tree, kept);
    return tree;
  };
  const list = async (tree: string): Promise<Map<string, string>> => {
    const index = indexes.get(tree);
    return index ? inFolder(place, (folder) => listIndex(repository, unsafe, folder, index)) : new Map();
  };
  return {
    read: () => inFolder(place, look),
    changed: async (before, after) => compare(await list(before), await list(after)),
    against: async (commit, tree) =>
      compare(commit === null ? new Map() : await listCommit(unsafe, commit), await list(tree)),
    digest: async (tree, folder) => {
      const entries = [...(await list(tree))].filter(([path]) => !path.startsWith(`${folder}/`));
      return createHash('sha256').update(JSON.stringify(entries.sort())).digest('hex');
    },
  };
}

/** The same list of a commit. */
async function listCommit(git: Git, commit: string): Promise<Map<string, string>> {
  const listed = await must(git, ['ls-tree', '-r', '-z', '--full-tree', commit]);
  const entries = listed.split('\0').filter(Boolean);
  return new Map(
    entries.map((entry) => {
      const at = entry.indexOf('\t');
      const [mode, , oid] = entry.slice(0, at).split(' ');
      return [entry.slice(at + 1), `${mode} ${oid} 0`];
    }),
  );
}

/** path → mode, object and stage. Asked for only where two trees differ. */
async function listIndex(
  repository: Repository,
  git: Git,
  folder: string,
  index: Kept,
): Promise<Map<string, string>> {
  putIndex(index, join(folder, 'index'));
  const env = privateEnvironment(repository, folder);
  const listed = await must(git, ['ls-files', '--stage', '--full-name', '-z'], { env, cwd: repository.root });
  const entries = listed.split('\0').filter(Boolean);
  return new Map(
    entries.map((entry) => {
      const at = entry.indexOf('\t');
      return [entry.slice(at + 1), entry.slice(0, at)];
    }),
  );
}

/** `place` is where the folder lies, a random word added. What a kill left there is removed. */
export async function inFolder<T>(place: string, work: (folder: string) => Promise<T>): Promise<T> {
  removeOld(place);
  const folder = `${place}.${makeToken(12)}`;
  mkdirSync(join(folder, 'objects'), { recursive: true, mode: 0o700 });
  try {
    return await work(folder);
  } finally {
    removeObjects(join(folder, 'objects'));
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Hundreds of small files in as many folders, of which rmSync takes a multiple of the time: it tries each as a folder that
 * is empty first. Whatever this cannot remove is left to it.
 */
function removeObjects(folder: string): void {
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      // A link leads elsewhere.
      if (!entry.isDirectory()) continue;
      const bucket = join(folder, entry.name);
      for (const object of readdirSync(bucket)) unlinkSync(join(bucket, object));
      rmdirSync(bucket);
    }
  } catch {
    // See above.
  }
}

/** What a kill left in the middle of a look. There is one cycle at a time in a place. */
function removeOld(place: string): void {
  const [folder, start] = [dirname(place), `${basename(place)}.`];
  if (!statSync(folder, { throwIfNoEntry: false })) return;
  for (const name of readdirSync(folder).filter((candidate) => candidate.startsWith(start)))
    rmSync(join(folder, name), { recursive: true, force: true });
}

const privateEnvironment = ({ commonDir }: Repository, folder: string): Record<string, string> => ({
  GIT_INDEX_FILE: join(folder, 'index'),
  GIT_OBJECT_DIRECTORY: join(folder, 'objects'),
  GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(join(commonDir, 'objects')),
});

/** A colon in a path would make two of it. */
const quoted = (path: string): string => `"${path.replace(/["\\]/g, '\\$&')}"`;

/** `assume-unchanged`, and `skip-worktree` of what is there: what git was told not to look at is looked at. */
export async function clearMarks(git: Git, top: string): Promise<void> {
  const words = (await must(git, ['ls-files', '-v', '-z'], { cwd: top })).split('\0');
  const marked = words
    .filter((word) => /^[a-zS]/.test(word))
    .map((word) => ({ tag: word[0], path: word.slice(2) }));
  const assumed = marked.filter(({ tag }) => tag !== 'S');
  // A sparse checkout has not got the others.
  const skipped = marked.filter(
    ({ tag, path }) => /s/i.test(tag ?? '') && lstatSync(join(top, path), { throwIfNoEntry: false }),
  );
  for (const [flag, list] of [
    ['--no-assume-unchanged', assumed],
    ['--no-skip-worktree', skipped],
  ] as const)
    if (list.length > 0)
      await must(git, ['update-index', flag, '-z', '--stdin'], {
        cwd: top,
        input: list.map(({ path }) => `${path}\0`).join(''),
      });
}

function compare(before: Map<string, string>, after: Map<string, string>): string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path)).sort();
}

/** With what git knows of unchanged files in it, they are not read; by its time git tells which ones to read all the same. */
export function copyIndex(from: string, to: string): void {
  const stat = statSync(from, { throwIfNoEntry: false });
  if (!stat) return;
  copyFileSync(from, to);
  utimesSync(to, stat.atime, stat.mtime);
}

function putIndex({ bytes, mtime }: Kept, to: string): void {
  writeFileSync(to, bytes, { mode: 0o600 });
  utimesSync(to, mtime, mtime);
}

function takeIndex(path: string): Kept | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? { bytes: readFileSync(path), mtime: stat.mtime } : null;
}
