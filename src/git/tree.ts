import { createHash } from 'node:crypto';
import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
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
  /** Its tree id: all files that git tracks or would track. */
  read(): Promise<string>;
  /** Paths that differ between two of its trees, from the repository's top. */
  changed(before: string, after: string): Promise<string[]>;
  /** Paths in which one of its trees differs from a commit. All paths without a commit. */
  against(commit: string | null, tree: string): Promise<string[]>;
  /** A key that distinguishes its trees, ignoring one folder. The same in every process. */
  digest(tree: string, folder: string): Promise<string>;
}

/**
 * Git's marks for files that it skips, and settings that make it trust a file's times. A process that is judged by
 * the tree could set them in the repository.
 */
export const LOOK_AT_ALL: readonly [string, string][] = [
  ['core.ignoreStat', 'false'],
  ['core.trustctime', 'true'],
  ['core.checkStat', 'default'],
  ['core.sparseCheckout', 'false'],
  ['core.splitIndex', 'false'],
  // Objects for a single snapshot need no compression.
  ['core.looseCompression', '0'],
];

/** path → mode, object and stage. */
type Entries = Map<string, string>;

/**
 * Snapshots the working tree with a private index and object folder at `place`: the repository's index is unchanged,
 * and nothing is added to its objects. Lists are in memory, out of reach of commands that run between two snapshots.
 */
export function readTrees(repository: Repository, unsafe: Git, place: string): TreeReader {
  const lists = new Map<string, Entries>();
  // A later snapshot starts from the previous index, so no mark set in between hides a file that was seen before.
  let kept: { bytes: Buffer; mtime: Date } | null = null;
  const list = (tree: string): Entries => lists.get(tree) ?? new Map();
  const look = async (folder: string): Promise<string> => {
    const index = join(folder, 'index');
    if (kept) {
      writeFileSync(index, kept.bytes);
      utimesSync(index, kept.mtime, kept.mtime);
    } else copyIndex(join(repository.gitDir, 'index'), index);
    const env = {
      GIT_INDEX_FILE: index,
      GIT_OBJECT_DIRECTORY: join(folder, 'objects'),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(join(repository.commonDir, 'objects')),
    };
    // Recomputed each time, because a command between two snapshots may have set a filter.
    const safe = await withoutLocalFilters(unsafe, LOOK_AT_ALL);
    const git: Git = (args, options = {}) => safe(args, { cwd: repository.root, ...options, env });
    await clearMarks(git, repository.root);
    await must(git, ['add', '--all', '--', '.']);
    const tree = (await must(git, ['write-tree', '--missing-ok'])).trim();
    kept = { bytes: readFileSync(index), mtime: statSync(index).mtime };
    lists.set(tree, parse(await must(git, ['ls-files', '--stage', '--full-name', '-z'])));
    return tree;
  };
  return {
    read: () => inFolder(place, look),
    changed: async (before, after) => compare(list(before), list(after)),
    against: async (commit, tree) =>
      compare(commit === null ? new Map() : await listCommit(unsafe, commit), list(tree)),
    digest: async (tree, folder) => {
      const entries = [...list(tree)].filter(([path]) => !path.startsWith(`${folder}/`));
      return createHash('sha256').update(JSON.stringify(entries.sort())).digest('hex');
    },
  };
}

function parse(listed: string): Entries {
  const entries = listed.split('\0').filter(Boolean);
  return new Map(
    entries.map((entry) => {
      const at = entry.indexOf('\t');
      return [entry.slice(at + 1), entry.slice(0, at)];
    }),
  );
}

async function listCommit(git: Git, commit: string): Promise<Entries> {
  const listed = parse(await must(git, ['ls-tree', '-r', '-z', '--full-tree', commit]));
  return new Map([...listed].map(([path, entry]) => [path, `${entry.replace(/ [a-z]+ /, ' ')} 0`]));
}

/** `place` is the parent folder; a random suffix is added. Remains of a killed process there are removed. */
export async function inFolder<T>(place: string, work: (folder: string) => Promise<T>): Promise<T> {
  removeOld(place);
  const folder = `${place}.${makeToken(12)}`;
  mkdirSync(join(folder, 'objects'), { recursive: true, mode: 0o700 });
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Remains of a killed snapshot. There is one cycle at a time in a place. */
function removeOld(place: string): void {
  const [folder, start] = [dirname(place), `${basename(place)}.`];
  if (!statSync(folder, { throwIfNoEntry: false })) return;
  for (const name of readdirSync(folder).filter((candidate) => candidate.startsWith(start)))
    rmSync(join(folder, name), { recursive: true, force: true });
}

/** A colon would split a path in two. */
const quoted = (path: string): string => `"${path.replace(/["\\]/g, '\\$&')}"`;

/** Clears `assume-unchanged`, and `skip-worktree` of existing files, so that git reads them. */
export async function clearMarks(git: Git, top: string): Promise<void> {
  const words = (await must(git, ['ls-files', '-v', '-z'], { cwd: top })).split('\0');
  const marked = words
    .filter((word) => /^[a-zS]/.test(word))
    .map((word) => ({ tag: word[0], path: word.slice(2) }));
  const assumed = marked.filter(({ tag }) => tag !== 'S');
  // A sparse checkout does not have the others.
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

/** The copied index has git's stat data, so unchanged files are not read. Its mtime tells git which ones to reread. */
export function copyIndex(from: string, to: string): void {
  const stat = statSync(from, { throwIfNoEntry: false });
  if (!stat) return;
  copyFileSync(from, to);
  utimesSync(to, stat.atime, stat.mtime);
}
