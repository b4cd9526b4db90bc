import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { outside, refused, systemCode } from '../core/error.js';
import { oneLine } from '../core/text.js';
import { type ByteGit, byteGit, toText, words } from './bytes.js';
import { type Git, gitError, streamGit } from './client.js';
import { withoutFilters } from './config.js';
import { outsideOf } from './outside.js';
import type { Repository } from './repository.js';
import { stampOf } from './state.js';
import { clearMarks, copyIndex, inFolder, LOOK_AT_ALL } from './tree.js';

/** Reads the working tree through a private index, in a folder that is removed afterward. */
export interface Bench {
  root: string;
  env: NodeJS.ProcessEnv;
  /** Git on the repository's own index. */
  git: ByteGit;
  /** Git on the private index: a copy, without skip marks. */
  look: ByteGit;
  index: string;
  folder: string;
  /** Drops the stat data of the repository's index and refreshes it. */
  refresh(): Promise<void>;
  /** Whether another git wrote the repository's index since the copy. */
  isIndexWritten(): boolean;
}

/** `place` is the parent of the private folder; a random suffix is added. */
export function onBench<T>(
  {
    repository,
    git,
    env,
    place,
  }: { repository: Repository; git: Git; env: NodeJS.ProcessEnv; place: string },
  work: (bench: Bench) => Promise<T>,
): Promise<T> {
  return inFolder(place, async (folder) => {
    const { root, gitDir } = repository;
    // A backup is on disk before the files in it are removed.
    const settings = await withoutFilters(git, [...LOOK_AT_ALL, ['core.fsync', 'all']]);
    const own = join(gitDir, 'index');
    const stamp = stampOf(own);
    const index = join(folder, 'index');
    copyIndex(own, index);
    const refresh = async (more: Record<string, string> = {}): Promise<void> => {
      const asText: Git = (args, options = {}) => git(args, { ...options, env: { ...settings, ...more } });
      await clearMarks(asText, root);
      // Its exit code means that files differ.
      await asText(['update-index', '-q', '--really-refresh'], { cwd: root });
    };
    const look = byteGit(root, env, { ...settings, GIT_INDEX_FILE: index });
    if (!fs.existsSync(index)) await look(['read-tree', '--empty']);
    await refresh({ GIT_INDEX_FILE: index });
    return work({
      root,
      env,
      git: byteGit(root, env, settings),
      look,
      index,
      folder,
      refresh,
      isIndexWritten: () => stampOf(own) !== stamp,
    });
  });
}

/** A file's state at one moment. */
export interface FileStamp {
  path: string;
  mode: number;
  isLink: boolean;
  stamp: string;
}

/** The changes that turn working tree and index into another tree, outside one folder. Paths are bytes. */
export interface Move {
  tree: string;
  folder: string;
  /** Files to write, with their blobs. */
  write: Map<string, string>;
  /** Files on the disk to remove. */
  remove: string[];
  /** Every file that would be overwritten or removed, or whose exact content git does not have. */
  touched: FileStamp[];
  /** Tracked files that are not on the disk. */
  missing: string[];
  /** Ignored files among `remove`. */
  inTheWay: string[];
  /** Submodules to move only in the index. */
  modules: string[];
  /** Submodules and nested repositories, which are left unchanged. */
  left: string[];
  isEmpty: boolean;
}

/**
 * Files that are ignored now stay, and so do files ignored by the rules of `tree` or of the trees in `beside`. `more` are
 * files that are written elsewhere. Exit 3 for a repository that is in the way.
 */
