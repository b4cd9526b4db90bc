import * as fs from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { formatArgv } from './argv.js';
import { corrupted, ForgeError, outside, refused, systemCode } from './error.js';

const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = fs.constants;

export const FULL_DISK = 'the disk is full, or has no free inode';

const REASONS: Record<string, string> = {
  ENOSPC: FULL_DISK,
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EFBIG: 'the file size limit is reached',
  EMFILE: 'too many files are open in this process',
  ENFILE: 'too many files are open on this machine',
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EIO: 'the disk reported an error; whether it was written is unknown',
};

const HINTS: Record<string, string> = {
  ENOSPC: 'df -h FOLDER; df -i FOLDER   # free what is full, then run the command again',
  EDQUOT: 'df -h FOLDER   # free some space, then run the command again',
  EACCES: 'ls -la FOLDER   # you must be allowed to read and write there',
};

const NOT_PLAIN: Record<string, string> = {
  ELOOP: 'is a symbolic link',
  EISDIR: 'is a folder',
  ENXIO: 'is not a regular file',
};

/** Node has no name for an exhausted quota. The number is that of Linux or of macOS. */
const QUOTA = /^Unknown system error -(?:122|69)$/;

/** A system error as exit 6 that names the file and the limit; exit 4 for what is not a plain file. */
export function diskError(error: unknown, path: string): ForgeError {
  const code = (systemCode(error) ?? 'unknown').replace(QUOTA, 'EDQUOT');
  if (NOT_PLAIN[code]) return notPlain(path, code);
  const isSandbox = code === 'EROFS' && path.includes(`${sep}.git${sep}`);
  const folder = formatArgv([reachable(dirname(path))]);
  const hint = isSandbox ? SANDBOX_HINT : HINTS[code]?.replaceAll('FOLDER', () => folder);
  const message = `${path}: ${REASONS[code] ?? (error as Error).message}.`;
  return outside(`disk.${code.toLowerCase()}`, message, { file: path, hint, cause: error });
}

/** The nearest folder that may be entered: it shows the mode of one that may not. */
const reachable = (folder: string): string =>
  fs.existsSync(`${folder}/.`) || folder === dirname(folder) ? folder : reachable(dirname(folder));

export const SANDBOX_HINT =
  "In an agent's sandbox, use the tools of forge's MCP server, which runs outside of it: learn, feature_verify, memory_record, session_end.";

function notPlain(path: string, code: string): ForgeError {
  const message = `${path} ${NOT_PLAIN[code]}; forge reads and writes plain files only.`;
  const hint = 'Replace it by a plain file with the same content.';
  return corrupted('file.kind', message, { file: path, hint });
}

export function onDisk<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof ForgeError ? error : diskError(error, path);
  }
}

/** True when files can be written in a folder, or when the folder does not exist yet. */
export function isWritable(path: string): boolean {
  try {
    fs.accessSync(path, fs.constants.W_OK);
    return true;
  } catch (error) {
    return systemCode(error) === 'ENOENT';
  }
}

/** The result of `work`, or `otherwise` after any error. */
function tryOr<T, F>(otherwise: F, work: () => T): T | F {
  try {
    return work();
  } catch {
    return otherwise;
  }
}

/** True when a folder's disk has no free space or no free inode. */
export const isFull = (path: string): boolean =>
  tryOr(false, () => {
    const { bavail, files, ffree } = fs.statfsSync(path);
    return bavail === 0 || (files > 0 && ffree === 0);
  });

