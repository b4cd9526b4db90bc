import { closeSync, copyFileSync, fchmodSync, openSync, readlinkSync, symlinkSync, writeSync } from 'node:fs';
import { outside } from '../core/error.js';
import { type ByteGit, type Git, lines, must, openObjects, toBytes, toText } from './client.js';
import { type Move, makeRoom, pathIn } from './move.js';
import type { Bench } from './tree.js';

const FOLDER = 'refs/forge/backup';
export const backupRef = (name: string): string => `${FOLDER}/${name}`;

/** A file saved byte for byte, without filters or line-ending conversion. A symlink is saved as its target. */
export interface KeptFile {
  /** From the worktree's top. Each character is a byte. */
  path: string;
  mode: number;
  isLink: boolean;
  oid: string;
}

/** The note in a backup, without the caller's fields. */
export interface BackupNote {
  why: string;
  /** The git dir of the worktree it belongs to. */
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
  /** The first parent. */
  head: string;
  /** Of the index, and of the working tree. Default: those of `head`. */
  staged?: string;
  tree?: string;
  subject: string;
  note: Record<string, unknown>;
}

/** A commit with `tree` on `head`. Its second parent holds the note and the index. The ref must be new. */
export async function writeBackup(git: ByteGit, backup: NewBackup): Promise<void> {
  const { ref, head, staged, tree = `${head}^{tree}`, subject, note } = backup;
  const write = async (input: string, ...args: string[]): Promise<string> =>
    (await git(args, { input })).trim();
  const blob = await write(toBytes(JSON.stringify(note)), 'hash-object', '-w', '--no-filters', '--stdin');
  const index = staged === undefined ? '' : `040000 tree ${staged}\tstaged\n`;
  const held = await write(`100644 blob ${blob}\tnote.json\n${index}`, 'mktree');
  const text = toBytes(`${subject}\n`);
  const holder = await write(text, 'commit-tree', held, '-F', '-');
  const commit = await write(text, 'commit-tree', tree, '-p', head, '-p', holder, '-F', '-');
  await git(['update-ref', '-m', 'forge backup', ref, commit, '']);
}

/** What a move touches as a commit, readable like any other (`git restore --source=REF FILE`). It is on disk when this returns. */
export async function backUp(
  bench: Bench,
  { touched, differing }: Move,
  { note, ...backup }: Pick<NewBackup, 'ref' | 'head' | 'subject' | 'note'>,
): Promise<void> {
  const { look, index } = bench;
  const plain = touched.filter(({ isLink }) => !isLink).map(({ path }) => path);
  const oids = new Map((await hashFiles(look, plain)).map((oid, i) => [plain[i], oid]));
  const files: KeptFile[] = [];
  for (const { path, mode, isLink } of touched)
    files.push({ path, mode, isLink, oid: oids.get(path) ?? (await hashLink(bench, path)) });
  const staged = (await look(['write-tree'])).trim();
  const env = { GIT_INDEX_FILE: `${index}.kept` };
  copyFileSync(index, env.GIT_INDEX_FILE);
  const none = `0 ${'0'.repeat(staged.length)}`;
  const kept = new Map(files.map((file) => [file.path, `${gitMode(file)} ${file.oid}`]));
  const paths = new Set([...differing, ...kept.keys()]);
  const input = [...paths].map((path) => `${kept.get(path) ?? none}\t${path}\0`).join('');
  await look(['update-index', '-z', '--index-info'], { env, input });
  const tree = (await look(['write-tree'], { env })).trim();
  await writeBackup(look, { ...backup, staged, tree, note: { ...note, files } });
}

const gitMode = ({ mode, isLink }: KeptFile): string =>
  isLink ? '120000' : (mode & 0o100) === 0 ? '100644' : '100755';

const hashLink = async ({ look, root }: Bench, path: string): Promise<string> => {
  const input = readlinkSync(pathIn(root, path), { encoding: 'buffer' }).toString('latin1');
  return (await look(['hash-object', '-w', '--no-filters', '--stdin'], { input })).trim();
};

/** Stores files byte for byte. Paths are bytes. */
async function hashFiles(git: ByteGit, paths: readonly string[]): Promise<string[]> {
  const input = paths.map((path) => `${quoted(path)}\n`).join('');
  const args = ['hash-object', '-w', '--no-filters', '--stdin-paths'];
  const oids = lines(await git(args, { input }));
  if (oids.length === paths.length) return oids;
  throw outside('recover.backup', 'git did not take every file into the backup; nothing was changed.');
}

/** Quoted as git expects a path with a newline or a leading quote. */
function quoted(path: string): string {
  if (!/^"|[\n\r]/.test(path)) return path;
  return `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}"`;
}

/** Restores saved files byte for byte. Exit 6 if git has lost one of them. */
export async function writeKept({ root, env }: Bench, kept: readonly KeptFile[]): Promise<void> {
  const objects = openObjects(root, env);
  try {
    for (const { path, mode, isLink, oid } of kept) {
      const object = await objects.read(oid);
      if (!object) throw outside('recover.backup', `${toText(path)} is no longer in the backup.`);
      const at = makeRoom(root, path);
      if (isLink) symlinkSync(object.bytes, at);
      else writeFile(at, mode, object.bytes);
    }
  } finally {
    await objects.close();
  }
}

/** With exactly this mode, regardless of the umask. */
function writeFile(at: Buffer, mode: number, bytes: Buffer): void {
  const file = openSync(at, 'wx', 0o600);
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
    fchmodSync(file, mode);
  } finally {
    closeSync(file);
  }
}
