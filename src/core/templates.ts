import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { outside, REBUILD_HINT } from './error.js';

/** The folder of the package, found from the bundle or from the sources. */
function packageFolder(): string {
  if (found !== undefined) return found;
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'templates', 'forge'))) {
    if (dirname(folder) === folder)
      throw outside('package.incomplete', 'forge is incomplete: its templates folder is missing.', {
        hint: REBUILD_HINT,
      });
    folder = dirname(folder);
  }
  found = folder;
  return folder;
}

let found: string | undefined;

export const templatesFolder = (): string => join(packageFolder(), 'templates');

/** A built part of the page of `forge ui`. */
export function pageFile(name: string): string {
  const path = join(packageFolder(), 'dist', 'ui', name);
  if (existsSync(path)) return readFileSync(path, 'utf8');
  throw outside('package.incomplete', `forge is incomplete: ${path} is missing.`, { hint: REBUILD_HINT });
}

/** The Node and the forge that run now, for hooks to start. */
export const runtime = (): { node: string; forge: string } => ({
  node: process.execPath,
  forge: join(packageFolder(), 'bin', 'forge.js'),
});

export const template = (...path: string[]): string => readFileSync(join(templatesFolder(), ...path), 'utf8');

/** The pipeline that runs `forge ci`. */
export const ciTemplate = (system: 'github' | 'gitlab'): string =>
  template('ci', system === 'github' ? 'github.yml' : 'gitlab-ci.yml');

export const completionScript = (shell: 'bash' | 'zsh' | 'fish'): string =>
  template('completion', `forge.${shell}`);

/** The text of `forge help TOPIC`, as Markdown. */
export const topicText = (name: string): string => template('topics', `${name}.md`);
