import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { outside } from '../domain/error.js';
import type { ScriptPieces } from '../domain/init/script.js';
import { TOOLCHAINS } from '../domain/init/stack.js';
import { REBUILD_HINT } from '../domain/install-hint.js';

/** A file that `forge init` brings, path relative to `.forge/`. */
export interface Template {
  path: string;
  bytes: Buffer;
  mode: number;
}

/** npm leaves out or renames these when packing, so they have plain names here. */
const RENAMED: Record<string, string> = { gitignore: '.gitignore', gitattributes: '.gitattributes' };

/** The package's folder, from the bundle or from the sources. */
function packageFolder(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'templates', 'forge'))) {
    if (dirname(folder) === folder)
      throw outside('package.incomplete', 'forge is incomplete: its templates folder is missing.', {
        hint: REBUILD_HINT,
      });
    folder = dirname(folder);
  }
  return folder;
}

const templatesFolder = (): string => join(packageFolder(), 'templates');

/** The Node and the forge that run here, as a hook can start them. */
export const runtime = (): { node: string; forge: string } => ({
  node: process.execPath,
  forge: join(packageFolder(), 'bin', 'forge.js'),
});

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

/** The pipeline that runs `forge ci`, for a system. */
export const ciTemplate = (system: 'github' | 'gitlab'): string =>
  readFileSync(join(templatesFolder(), 'ci', system === 'github' ? 'github.yml' : 'gitlab-ci.yml'), 'utf8');

/** What `forge help TOPIC` shows, as Markdown. */
export const topicText = (name: string): string =>
  readFileSync(join(templatesFolder(), 'topics', `${name}.md`), 'utf8');

function walk(folder: string): string[] {
  return readdirSync(folder)
    .sort()
    .map((name) => join(folder, name))
    .flatMap((path) => (statSync(path).isDirectory() ? walk(path) : [path]));
}
