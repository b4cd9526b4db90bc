import * as fs from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { outside, refused } from './error.js';
import { readPlain, realPath, replaceFiles } from './files.js';
import { MAX_STATE_BYTES } from './json.js';
import { shownFrom } from './paths.js';

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
  const bytes = readPlain(path, MAX_STATE_BYTES);
  const mode = bytes ? fs.statSync(path).mode & 0o7777 : undefined;
  return { name: path.startsWith(root + sep) ? shownFrom(root, path) : path, path, bytes, mode };
}

/** `.git` and `.forge` are no place for settings either. */
function requireInside(real: string, top: string, name: string): void {
  const [first, ...parts] = real.slice(top.length).split(sep).slice(1);
  const isReserved = first === '.forge' || first === '.git' || parts.includes('.git');
  if (real === top || (real.startsWith(top + sep) && !isReserved)) return;
  const message = `${name} leads out of the project (to ${real}); nothing was written.`;
  const hint = 'Put a plain file in its place, or wire the agent for yourself: --user';
  throw refused('agent.link', message, { file: name, hint });
}

/** Replaces or (with null) removes files, and keeps their modes. Exit 3 if one was changed since it was read. */
export const replaceProjectFiles = (
  replacements: readonly { file: ProjectFile; bytes: Buffer | null; mode?: number | undefined }[],
): void =>
  replaceFiles(
    replacements.map(({ file: { bytes: expected, mode: keepMode, ...file }, bytes, mode }) => {
      return { ...file, bytes, expected, mode, keepMode };
    }),
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
