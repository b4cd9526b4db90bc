import { isUtf8 } from 'node:buffer';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { homeFolder } from '../core/environment.js';
import { type ForgeError, refused } from '../core/error.js';
import { type ProjectFile, readProjectFile } from '../core/project-file.js';
import { template } from '../core/templates.js';
import { lineAt } from '../core/text.js';
import type { World } from '../core/world.js';
import type { Context } from '../project/project.js';
import { AGENTS, type AgentName, isHookOf, type PlaceOption, startOf, stringsIn } from './agents.js';
import { readValue, valueAt } from './edit-json.js';
import { findPart } from './edit-text.js';
import { type Part, type PartState, partsOf, SettingsProblem, serverStart, type Wish } from './parts.js';

/** Where agents are wired: a project or a folder of it, or a person's home folder. */
export interface Place {
  top: string;
  isUser: boolean;
  /** What precedes the names of files as people see them. */
  prefix: string;
  path: string | undefined;
  dryRun: boolean;
  /** Reports a file that is, or would be, written. */
  note(name: string): void;
}

/** `folder`: below the project's top folder, for an agent that is started there. */
export function projectPlace({ layout, disk, world }: Context, folder = ''): Place {
  const top = join(layout.root, folder);
  return {
    ...{ top, isUser: false, prefix: folder === '' ? '' : `${folder}/` },
    ...{ path: world.env.PATH, dryRun: disk.dryRun },
    note: (name) => disk.note(join(top, name)),
  };
}

/** A project for reading, which needs no `.forge/`. */
export const readOnlyPlace = (top: string): Place => ({
  ...{ top, isUser: false, prefix: '', path: undefined, dryRun: true },
  note: () => {},
});

export const userPlace = ({ env }: World, dryRun: boolean): Place => ({
  ...{ top: homeFolder(env), isUser: true, prefix: '~/', path: env.PATH, dryRun },
  note: () => {},
});

export const optionOf = ({ isUser, prefix }: Place): PlaceOption =>
  isUser ? '--user' : prefix === '' ? null : '--here';

/** What an agent gets at a place. */
export const partsAt = ({ isUser, top }: Place, wish: Wish): Part[] =>
  partsOf(wish, isUser, template('agent', 'opencode-plugin.js')).map((part) => {
    const isMissing = part.file.endsWith('opencode.json') && !existsSync(join(top, part.file));
    return isMissing && existsSync(join(top, `${part.file}c`)) ? { ...part, file: `${part.file}c` } : part;
  });

/** The name of a file as people see it. */
export const shownAt = ({ prefix }: Place, name: string): string =>
  name.startsWith('/') ? name : prefix + name;

export interface TextFile extends ProjectFile {
  text: string | null;
}

/** The `name` of the result is the path with links resolved. */
export function readFile(place: Place, given: string): TextFile {
  const file = readProjectFile(place.top, given, place.isUser);
  if (file.bytes && !isUtf8(file.bytes))
    throw settingsError(shownAt(place, file.name), undefined, 'it is not valid UTF-8', 'Save it as UTF-8.');
  return { ...file, text: file.bytes?.toString('utf8') ?? null };
}

/** Turns a problem with a file's text into an error with the file's name and line: exit 3. */
export function withFile<T>(name: string, text: string | null, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof SettingsProblem)) throw error;
    const line = error.offset === null ? undefined : lineAt(text ?? '', error.offset);
    throw settingsError(name, line, error.message, error.hint);
  }
}

const settingsError = (name: string, line: number | undefined, what: string, hint?: string): ForgeError =>
  refused('agent.settings', `${name}${line ? `:${line}` : ''}: ${what}; nothing was written.`, {
    file: name,
    line,
    hint,
  });

interface WiredFile {
  path: string;
  state: PartState | 'unreadable';
  /** What starts forge in the file, if not `forge`. */
  command?: string;
  problem?: string;
}

export interface AgentStatus {
  name: AgentName;
  title: string;
  state: 'wired' | 'partly' | 'absent';
  files: WiredFile[];
  /** What the agent still needs from the person. */
  wants: string[];
}

/** How agents are wired, by the content of their files. */
export const statusOf = (place: Place, agents: readonly AgentName[]): AgentStatus[] =>
  agents.map((agent) => seeAgent(place, agent));

function seeAgent(place: Place, agent: AgentName): AgentStatus {
  const wish = wiredAs(place, agent);
  const seen = partsAt(place, wish).map((part) => {
    const start = startIn(place, part);
    const named = start === undefined || start === 'forge' ? {} : { command: start };
    return { ...seeFile(place, part), ...named };
  });
  const isAbsent = seen.every(({ state }) => state === 'missing' || state === 'unreadable');
  const isComplete = seen.every(({ state }) => state === 'wired');
  return {
    name: agent,
    title: AGENTS[agent].title,
    state: isAbsent ? 'absent' : isComplete ? 'wired' : 'partly',
    files: seen,
    wants: isAbsent ? [] : AGENTS[agent].wants(wish.command, optionOf(place), wish.allow === true),
  };
}

/** How an agent was wired: the command, and whether its permissions have forge's tools. */
export function wiredAs(place: Place, agent: AgentName): Wish {
  const { allow } = AGENTS[agent];
  const parts = partsAt(place, { agent, command: 'forge' });
  const isAllowed = parts.some((part) => {
    const settings = settingsIn(place, part);
    if (!allow || settings === undefined) return false;
    const entries = valueAt(settings, 'items' in allow ? allow.at : (serverPath(part) ?? []));
    if ('items' in allow)
      return Array.isArray(entries) && allow.items.every((item) => entries.includes(item));
    return Object.entries(allow.server).every(([key, value]) => valueAt(entries, [key]) === value);
  });
  const command = parts.map((part) => startIn(place, part)).find(Boolean) ?? 'forge';
  return { agent, command, ...(isAllowed ? { allow: true } : {}) };
}

const serverPath = (part: Part): readonly string[] | undefined =>
  part.kind === 'json' ? part.server?.path : undefined;

/** Undefined for another kind of file, and for one that cannot be read. */
function settingsIn(place: Place, part: Part): unknown {
  if (part.kind !== 'json') return undefined;
  try {
    return readValue(readFile(place, part.file).text ?? '');
  } catch {
    return undefined;
  }
}

/** The command that starts forge in a file. Undefined if there is none, or if the file cannot be read. */
function startIn(place: Place, part: Part): string | undefined {
  const settings = settingsIn(place, part);
  const hook = stringsIn(settings).find((line) => isHookOf(part.agent, line));
  return hook === undefined ? serverStart(valueAt(settings, serverPath(part) ?? [])) : startOf(hook);
}

/** Forge's part of a file. One unreadable file does not hide the others. */
function seeFile(place: Place, part: Part): WiredFile {
  const path = shownAt(place, part.file);
  try {
    const { text } = readFile(place, part.file);
    return { path, state: withFile(path, text, () => (text === null ? 'missing' : findPart(text, part))) };
  } catch (error) {
    const { kind, message } = error as ForgeError;
    if (!['refused', 'corrupted', 'outside'].includes(kind)) throw error;
    return { path, state: 'unreadable', problem: message.replace(/; nothing was written\.$/, '.') };
  }
}
