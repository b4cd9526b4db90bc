import { dirname } from 'node:path/posix';
import { type Git, must } from './client.js';

/** A memory file that HEAD has, and that is not so in the working tree. Paths are from the worktree's top. */
export interface ChangedFile {
  path: string;
  /** HEAD's blob. */
  oid: string;
  state: 'edited' | 'deleted';
  /** The blob that the working tree's bytes would be; empty where there are none. */
  found: string;
}

/** How git itself brought a memory file to where it is. */
export interface SetBack {
  path: string;
  /** The newest commit that has the file as it is now; null when git merely staged it so, or took the file away. */
  commit: string | null;
}

const COMMIT = /^[0-9a-f]{40,64}$/;

/**
 * Those of the files whose bytes git has put there: by `checkout COMMIT -- PATH`, `restore --source`, `rm`, or (with
 * `midway`) by a revert or merge that is not finished. What nobody but an editor can have written is not among them.
 */
export async function findSetBack(
  git: Git,
  files: readonly ChangedFile[],
  midway: boolean,
): Promise<SetBack[]> {
  const edited = new Set(files.flatMap(({ path, state }) => (state === 'edited' ? [path] : [])));
  const [staged, history] = await Promise.all([
    midway ? readStaged(git, edited) : new Map<string, string>(),
    readHistory(git, edited),
  ]);
  return files.flatMap(({ path, state, found }): SetBack[] => {
    if (state === 'deleted') return [{ path, commit: null }];
    const commit = history.get(`${path}\0${found}`);
    if (commit !== undefined) return [{ path, commit }];
    return staged.get(path) === found ? [{ path, commit: null }] : [];
  });
}

/** A command line does not hold the names of any number of files; of their folders there are few. */
const foldersOf = (paths: ReadonlySet<string>): string[] => [...new Set([...paths].map(dirname))];

/** Blobs in the index, by path; of a conflict none. */
async function readStaged(git: Git, paths: ReadonlySet<string>): Promise<Map<string, string>> {
  if (paths.size === 0) return new Map();
  const args = ['ls-files', '-s', '-z', '--full-name', '--', ...foldersOf(paths)];
  return new Map(
    (await must(git, args)).split('\0').flatMap((entry) => {
      const [, oid, path] = /^\d+ ([0-9a-f]+) 0\t(.+)$/s.exec(entry) ?? [];
      return oid !== undefined && path !== undefined && paths.has(path) ? [[path, oid] as const] : [];
    }),
  );
}

/** The newest commit of each `path NUL blob` that ever was. */
async function readHistory(git: Git, paths: ReadonlySet<string>): Promise<Map<string, string>> {
  if (paths.size === 0) return new Map();
  const format = ['--raw', '-z', '--no-abbrev', '--no-renames', '--format=%H', '--diff-merges=separate'];
  const args = ['log', '--all', '--full-history', '--no-follow', '--no-relative', ...format];
  const seen = new Map<string, string>();
  let commit = '';
  let oid = '';
  for (const word of (await must(git, [...args, '--', ...foldersOf(paths)])).split('\0')) {
    const entry = word.trim();
    if (COMMIT.test(entry)) commit = entry;
    else if (entry.startsWith(':')) oid = entry.split(' ')[3] ?? '';
    else if (oid !== '') {
      if (paths.has(word) && !seen.has(`${word}\0${oid}`)) seen.set(`${word}\0${oid}`, commit);
      oid = '';
    }
  }
  return seen;
}
