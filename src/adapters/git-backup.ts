import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { outside } from '../domain/error.js';
import { type Git, must } from './git.js';
import { type Bench, type ByteGit, indexLines, toBytes, toText } from './git-bytes.js';
import type { Move } from './git-move.js';
import { type FileStamp, WorkTree } from './work-tree.js';

const FOLDER = 'refs/forge/backup';
export const backupRef = (name: string): string => `${FOLDER}/${name}`;

/** A file that is kept byte for byte, without what filters and line ends would make of it. */
export interface KeptFile extends Pick<FileStamp, 'path' | 'mode' | 'isLink'> {
  oid: string;
}

/** What a backup says of itself, beside what the caller adds. */
export interface BackupNote {
  files: KeptFile[];
  /** Whether the index is kept too. */
  index: boolean;
  [field: string]: unknown;
}

export interface Backup {
  ref: string;
  commit: string;
  at: string;
  subject: string;
}

/**
 * A commit of the working tree as it is, readable like any other (`git restore --source=REF FILE`). Its first parent is
 * HEAD, its second holds the index: as a file, as a tree, and a note. Nothing is written over, and all of it is there when
 * this returns.
 */
export async function makeBackup(
  bench: Bench,
  move: Move,
  { ref, head, subject, note }: { ref: string; head: string; subject: string; note: Record<string, unknown> },
): Promise<string> {
  const { git } = bench;
  const files = await keepFiles(bench, move.touched);
  const tree = await treeOf(bench, move, files, head.length);
  const parts = [
    `100644 blob ${await hashText(git, JSON.stringify({ ...note, files, index: bench.original !== null }))}\tnote.json`,
    `040000 tree ${(await git(['write-tree'])).trim()}\tstaged`,
  ];
  if (bench.original)
    parts.push(`100644 blob ${(await hashFiles(git, [toBytes(bench.original)]))[0]}\tindex`);
  const kept = (await git(['mktree'], { input: `${parts.join('\n')}\n` })).trim();
  const asCommit = async (of: string, parents: string[], text: string): Promise<string> =>
    (
      await git(['commit-tree', of, ...parents.flatMap((parent) => ['-p', parent]), '-F', '-'], {
        input: toBytes(`${text}\n`),
      })
    ).trim();
  const index = await asCommit(kept, [], `Index of ${subject}`);
  const commit = await asCommit(tree, [head, index], subject);
  await git(['update-ref', '-m', 'forge recover', ref, commit, '']);
  await verifyBackup(git, [commit, index, tree, kept, ...files.map(({ oid }) => oid)]);
  return commit;
}

async function verifyBackup(git: ByteGit, oids: readonly string[]): Promise<void> {
  const said = await git(['cat-file', '--batch-check'], { input: oids.map((oid) => `${oid}\n`).join('') });
  if (/ missing$/m.test(said))
    throw outside('recover.backup', 'The backup is not whole; nothing was changed.', { hint: 'git fsck' });
}

/** Links are kept as where they lead. */
async function keepFiles(bench: Bench, stamps: readonly FileStamp[]): Promise<KeptFile[]> {
  const files = new WorkTree(bench.repository.root);
  const links = stamps.filter(({ isLink }) => isLink);
  const copies = new Map(
    links.map(({ path }, i) => {
      const copy = join(bench.folder, `link-${i}`);
      writeFileSync(copy, files.readLink(path));
      return [path, toBytes(copy)];
    }),
  );
  const oids = await hashFiles(
    bench.git,
    stamps.map(({ path }) => copies.get(path) ?? path),
  );
  return stamps.map(({ path, mode, isLink }, i) => ({ path, mode, isLink, oid: oids[i] ?? '' }));
}

async function hashFiles(git: ByteGit, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0) return [];
  const input = paths.map((path) => `${quoted(path)}\n`).join('');
  const oids = (await git(['hash-object', '-w', '--no-filters', '--stdin-paths'], { input }))
    .trim()
    .split('\n');
  if (oids.length === paths.length) return oids;
  throw outside('recover.backup', 'git did not take every file into the backup; nothing was changed.');
}

const hashText = async (git: ByteGit, text: string): Promise<string> =>
  (await git(['hash-object', '-w', '--no-filters', '--stdin'], { input: toBytes(text) })).trim();

