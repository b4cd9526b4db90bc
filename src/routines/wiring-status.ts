import { adapterOf } from '../domain/agent/agents.js';
import { commandsOf, lookFor, type Part } from '../domain/agent/edit-fixture.js';
import type { AgentName } from '../domain/agent/event.js';
import { wiredAs } from '../domain/agent/manifest.js';
import type { Found } from '../domain/agent/wiring.js';
import type { Wirings } from '../domain/agent/wirings/wirings.js';
import type { ForgeError } from '../domain/error.js';
import { Parts, type Wish } from './wiring-parts.js';
import { explain, Files, type Place, readManifest, shownAt } from './wiring-place.js';

export type FileState = 'wired' | 'missing' | 'changed' | 'other_command' | 'unreadable';

export interface WiredFile {
  path: string;
  state: FileState;
  /** The command that forge is started with there, when it is another one. */
  command?: string;
  /** What is wrong, where it cannot be read. */
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

/** How far agents are wired, by what stands in their files. */
export async function lookAtWiring(
  place: Place,
  wirings: Wirings,
  agents: readonly AgentName[],
  command: string | undefined,
): Promise<AgentStatus[]> {
  const manifest = readManifest(place);
  const look = new Look(place, wirings);
  return Promise.all(
    agents.map(async (agent) => {
      const wired = wiredAs(manifest, agent);
      const wish = {
        agent,
        command: command ?? wired?.command ?? 'forge',
        instructions: wired?.instructions ?? false,
      };
      const files = look.filesOf(wish);
      const state = stateOf(files);
      const input = { command: wish.command, isUser: place.isUser };
      const wants = state === 'absent' ? [] : (wirings.get(agent)?.wants(input) ?? []);
      return { name: agent, title: (await adapterOf(agent)).title, state, files, wants };
    }),
  );
}

function stateOf(files: readonly WiredFile[]): AgentStatus['state'] {
  if (files.every(({ state }) => state === 'wired' || state === 'other_command')) return 'wired';
  return files.every(({ state }) => state === 'missing') ? 'absent' : 'partly';
}

/** A part, and what stands there of it. */
interface Seen {
  part: Part;
  found: Found;
}

class Look {
  private readonly files: Files;
  private readonly parts: Parts;

  constructor(
    private readonly place: Place,
    wirings: Wirings,
  ) {
    this.files = new Files(place);
    this.parts = new Parts(place, this.files, wirings);
  }

  filesOf(wish: Wish): WiredFile[] {
    const names = [
      ...new Set(this.parts.given({ ...wish, instructions: true }).map(({ fixture }) => fixture.file)),
    ];
    const rows = names.map((name) => this.fileOf(name, wish));
    // The block is there on request only.
    return rows.filter((row, at) => row.state !== 'missing' || this.isExpected(names[at] as string, wish));
  }

  private isExpected(name: string, wish: Wish): boolean {
    return this.parts.given(wish).some(({ fixture }) => fixture.file === name);
  }

  private fileOf(name: string, wish: Wish): WiredFile {
    const path = shownAt(this.place, name);
    try {
      const { text } = this.files.read(name);
      const parts = this.partsIn(name, wish);
      if (text === null) return { path, state: 'missing' };
      const seen = parts.map((part) => ({ part, found: this.find(text, part, path) }));
      return { path, ...this.judge(name, wish, text, seen) };
    } catch (error) {
      const { kind, message } = error as ForgeError;
      if (kind !== 'refused') throw error;
      return { path, state: 'unreadable', problem: message.replace(/; nothing was written\.$/, '.') };
    }
  }

  private partsIn(name: string, wish: Wish): Part[] {
    return this.parts.given({ ...wish, instructions: true }).filter(({ fixture }) => fixture.file === name);
  }

  private find(text: string, part: Part, path: string): Found {
    try {
      return lookFor(text, part);
    } catch (error) {
      throw explain(error, path, text);
    }
  }

  /** What is not as it would be installed now may be as another command would have it. */
  private judge(
    name: string,
    wish: Wish,
    text: string,
    seen: readonly Seen[],
  ): Pick<WiredFile, 'state' | 'command'> {
    const states = new Set(seen.map(({ found }) => found.state));
    if (states.size === 1 && !states.has('changed')) return { state: [...states][0] as FileState };
    const commands = new Set(seen.flatMap(({ part, found }) => commandsOf(part, found)));
    const others = [...commands, 'forge', 'npx forge'].filter((command) => command !== wish.command);
    const command = others.find((other) =>
      this.partsIn(name, { ...wish, command: other }).every((part) => lookFor(text, part).state === 'wired'),
    );
    return command === undefined ? { state: 'changed' } : { state: 'other_command', command };
  }
}
