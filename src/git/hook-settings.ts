import { existsSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve, sep } from 'node:path';
import { type Git, must } from './client.js';
import type { Repository } from './repository.js';

/** A setting, and which of git's files it stands in: `local`, `global`, `system`, `worktree`. */
export interface ScopedSetting {
  value: string;
  scope: string;
}

/** A hook of git's settings (`hook.<name>.command` and `.event`), which git 2.54 and newer run beside those of files. */
export interface ConfigHook {
  name: string;
  scope: string;
  command: string;
  events: string[];
}

export interface HookSettings {
  /** Where git looks for hooks, absolute, with every link followed that exists; `isThere`: it is a folder. */
  hooksPath: (ScopedSetting & { folder: string; isThere: boolean }) | null;
  commentChar: ScopedSetting | null;
  /** Those that are switched on. */
  beside: ConfigHook[];
}

/** As the person's git has it: what forge sets for its own calls is left out. */
export async function readHookSettings(git: Git, { root }: Repository): Promise<HookSettings> {
  const pattern = '^(core\\.(hookspath|commentchar|commentstring)|hook\\..*)$';
  const { stdout } = await git(['config', '--show-scope', '-z', '--get-regexp', pattern]);
  const fields = stdout.split('\0');
  const all: (ScopedSetting & { key: string })[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [scope = '', line = ''] = fields.slice(at, at + 2);
    const [key = '', ...value] = line.split('\n');
    // One without a value is a switch, which is on.
    if (scope !== 'command') all.push({ key, value: value.length > 0 ? value.join('\n') : 'true', scope });
  }
  const last = (key: string) => all.findLast((setting) => setting.key === key);
  const path = last('core.hookspath');
  return {
    hooksPath: path ? { value: path.value, scope: path.scope, ...folderOf(root, path.value) } : null,
    commentChar: last('core.commentstring') ?? last('core.commentchar') ?? null,
    beside: configHooks(all),
  };
}

/** As git has it: the last command counts, every event, and an empty one takes back those before it. */
function configHooks(settings: readonly (ScopedSetting & { key: string })[]): ConfigHook[] {
  const found = new Map<string, ConfigHook & { isOff: boolean }>();
  for (const { key, value, scope } of settings) {
    const [, name, what] = /^hook\.(.+)\.(command|event|enabled)$/s.exec(key) ?? [];
    if (name === undefined) continue;
    const hook = found.get(name) ?? { name, scope, command: '', events: [], isOff: false };
    found.set(name, hook);
    if (what === 'command') Object.assign(hook, { command: value, scope });
    else if (what === 'event') hook.events = value === '' ? [] : [...hook.events, value];
    else hook.isOff = /^(?:false|no|off|0|)$/i.test(value);
  }
  return [...found.values()]
    .filter(({ command, events, isOff }) => command !== '' && events.length > 0 && !isOff)
    .map(({ isOff: _, ...hook }) => hook);
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

/** Links to one count, too: they are only asked about. */
export const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
