import type { ForgeError } from '../core/error.js';
import { AGENT_NAMES, AGENTS, type AgentName, isHookOf, startOf, textsIn } from './agents.js';
import { readValue } from './edit-json.js';
import { type Part, type PartState, serverStart, type Wish } from './parts.js';
import { Files, type Place, partsAt, readManifest, shownAt, withFile } from './place.js';
import { findPart } from './plan.js';

interface WiredFile {
  path: string;
  state: PartState | 'unreadable';
  /** What starts forge in the file, if not `forge`. */
  command?: string;
  /** Why the file cannot be read. */
  problem?: string;
}

/** How an agent is wired. Paths are relative to the project's top folder, or to home with `~/`. */
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

/** How agents are wired, by the content of their files. */
export function statusOf(place: Place, agents: readonly AgentName[]): AgentStatus[] {
  const manifest = readManifest(place, true);
  const files = new Files(place);
  return agents.flatMap((agent) => {
    const known = manifest.agents.filter((one) => one.agent === agent);
    const top = known.find(({ folder }) => folder === undefined);
    const own = top ?? { agent, command: 'forge', instructions: false };
    return [own, ...known.filter((one) => one !== top)].map((wish) => seeAgent(place, files, wish));
  });
}

/** The command that starts forge in a file. Undefined if there is none, or if the file cannot be read. */
function startIn(files: Files, part: Part): string | undefined {
  if (part.kind !== 'json') return undefined;
  let settings: unknown;
  try {
    settings = readValue(files.read(part.file).text ?? '');
  } catch {
    return undefined;
  }
  const hook = textsIn(settings).find((line) => isHookOf(part.agent, line));
  if (hook !== undefined) return startOf(hook);
  const at = (value: unknown, key: string): unknown => (value as Record<string, unknown> | undefined)?.[key];
  return serverStart(part.server?.path.reduce(at, settings));
}

function seeAgent(place: Place, files: Files, wish: Wish): AgentStatus {
  const { agent, folder } = wish;
  const whole = { ...wish, instructions: true };
  const starts = partsAt(place, whole).map((part) => startIn(files, part));
  // A clone may be wired with another command.
  const command = starts.find(Boolean) ?? wish.command;
  const seen = starts
    .flatMap((start, at) => {
      const part = partsAt(place, { ...whole, command: start ?? command })[at];
      const named = start === undefined || start === 'forge' ? {} : { command: start };
      return part ? [{ part, file: { ...seeFile(place, files, part), ...named } }] : [];
    })
    // Show the block of instructions if someone asked for it, and where it is.
    .filter(
      ({ part, file: { state } }) =>
        wish.instructions || part.kind !== 'block' || state === 'wired' || state === 'changed',
    );
  // A file that several agents share makes none of them wired.
  const own = seen.filter(({ part }) => !isShared(part, place.isUser));
  const isAbsent = own.every(({ file: { state } }) => state === 'missing' || state === 'unreadable');
  const isComplete = seen.every(({ file: { state } }) => state === 'wired');
  const state = isAbsent ? 'absent' : isComplete ? 'wired' : 'partly';
  const isBelow = folder !== undefined;
  return {
    name: agent,
    title: `${AGENTS[agent].title}${isBelow ? ` in ${folder}` : ''}`,
    ...(isBelow ? { folder } : {}),
    state,
    files: seen.map(({ file }) => file),
    wants: isAbsent || isBelow ? [] : AGENTS[agent].wants(wish.command, place.isUser, wish.allow === true),
  };
}

const isShared = ({ kind, file }: Part, isUser: boolean): boolean =>
  kind === 'block' &&
  AGENT_NAMES.filter((name) => AGENTS[name].instructions[isUser ? 'user' : 'project'] === file).length > 1;

/** Forge's part of a file. One unreadable file does not hide the others. */
function seeFile(place: Place, files: Files, part: Part): WiredFile {
  const path = shownAt(place, part.file);
  try {
    const { text } = files.read(part.file);
    return { path, state: withFile(path, text, () => (text === null ? 'missing' : findPart(text, part))) };
  } catch (error) {
    const { kind, message } = error as ForgeError;
    if (!['refused', 'corrupted', 'outside'].includes(kind)) throw error;
    return { path, state: 'unreadable', problem: message.replace(/; nothing was written\.$/, '.') };
  }
}
