import { existsSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve, sep } from 'node:path';
import type { Git } from './git.js';
import { must } from './git.js';
import type { Repository } from './repository.js';

/** A setting, and which of git's files it stands in: `local`, `global`, `system`, `worktree`. */
export interface ScopedSetting {
  value: string;
  scope: string;
}

export interface HookSettings {
  /** Where git looks for hooks, absolute, with every link followed that exists; `isThere`: it is a folder. */
  hooksPath: (ScopedSetting & { folder: string; isThere: boolean }) | null;
  commentChar: ScopedSetting | null;
}

/** As the person's git has it: what forge sets for its own calls is left out. */
export async function readHookSettings(git: Git, { root }: Repository): Promise<HookSettings> {
  const pattern = '^core\\.(hookspath|commentchar|commentstring)$';
  const { stdout } = await git(['config', '--show-scope', '-z', '--get-regexp', pattern]);
  const fields = stdout.split('\0');
  const settings = new Map<string, ScopedSetting>();
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [scope = '', line = ''] = fields.slice(at, at + 2);
    const end = line.indexOf('\n');
    if (scope !== 'command') settings.set(line.slice(0, end), { value: line.slice(end + 1), scope });
  }
  const path = settings.get('core.hookspath');
  return {
    hooksPath: path ? { ...path, ...folderOf(root, path.value) } : null,
    commentChar: settings.get('core.commentstring') ?? settings.get('core.commentchar') ?? null,
  };
}

/** An empty value is git's way to say: none. */
function folderOf(root: string, value: string): { folder: string; isThere: boolean } {
  const folder = realFolder(resolve(root, expanded(value)));
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  return { folder, isThere: value !== '' && isFolder };
}

const expanded = (path: string): string => (path.startsWith('~/') ? join(homedir(), path.slice(2)) : path);

export function realFolder(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

export const isWithin = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder + sep);

/** Whether git runs such a file. Windows has no such mode. */
export const isExecutable = (mode: number): boolean => process.platform === 'win32' || (mode & 0o111) !== 0;

/** Those that are gone. */
export const missingOf = (paths: readonly string[]): string[] => paths.filter((path) => !existsSync(path));

/** In this repository alone; null takes it out. */
export async function setCommentChar(git: Git, value: string | null): Promise<void> {
  const setting = ['core.commentChar', ...(value === null ? [] : [value])];
  await must(git, ['config', '--local', ...(value === null ? ['--unset-all'] : []), ...setting]);
}
