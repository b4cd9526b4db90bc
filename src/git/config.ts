import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { firstPaths, oneLine, plural } from '../core/text.js';
import { type Git, type GitOptions, must, PORCELAIN } from './client.js';
import { mayConfigure, type Repository, realFolder } from './repository.js';

/** A setting, and which of git's files defines it: `local`, `global`, `system`, `worktree`. */
interface ScopedSetting {
  value: string;
  scope: string;
}

type Setting = ScopedSetting & { key: string };

/** The settings whose keys match, in git's order. Settings of forge's own calls are left out. */
async function readSettings(git: Git, pattern: string, options?: Partial<GitOptions>): Promise<Setting[]> {
  const { stdout } = await git(['config', '--show-scope', '-z', '--get-regexp', pattern], options);
  const fields = stdout.split('\0');
  const all: Setting[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [scope = '', line = ''] = fields.slice(at, at + 2);
    const [key = '', ...value] = line.split('\n');
    // A key without a value is a switch that is on.
    if (scope !== 'command') all.push({ key, value: value.length > 0 ? value.join('\n') : 'true', scope });
  }
  return all;
}

/** Whether the repository's own configuration has a setting. It may have come with a clone. */
const isLocal = ({ scope }: Setting): boolean => scope === 'local' || scope === 'worktree';

type Pairs = readonly (readonly [name: string, value: string])[];

/**
 * Git without the filters that only this repository's own config defines: they are programs that came with the folder, and
 * every command that reads or writes the index may run them. Filters in the person's own config still run.
 */
export async function withoutLocalFilters(git: Git, more: Pairs = []): Promise<Git> {
  const env = await withoutFilters(git, more);
  return (args, options = {}) => git(args, { ...options, env: { ...env, ...options.env } });
}

/** None if the repository's own config defines none: forge only looks for these, and starting git takes time. */
const readFilters = async (git: Git): Promise<Setting[]> =>
  git.cwd !== undefined && !mayConfigure(git.cwd, 'filter') ? [] : readSettings(git, '^filter\\.');

/** The same as environment variables, because `-c` would split a filter's name at its first `=`. */
export async function withoutFilters(git: Git, more: Pairs = []): Promise<Record<string, string>> {
  const all = await readFilters(git);
  const own = new Map(all.filter((setting) => !isLocal(setting)).map(({ key, value }) => [key, value]));
  const neutral = all
    .filter(isLocal)
    .map(({ key }) => [key, own.get(key) ?? (key.endsWith('.required') ? 'false' : '')] as const);
  // Do not fail on a file with CRLF: its attributes decide how it is stored.
  const settings: Pairs = [['core.safecrlf', 'false'], ...more, ...neutral];
  const env: Record<string, string> = { GIT_CONFIG_COUNT: String(settings.length) };
  for (const [i, [name, value]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${i}`] = name;
    env[`GIT_CONFIG_VALUE_${i}`] = value;
  }
  return env;
}

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
  const settings = paths.length > 0 ? await readFilters(git) : [];
  const namesIn = (some: Setting[]): string[] =>
    some.flatMap(({ key }) => /^filter\.(.+)\.(?:clean|smudge|process)$/s.exec(key)?.[1] ?? []);
  const filters = new Set(namesIn(settings.filter(isLocal)));
  for (const own of namesIn(settings.filter((setting) => !isLocal(setting)))) filters.delete(own);
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
  const filter = oneLine(name, 60);
  const hint =
    name === 'lfs'
      ? 'git lfs install   # puts the filter into your own config, where forge runs it'
      : `git config --global --edit   # put [filter "${filter}"] of .git/config there, if you trust it`;
  const what = `${plural(paths.length, 'file')} (${firstPaths(paths)}) ${paths.length === 1 ? 'needs' : 'need'} the filter "${filter}", which only this repository's own config sets. forge runs no program that may have come with a clone`;
  return { paths, what, hint };
}

const SIGNERS: Record<string, string> = {
  'gpg.program': 'gpg',
  'gpg.openpgp.program': 'gpg',
  'gpg.x509.program': 'gpgsm',
  'gpg.ssh.program': 'ssh-keygen',
  'gpg.ssh.defaultkeycommand': '',
};

/** Settings that replace the signing programs of this repository's config with the person's own. */
export async function ownSigners(git: Git): Promise<Pairs> {
  const settings = (await readSettings(git, '^gpg\\.')).filter(({ key }) => key in SIGNERS);
  const own = new Map(Object.entries(SIGNERS));
  for (const setting of settings) if (!isLocal(setting)) own.set(setting.key, setting.value);
  const replaced = new Set(settings.filter(isLocal).map(({ key }) => key));
  return [...replaced].map((key) => [key, own.get(key) ?? ''] as const);
}

/** `core.hooksPath`, and which file sets it. `folder`: absolute, with every existing symlink followed. */
export type HooksPath = ScopedSetting & { folder: string; isThere: boolean };

/** Where git looks for hooks. Null if not set. */
export async function readHooksPath(git: Git, { root }: Repository): Promise<HooksPath | null> {
  const path = (await readSettings(git, '^core\\.hookspath$', PORCELAIN)).at(-1);
  return path ? { value: path.value, scope: path.scope, ...folderOf(root, path.value) } : null;
}

/** An empty value disables hooks. */
function folderOf(root: string, value: string): { folder: string; isThere: boolean } {
  const path = resolve(root, value.startsWith('~/') ? join(homedir(), value.slice(2)) : value);
  const folder = realFolder(path) ?? path;
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  return { folder, isThere: value !== '' && isFolder };
}
