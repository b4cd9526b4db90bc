import * as fs from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { formatArgv } from './argv.js';
import { corrupted, type ForgeError, outside, systemCode } from './error.js';
import { makeToken } from './text.js';

const { O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY, O_WRONLY } = fs.constants;

const LIMITS: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EFBIG: 'the file size limit is reached',
  EMFILE: 'too many files are open in this process',
  ENFILE: 'too many files are open on this machine',
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EIO: 'the disk reported an error; whether it was written is unknown',
};

/** A system error as exit 6 with the file and the limit named; not-a-file as exit 4. */
export function diskError(error: unknown, path: string): ForgeError {
  const code = nameOf(error);
  if (code === 'ELOOP' || code === 'EISDIR' || code === 'ENXIO') return notRegular(path, code);
  const reason = code === 'ENOSPC' ? whyFull(path) : (LIMITS[code] ?? (error as Error).message);
  const isSandbox = code === 'EROFS' && path.includes(`${sep}.git${sep}`);
  const hint = isSandbox ? SANDBOX_HINT : remedyOf(code, path);
  return outside(`disk.${code.toLowerCase()}`, `${path}: ${reason}.`, { file: path, hint, cause: error });
}

/** What to look at first; nothing was written, so the same command can be run again. */
function remedyOf(code: string, path: string): string | undefined {
  const folder = formatArgv([dirname(path)]);
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return `df -h ${folder}   # free some space, then run the command again`;
  if (code === 'EROFS') return `findmnt -T ${folder}   # shows what is mounted read-only`;
  if (code === 'EACCES' || code === 'EPERM')
    return `ls -ld ${folder} ${formatArgv([path])}   # you must be allowed to write there`;
  return code === 'EMFILE' ? 'ulimit -n 4096' : undefined;
}

export const SANDBOX_HINT =
  "In an agent's sandbox, use the tools of forge's MCP server, which runs outside of it: learn, feature_verify, memory_record, session_end.";

/** True on a read-only file system. */
export function isReadOnly(folder: string): boolean {
  try {
    fs.accessSync(folder, fs.constants.W_OK);
    return false;
  } catch (error) {
    return systemCode(error) === 'EROFS';
  }
}

/** Node has no name for a quota that is used up, which is 122 on Linux and 69 on macOS. */
function nameOf(error: unknown): string {
  const code = systemCode(error) ?? 'unknown';
  const { errno } = error as { errno?: number };
  return !code.startsWith('E') && (errno === -122 || errno === -69) ? 'EDQUOT' : code;
}

/** Room may be left, but no inode for another file. */
function whyFull(path: string): string {
  try {
    const { files, ffree } = fs.statfsSync(dirname(path));
    if (files > 0 && ffree === 0) return 'no more files fit on the disk (no free inode)';
  } catch {
    // Then it is the usual reason.
  }
  return LIMITS.ENOSPC as string;
}

const KIND: Record<string, string> = {
  ELOOP: 'is a symbolic link',
  EISDIR: 'is a folder',
};

function notRegular(path: string, code: string): ForgeError {
  return corrupted(
    'file.kind',
    `${path} ${KIND[code] ?? 'is not a regular file'}; forge reads and writes plain files only.`,
    {
      file: path,
      hint: 'Replace it by a plain file with the same content.',
    },
  );
}

/**
 * The bytes of a plain file, or null when there is none. Never follows a link, never waits on a FIFO, never reads
 * more than `max` bytes (exit 4). Needs no lock: writers replace files whole.
 */
export function readPlain(path: string, max: number): Buffer | null {
  let fd: number;
  try {
    fd = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw diskError(error, path);
  }
  try {
    checkPlain(fs.fstatSync(fd), path, max);
    return fs.readFileSync(fd);
  } catch (error) {
    throw systemCode(error) && !isForgeError(error) ? diskError(error, path) : error;
  } finally {
    fs.closeSync(fd);
  }
}

/** The bytes that a path leads to, links followed; null when it leads nowhere or to a folder. Else as readPlain. */
export function readTarget(path: string, max: number): Buffer | null {
  try {
    const target = fs.realpathSync.native(path);
    return fs.statSync(target).isDirectory() ? null : readPlain(target, max);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return null;
    throw isForgeError(error) ? error : diskError(error, path);
  }
}

const isForgeError = (error: unknown): boolean => (error as Error).name === 'ForgeError';

function checkPlain(stat: fs.Stats, path: string, max: number): void {
  if (stat.isDirectory()) throw notRegular(path, 'EISDIR');
  if (!stat.isFile()) throw notRegular(path, 'ENXIO');
  if (stat.size > max)
    throw corrupted('file.too_large', `${path} has ${stat.size} bytes; ${max} are allowed.`, { file: path });
}