export async function planMove(
  bench: Bench,
  tree: string,
  folder: string,
  { beside = [], more = [] }: { beside?: readonly string[]; more?: readonly string[] } = {},
): Promise<Move> {
  const { look, root } = bench;
  const isOurs = (path: string): boolean => path !== folder && !path.startsWith(`${folder}/`);
  const list = async (...args: string[]): Promise<string[]> => words(await look(args)).filter(isOurs);
  const others = await list('ls-files', '-o', '-z', '--exclude-standard', '--full-name');
  const compare = async (...args: string[]): Promise<Difference[]> =>
    (await readDifferences(look, args)).filter(({ path }) => isOurs(path));
  const unstaged = await compare('diff-files', '--ignore-submodules=all');
  const changed = unstaged.map(({ path }) => path);
  const differing = await compare('diff-index', '--cached', '--ita-visible-in-index', tree);
  const modules = differing.filter(({ isModule }) => isModule).map(({ path }) => path);
  const files = differing.filter(({ isModule }) => !isModule);
  const gone = files.filter(({ oid }) => oid === null).map(({ path }) => path);
  const leaving = new Set(gone);
  const wanted = [...unstaged.filter(({ path }) => !leaving.has(path)), ...files];
  const write = new Map(wanted.flatMap(({ path, oid }) => (oid === null ? [] : [[path, oid] as const])));
  const loose = others.filter((path) => !path.endsWith('/') && !write.has(path));
  const spared = await ignoredIn(bench, [tree, ...beside], loose);
  const untracked = loose.filter((path) => !spared.has(path));
  const known = new Set([
    ...others.filter((path) => !spared.has(path)),
    ...words(await look(['ls-files', '-z', '--full-name'])),
  ]);
  const inTheWay = blocking(root, [...write.keys(), ...more]).filter((path) => !known.has(path));
  const remove = [...gone, ...untracked, ...inTheWay].filter((path) => stampIn(root, path) !== null);
  const touched = [...new Set([...write.keys(), ...remove, ...changed, ...more])];
  return {
    tree,
    folder,
    write,
    remove,
    touched: touched.flatMap((path) => stampIn(root, path) ?? []),
    missing: changed.filter((path) => stampIn(root, path) === null),
    inTheWay,
    modules,
    left: [...others.filter((path) => path.endsWith('/')), ...modules],
    isEmpty: differing.length + remove.length + write.size === 0,
  };
}

interface Difference {
  path: string;
  /** Null if the older side has no such file. */
  oid: string | null;
  isModule: boolean;
}

const SUBMODULE = '160000';

/** Each is `:<mode> <mode> <oid> <oid> <status>` and a path, the older side first. */
async function readDifferences(look: ByteGit, [command = '', ...args]: string[]): Promise<Difference[]> {
  const fields = words(await look([command, '--raw', '-z', '--no-renames', ...args]));
  return fields.flatMap((field, i) => {
    const [then = '', now = '', oid = '', , status] = field.slice(1).split(' ');
    if (i % 2 === 1) return [];
    const isModule = then === SUBMODULE || now === SUBMODULE;
    return [{ path: fields[i + 1] as string, oid: status === 'A' ? null : oid, isModule }];
  });
}

/**
 * The paths that git would ignore if the working tree had the `.gitignore` files of these trees. The files are
 * written to the private folder, because git reads rules only from files.
 */
async function ignoredIn(
  { look, folder }: Bench,
  trees: readonly string[],
  paths: readonly string[],
): Promise<Set<string>> {
  const found = new Set<string>();
  if (paths.length === 0) return found;
  const input = paths.map((path) => `./${path}\0`).join('');
  for (const tree of trees) {
    const listed = words(await look(['ls-tree', '-r', '-z', '--full-tree', '--name-only', tree]));
    const rules = listed.filter((path) => basename(path) === '.gitignore');
    if (rules.length === 0) continue;
    const top = fs.mkdtempSync(join(folder, 'rules-'));
    const env = { GIT_INDEX_FILE: `${top}.index` };
    await look(['read-tree', tree], { env });
    const chosen = rules.map((path) => `${path}\0`).join('');
    await look(['checkout-index', '-f', '-q', '-z', '--stdin', `--prefix=${top}/`], { env, input: chosen });
    const args = ['--no-literal-pathspecs', `--work-tree=${top}`, '-C', top];
    const gitDir = (await look(['rev-parse', '--absolute-git-dir'])).trim();
    // 1: no path is ignored.
    const answer = await look(
      [...args, `--git-dir=${toText(gitDir)}`, 'check-ignore', '--no-index', '-z', '--stdin'],
      {
        input,
        codes: [0, 1],
      },
    );
    for (const path of words(answer)) found.add(path.slice(2));
  }
  return found;
}

