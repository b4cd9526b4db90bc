import { chmodSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ByteGit, type Git, lines, must, toBytes } from './client.js';
import { type Move, pathIn } from './move.js';
import type { Workspace } from './tree.js';

const FOLDER = 'refs/forge/backup';
export const backupRef = (name: string): string => `${FOLDER}/${name}`;

/** A file of a backup. */
export interface KeptFile {
  /** From the worktree's top. Each character is a byte. */
  path: string;
  /** Its exact mode, of which git stores only a part. */
  mode: number;
}

/** The note in a backup, without the caller's fields. */
export interface BackupNote {
  why: string;
  /** The git dir of the worktree it belongs to, from the one that all share. */
  worktree: string;
  files: KeptFile[];
  [field: string]: unknown;
}

export interface Backup {
  ref: string;
  commit: string;
  at: string;
  subject: string;
}

/** Newest first. */
export async function listBackups(git: Git): Promise<Backup[]> {
  const fields = ['refname', 'objectname', 'committerdate:iso-strict', 'contents:subject'];
  const format = fields.map((field) => `%(${field})`).join('%00');
  const args = ['for-each-ref', '--sort=-refname', `--format=${format}`, FOLDER];
  return lines(await must(git, args)).map((line) => {
    const [ref = '', commit = '', at = '', subject = ''] = line.split('\0');
    return { ref, commit, at, subject };
  });
}

/** Null if forge did not make it. */
export async function readNote(git: Git, ref: string): Promise<BackupNote | null> {
  const { code, stdout } = await git(['cat-file', 'blob', `${ref}^2:note.json`]);
  try {
    return code === 0 ? (JSON.parse(stdout) as BackupNote) : null;
  } catch {
    return null;
  }
}

interface NewBackup {
  ref: string;
  head: string;
  /** Of the index, and of the working tree. Default: those of `head`. */
  staged?: string;
  tree?: string;
  subject: string;
  note: Record<string, unknown>;
  /** The commit that the ref must have. Default: the ref must be new. */
  old?: string;
}

/** A commit with `tree` on `head`. Its second parent holds the note and the index. */
export async function writeBackup(git: ByteGit, backup: NewBackup): Promise<string> {
  const { ref, head, staged, tree = `${head}^{tree}`, subject, note, old = '' } = backup;
  const write = async (input: string, ...args: string[]): Promise<string> =>
    (await git(args, { input })).trim();
  const blob = await write(toBytes(JSON.stringify(note)), 'hash-object', '-w', '--no-filters', '--stdin');
  const index = staged === undefined ? '' : `040000 tree ${staged}\tstaged\n`;
  const held = await write(`100644 blob ${blob}\tnote.json\n${index}`, 'mktree');
  const text = toBytes(`${subject}\n`);
  const holder = await write(text, 'commit-tree', held, '-F', '-');
  const commit = await write(text, 'commit-tree', tree, '-p', head, '-p', holder, '-F', '-');
  await git(['update-ref', '-m', 'forge backup', ref, commit, old]);
  return commit;
}

/** What a move touches as a commit, readable like any other (`git restore --source=REF FILE`). It is on disk when this returns. */
export async function backUp(
  workspace: Workspace,
  { touched, differing }: Move,
  { note, ...backup }: Pick<NewBackup, 'ref' | 'head' | 'subject' | 'note'>,
): Promise<void> {
  const { look } = workspace;
  const files = touched.map(({ path, mode }): KeptFile => ({ path, mode }));
  const staged = (await look(['write-tree'])).trim();
  const raw = await openRaw(workspace, staged);
  await raw(['update-index', '--force-remove', '-z', '--stdin'], { input: listed(differing) });
  const input = listed(files.map(({ path }) => path));
  await raw(['update-index', '--add', '--replace', '-z', '--stdin'], { input });
  const tree = (await raw(['write-tree', '--missing-ok'])).trim();
  await writeBackup(look, { ...backup, staged, tree, note: { ...note, files } });
}

/** Restores the files of a backup byte for byte, with their exact modes. */
export async function writeKept(place: Workspace, ref: string, files: readonly KeptFile[]): Promise<void> {
  const tree = (await place.git(['rev-parse', `${ref}^{tree}`])).trim();
  const raw = await openRaw(place, tree);
  const input = listed(files.map(({ path }) => path));
  await raw(['checkout-index', '--force', '-z', '--stdin'], { input });
  for (const { path, mode } of files) {
    const at = pathIn(place.root, path);
    if (!lstatSync(at).isSymbolicLink()) chmodSync(at, mode);
  }
}

const listed = (paths: readonly string[]): string => paths.map((path) => `${path}\0`).join('');

/** No attribute of the working tree overrides these. */
const NO_CONVERSION = '* -text -filter -ident -working-tree-encoding\n';

/** Git with a git dir and an index of its own, which stores and writes files byte for byte. The index is that of a tree. */
async function openRaw({ git, root, commonDir, folder }: Workspace, tree: string): Promise<ByteGit> {
  const dir = join(folder, 'raw');
  const format = (await git(['rev-parse', '--show-object-format'])).trim();
  await git(['init', '--quiet', '--bare', '--template=', `--object-format=${format}`, dir]);
  mkdirSync(join(dir, 'info'), { recursive: true });
  writeFileSync(join(dir, 'info', 'attributes'), NO_CONVERSION);
  const env = { GIT_DIR: dir, GIT_WORK_TREE: root, GIT_OBJECT_DIRECTORY: join(commonDir, 'objects') };
  const raw: ByteGit = (args, options) => git(args, { ...options, env });
  await raw(['read-tree', tree]);
  return raw;
}
