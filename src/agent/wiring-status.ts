import type { ForgeError } from '../core/error.js';
import { adapterOf } from './agents.js';
import { foundCommands, keyOf, lookFor, type Part, sharedKeys } from './edit-fixture.js';
import type { AgentName } from './event.js';
import { wiredAs } from './manifest.js';
import { type AgentStatus, type FileState, isHere, type WiredFile } from './status.js';
import { Parts, type Wish } from './wiring-parts.js';
import { explain, Files, type Place, readManifest, shownAt } from './wiring-place.js';
import type { Found } from './wiring-rules.js';
import type { Wirings } from './wirings/wirings.js';

/** A status, and what doctor wants to know besides. */
export interface SeenAgent extends AgentStatus {
  /** The file in which the MCP server should stand, and does not, while the rest of it can be read. */
  serverMissing: string | null;
  /** Files in which something other than the server is missing, or not as it would be installed now. */
  lacking: string[];
}

/** How far agents are wired, by what stands in their files. */
export async function lookAtWiring(
  place: Place,
  wirings: Wirings,
  agents: readonly AgentName[],
  command: string | undefined,
): Promise<SeenAgent[]> {
  const manifest = readManifest(place, true);
  const look = new Look(place, wirings);
  return Promise.all(
    agents.map(async (agent) => {
      const wired = wiredAs(manifest, agent);
      const wish = {
        agent,
        command: command ?? wired?.command ?? 'forge',
        instructions: wired?.instructions ?? false,
      };
      const { files, ...seen } = look.at(wish);
      const input = { command: wish.command, isUser: place.isUser };
      const wants = seen.state === 'absent' ? [] : (wirings.get(agent)?.wants(input) ?? []);
      return { name: agent, title: (await adapterOf(agent)).title, files, wants, ...seen };
    }),
  );
}

/** A file, and what stands in it of forge. */
interface Seen {
  name: string;
  path: string;
  text: string;
  state: FileState;
  /** It is the agent's own, not only something that it shares with others. */
  isOwn: boolean;
  /** With which commands forge is started there. */
  commands: string[];
  /** The MCP server is a part of it, and is not there. */
  lacksServer: boolean;
  /** Something else is not there as it would be. */
  lacksMore: boolean;
  problem?: string;
}

const isServer = ({ fixture }: Part): boolean => fixture.kind === 'member' || fixture.kind === 'table';

/** Its settings are broken; it is a folder; this person may not read it. */
const UNREADABLE: ReadonlySet<string> = new Set(['refused', 'corrupted', 'outside']);

class Look {
  private readonly files: Files;
  private readonly parts: Parts;
  private readonly shared: ReadonlySet<string>;

  constructor(
    private readonly place: Place,
    wirings: Wirings,
  ) {
    this.files = new Files(place);
    this.parts = new Parts(place, this.files, wirings);
    const wishes = [...wirings.keys()].map((agent) => ({ agent, command: 'forge', instructions: true }));
    this.shared = sharedKeys(wishes.map((wish) => this.parts.given(wish)));
  }

  /** The block of instructions is there on request only. What others have as well does not make an agent wired. */
  at(wish: Wish): Pick<SeenAgent, 'files' | 'state' | 'serverMissing' | 'lacking'> {
    const asked = new Set(this.parts.given(wish).map(({ fixture }) => fixture.file));
    const isShown = ({ name, state }: Seen): boolean =>
      asked.has(name) || (state !== 'missing' && state !== 'unreadable');
    const seen = this.seeAll(wish).filter(isShown);
    const commands = new Set(seen.flatMap((file) => file.commands));
    // Without --no-install, npx may run an unrelated package. Recognize it anyway: a person may have wired it.
    const known = ['forge', ...['npx', 'npx --no-install'].map((npx) => `${npx} forge`)];
    const others = [...commands, ...known].filter((command) => command !== wish.command);
    const files = seen.map((file) => this.judge(file, wish, others));
    const own = files.filter((_, at) => seen[at]?.isOwn === true);
    const isAbsent = own.every(({ state }) => state === 'missing' || state === 'unreadable');
    return {
      files,
      state: isAbsent ? 'absent' : files.every(isHere) ? 'wired' : 'partly',
      serverMissing: seen.find(({ lacksServer }) => lacksServer)?.path ?? null,
      lacking: seen
        .filter((file, at) => file.lacksMore && !isHere(files[at] as WiredFile))
        .map(({ path }) => path),
    };
  }

  private seeAll(wish: Wish): Seen[] {
    const all = this.parts.given({ ...wish, instructions: true });
    const names = [...new Set(all.map(({ fixture }) => fixture.file))];
    return names.map((name) =>
      this.see(
        name,
        all.filter(({ fixture }) => fixture.file === name),
      ),
    );
  }

  /** What stands in a file. One that cannot be read is no reason to say nothing of the others. */
  private see(name: string, parts: readonly Part[]): Seen {
    const isOwn = parts.some((part) => !this.shared.has(keyOf(part)));
    const lacksServer = parts.some(isServer);
    const lacksMore = parts.some((part) => !isServer(part));
    const file = {
      name,
      path: shownAt(this.place, name),
      text: '',
      isOwn,
      commands: [],
      lacksServer,
      lacksMore,
    };
    try {
      const { text } = this.files.read(name);
      if (text === null) return { ...file, state: 'missing' };
      const found = parts.map((part) => ({ part, found: this.find(text, part, file.path) }));
      const states = new Set(found.map((one) => one.found.state));
      const state = states.size === 1 ? ([...states][0] as FileState) : 'changed';
      const isLacking = found.some(({ part, found: { state } }) => isServer(part) && state === 'missing');
      return {
        ...file,
        text,
        state,
        lacksServer: isLacking,
        lacksMore: found.some(({ part, found: { state } }) => !isServer(part) && state !== 'wired'),
        commands: found.flatMap((one) => foundCommands(one.part, one.found)),
      };
    } catch (error) {
      const { kind, message } = error as ForgeError;
      if (!UNREADABLE.has(kind)) throw error;
      return {
        ...file,
        lacksServer: false,
        lacksMore: false,
        state: 'unreadable',
        problem: message.replace(/; nothing was written\.$/, '.'),
      };
    }
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
    { name, path, text, state, problem }: Seen,
    wish: Wish,
    others: readonly string[],
  ): WiredFile {
    if (problem !== undefined) return { path, state, problem };
    if (state !== 'changed') return { path, state };
    const command = others.find((other) =>
      this.parts
        .given({ ...wish, instructions: true, command: other })
        .filter(({ fixture }) => fixture.file === name)
        .every((part) => lookFor(text, part).state === 'wired'),
    );
    return command === undefined ? { path, state } : { path, state: 'other_command', command };
  }
}