/** Untracked files that git would ignore with the rules of a tree, by the repository's own index. */
export async function listSpared(bench: Bench, tree: string, folder: string): Promise<string[]> {
  const others = words(await bench.git(['ls-files', '-o', '-z', '--exclude-standard', '--full-name']));
  const ours = others.filter((path) => !path.endsWith('/') && !path.startsWith(`${folder}/`));
  return [...(await ignoredIn(bench, [tree], ours))];
}

/** Exit 6 if git lacks a file to write: a damaged repository, or a partial clone. */
export async function requireObjects(
  { look, root, env }: Bench,
  files: Iterable<readonly [path: string, oid: string]>,
  commit: string,
): Promise<void> {
  const paths = new Map([...files].map(([path, oid]) => [oid, path]));
  const refuse = (what: string): Error =>
    outside('recover.objects', `${what}; nothing was changed.`, {
      hint: `git fsck\ngit diff --stat HEAD ${commit}   # in a partial clone: fetches what is missing`,
    });
  const input = [...paths.keys()].map((oid) => `${oid}\n`).join('');
  const answer = await look(['cat-file', '--batch-check'], { input }).catch((error: Error) => {
    throw refuse(error.message);
  });
  const missing = [...answer.matchAll(/^(\S+) missing$/gm)].map(([, oid = '']) => paths.get(oid) ?? oid);
  if (missing.length > 0)
    throw refuse(`git has not got ${oneLine(toText(missing.slice(0, 3).join(', ')), 200)}`);
  // A damaged object shows only when it is read completely.
  const args = ['cat-file', '--batch', '--buffer'];
  const { code, stderr } = await streamGit(root, env)(args, () => {}, { input: Buffer.from(input) });
  if (code !== 0) throw refuse(gitError(args, stderr).message);
}

/** Exit 3 if somebody wrote one of the files, or staged something, since they were read. */
export function requireUntouched({ root, isIndexWritten }: Bench, { touched }: Move): void {
  const isOther = touched.some((file) => stampIn(root, file.path)?.stamp !== file.stamp);
  if (isOther || isIndexWritten())
    throw refused('recover.busy', 'A file was written or staged meanwhile; nothing was changed.', {
      hint: 'let nothing else work here, and run the command again',
    });
}

/** Makes index and working tree the tree of the move. After an interruption, planning and running it again completes it. */
export async function applyMove({ root, git, refresh }: Bench, move: Move): Promise<void> {
  const { remove, isEmpty } = move;
  removeFiles(root, remove);
  // Git overwrites a file whose times it does not know, even with the same content.
  await refresh();
  if (!isEmpty) await restore(git, move);
}

/** Restores the assume-unchanged marks that updating the index clears. */
export async function keepingMarks({ git }: Bench, work: () => Promise<void>): Promise<void> {
  const listed = words(await git(['ls-files', '-v', '-z']));
  const marked = listed.filter((line) => /^[a-z] /.test(line)).map((line) => line.slice(2));
  await work();
  if (marked.length === 0) return;
  const known = new Set(words(await git(['ls-files', '-z'])));
  const input = marked.flatMap((path) => (known.has(path) ? [`${path}\0`] : [])).join('');
  await git(['update-index', '--assume-unchanged', '-z', '--stdin'], { input });
}

async function restore(git: ByteGit, { tree, folder, write, remove, modules }: Move): Promise<void> {
  const source = ['restore', `--source=${tree}`, '--staged'];
  const stdin = ['--pathspec-from-file=-', '--pathspec-file-nul'];
  const all = [':(top)', ...[folder, ...modules].map((path) => `:(top,exclude,literal)${path}`)];
  if (write.size + remove.length > 0)
    await git(['--no-literal-pathspecs', ...source, '--worktree', ...stdin], {
      input: all.map((path) => `${path}\0`).join(''),
    });
  if (modules.length > 0)
    await git([...source, ...stdin], { input: modules.map((path) => `${path}\0`).join('') });
}

/** Makes only the index a tree, outside the folder. */
export async function restoreIndex({ git }: Bench, tree: string, folder: string): Promise<void> {
  const differing = (await git(['diff-index', '--cached', '--name-only', '-z', tree])).split('\0');
  const inside = (path: string): boolean => path === folder || path.startsWith(`${folder}/`);
  const paths = differing.filter((path) => path !== '' && !inside(path));
  if (paths.length === 0) return;
  const args = ['restore', `--source=${tree}`, '--staged'];
  await git(['--no-literal-pathspecs', ...args, ...outsideOf(toText(folder))]);
}

