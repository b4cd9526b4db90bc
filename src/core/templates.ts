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

/** The pipeline that runs `forge ci`. */
export const ciTemplate = (system: 'github' | 'gitlab'): string =>
  readFileSync(join(templatesFolder(), 'ci', system === 'github' ? 'github.yml' : 'gitlab-ci.yml'), 'utf8');

export const opencodePlugin = (): string =>
  readFileSync(join(templatesFolder(), 'agent', 'opencode-plugin.js'), 'utf8');

/** The text of `forge help TOPIC`, as Markdown. */
export const topicText = (name: string): string =>
  readFileSync(join(templatesFolder(), 'topics', `${name}.md`), 'utf8');
