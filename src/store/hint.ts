import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { readPlain } from './durable.js';

/** Room for what a hint says, in bytes. */
const LENGTH = 160;
/** The most that is read of one. */
const MAX_LENGTH = 64 * 1024;

const { O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_WRONLY } = fs.constants;

/** What a hint file says; null when there is none, or nothing that can be read. */
export function readHint<T>(path: string): T | null {
  try {
    return JSON.parse(readPlain(path, MAX_LENGTH)?.toString('utf8') ?? '') as T;
  } catch {
    return null;
  }
}

/**
 * Remembers what costs little to find out again: neither locked nor synced, and never an error (a read-only place can be
 * read). JSON of less than `length` bytes.
 */
export function writeHint(path: string, value: object, length = LENGTH): void {
  try {
    const folder = dirname(path);
    fs.mkdirSync(folder, { recursive: true });
    // Without git it lies in .forge/, which may have come with links in it.
    const bytes = Buffer.from(JSON.stringify(value), 'utf8');
    if (bytes.length >= length || !fs.lstatSync(folder).isDirectory()) return;
    overwrite(path, Buffer.concat([bytes, Buffer.alloc(length - bytes.length - 1, ' '), LF]));
  } catch {
    // Then the next one finds it out again.
  }
}

/** Changes whenever a file of a folder comes, goes or is written. */
export function stampFolder(folder: string): string {
  try {
    const names = fs.readdirSync(folder).sort();
    return names.map((name) => `${name} ${stampFile(join(folder, name))}`).join('\n');
  } catch {
    return '';
  }
}

/**
 * Changes whenever a file is written, or a name in a folder comes or goes; empty where there is none. Its time of change is
 * in it, last: what was copied in place with its old time of writing, or touched, has a new one.
 */
export function stampFile(path: string): string {
  const stat = fs.lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}` : '';
}

const LF = Buffer.from('\n');

function overwrite(path: string, bytes: Buffer): void {
  const file = fs.openSync(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o666);
  try {
    const stat = fs.fstatSync(file);
    if (!stat.isFile() || stat.nlink > 1) return;
    // Always the same length: cutting a file to nothing first makes some file systems wait for the disk.
    if (stat.size > bytes.length) fs.ftruncateSync(file);
    fs.writeSync(file, bytes, 0);
  } finally {
    fs.closeSync(file);
  }
}