export interface Write {
  path: string;
  bytes: Buffer;
  /** Mode of a new file, before the umask; default 0o666. */
  mode?: number | undefined;
  /** Exact mode of a person's file that is replaced. */
  keepMode?: number | undefined;
}

/**
 * Replaces files whole. On return all are on the disk under their names. A crash before the first rename leaves
 * every old file; one between two renames leaves some new (callers that need both at once use an intent record);
 * no crash leaves half a file. The caller holds the worktree's lock.
 * `beforeRename` runs when all bytes are safe and nothing is visible yet; throwing there leaves everything as it was.
 */
export function replaceFiles(writes: readonly Write[], beforeRename: () => void = () => {}): void {
  const drafts: { draft: string; path: string }[] = [];
  try {
    for (const write of writes) drafts.push({ draft: writeDraft(write), path: write.path });
    beforeRename();
    while (drafts.length > 0) {
      const { draft, path } = drafts[0] as { draft: string; path: string };
      renameOver(draft, path);
      drafts.shift();
    }
  } catch (error) {
    for (const { draft } of drafts) fs.rmSync(draft, { force: true });
    throw error;
  }
  for (const folder of new Set(writes.map(({ path }) => dirname(path)))) syncFolder(folder);
}

/** The bytes under a temporary name in the same folder, fsynced. */
function writeDraft({ path, bytes, mode = 0o666, keepMode }: Write): string {
  const draft = join(dirname(path), `.${basename(path)}.${makeToken(12)}.tmp`);
  try {
    writeNew(draft, bytes, keepMode === undefined ? mode : 0o600);
    if (keepMode !== undefined) fs.chmodSync(draft, keepMode);
    return draft;
  } catch (error) {
    fs.rmSync(draft, { force: true });
    throw diskError(error, path);
  }
}

function writeNew(path: string, bytes: Buffer, mode: number): void {
  const fd = fs.openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  try {
    // A full disk shows as a short count first; the next call then throws with the reason.
    for (let done = 0; done < bytes.length; ) done += fs.writeSync(fd, bytes, done);
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

function renameOver(draft: string, path: string): void {
  try {
    fs.renameSync(draft, path);
  } catch (error) {
    throw diskError(error, path);
  }
}

/** Makes names in a folder durable. Where folders cannot be synced (Windows, some network disks) the system does it. */
export function syncFolder(folder: string): void {
  let fd: number | undefined;
  try {
    fd = fs.openSync(folder, O_RDONLY);
    fs.fsyncSync(fd);
  } catch (error) {
    if (!['EPERM', 'EISDIR', 'EINVAL', 'EACCES', 'ENOTSUP'].includes(systemCode(error) ?? ''))
      throw diskError(error, folder);
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
}

/** Makes a file only if the name is free; false when someone else has it. Durable on return. */
export function createFile(path: string, bytes: Buffer): boolean {
  try {
    writeNew(path, bytes, 0o666);
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
  let first: string | undefined;
  try {
    first = fs.mkdirSync(path, { recursive: true, mode });
  } catch (error) {
    throw diskError(reasonForNoFolder(error, path), path);
  }
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) syncFolder(dirname(made));
}

/** On a read-only disk Node says ENOENT for a folder whose parent is missing too; the uppermost of them has the reason. */
function reasonForNoFolder(error: unknown, path: string): unknown {
  if (systemCode(error) !== 'ENOENT') return error;
  let missing = path;
  while (!fs.existsSync(dirname(missing))) missing = dirname(missing);
  try {
    fs.mkdirSync(missing);
    return error;
  } catch (reason) {
    return reason;
  }
}

/**
 * Drafts of one file that a crash left beside it: never merged, removed by its next writer, who holds the lock.
 * Other files' drafts are left alone: they may be under another lock and in use.
 */
export function removeDrafts(path: string): void {
  const [folder, base] = [dirname(path), basename(path)];
  const drafted = (name: string): string => name.replace(/(\.[0-9a-f]{12})?\.tmp$/, '');
  const drafts = listFolder(folder).filter((name) => name.endsWith('.tmp'));
  for (const name of drafts.filter((name) => [base, `.${base}`].includes(drafted(name))))
    if (fs.lstatSync(join(folder, name), { throwIfNoEntry: false })?.isFile())
      fs.rmSync(join(folder, name), { force: true });
}

/** Names in a folder, in code-unit order; none when there is no such folder. */
export function listFolder(path: string): string[] {
  try {
    return fs.readdirSync(path).sort();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw diskError(error, path);
  }
}

/** Removes a file or folder if it is there. */
export function removePath(path: string): void {
  try {
    fs.rmSync(path, { recursive: true, force: true });
  } catch (error) {
    throw diskError(error, path);
  }
}

/** For what somebody removes later if it stays: no reason to fail. */
export function removeQuietly(path: string): void {
  try {
    fs.unlinkSync(path);
  } catch {
    // See above.
  }
}
