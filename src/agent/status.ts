import type { ForgeError } from '../core/error.js';
import { AGENT_NAMES, AGENTS, type AgentName } from './agents.js';
import type { Found, Part, Wish } from './parts.js';
import { Files, type Place, partsAt, readManifest, shownAt, withFile } from './place.js';
import { findPart } from './plan.js';

/** `changed`: not as this forge would install it. `other_command`: as it would, with another command. */
export type FileState = 'wired' | 'missing' | 'changed' | 'other_command' | 'unreadable';

export interface WiredFile {
  path: string;
  state: FileState;
  /** The command that starts forge there, when it is another one. */
  command?: string;
  /** Why it cannot be read. */
  problem?: string;
}

/** How far an agent is wired. Paths are from the project's top folder, or from home with `~/`. */
export interface AgentStatus {
  name: AgentName;
  title: string;
  /** Below the project's top folder. */
  folder?: string;
  state: 'wired' | 'partly' | 'absent';
  files: WiredFile[];
  /** What the agent still needs from the person. */
  wants: string[];
}

/** A status with what doctor needs in addition. */
export interface SeenAgent extends AgentStatus {
  /** The readable file that lacks the MCP server. */
  serverMissing: string | null;
  /** Files in which something other than the server is missing or different. */
  lacking: string[];
}

/** How far agents are wired, judged by the content of their files. */
export function statusOf(
  place: Place,
  agents: readonly AgentName[],
  command: string | undefined,
): SeenAgent[] {
  const manifest = readManifest(place, true);
  const files = new Files(place);
  const places = agents.flatMap((agent) => [
    { agent, folder: undefined },
    ...manifest.agents.filter((one) => one.agent === agent && one.folder !== undefined),
  ]);
  return places.map(({ agent, folder }) => {
    const wired = manifest.agents.find((one) => one.agent === agent && one.folder === folder);
    const wish = {
      agent,
      folder,
      command: command ?? wired?.command ?? 'forge',
      instructions: wired?.instructions ?? false,
      allow: wired?.allow === true,
    };
    const seen = seeAgent(place, files, wish);
    const isSaid = seen.state === 'absent' || folder !== undefined;
    const wants = isSaid ? [] : AGENTS[agent].wants(wish.command, place.isUser, wish.allow);
    const { files: shown, ...rest } = seen;
    const title = `${AGENTS[agent].title}${folder === undefined ? '' : ` in ${folder}`}`;
    return { name: agent, title, ...(folder === undefined ? {} : { folder }), files: shown, wants, ...rest };
  });
}

const isHere = ({ state }: WiredFile): boolean => state === 'wired' || state === 'other_command';

interface SeenFile {
  part: Part;
  file: WiredFile;
  found: Found[];
}

function seeAgent(place: Place, files: Files, wish: Wish) {
  // The block of instructions is shown when someone asked for it, and where it is.
  const all = partsAt(place, { ...wish, instructions: true }).map((part) => seeFile(place, files, part));
  const seen = all.filter(
    ({ part, file: { state } }) =>
      wish.instructions || part.kind !== 'block' || (state !== 'missing' && state !== 'unreadable'),
  );
  const commands = seen.flatMap(({ found }) => found.flatMap((one) => one.commands));
  for (const one of seen) nameCommand(place, files, wish, one, commands);
  // A file that several agents share makes none of them wired.
  const own = seen.filter(({ part }) => !isShared(part, place.isUser));
  const isAbsent = own.every(({ file: { state } }) => state === 'missing' || state === 'unreadable');
  const isComplete = seen.every(({ file }) => isHere(file));
  const state: AgentStatus['state'] = isAbsent ? 'absent' : isComplete ? 'wired' : 'partly';
  const lacks = (isServer: boolean, isLacking: (found: Found) => boolean) =>
    seen.filter(({ found }) => found.some((one) => one.isServer === isServer && isLacking(one)));
  return {
    files: seen.map(({ file }) => file),
    state,
    serverMissing: lacks(true, (one) => one.state === 'missing')[0]?.file.path ?? null,
    lacking: lacks(false, (one) => one.state !== 'wired')
      .filter(({ file }) => !isHere(file))
      .map(({ file }) => file.path),
  };
}

const isShared = ({ kind, file }: Part, isUser: boolean): boolean =>
  kind === 'block' &&
  AGENT_NAMES.filter((name) => AGENTS[name].instructions[isUser ? 'user' : 'project'] === file).length > 1;

/** Broken settings, a folder in place of a file, a file that this person may not read. */
const UNREADABLE: ReadonlySet<string> = new Set(['refused', 'corrupted', 'outside']);

/** What a file holds of forge. One that cannot be read does not hide the others. */
function seeFile(place: Place, files: Files, part: Part): SeenFile {
  const path = shownAt(place, part.file);
  try {
    const { text } = files.read(part.file);
    const found = withFile(path, text, () => findPart(text ?? '', part));
    const states = new Set(found.map(({ state }) => state));
    const state = text === null ? 'missing' : states.size === 1 ? found[0]?.state : 'changed';
    return { part, file: { path, state: state ?? 'missing' }, found };
  } catch (error) {
    const { kind, message } = error as ForgeError;
    if (!UNREADABLE.has(kind)) throw error;
    const problem = message.replace(/; nothing was written\.$/, '.');
    return { part, file: { path, state: 'unreadable', problem }, found: [] };
  }
}

/** A file that differs from what would be installed may be what another command would install. */
function nameCommand(
  place: Place,
  files: Files,
  wish: Wish,
  { part, file }: SeenFile,
  found: readonly string[],
): void {
  if (file.state !== 'changed') return;
  // Without --no-install, npx may run an unrelated package. A person may have wired it nevertheless.
  const others = new Set([...found, ...['', 'npx ', 'npx --no-install '].map((start) => `${start}forge`)]);
  others.delete(wish.command);
  const text = files.read(part.file).text ?? '';
  const isWiredWith = (command: string): boolean =>
    partsAt(place, { ...wish, instructions: true, command })
      .filter((other) => other.file === part.file)
      .every((other) => findPart(text, other).every(({ state }) => state === 'wired'));
  const command = [...others].find(isWiredWith);
  if (command !== undefined) Object.assign(file, { state: 'other_command', command });
}
