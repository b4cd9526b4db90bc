import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeToken } from '../core/text.js';
import { type ByteGit, byteGit, type Git, toText, words } from './client.js';
import type { Repository } from './repository.js';

/** Reads the working tree at several moments, as git would store it. */
export interface TreeReader {
  /** Its tree id: all files that git tracks or would track. */
  read(): Promise<string>;
  /** Paths that differ between two of its trees or a commit (null: no files), from the repository's top. */
  changed(before: string | null, after: string): Promise<string[]>;
}

/** Git compares the files themselves, whatever the repository says about which ones to skip or to trust. */
const LOOK_AT_ALL: readonly [string, string][] = [
  ['core.ignoreStat', 'false'],
  ['core.trustctime', 'true'],
  ['core.checkStat', 'default'],
  // Then git ignores the mark skip-worktree of a file that is on disk.
  ['core.sparseCheckout', 'true'],
  ['sparse.expectFilesOutsideOfPatterns', 'false'],
  ['core.splitIndex', 'false'],
  // Objects for a single snapshot need no compression.
  ['core.looseCompression', '0'],
];

async function clearMarks(git: ByteGit): Promise<void> {
  const marked = words(await git(['ls-files', '-v', '-z'])).filter((line) => /^[a-z] /.test(line));
  const input = marked.map((line) => `${line.slice(2)}\0`).join('');
  if (input !== '') await git(['update-index', '--no-assume-unchanged', '-z', '--stdin'], { input });
}

/** Compares all files with the index, and clears the marks assume-unchanged. */
export async function refresh(git: ByteGit): Promise<void> {
  await clearMarks(git);
  // 1: files differ.
  await git(['update-index', '-q', '--really-refresh'], { codes: [0, 1] });
}

/** Reads the working tree through a private index, in a folder that is removed afterward. */
export interface Workspace {
  root: string;
  commonDir: string;
  git: ByteGit;
  /** Git on the private index: a copy, without marks. */
  look: ByteGit;
  index: string;
  folder: string;
}

interface WorkspacePlace {
  repository: Repository;
  git: Git;
  /** The parent of the private folder; a random suffix is added. */
  place: string;
  /** Adds nothing to the repository's objects. */
  ownObjects?: boolean;
}

export function withPrivateIndex<T>(
  { repository: { root, gitDir, commonDir }, git, place, ownObjects = false }: WorkspacePlace,
  work: (workspace: Workspace) => Promise<T>,
): Promise<T> {
  return inFolder(place, async (folder) => {
    // A backup is on disk before the files in it are removed.
    const durable: [string, string][] = ownObjects ? [] : [['core.fsync', 'all']];
    const settings = [...LOOK_AT_ALL, ...durable];
    const index = join(folder, 'index');
    copyIndex(join(gitDir, 'index'), index);
    const objects = {
      GIT_OBJECT_DIRECTORY: join(folder, 'objects'),
      // A colon would split a path in two.
      GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${join(commonDir, 'objects').replace(/["\\]/g, '\\$&')}"`,
    };
    const look = byteGit(git, { settings, env: { GIT_INDEX_FILE: index, ...(ownObjects ? objects : {}) } });
    if (!existsSync(index)) await look(['read-tree', '--empty']);
    // A snapshot adds all files, which compares them too.
    if (!ownObjects) await refresh(look);
    return work({ root, commonDir, git: byteGit(git, { settings }), look, index, folder });
  });
}

/** path → mode, object and stage. Paths are bytes. */
type Entries = ReadonlyMap<string, string>;

/** The entries of a commit in the form of `ls-files --stage`. */
const COMMIT = ['ls-tree', '-r', '-z', '--full-tree', '--format=%(objectmode) %(objectname) 0%x09%(path)'];

/**
 * Snapshots the working tree with a private index and object folder at `place`: the repository's index is unchanged,
 * and nothing is added to its objects. Lists are in memory, out of reach of commands that run between two snapshots.
 */
export function readTrees(repository: Repository, git: Git, place: string): TreeReader {
  const lists = new Map<string | null, Entries>([[null, new Map()]]);
  const list = async (tree: string | null): Promise<Entries> =>
    lists.get(tree) ?? parse(await byteGit(git)([...COMMIT, tree as string]));
  const read = async ({ look }: Workspace): Promise<string> => {
    await clearMarks(look);
    await look(['add', '--all', '--sparse', '--', '.']);
    const tree = (await look(['write-tree', '--missing-ok'])).trim();
    lists.set(tree, parse(await look(['ls-files', '--stage', '--full-name', '-z'])));
    return tree;
  };
  return {
    read: () => withPrivateIndex({ repository, git, place, ownObjects: true }, read),
    changed: async (before, after) => {
      const [then, now] = [await list(before), await list(after)];
      const paths = new Set([...then.keys(), ...now.keys()]);
      const differing = [...paths].filter((path) => then.get(path) !== now.get(path));
      return differing.map(toText).sort();
    },
  };
}

const parse = (listed: string): Entries =>
  new Map(
    words(listed).map((entry) => {
      const at = entry.indexOf('\t');
      return [entry.slice(at + 1), entry.slice(0, at)];
    }),
  );

/** `place` is the parent folder; a random suffix is added. Remains of a killed process there are removed. */
async function inFolder<T>(place: string, work: (folder: string) => Promise<T>): Promise<T> {
  const parent = dirname(place);
  mkdirSync(parent, { recursive: true });
  for (const name of readdirSync(parent))
    if (name.startsWith(`${basename(place)}.`)) rmSync(join(parent, name), { recursive: true, force: true });
  const folder = `${place}.${makeToken(12)}`;
  // One by one: with `recursive`, Node reports a read-only disk as a missing folder.
  for (const path of [folder, join(folder, 'objects')]) mkdirSync(path, 0o700);
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The copied index has git's stat data, so unchanged files are not read. Its mtime tells git which ones to reread. */
function copyIndex(from: string, to: string): void {
  const stat = statSync(from, { throwIfNoEntry: false });
  if (!stat) return;
  copyFileSync(from, to);
  utimesSync(to, stat.atime, stat.mtime);
}
