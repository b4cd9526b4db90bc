import { writeFileSync } from 'node:fs';
import { outside } from '../domain/error.js';
import { type Git, must } from './git.js';
import { type Bench, toText } from './git-bytes.js';
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
