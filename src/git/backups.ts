import { closeSync, writeFileSync } from 'node:fs';
import { outside } from '../core/error.js';
import { type Bench, toText } from './bytes.js';
import { type Git, gitError, must } from './client.js';
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

/** Puts kept files where they were, byte for byte, however large. Exit 6 when git has one of them no more. */
export async function writeKept({ stream, repository }: Bench, kept: readonly KeptFile[]): Promise<void> {
  if (kept.length === 0) return;
  const writer = new KeptWriter(new WorkTree(repository.root), kept);
  const input = kept.map(({ oid }) => `${oid}\n`).join('');
  const args = ['cat-file', '--batch'];
  const { code, stderr } = await stream(args, (chunk) => writer.push(chunk), { input });
  if (code !== 0) throw gitError(args, stderr);
}

/** Reads `<oid> blob <size>`, LF, the bytes, LF for each file in turn, and writes them as they come. */
class KeptWriter {
  private at = 0;
  private head = '';
  /** Bytes of the file still to come, and the LF behind them; -1 between files. */
  private left = -1;
  private file: number | null = null;
  private link: Buffer[] = [];

  constructor(
    private readonly files: WorkTree,
    private readonly kept: readonly KeptFile[],
  ) {}

  push(chunk: Buffer): void {
    for (let from = 0; from < chunk.length; )
      from = this.left < 0 ? this.readHead(chunk, from) : this.take(chunk, from);
  }

  private readHead(chunk: Buffer, from: number): number {
    const end = chunk.indexOf(0x0a, from);
    this.head += chunk.toString('latin1', from, end < 0 ? chunk.length : end);
    if (end < 0) return chunk.length;
    const size = /^\S+ blob (\d+)$/.exec(this.head)?.[1];
    this.head = '';
    const { path, mode, isLink } = this.kept[this.at] as KeptFile;
    if (size === undefined) throw outside('recover.backup', `${toText(path)} is not in the backup any more.`);
    this.left = Number(size) + 1;
    this.link = [];
    this.file = isLink ? null : this.files.create(path, mode);
    return end + 1;
  }

  private take(chunk: Buffer, from: number): number {
    const end = Math.min(from + this.left, chunk.length);
    this.left -= end - from;
    // The last byte is the LF that git adds.
    const bytes = chunk.subarray(from, this.left === 0 ? end - 1 : end);
    if (this.file === null) this.link.push(Buffer.from(bytes));
    else if (bytes.length > 0) writeFileSync(this.file, bytes);
    if (this.left === 0) this.close();
    return end;
  }

  private close(): void {
    if (this.file === null) this.files.link((this.kept[this.at] as KeptFile).path, Buffer.concat(this.link));
    else closeSync(this.file);
    this.file = null;
    this.left = -1;
    this.at++;
  }
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
