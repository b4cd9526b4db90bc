import { outside, refused } from '../core/error.js';
import { oneLine } from '../core/text.js';
import { type Bench, indexLines, parseEntries, SUBMODULE, type TreeEntry, toText, words } from './bytes.js';
import { gitError } from './client.js';
import { ignoredIn } from './ignored.js';
import { type FileStamp, nestedRepository, WorkTree } from './work-tree.js';

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
  /** Untracked files that git ignores with the rules on the other side of the move: they stay. */
  spared: string[];
}

/** What git knows of the working tree, all but the folder. */
interface Seen {
  staged: Map<string, TreeEntry & { stage: string }>;
  /** Tracked files that are not as the index has them. */
  changed: Set<string>;
  untracked: string[];
  spared: string[];
  /** Folders that are repositories of their own. */
  nested: string[];
}

/**
 * `folder` stays out, as bytes. What is ignored now stays, and what is with the rules of `tree` or of the trees in `beside`:
 * a move that brings other rules makes nobody's cache or secret a file of the work. Exit 3 for what cannot be moved away.
 */
export async function planMove(
  bench: Bench,
  tree: string,
  folder: string,
  beside: readonly string[] = [],
): Promise<Move> {
  const isOurs = (path: string): boolean => path !== folder && !path.startsWith(`${folder}/`);
  const ours = <T>(entries: Map<string, T>): Map<string, T> =>
    new Map([...entries].filter(([path]) => isOurs(path)));
  const { git, repository } = bench;
  const list = async (...args: string[]): Promise<string[]> => words(await git(args)).filter(isOurs);
  const target = ours(parseEntries(await git(['ls-tree', '-r', '-z', '--full-tree', tree])));
  const others = await list('ls-files', '-o', '-z', '--exclude-standard', '--full-name');
  const form = ['diff-files', '-z', '--name-only', '--no-renames', '--ignore-submodules=all'];
  const files = new WorkTree(repository.root);
  const staged = ours(parseEntries(await git(['ls-files', '-s', '-z', '--full-name'])));
  // Behind a link that leads round in a circle git sees neither a file nor that one is gone, and says nothing.
  const hidden = [...staged.keys()].filter((path) => !files.isInFolder(path));
  const loose = others.filter((path) => !path.endsWith('/') && !target.has(path));
  const spared = await ignoredIn(bench, [tree, ...beside], loose);
  const seen = {
    staged,
    changed: new Set([...(await list(...form)), ...hidden]),
    untracked: others.filter((path) => !path.endsWith('/') && !spared.has(path)),
    spared: [...spared],
    nested: others.filter((path) => path.endsWith('/')),
  };
  return makeMove(files, target, seen);
}

function makeMove(
  files: WorkTree,
  target: ReadonlyMap<string, TreeEntry>,
  { staged, changed, untracked, spared, nested }: Seen,
): Move {
  const isModule = (path: string): boolean =>
    [staged.get(path)?.mode, target.get(path)?.mode].includes(SUBMODULE);
  const isSame = (path: string, { mode, oid }: TreeEntry): boolean => {
    const now = staged.get(path);
    return now?.mode === mode && now.oid === oid && now.stage === '0' && !changed.has(path);
  };
  const wanted = [...target].filter(([path, entry]) => !isSame(path, entry));
  const gone = [...staged.keys()].filter((path) => !target.has(path));
  const write = new Map(wanted.filter(([path]) => !isModule(path)));
  requireOutside(files, write.keys(), [
    ...nested,
    ...[...staged].flatMap(([path, { mode }]) => (mode === SUBMODULE ? [`${path}/`] : [])),
  ]);
  const known = new Set([...untracked, ...staged.keys()]);
  const inTheWay = files.blocking(write.keys()).filter((path) => !known.has(path));
  const remove = [...gone, ...untracked.filter((path) => !target.has(path)), ...inTheWay].filter(
    (path) => !isModule(path) && files.isThere(path),
  );
  const touched = new Set([...write.keys(), ...remove, ...changed, ...untracked]);
  const own = [...touched].filter((path) => !isModule(path));
  return {
    write,
    remove,
    index: new Map([...gone.map((path) => [path, null] as const), ...wanted]),
    touched: own.flatMap((path) => files.stamp(path) ?? []),
    missing: own.filter((path) => changed.has(path) && files.stamp(path) === null),
    inTheWay,
    left: [...nested, ...[...wanted.map(([path]) => path), ...gone].filter(isModule)],
    spared: spared.filter((path) => !inTheWay.includes(path)),
  };
}

/** Exit 3 for a file that would be written into a repository of its own. */
function requireOutside(files: WorkTree, paths: Iterable<string>, nested: readonly string[]): void {
  const tops = nested.filter((top) => files.holdsRepository(top.slice(0, -1)));
  if (tops.length === 0) return;
  for (const path of paths) {
    const top = tops.find((folder) => path.startsWith(folder));
    if (top) throw nestedRepository(top.slice(0, -1));
  }
}

export const isEmpty = ({ write, remove, index }: Move): boolean =>
  write.size + remove.length + index.size === 0;

/** Exit 6 when git has not got what is to be written: a damaged repository, or a partial clone. */
export async function requireObjects(
  { git, stream }: Bench,
  { write }: Move,
  { more = [], commit }: { more?: readonly { path: string; oid: string }[]; commit: string },
): Promise<void> {
  const paths = new Map([...write].map(([path, { oid }]) => [oid, path]));
  for (const { oid, path } of more) paths.set(oid, path);
  if (paths.size === 0) return;
  const refuse = (what: string): Error =>
    outside('recover.objects', `${what}; nothing was changed.`, {
      hint: `git fsck   or, in a partial clone, fetch what is missing: git diff --stat HEAD ${commit}`,
    });
  const input = [...paths.keys()].map((oid) => `${oid}\n`).join('');
  const answer = await git(['cat-file', '--batch-check'], { input }).catch((error: Error) => {
    throw refuse(error.message);
  });
  const missing = [...answer.matchAll(/^(\S+) missing$/gm)].map(([, oid = '']) => paths.get(oid) ?? oid);
  if (missing.length > 0)
    throw refuse(
      `git has not got ${missing.length === 1 ? 'a file' : `${missing.length} files`} that would be written, as ${oneLine(toText(missing[0] as string), 100)}`,
    );
  // A damaged object shows only when it is read whole.
  const args = ['cat-file', '--batch', '--buffer'];
  const { code, stderr } = await stream(args, () => {}, { input: Buffer.from(input) });
  if (code !== 0) throw refuse(gitError(args, stderr).message);
}

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
