import * as fs from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { ForgeError, outside, refused } from './error.js';
import { isWritable, readPlain, realPath, replaceFiles } from './files.js';
import { shownFrom } from './paths.js';

/** Agents' settings have a few kilobytes. More would be parsed for seconds while others wait for the lock. */
const MAX_BYTES = 512 * 1024;

/** A file outside `.forge/` that is not forge's alone: an agent's settings, its instructions, a git hook. */
export interface ProjectFile {
  /** From the real top folder, with forward slashes; the whole path outside of it. */
  name: string;
  /** With symlinks resolved. */
  path: string;
  /** Null when it does not exist. */
  bytes: Buffer | null;
  mode: number | undefined;
}

/** Follows symlinks inside the top folder. One that leads elsewhere may come from a clone: only with `isFree`. */
export function readProjectFile(top: string, name: string, isFree: boolean): ProjectFile {
  const root = realPath(top);
  if (root === null) throw outside('disk.enoent', `${top} does not exist.`, { file: top });
  const wanted = join(root, name);
  let nearest = wanted;
  while (!fs.existsSync(nearest)) nearest = dirname(nearest);
  const real = realPath(nearest) ?? nearest;
  if (!isFree) requireInside(real, root, name);
  const path = real + wanted.slice(nearest.length);
  const bytes = readForeign(path, name);
  const mode = bytes ? fs.statSync(path).mode & 0o7777 : undefined;
  return { name: path.startsWith(root + sep) ? shownFrom(root, path) : path, path, bytes, mode };
}

/** Exit 3 instead of 4: forge's own state is not damaged. */
function readForeign(path: string, name: string): Buffer | null {
  try {
    return readPlain(path, MAX_BYTES);
  } catch (error) {
    const { kind, code, message } = error as ForgeError;
    if (!(error instanceof ForgeError) || (kind !== 'corrupted' && code !== 'disk.enotdir')) throw error;
    throw refused('agent.file', message, {
      file: name,
      hint: 'Put a plain file of sane size in its place.',
    });
  }
}

/** `.git` and `.forge` are no place for settings either. */
function requireInside(real: string, top: string, name: string): void {
  const [first, ...parts] = real.slice(top.length).split(sep).slice(1);
  const isReserved = first === '.forge' || first === '.git' || parts.includes('.git');
  if (real === top || (real.startsWith(top + sep) && !isReserved)) return;
  throw refused('agent.link', `${name} leads out of the project (to ${real}); nothing was written.`, {
    file: name,
    hint: 'Put a plain file in its place, or wire the agent for yourself: --user',
  });
}

/** Exit 6 unless the file and its folder are writable. Checks the mode too, because root may write anything. */
export function requireWritable({ name, path, bytes }: ProjectFile): void {
  let folder = dirname(path);
  while (!fs.existsSync(folder)) folder = dirname(folder);
  for (const place of bytes ? [path, folder] : [folder]) {
    if ((fs.statSync(place).mode & 0o222) !== 0 && isWritable(place)) continue;
    throw outside('disk.eacces', `${place} is read-only; nothing was written.`, {
      file: name,
      hint: `chmod u+w ${place}`,
    });
  }
}

/** Replaces or (with null) removes files, and keeps their modes. Exit 3 if one was changed since it was read. */
export const replaceProjectFiles = (
  replacements: readonly { file: ProjectFile; bytes: Buffer | null; mode?: number | undefined }[],
): void =>
  replaceFiles(
    replacements.map(({ file: { path, name, bytes: expected, mode: keepMode }, bytes, mode }) => ({
      path,
      name,
      bytes,
      expected,
      mode,
      keepMode,
    })),
  );

/** Removes folders from the innermost on, as long as they are empty. */
export function removeEmptyFolders(top: string, folders: readonly string[]): void {
  for (const folder of folders.toReversed())
    try {
      fs.rmdirSync(join(top, folder));
    } catch {
      // It is not empty, or gone already.
    }
}
