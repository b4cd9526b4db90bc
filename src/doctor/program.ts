import { accessSync, constants, readFileSync, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';

/** A program and the package it belongs to, as far as that is known. */
export interface Program {
  path: string;
  name: string | null;
  version: string | null;
}

/** The package that this forge belongs to. */
export function ownPackage(): { name: string; version: string } {
  const { name, version } = packageAround(join(import.meta.dirname, 'any')) ?? {};
  return { name: name ?? 'forge-memory', version: version ?? '' };
}

/** All programs named `forge` on the PATH, in its order: a shell starts the first. None is started here. */
export function findOnPath(env: NodeJS.ProcessEnv, cwd: string): Program[] {
  const names = process.platform === 'win32' ? ['forge.cmd', 'forge.exe', 'forge.ps1'] : ['forge'];
  // An empty part is the current folder.
  const folders = (env.PATH ?? '').split(delimiter);
  const paths = folders.flatMap((folder) => names.map((name) => resolve(cwd, folder, name)));
  return [...new Set(paths)].filter(isRunnable).map(describeProgram);
}

/** The program at a path, which may be relative to `root`; null when there is none. */
export function findProgram(path: string, root: string): Program | null {
  const whole = isAbsolute(path) ? path : join(root, path);
  return statSync(whole, { throwIfNoEntry: false })?.isFile() ? describeProgram(whole) : null;
}

function isRunnable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** npm links a program to its package; where it cannot, and for pnpm, a small script names the file in the package. */
function describeProgram(path: string): Program {
  const found = packageAround(realpathSync.native(path)) ?? throughScript(path);
  return { path, name: found?.name ?? null, version: found?.version ?? null };
}

const MAX_SCRIPT_BYTES = 16 * 1024;

function throughScript(path: string): Package | null {
  if (statSync(path).size > MAX_SCRIPT_BYTES) return null;
  const target = /["']?([^\s"']*node_modules[\\/]forge-memory)[\\/]/.exec(readFileSync(path, 'utf8'))?.[1];
  if (target === undefined) return null;
  // `$basedir` and `%dp0%` are the script's own folder.
  const inside = target.replace(/^(\$basedir|%~?dp0%?)[\\/]?/, '').replaceAll('\\', '/');
  return packageAround(resolve(dirname(path), inside, 'any')) ?? { name: 'forge-memory', version: null };
}

interface Package {
  name: string;
  version: string | null;
}

/** The nearest package.json above a file that names a package. */
function packageAround(file: string): Package | null {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const found = readPackage(join(folder, 'package.json'));
    if (found || dirname(folder) === folder) return found;
  }
}

function readPackage(path: string): Package | null {
  try {
    const { name, version } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    if (typeof name !== 'string') return null;
    return { name, version: typeof version === 'string' ? version : null };
  } catch {
    return null;
  }
}