/** The tree of a commit without one folder, and an index with it. */
export async function treeWithout(
  { look, folder: place }: Bench,
  { commit, folder }: { commit: string; folder: string },
): Promise<{ tree: string; index: string }> {
  const index = join(place, 'reduced');
  const env = { GIT_INDEX_FILE: index };
  await look(['read-tree', commit], { env });
  await look(['rm', '-r', '-f', '-q', '--cached', '--ignore-unmatch', '--', toText(folder)], { env });
  // A partial clone may lack some of its files.
  return { tree: (await look(['write-tree', '--missing-ok'], { env })).trim(), index };
}

/** The same, with HEAD's version of that folder. */
export async function treeWith(
  bench: Bench,
  { commit, head, folder }: { commit: string; head: string; folder: string },
): Promise<{ tree: string; index: string }> {
  const { look } = bench;
  const { index } = await treeWithout(bench, { commit, folder });
  const env = { GIT_INDEX_FILE: index };
  const kept = await look(['ls-tree', '-r', '-z', '--full-tree', head, '--', toText(folder)]);
  await look(['update-index', '-z', '--index-info'], { env, input: kept });
  return { tree: (await look(['write-tree', '--missing-ok'], { env })).trim(), index };
}

/** Files outside a folder that differ from a commit, including files marked assume-unchanged. */
export async function differingFiles(
  { look }: Bench,
  { commit, folder }: { commit: string; folder: string },
): Promise<string[]> {
  const form = ['-z', '--name-only', '--no-renames', '--ignore-submodules=dirty'];
  const tracked = words(await look(['diff-index', ...form, commit]));
  const others = words(await look(['ls-files', '-o', '-z', '--exclude-standard', '--full-name']));
  const paths = [...new Set([...tracked, ...others])].map(toText).sort();
  return paths.filter((path) => path !== folder && !path.startsWith(`${folder}/`));
}

/** A sparse checkout: in git, and intentionally not on disk. */
export const hasLeftOut = async ({ look }: Bench): Promise<boolean> =>
  words(await look(['ls-files', '-v', '-z'])).some((line) => /^[Ss] /.test(line));

export const pathIn = (root: string, path: string): Buffer =>
  Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, 'latin1')]);

/** Null for anything but a file or a symlink, and behind a symlink, where it is another file. */
export function stampIn(root: string, path: string): FileStamp | null {
  const parts = path.split('/');
  for (let length = 1; length < parts.length; length++) {
    const folder = pathIn(root, parts.slice(0, length).join('/'));
    if (fs.lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return null;
  }
  const stat = fs.lstatSync(pathIn(root, path), { bigint: true, throwIfNoEntry: false });
  if (!stat?.isFile() && !stat?.isSymbolicLink()) return null;
  const { ino, size, mtimeNs, ctimeNs, mode } = stat;
  const stamp = `${ino}:${size}:${mtimeNs}:${ctimeNs}:${mode}`;
  return { path, mode: Number(mode & 0o777n), isLink: stat.isSymbolicLink(), stamp };
}

/** Files in the way of these paths: the file itself, a file in place of its folder, or files below it as a folder. */
function blocking(root: string, paths: readonly string[]): string[] {
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

/** Exit 3 for a nested repository. */
function filesIn(root: string, folder: string, isDeep: boolean): string[] {
  if (fs.lstatSync(pathIn(root, `${folder}/.git`), { throwIfNoEntry: false }))
    throw refused('recover.repository', `${toText(folder)} is a nested repository and is in the way.`, {
      hint: 'move it elsewhere, then run the command again',
    });
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

/** Clears the place of a file that will be written again. */
export function makeRoom(root: string, path: string): Buffer {
  const at = pathIn(root, path);
  fs.mkdirSync(pathIn(root, dirname(path)), { recursive: true });
  const there = fs.lstatSync(at, { throwIfNoEntry: false });
  if (there?.isDirectory()) fs.rmdirSync(at);
  else if (there) fs.unlinkSync(at);
  return at;
}
