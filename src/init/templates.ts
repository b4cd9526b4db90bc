import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { templatesFolder } from '../core/templates.js';
import type { ScriptPieces } from './script-rules.js';
import { TOOLCHAINS } from './stack.js';

/** A file that `forge init` brings, path relative to `.forge/`. */
export interface Template {
  path: string;
  bytes: Buffer;
  mode: number;
}

/** npm leaves out or renames these when packing, so they have plain names here. */
const RENAMED: Record<string, string> = { gitignore: '.gitignore', gitattributes: '.gitattributes' };

/** Folders that begin empty, relative to `.forge/`. git does not keep them, so each writer creates its own. */
export const EMPTY_FOLDERS = [
  'git/checkpoints',
  'linear/history',
  'memory/sessions',
  'memory/short-term/scratch',
  ...['code', 'docs', 'reports'].map((type) => `memory/artifacts/${type}`),
];

/** Everything of the tree (RFC-9060 §2.1, §4.2), in path order. */
export function treeTemplates(project: string): Template[] {
  const top = join(templatesFolder(), 'forge');
  return walk(top).map((file) => {
    const path = relative(top, file).replaceAll('\\', '/');
    const bytes = readFileSync(file);
    const filled = path === 'config.toml' ? fill(bytes, project) : bytes;
    return { path: RENAMED[path] ?? path, bytes: filled, mode: 0o666 };
  });
}

/** The only placeholder, inside a TOML text. */
function fill(bytes: Buffer, project: string): Buffer {
  return Buffer.from(bytes.toString('utf8').replace('"{{project}}"', () => JSON.stringify(project)));
}

/** What an `init.sh` is put together from. */
export function scriptPieces(): ScriptPieces {
  const read = (name: string): string => readFileSync(join(templatesFolder(), 'init', `${name}.sh`), 'utf8');
  const names = ['head', ...TOOLCHAINS, 'tail'] as const;
  return Object.fromEntries(names.map((name) => [name, read(name)])) as ScriptPieces;
}

function walk(folder: string): string[] {
  return readdirSync(folder)
    .sort()
    .map((name) => join(folder, name))
    .flatMap((path) => (statSync(path).isDirectory() ? walk(path) : [path]));
}