/** Null for no file. Never follows a symlink, waits for a FIFO, or reads more than `max` bytes (exit 4). Needs no lock. */
export function readPlain(path: string, max: number): Buffer | null {
  let fd: number | undefined;
  try {
    fd = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const stat = fs.fstatSync(fd);
    if (!stat.isFile()) throw notPlain(path, stat.isDirectory() ? 'EISDIR' : 'ENXIO');
    const problem = `${path} has ${stat.size} bytes; ${max} are allowed.`;
    if (stat.size > max) throw corrupted('file.too_large', problem, { file: path });
    return fs.readFileSync(fd);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error instanceof ForgeError ? error : diskError(error, path);
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
}

/** Like readPlain, but follows symlinks. Null for a dangling one and for a folder. */
export function readTarget(path: string, max: number): Buffer | null {
  const stat = fs.statSync(path, { throwIfNoEntry: false });
  return stat === undefined || stat.isDirectory() ? null : readPlain(fs.realpathSync.native(path), max);
}

/** A file's identity and state. */
export const formatStamp = ({ dev, ino, size, mtimeMs, ctimeMs }: fs.Stats): string =>
  `${dev}:${ino}:${size}:${mtimeMs}:${ctimeMs}`;

/** When a file changed at the latest, in ms. exFAT, FAT and older network file systems cut it to 1 or 2 seconds. */
export const changedBy = ({ ctimeMs }: fs.Stats): number => (ctimeMs % 1000 === 0 ? ctimeMs + 2000 : ctimeMs);

/** '' if there is no file. */
export function stampOf(path: string): string {
  const stat = fs.lstatSync(path, { throwIfNoEntry: false });
  return stat ? formatStamp(stat) : '';
}

/** The text of a file; '' when it cannot be read. */
export const readText = (path: string): string => tryOr('', () => fs.readFileSync(path, 'utf8'));

/** With every symlink followed; null when nothing can be reached there. */
export const realPath = (path: string): string | null => tryOr(null, () => fs.realpathSync.native(path));

export interface Write {
  path: string;
  /** Null removes the file. */
  bytes: Buffer | null;
  /** Mode of a new file, before the umask; default 0o666. */
  mode?: number | undefined;
  /** Exact mode of a person's file that is replaced. */
  keepMode?: number | undefined;
  /** The bytes that the file must still have, null for none. Otherwise exit 3 `file.changed`. */
  expected?: Buffer | null | undefined;
  /** How messages name the file; default: its path. */
  name?: string;
}

/** Files under other names exist only while they are written. The next writer of the same file replaces a leftover. */
const draftOf = (path: string): string => join(dirname(path), `.${basename(path)}.tmp`);

/**
 * Replaces whole files and makes their folders. On return all of them are durable. A crash before the first rename
 * leaves every old file; between two renames it leaves some new ones. `checkHeld` runs before the first rename.
 */
export function replaceFiles(writes: readonly Write[], checkHeld: () => void = () => {}): void {
  try {
    for (const write of writes) writeDraft(write);
    checkHeld();
    writes.forEach(requireUnchanged);
    for (const { path, bytes } of writes)
      if (bytes) onDisk(path, () => fs.renameSync(draftOf(path), path));
      else removePath(path);
  } catch (error) {
    for (const { path } of writes) removeQuietly(draftOf(path));
    throw error;
  }
  for (const folder of new Set(writes.map(({ path }) => dirname(path)))) syncFolder(folder);
}

function writeDraft({ path, bytes, mode, keepMode }: Write): void {
  if (!bytes) return;
  makeFolder(dirname(path));
  onDisk(path, () => {
    // A stopped process may still write to the old inode, so make a new one.
    fs.rmSync(draftOf(path), { force: true });
    writeNew(draftOf(path), bytes, keepMode === undefined ? mode : 0o600);
    if (keepMode !== undefined) fs.chmodSync(draftOf(path), keepMode);
  });
}

function requireUnchanged({ path, expected, name = path }: Write): void {
  if (expected === undefined) return;
  const now = readPlain(path, Number.MAX_SAFE_INTEGER);
  if (now === expected || (now && expected?.equals(now))) return;
  const message = `${name} was changed by another program meanwhile; nothing was written.`;
  throw refused('file.changed', message, { file: name, hint: 'Run the command again.' });
}

const writeNew = (path: string, bytes: Buffer, mode = 0o666): void =>
  fs.writeFileSync(path, bytes, { flag: 'wx', mode, flush: true });

/** Makes names in a folder durable. Some network file systems cannot sync folders. */
export function syncFolder(folder: string): void {
  let fd: number | undefined;
  try {
    fd = fs.openSync(folder, O_RDONLY);
    fs.fsyncSync(fd);
  } catch (error) {
    if (!['EPERM', 'EINVAL', 'EACCES', 'ENOTSUP'].includes(systemCode(error) ?? ''))
      throw diskError(error, folder);
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
}

/** Makes a file only if the name is free; false when it is taken. Durable on return. */
export function createFile(path: string, bytes: Buffer): boolean {
  try {
    writeNew(path, bytes);
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw diskError(error, path);
  }
  syncFolder(dirname(path));
  return true;
}

/** Mode of a folder that only this person may enter. */
export const PRIVATE = 0o700;

/** Makes a folder and its missing parents. Durable on return, so that a crash cannot take files made in it. */
export function makeFolder(path: string, mode = 0o777): void {
  if (fs.existsSync(path)) return;
  makeFolder(dirname(path), mode);
  try {
    fs.mkdirSync(path, mode);
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return;
    throw diskError(error, path);
  }
  syncFolder(dirname(path));
}

/** Names in a folder, in code-unit order; none when it does not exist. */
export function listFolder(path: string, isMeant: (entry: fs.Dirent) => boolean = () => true): string[] {
  try {
    const entries = fs.readdirSync(path, { withFileTypes: true }).filter(isMeant);
    return entries.map(({ name }) => name).sort();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw diskError(error, path);
  }
}

/** About `most` paths below a folder, sorted. Links are not followed: in a clone they may form loops. */
export function filesBelow(folder: string, most: number, prefix = ''): string[] {
  const found: string[] = [];
  for (const entry of fs.readdirSync(join(folder, prefix), { withFileTypes: true })) {
    const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
    if (entry.isDirectory()) found.push(...filesBelow(folder, most, path));
    else found.push(path);
    if (found.length > most) break;
  }
  return found.sort();
}

export const removePath = (path: string): void =>
  onDisk(path, () => fs.rmSync(path, { recursive: true, force: true }));

/** Without an error if the file stays. */
export const removeQuietly = (path: string): void => tryOr(undefined, () => fs.unlinkSync(path));

/** More than any hint has: one that is too large is not stored. */
const MAX_HINT_BYTES = 1024 * 1024;
const MAX_LOG_BYTES = 64 * 1024;

/** The value of a hint file; null when it is missing or unreadable. */
export const readHint = <T>(path: string, max = MAX_HINT_BYTES): T | null =>
  tryOr(null, () => JSON.parse(readPlain(path, max)?.toString('utf8') ?? '') as T);

/** Stores a value that can be computed again. Neither locked nor synced, and never an error. */
export const writeHint = (path: string, value: object, max = MAX_HINT_BYTES): void =>
  writeQuietly(path, () => Buffer.from(`${JSON.stringify(value)}\n`), max);

/** Adds a line to a log. A full log loses its older half. */
export const appendLog = (path: string, line: string): void =>
  writeQuietly(path, () => {
    const text = `${readPlain(path, 2 * MAX_LOG_BYTES)?.toString('utf8') ?? ''}${line}\n`;
    const isFull = text.length >= MAX_LOG_BYTES;
    return Buffer.from(isFull ? text.slice(text.indexOf('\n', text.length / 2) + 1) : text);
  });

/** Not synced, and without an error. */
export function writeQuietly(path: string, make: () => Buffer, max = MAX_HINT_BYTES): void {
  const draft = draftOf(path);
  try {
    fs.mkdirSync(dirname(path), { recursive: true });
    const bytes = make();
    // Without git the folder is in .forge/, where a clone may have put a symlink.
    if (bytes.length > max || !fs.lstatSync(dirname(path)).isDirectory()) return;
    fs.rmSync(draft, { force: true });
    fs.writeFileSync(draft, bytes, { flag: 'wx' });
    fs.renameSync(draft, path);
  } catch {
    removeQuietly(draft);
  }
}

/** Types of statfs(2) on Linux: network and virtual file systems, where locks, renames and fsync are not reliable. */
const UNRELIABLE: Record<number, string> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'CIFS',
  4266872130: 'SMB',
  16914839: '9p',
  1702057286: 'FUSE',
};

/** The name of the unreliable file system that a folder is on; null for any other. */
export const unreliableFileSystem = (folder: string): string | null =>
  tryOr(null, () => (process.platform === 'linux' && UNRELIABLE[fs.statfsSync(folder).type >>> 0]) || null);
