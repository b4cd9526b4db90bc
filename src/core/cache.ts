import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { readPlain } from './files.js';

/** Room for what a hint says, in bytes. */
const LENGTH = 160;
/** The most that is read of one. */
const MAX_LENGTH = 64 * 1024;

const { O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_WRONLY } = fs.constants;

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

/** Beyond it, the older half goes, in bytes. */
const MAX_LOG_BYTES = 64 * 1024;

/** Adds a line to a log of what nobody could be told. Never an error; not synced. */
export function appendLog(path: string, line: string): void {
  try {
    fs.mkdirSync(dirname(path), { recursive: true });
    const file = fs.openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
    try {
      const stat = fs.fstatSync(file);
      if (!stat.isFile() || stat.nlink > 1) return;
      fs.writeSync(file, `${line}\n`);
      if (stat.size > MAX_LOG_BYTES) halve(path);
    } finally {
      fs.closeSync(file);
    }
  } catch {
    // A log is not worth failing for.
  }
}

function halve(path: string): void {
  const lines = fs.readFileSync(path, 'utf8').split('\n');
  fs.writeFileSync(path, lines.slice(Math.floor(lines.length / 2)).join('\n'));
}
