import { oneLine, plural } from '../core/text.js';
import { type Git, must } from './client.js';
import { filtersLeftOut } from './config.js';

/** Files that git would pass through a filter that forge does not run. */
export interface Filtered {
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
  const filters = paths.length > 0 ? await filtersLeftOut(git) : new Set<string>();
  if (filters.size === 0) return null;
  const input = paths.map((path) => `${path}\0`).join('');
  const args = ['check-attr', '-z', '--stdin', ...source, 'filter'];
  const words = (await must(git, args, { env, input })).split('\0');
  const found: string[] = [];
  let name = '';
  for (let at = 0; at + 2 < words.length; at += 3) {
    if (!filters.has(words[at + 2] ?? '')) continue;
    name = words[at + 2] ?? '';
    found.push(words[at] ?? '');
  }
  return found.length === 0 ? null : describe(found, name);
}

function describe(paths: string[], name: string): Filtered {
  const some = paths.slice(0, 5).map((path) => oneLine(path, 100));
  const listed = `${some.join(', ')}${paths.length > 5 ? ', …' : ''}`;
  const filter = oneLine(name, 60);
  const hint =
    name === 'lfs'
      ? 'git lfs install   (puts the filter into your own config, where forge runs it)'
      : `git config --global --edit   and put [filter "${filter}"] of .git/config there, if you trust it`;
  const what = `${plural(paths.length, 'file')} (${listed}) ${paths.length === 1 ? 'needs' : 'need'} the filter "${filter}", which only this repository's own config sets. forge runs no program that may have come with a clone`;
  return { paths, what, hint };
}
