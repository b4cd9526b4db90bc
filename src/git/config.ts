import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { realPath } from '../core/files.js';
import { firstPaths, oneLine, plural } from '../core/text.js';
import { type Git, isLocal, must, PORCELAIN, readSettings, type Setting } from './client.js';
import type { Repository } from './repository.js';

interface Filtered {
  paths: string[];
  /** What they are and why, for a message. */
  what: string;
  /** How the person can approve the filter. */
  hint: string;
}

/** The filtered ones among the paths; null for none. `env` and `--cached` in `source` select an index's attributes. */
export async function findFiltered(
  git: Git,
  paths: readonly string[],
  { source = [], env = {} }: { source?: string[]; env?: Record<string, string> } = {},
): Promise<Filtered | null> {
  const settings = paths.length > 0 ? await readSettings(git, '^filter\\.') : [];
  const namesIn = (some: Setting[]): string[] =>
    some.flatMap(({ key }) => /^filter\.(.+)\.(?:clean|smudge|process)$/s.exec(key)?.[1] ?? []);
  const filters = new Set(namesIn(settings.filter(isLocal)));
  for (const own of namesIn(settings.filter((setting) => !isLocal(setting)))) filters.delete(own);
  if (filters.size === 0) return null;
  const input = paths.map((path) => `${path}\0`).join('');
  const args = ['check-attr', '-z', '--stdin', ...source, 'filter'];
  // `<path>`, `filter` and its value for each one.
  const fields = (await must(git, args, { env, input })).split('\0');
  const places = [...fields.keys()].filter((i) => i % 3 === 0 && filters.has(fields[i + 2] ?? ''));
  if (places.length === 0) return null;
  const name = fields[(places.at(-1) ?? 0) + 2] ?? '';
  return describe(
    places.flatMap((i) => fields[i] ?? []),
    name,
  );
}

function describe(paths: string[], name: string): Filtered {
  const filter = oneLine(name, 60);
  const hint =
    name === 'lfs'
      ? 'git lfs install   # puts the filter into your own config, where forge runs it'
      : `git config --global --edit   # put [filter "${filter}"] of .git/config there, if you trust it`;
  const what = `${plural(paths.length, 'file')} (${firstPaths(paths)}) ${paths.length === 1 ? 'needs' : 'need'} the filter "${filter}", which only this repository's own config sets. forge runs no program that may have come with a clone`;
  return { paths, what, hint };
}

/** `core.hooksPath`, and which file sets it. `folder`: absolute, with every existing symlink followed. */
type HooksPath = Omit<Setting, 'key'> & { folder: string; isThere: boolean };

/** Where git looks for hooks. Null if not set. */
export async function readHooksPath(git: Git, { root }: Repository): Promise<HooksPath | null> {
  const path = (await readSettings(git, '^core\\.hookspath$', PORCELAIN)).at(-1);
  return path ? { value: path.value, scope: path.scope, ...folderOf(root, path.value) } : null;
}

/** An empty value disables hooks. */
function folderOf(root: string, value: string): { folder: string; isThere: boolean } {
  const path = resolve(root, value.startsWith('~/') ? join(homedir(), value.slice(2)) : value);
  const folder = realPath(path) ?? path;
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  return { folder, isThere: value !== '' && isFolder };
}
