import {
  closeSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { refused, systemCode } from '../domain/error.js';
import { type Bench, indexLines, parseEntries, SUBMODULE, type TreeEntry, words } from './git-bytes.js';
import { type FileStamp, WorkTree } from './work-tree.js';

/** What makes the working tree and the index another tree, all but one folder. Paths are bytes (`toText`). */
export interface Move {
  /** Files that have to be written. */
  write: Map<string, TreeEntry>;
  /** Files on the disk that have to go. */
  remove: string[];
  /** What the index has to be told, `null` to forget it. */
  index: Map<string, TreeEntry | null>;
  /** Every file that would be written over or removed, or that git has not got as it is. */
  touched: FileStamp[];
  /** Tracked files that are not on the disk. */
  missing: string[];
  /** Ignored files among `remove`. */
  inTheWay: string[];
  /** Submodules and repositories inside this one: they stay as they are. */
  left: string[];
}

/** `folder` stays out, as bytes. Exit 3 for what cannot be moved away. */
export async function planMove(bench: Bench, tree: string, folder: string): Promise<Move> {
  const isOurs = (path: string): boolean => path !== folder && !path.startsWith(`${folder}/`);
  const { git, repository } = bench;
  const list = async (...args: string[]): Promise<string[]> => words(await git(args)).filter(isOurs);
  const target = parseEntries(await git(['ls-tree', '-r', '-z', '--full-tree', tree]));
  const staged = parseEntries(await git(['ls-files', '-s', '-z', '--full-name']));
  const changed = new Set(
    await list('diff-files', '-z', '--name-only', '--no-renames', '--ignore-submodules=all'),
  );
  const others = await list('ls-files', '-o', '-z', '--exclude-standard', '--full-name');
  const differs = (path: string, entry: TreeEntry): boolean => {
    const now = staged.get(path);
    return now?.mode !== entry.mode || now.oid !== entry.oid || now.stage !== '0';
  };
  const wanted = [...target].filter(
    ([path, entry]) => isOurs(path) && (differs(path, entry) || changed.has(path)),
  );
  const gone = [...staged.keys()].filter((path) => isOurs(path) && !target.has(path));
  const isModule = (path: string): boolean =>
    [staged.get(path)?.mode, target.get(path)?.mode].includes(SUBMODULE);
  const files = new WorkTree(repository.root);
  const write = new Map(wanted.filter(([path]) => !isModule(path)));
  const untracked = others.filter((path) => !path.endsWith('/'));
  const known = new Set([...untracked, ...staged.keys()]);
  const inTheWay = files.blocking(write.keys()).filter((path) => !known.has(path));
  const remove = [...gone, ...untracked.filter((path) => !target.has(path)), ...inTheWay].filter(
    (path) => !isModule(path) && files.isThere(path),
  );
  const touched = new Set([...write.keys(), ...remove, ...changed, ...untracked]);
  return {
    write,
    remove,
    index: new Map([...gone.map((path) => [path, null] as const), ...wanted]),
    touched: [...touched].filter((path) => !isModule(path)).flatMap((path) => files.stamp(path) ?? []),
    missing: [...changed].filter((path) => files.stamp(path) === null && !isModule(path)),
    inTheWay,
    left: [
      ...others.filter((path) => path.endsWith('/')),
      ...[...wanted.map(([path]) => path), ...gone].filter(isModule),
    ],
  };
}

export const isEmpty = ({ write, remove, index }: Move): boolean =>
  write.size + remove.length + index.size === 0;

/** Exit 3 when somebody wrote one of the files, or staged something, since they were looked at. */
export function requireUntouched({ repository, stamp, stamped }: Bench, { touched }: Move): void {
  const files = new WorkTree(repository.root);
  const isOther = touched.some((file) => files.stamp(file.path)?.stamp !== file.stamp);
  if (isOther || stamp() !== stamped)
    throw refused('recover.busy', 'A file was written or staged meanwhile; nothing was changed.', {
      hint: 'let nothing else work here, and run the command again',
    });
}

/**
 * Does it. The private index tells git what to write; `raw` are the files that are written elsewhere.
 * Cut off anywhere, planned and done again it comes to the same.
 */
export async function applyMove(
  bench: Bench,
  move: Move,
  raw: ReadonlySet<string>,
  oidLength: number,
): Promise<void> {
  const { git, repository } = bench;
  new WorkTree(repository.root).remove(move.remove);
  const gone = [...move.index].flatMap(([path, entry]) => (entry === null ? [path] : []));
  const put = new Map([...move.index].flatMap(([path, entry]) => (entry ? [[path, entry] as const] : [])));
  await git(['update-index', '-z', '--index-info'], { input: indexLines(gone, put, oidLength) });
  const paths = [...move.write.keys()].filter((path) => !raw.has(path));
  const input = paths.map((path) => `${path}\0`).join('');
  if (paths.length > 0) await git(['checkout-index', '-f', '-u', '-q', '-z', '--stdin'], { input });
}

const prepared = (gitDir: string): string => join(gitDir, 'index.forge');

/** By git's own rule: whoever makes `index.lock` may replace the index. It is whole before it is there. */
export function installIndex(gitDir: string, from: string): void {
  const [own, lock] = [prepared(gitDir), join(gitDir, 'index.lock')];
  // It may be the index itself under a second name: it is never written into.
  rmSync(own, { force: true });
  const file = openSync(own, 'wx', 0o644);
  try {
    writeFileSync(file, readFileSync(from));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  try {
    linkSync(own, lock);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    throw refused('git.busy', `Another git is at work (${lock} exists).`, {
      hint: 'wait for it (or remove the file if none runs), then: forge recover',
    });
  }
  renameSync(lock, join(gitDir, 'index'));
  rmSync(own, { force: true });
}

/** The lock of an installation that was cut off: the same file under two names. */
export function removeOwnLock(gitDir: string): void {
  const [own, lock] = [prepared(gitDir), join(gitDir, 'index.lock')].map((path) =>
    lstatSync(path, { bigint: true, throwIfNoEntry: false }),
  );
  if (own && lock && own.ino === lock.ino && own.dev === lock.dev) rmSync(join(gitDir, 'index.lock'));
}
