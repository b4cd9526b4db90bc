import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { refused, systemCode } from '../core/error.js';
import { type ByteGit, toText, words } from './client.js';
import { refresh, type Workspace } from './tree.js';

interface FileStamp {
  path: string;
  mode: number;
  stamp: string;
}

/** The changes that turn working tree and index into another tree, outside one folder. Paths are bytes. */
export interface Move {
  tree: string;
  folder: string;
  differing: string[];
  /** Files to write, with their blobs. */
  write: Map<string, string>;
  remove: string[];
  touched: FileStamp[];
  /** Whether an ignored file is in the place of one to write. */
  isBlocked: boolean;
  /** Nested repositories, and submodules that differ, which are left unchanged. */
  left: string[];
  isEmpty: boolean;
}

/** Files that are ignored now, by `tree` or by `beside` stay. `more` are written elsewhere. Exit 3 for a repository in the way. */
export async function planMove(
  workspace: Workspace,
  tree: string,
  folder: string,
  { beside = [], more = [] }: { beside?: readonly string[]; more?: readonly string[] } = {},
): Promise<Move> {
  const { look, root } = workspace;
  const isOurs = (path: string): boolean => path !== folder && !path.startsWith(`${folder}/`);
  const others = (await listOthers(look)).filter(isOurs);
  const differences = new Map(
    [
      // The commit that is checked out in a submodule is left unchanged.
      ...(await compare(look, ['--ignore-submodules=all', tree])),
      ...(await compare(look, ['--cached', tree])),
    ]
      .filter(({ path }) => isOurs(path))
      .map((difference) => [difference.path, difference]),
  );
  const all = [...differences.values()];
  const differing = all.map(({ path }) => path);
  const changed = await compare(look, ['--ignore-submodules=none', tree]);
  const modules = [...all, ...changed].filter(({ path, isModule }) => isModule && isOurs(path));
  const files = all.filter(({ isModule }) => !isModule);
  const write = new Map(files.flatMap(({ path, oid }) => (oid === null ? [] : [[path, oid] as const])));
  const loose = others.filter((path) => !path.endsWith('/') && !write.has(path));
  const spared = await ignoredBy(workspace, [tree, ...beside], loose);
  const tracked = words(await look(['ls-files', '-z', '--full-name']));
  const known = new Set([...others.filter((path) => !spared.has(path)), ...tracked]);
  const blocking = findBlocking(root, [...write.keys(), ...more]).filter((path) => !known.has(path));
  const gone = files.flatMap(({ path, oid }) => (oid === null ? [path] : []));
  const unwanted = [...gone, ...loose.filter((path) => !spared.has(path)), ...blocking];
  const remove = unwanted.filter((path) => stampIn(root, path) !== null);
  const touched = new Set([...differing, ...remove, ...more]);
  return {
    tree,
    folder,
    differing,
    write,
    remove,
    touched: [...touched].flatMap((path) => stampIn(root, path) ?? []),
    isBlocked: blocking.length > 0,
    left: [...others.filter((path) => path.endsWith('/')), ...new Set(modules.map(({ path }) => path))],
    isEmpty: differing.length + remove.length === 0,
  };
}

/** Files that git neither tracks nor ignores. A nested repository ends with a slash. */
const listOthers = async (git: ByteGit): Promise<string[]> =>
  words(await git(['ls-files', '-o', '-z', '--exclude-standard', '--full-name']));

interface Difference {
  path: string;
  /** Null if the tree has no such file. */
  oid: string | null;
  isModule: boolean;
}

const SUBMODULE = '160000';

/** Each is `:<mode> <mode> <oid> <oid> <status>` and a path, the tree's side first. */
async function compare(look: ByteGit, args: readonly string[]): Promise<Difference[]> {
  const form = ['--raw', '-z', '--no-renames', '--ita-visible-in-index', '--ignore-submodules=dirty'];
  const fields = words(await look(['diff-index', ...form, ...args]));
  return fields.flatMap((field, i) => {
    const [then = '', now = '', oid = '', , status] = field.slice(1).split(' ');
    if (i % 2 === 1) return [];
    const isModule = then === SUBMODULE || now === SUBMODULE;
    return [{ path: fields[i + 1] as string, oid: status === 'A' ? null : oid, isModule }];
  });
}

/** The paths that git would ignore with the `.gitignore` files of these trees. Git reads rules only from files. */
async function ignoredBy(
  { look, folder }: Workspace,
  trees: readonly string[],
  paths: readonly string[],
): Promise<Set<string>> {
  const input = paths.map((path) => `./${path}\0`).join('');
  const found = new Set<string>();
  for (const tree of input === '' ? [] : trees) {
    const top = fs.mkdtempSync(join(folder, 'rules-'));
    const env = { GIT_INDEX_FILE: `${top}.index`, GIT_WORK_TREE: top };
    // 1: there are no such files, or no path is ignored.
    const options = { env, codes: [0, 1] };
    const rules = ['restore', `--source=${tree}`, '--worktree', '--', ':(top,glob)**/.gitignore'];
    await look(['--no-literal-pathspecs', ...rules], options);
    const check = ['--no-literal-pathspecs', 'check-ignore', '--no-index', '-z', '--stdin'];
    for (const path of words(await look(check, { ...options, input }))) found.add(path.slice(2));
  }
  return found;
}

/** Exit 3 if somebody wrote one of the files since they were read. */
export function requireUntouched({ root }: Workspace, { touched }: Move): void {
  if (touched.some((file) => stampIn(root, file.path)?.stamp !== file.stamp))
    throw refused('recover.busy', 'A file was written meanwhile; nothing was changed.', {
      hint: 'let nothing else work here, and run the command again',
    });
}

