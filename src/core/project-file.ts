import * as fs from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { type ForgeError, outside, refused, systemCode } from './error.js';
import { diskError, makeFolder, readPlain, removeDrafts, removePath, replaceFiles } from './files.js';
import { shownFrom } from './paths.js';

/** Settings of agents have a few kilobytes. More would be parsed for seconds while others wait for the lock. */
const MAX_FOREIGN_BYTES = 512 * 1024;

/** A file outside `.forge/` that is not forge's alone: an agent's settings, its instructions. */
export interface ProjectFile {
  /** From the real top folder, with forward slashes; as it is outside. */
  name: string;
  /** Where it really is, links followed. */
  path: string;
  /** Null: there is none. */
  bytes: Buffer | null;
  mode: number | undefined;
  /** Folders that are missing on the way, from the top folder, the outermost first. */
  missing: readonly string[];
}

/**
 * Reads it; it has to be a regular file of sane size. A link is followed inside the top folder; to elsewhere (a clone
 * brought it along) only with `isFree`.
 */
export function readProjectFile(top: string, name: string, isFree: boolean): ProjectFile {
  const root = realPath(top) ?? top;
  if (!isThere(root)) throw diskError(Object.assign(new Error('no folder'), { code: 'ENOENT' }), top);
  const parts = name.split('/');
  // The nearest part that exists tells where the file really is; what is missing below it is named from the top.
  let found = parts.length;
  while (found > 0 && !isThere(join(root, ...parts.slice(0, found)))) found--;
  const nearest = join(root, ...parts.slice(0, found));
  const real = realPath(nearest);
  if (real === null)
    throw refused('agent.link', `${name}: ${nearest} is a symbolic link that leads nowhere.`, {
      file: name,
      hint: 'Remove the link, or make its target.',
    });
  if (found > 0 && !isFree) requireInside(real, root, name);
  const path = join(real, ...parts.slice(found));
  const stat = fs.statSync(real);
  if (found < parts.length && !stat.isDirectory())
    throw refused('agent.file', `${name}: ${nearest} is not a folder.`, { file: name });
  const isHere = found === parts.length;
  return {
    name: path.startsWith(root + sep) ? shownFrom(root, path) : path,
    path,
    missing: parts.slice(found, -1).map((_, i) => parts.slice(0, found + i + 1).join('/')),
    bytes: isHere ? readForeign(path, name) : null,
    mode: isHere ? stat.mode & 0o7777 : undefined,
  };
}

/** Nothing of forge's is damaged by what is wrong there: exit 3 instead of 4. */
function readForeign(path: string, name: string): Buffer | null {
  try {
    return readPlain(path, MAX_FOREIGN_BYTES);
  } catch (error) {
    const { kind, message } = error as ForgeError;
    if (kind !== 'corrupted') throw error;
    throw refused('agent.file', message, { file: name, hint: 'Put a plain file of sane size in its place.' });
  }
}

/** Below a file there is nothing. */
function isThere(path: string): boolean {
  try {
    return fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/** Null where a link leads nowhere. */
function realPath(path: string): string | null {
  try {
    return fs.realpathSync.native(path);
  } catch (error) {
    if (['ENOENT', 'ELOOP', 'ENOTDIR'].includes(systemCode(error) ?? '')) return null;
    throw diskError(error, path);
  }
}

/** What git and forge keep for themselves is no place for settings either. */
function requireInside(real: string, top: string, name: string): void {
  const [first, ...parts] = real.slice(top.length).split(sep).slice(1);
  const isKept = first === '.forge' || first === '.git' || parts.includes('.git');
  if (real.startsWith(top + sep) && !isKept) return;
  throw refused('agent.link', `${name} leads out of the project (to ${real}); nothing was written.`, {
    file: name,
    hint: 'Put a plain file in its place, or wire the agent for yourself: --user',
  });
}

/**
 * Exit 6 unless the file, and the folder that it is replaced in, are open for writing: before anything is written. By
 * the mode as well as by a try: who may do everything is not held up by the system.
 */
export function requireWritable({ name, path, bytes, missing }: ProjectFile): void {
  const folder = join(path, ...missing.map(() => '..'), '..');
  for (const place of bytes ? [path, folder] : [folder]) {
    if ((fs.statSync(place).mode & 0o222) !== 0 && mayWrite(place)) continue;
    throw outside('disk.eacces', `${place} is read-only; nothing was written.`, {
      file: name,
      hint: `chmod u+w ${place}`,
    });
  }
}

function mayWrite(path: string): boolean {
  try {
    fs.accessSync(path, fs.constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** What a file is to be; null: it goes. */
interface Replacement {
  file: ProjectFile;
  bytes: Buffer | null;
  /** Mode of a new file, before the umask. */
  mode?: number | undefined;
}

/** What a kill left beside these files. */
export const removeDraftsOf = (files: readonly ProjectFile[]): void => {
  for (const { path } of files) removeDrafts(path);
};

/** Each is whole or as before, with its mode. A file that someone changed since it was read: exit 3, none is touched. */
export function replaceProjectFiles(replacements: readonly Replacement[]): void {
  const writes = replacements.flatMap(({ file, bytes, mode }) =>
    bytes ? [{ path: file.path, bytes, mode, keepMode: file.mode }] : [],
  );
  for (const { path } of writes) makeFolder(dirname(path));
  replaceFiles(writes, () => replacements.forEach(requireUnchanged));
  for (const { file, bytes } of replacements) if (!bytes) removePath(file.path);
}

function requireUnchanged({ file: { name, path, bytes } }: Replacement): void {
  const now = readPlain(path, MAX_FOREIGN_BYTES);
  if (now === bytes || (now && bytes?.equals(now))) return;
  throw refused('file.changed', `${name} was changed by another program meanwhile; nothing was written.`, {
    file: name,
    hint: 'Run the command again.',
  });
}

/** Removes folders from the innermost on, as long as they are empty. */
export function removeEmptyFolders(top: string, folders: readonly string[]): void {
  for (const folder of folders.toReversed())
    try {
      fs.rmdirSync(join(top, folder));
    } catch {
      // Something is in it, or it is gone already.
    }
}
