import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Git } from './client.js';
import { readBranch } from './read.js';
import type { Repository } from './repository.js';

export const ORIGIN = 'origin';

/**
 * The remote that this clone works with: `origin`, else the one that the branch checked out follows, else the one that all
 * branches follow, else the only one. Null: there is none, or nothing says which.
 */
export async function findRemote(repository: Repository, git: Git): Promise<string | null> {
  const keys = String.raw`^(remote\..*\.url|branch\..*\.remote)$`;
  const { stdout } = await git(['config', '-z', '--get-regexp', keys]);
  const [names, tracked] = readRemotes(stdout);
  if (names.has(ORIGIN)) return ORIGIN;
  const branch = await readBranch(repository, git);
  const own = branch === null ? undefined : tracked.get(branch);
  const followed = new Set(own === undefined ? tracked.values() : [own]);
  return onlyOne([...followed].filter((name) => names.has(name))) ?? onlyOne([...names]);
}

const onlyOne = ([first, ...more]: string[]): string | null =>
  first === undefined || more.length > 0 ? null : first;

/** The remotes that have an address, and the one of each branch that has one. */
function readRemotes(settings: string): [Set<string>, Map<string, string>] {
  const names = new Set<string>();
  const tracked = new Map<string, string>();
  for (const setting of settings.split('\0')) {
    const [, kind, name = '', value = ''] = /^(remote|branch)\.(.*)\.[a-z]+\n(.*)$/s.exec(setting) ?? [];
    if (kind === 'remote') names.add(name);
    else if (kind === 'branch') tracked.set(name, value);
  }
  return [names, tracked];
}

/** The same, where only what this clone has of the remote matters: git is asked where it has something, and not of `origin`. */
export async function knownRemote(repository: Repository, git: Git): Promise<string | null> {
  const { commonDir } = repository;
  if (existsSync(join(commonDir, 'reftable'))) return (await findRemote(repository, git)) ?? ORIGIN;
  const seen = [...foldersIn(join(commonDir, 'refs', 'remotes')), ...packedRemotes(commonDir)];
  if (seen.includes(ORIGIN)) return ORIGIN;
  return seen.length === 0 ? null : findRemote(repository, git);
}

function foldersIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function packedRemotes(commonDir: string): string[] {
  try {
    const packed = readFileSync(join(commonDir, 'packed-refs'), 'utf8');
    return [...packed.matchAll(/ refs\/remotes\/([^/\n]+)\//g)].map(([, name = '']) => name);
  } catch {
    return [];
  }
}