/** Makes index and working tree the tree of the move. After an interruption, planning and running it again completes it. */
export async function applyMove({ root, git }: Workspace, move: Move): Promise<void> {
  const { tree, folder, differing, remove } = move;
  removeFiles(root, remove);
  // Git overwrites a file whose times it does not know, even with the same content.
  await refresh(git);
  if (differing.length > 0) await restore(git, tree, folder, '--worktree');
}

/** Makes only the index a tree, outside the folder. */
export async function restoreIndex({ git }: Workspace, { folder }: Move, tree: string): Promise<void> {
  const differences = await compare(git, ['--cached', tree]);
  if (differences.some(({ path }) => !path.startsWith(`${folder}/`))) await restore(git, tree, folder);
}

async function restore(git: ByteGit, tree: string, folder: string, ...options: string[]): Promise<void> {
  const paths = [':(top)', `:(top,exclude,literal)${toText(folder)}`];
  const args = ['restore', `--source=${tree}`, '--staged', ...options, '--', ...paths];
  await git(['--no-literal-pathspecs', ...args]);
}

/** A tree without what is at `path`, or with another entry there (`<mode> <type> <oid>`). Paths are bytes. */
export async function treeWith(git: ByteGit, tree: string, path: string, entry?: string): Promise<string> {
  const [name = '', ...rest] = path.split('/');
  const entries = words(await git(['ls-tree', '-z', tree]));
  const own = entries.find((line) => line.endsWith(`\t${name}`));
  let put = entry;
  if (rest.length > 0) {
    const inner = own?.split(/[ \t]/)[2] ?? (await git(['mktree'], { input: '' })).trim();
    const made = await treeWith(git, inner, rest.join('/'), entry);
    // Git has no empty folders.
    put = (await git(['ls-tree', made])) === '' ? undefined : `040000 tree ${made}`;
  }
  const all = [...entries.filter((line) => line !== own), ...(put ? [`${put}\t${name}`] : [])];
  const input = all.map((line) => `${line}\0`).join('');
  // A partial clone may lack some of its files.
  return (await git(['mktree', '-z', '--missing'], { input })).trim();
}

/** Files outside a folder that differ from a commit. `isSparse`: those marked skip-worktree and not on disk do not count. */
export async function differingFiles(
  workspace: Workspace,
  { commit, folder, isSparse }: { commit: string; folder: string; isSparse: boolean },
): Promise<string[]> {
  const { look } = workspace;
  const differences = [...(await compare(look, [commit])), ...(await compare(look, ['--cached', commit]))];
  const gone = isSparse ? [] : await listLeftOut(workspace);
  const paths = [...differences.map(({ path }) => path), ...(await listOthers(look)), ...gone].map(toText);
  return [...new Set(paths)].filter((path) => path !== folder && !path.startsWith(`${folder}/`)).sort();
}

/** Files that are marked skip-worktree and not on disk, as in a sparse checkout. */
export const listLeftOut = async ({ look }: Workspace): Promise<string[]> =>
  words(await look(['ls-files', '-t', '-z'])).flatMap((line) =>
    line.startsWith('S ') ? [line.slice(2)] : [],
  );

export const pathIn = (root: string, path: string): Buffer =>
  Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, 'latin1')]);

/** Null for anything but a file or a symlink, and behind a symlink, where it is another file. */
function stampIn(root: string, path: string): FileStamp | null {
  const parts = path.split('/');
  for (let length = 1; length < parts.length; length++) {
    const folder = pathIn(root, parts.slice(0, length).join('/'));
    if (fs.lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return null;
  }
  const stat = fs.lstatSync(pathIn(root, path), { bigint: true, throwIfNoEntry: false });
  if (!stat?.isFile() && !stat?.isSymbolicLink()) return null;
  const { ino, size, mtimeNs, ctimeNs, mode } = stat;
  const stamp = `${ino}:${size}:${mtimeNs}:${ctimeNs}:${mode}`;
  return { path, mode: Number(mode & 0o777n), stamp };
}

/** Files in the way of these paths: the file itself, a file in place of its folder, or files below it as a folder. */
function findBlocking(root: string, paths: readonly string[]): string[] {
  const found = new Set<string>();
  for (const path of paths) {
    const parts = path.split('/');
    for (let length = 1; length <= parts.length; length++) {
      const prefix = parts.slice(0, length).join('/');
      const stat = fs.lstatSync(pathIn(root, prefix), { throwIfNoEntry: false });
      if (!stat) break;
      if (!stat.isDirectory()) {
        found.add(prefix);
        break;
      }
      for (const file of filesIn(root, prefix, length === parts.length)) found.add(file);
    }
  }
  return [...found];
}

function filesIn(root: string, folder: string, isDeep: boolean): string[] {
  const problem = `${toText(folder)} is a nested repository and is in the way.`;
  const hint = 'move it elsewhere, then run the command again';
  if (fs.lstatSync(pathIn(root, `${folder}/.git`), { throwIfNoEntry: false }))
    throw refused('recover.repository', problem, { hint });
  if (!isDeep) return [];
  const entries = fs.readdirSync(pathIn(root, folder), { withFileTypes: true, encoding: 'latin1' as 'utf8' });
  return entries.flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesIn(root, path, true) : [path];
  });
}

/** Also removes folders that become empty. */
function removeFiles(root: string, paths: readonly string[]): void {
  const folders = new Set<string>();
  for (const path of paths) {
    if (!stampIn(root, path)) continue;
    fs.unlinkSync(pathIn(root, path));
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) folders.add(folder);
  }
  for (const folder of [...folders].sort((a, b) => b.length - a.length))
    try {
      fs.rmdirSync(pathIn(root, folder));
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(systemCode(error) ?? '')) throw error;
    }
}
