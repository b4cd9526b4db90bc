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
  /** Its tree id: all that git tracks or would track. */
  read(): Promise<string>;
  /** Paths that differ between two of its trees, from the repository's top. */
  changed(before: string, after: string): Promise<string[]>;
  /** Paths in which one of its trees is not what a commit has; all of them without one. */
  against(commit: string | null, tree: string): Promise<string[]>;
  /** What tells one of its trees from others, but for what lies in a folder: the same in every process. */
  digest(tree: string, folder: string): Promise<string>;
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

/** path → mode, object and stage. */
type Entries = Map<string, string>;

/**
 * Reads the working tree through an index and an object folder of its own, at `place`: the repository's index stays as it
 * is, and nothing is left in its objects. Lists are held in memory, where no command that runs between two looks has access.
 */
export function readTrees(repository: Repository, unsafe: Git, place: string): TreeReader {
  const lists = new Map<string, Entries>();
  // A later look begins with the index of the one before, so no mark set in between hides a file that it had seen.
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
    // Each time anew: what runs between two looks may have set a filter.
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

/** `place` is where the folder lies, a random word added. What a kill left there is removed. */
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

/** What a kill left in the middle of a look. There is one cycle at a time in a place. */
function removeOld(place: string): void {
  const [folder, start] = [dirname(place), `${basename(place)}.`];
  if (!statSync(folder, { throwIfNoEntry: false })) return;
  for (const name of readdirSync(folder).filter((candidate) => candidate.startsWith(start)))
    rmSync(join(folder, name), { recursive: true, force: true });
}

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
