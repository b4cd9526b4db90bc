import { statSync } from 'node:fs';
import { basename, dirname, isAbsolute, resolve } from 'node:path';
import { formatArgv } from '../core/argv.js';
import { usage } from '../core/error.js';
import { realPath } from '../core/files.js';
import type { Io } from './spec.js';

/** The folder to work in: -C, else FORGE_DIR, else the current one. */
export function folderOf(io: Io, dir: string | undefined): string {
  const wanted = dir ?? (io.env.FORGE_DIR || '.');
  const path = isAbsolute(wanted) ? wanted : resolve(currentFolder(io), wanted);
  const real = statSync(path, { throwIfNoEntry: false })?.isDirectory() ? realPath(path) : null;
  if (real === null)
    throw usage('folder.missing', `There is no folder ${path}.`, {
      hint: `mkdir -p ${formatArgv([wanted])}`,
    });
  return basename(real) === '.forge' ? dirname(real) : real;
}

function currentFolder(io: Io): string {
  try {
    return io.cwd();
  } catch {
    const name = io.env.PWD ? ` (${io.env.PWD})` : '';
    throw usage('folder.gone', `The current folder${name} no longer exists.`, {
      hint: 'cd to another folder',
    });
  }
}