/** As git reads a path that has a line end, or begins with a quote. */
function quoted(path: string): string {
  if (!/^"|[\n\r]/.test(path)) return path;
  return `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}"`;
}

const gitMode = ({ mode, isLink }: KeptFile): string =>
  isLink ? '120000' : (mode & 0o100) === 0 ? '100644' : '100755';

/** In a second index: the first one goes on to become the repository's. */
async function treeOf(
  { git, index }: Bench,
  { missing }: Move,
  files: readonly KeptFile[],
  oidLength: number,
): Promise<string> {
  const env = { GIT_INDEX_FILE: `${index}.kept` };
  copyFileSync(index, env.GIT_INDEX_FILE);
  const put = new Map(files.map((file) => [file.path, { mode: gitMode(file), oid: file.oid }]));
  await git(['update-index', '-z', '--index-info'], { env, input: indexLines(missing, put, oidLength) });
  return (await git(['write-tree'], { env })).trim();
}

/** Newest first. */
export async function listBackups(git: Git): Promise<Backup[]> {
  const format = ['refname', 'objectname', 'committerdate:iso-strict', 'contents:subject']
    .map((field) => `%(${field})`)
    .join('%00');
  const lines = (await must(git, ['for-each-ref', '--sort=-refname', `--format=${format}`, FOLDER])).split(
    '\n',
  );
  return lines.filter(Boolean).map((line) => {
    const [ref = '', commit = '', at = '', subject = ''] = line.split('\0');
    return { ref, commit, at, subject };
  });
}

/** Null where it is no backup of forge's. */
export async function readNote(git: Git, ref: string): Promise<BackupNote | null> {
  const { code, stdout } = await git(['cat-file', 'blob', `${ref}^2:note.json`]);
  if (code !== 0) return null;
  try {
    return JSON.parse(stdout) as BackupNote;
  } catch {
    return null;
  }
}

/** Puts kept files where they were, byte for byte. */
export async function writeKept({ git, repository }: Bench, kept: readonly KeptFile[]): Promise<void> {
  if (kept.length === 0) return;
  const files = new WorkTree(repository.root);
  for (const part of inParts(kept)) {
    const bytes = Buffer.from(
      await git(['cat-file', '--batch'], { input: part.map(({ oid }) => `${oid}\n`).join('') }),
      'latin1',
    );
    let at = 0;
    for (const file of part) {
      const end = bytes.indexOf(0x0a, at);
      const size = Number(/^\S+ blob (\d+)$/.exec(bytes.toString('latin1', at, end))?.[1] ?? Number.NaN);
      if (Number.isNaN(size))
        throw outside('recover.backup', `${toText(file.path)} is not in the backup any more.`);
      files.write(file.path, bytes.subarray(end + 1, end + 1 + size), file);
      at = end + 1 + size + 1;
    }
  }
}

/** A few at a time: they are held as a whole. */
function inParts(kept: readonly KeptFile[]): KeptFile[][] {
  const parts: KeptFile[][] = [];
  for (let at = 0; at < kept.length; at += 64) parts.push(kept.slice(at, at + 64));
  return parts;
}

/** The index of a backup, but `folder` as the present one has it. */
export async function writeKeptIndex(
  { git, index }: Bench,
  ref: string,
  folder: string,
  to: string,
): Promise<void> {
  const bytes = Buffer.from(await git(['cat-file', 'blob', `${ref}^2:index`]), 'latin1');
  writeFileSync(to, bytes, { mode: 0o600 });
  const inside = async (file: string): Promise<string> =>
    git(['ls-files', '-s', '-z', '--full-name', '--', folder], { env: { GIT_INDEX_FILE: file } });
  const [then, now] = [await inside(to), await inside(index)];
  if (then === now) return;
  const gone = then
    .split('\0')
    .filter(Boolean)
    .map((line) => line.slice(line.indexOf('\t') + 1));
  const zeros = '0'.repeat(/ ([0-9a-f]+) /.exec(then + now)?.[1]?.length ?? 40);
  const input = [...gone.map((path) => `0 ${zeros}\t${path}\0`), now].join('');
  await git(['update-index', '-z', '--index-info'], { env: { GIT_INDEX_FILE: to }, input });
}
