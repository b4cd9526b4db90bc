import { keyOf, lookFor, type Part, sharedKeys } from './edit-fixture.js';
import type { AgentName } from './event.js';
import { instructionsText } from './instructions.js';
import { type Manifest, type Wired, wiredAs } from './manifest.js';
import type { Files, Place } from './wiring-place.js';
import type { AgentWiring, Fixture } from './wiring-rules.js';
import type { Wirings } from './wirings/wirings.js';

/** How an agent is, or is to be, wired. */
export type Wish = Pick<Wired, 'agent' | 'command' | 'instructions'>;

/** The parts of agents in one place, by the names of the files as they really are. */
export class Parts {
  constructor(
    private readonly place: Place,
    private readonly files: Files,
    readonly wirings: Wirings,
  ) {}

  of(wish: Wish): Part[] {
    return this.given(wish).map(({ fixture, ...part }) => ({
      ...part,
      fixture: { ...fixture, file: this.files.read(fixture.file).name },
    }));
  }

  /** By the names that the wirings know. */
  given({ agent, command, instructions }: Wish): Part[] {
    const wiring = this.wirings.get(agent);
    if (!wiring) return [];
    const { isUser } = this.place;
    const fixtures = wiring.fixtures({ command, isUser });
    const block = instructions ? blockOf(wiring, command, isUser) : [];
    return [...fixtures, ...block].map((fixture) => ({
      agent,
      fixture,
      beginning: wiring.beginnings?.[fixture.file],
    }));
  }

  ofAll = (wishes: readonly Wish[]): Part[] => unique(wishes.flatMap((wish) => this.of(wish)));

  /**
   * What an agent may have here, instructions too: nobody may have noted whether they were asked for. A file of those that
   * cannot be read is no matter, unless they were.
   */
  ofKnown(agent: AgentName, wired: Wired | undefined): Part[] {
    const wish = wired ?? { agent, command: 'forge', instructions: false };
    try {
      return this.of({ ...wish, instructions: true });
    } catch {
      return this.of(wish);
    }
  }

  /** What others have who stay: those that forge wired here, and those whose own parts are there (a clone). */
  keptFor(leaving: ReadonlySet<AgentName>, manifest: Manifest): Set<string> {
    const all = [...this.wirings.keys()].map((agent) => this.tryOf(agent, wiredAs(manifest, agent)));
    const shared = sharedKeys(all);
    const staying = all.filter(([first]) => first !== undefined && !leaving.has(first.agent));
    const here = staying.filter(
      (parts) =>
        wiredAs(manifest, parts[0]?.agent as AgentName) !== undefined ||
        parts.some((part) => !shared.has(keyOf(part)) && this.isThere(part)),
    );
    return new Set(here.flat().map(keyOf));
  }

  /** A file that cannot be read says nothing about who is wired. */
  private tryOf(agent: AgentName, wired: Wired | undefined): Part[] {
    try {
      return wired ? this.of(wired) : this.ofKnown(agent, wired);
    } catch {
      return [];
    }
  }

  private isThere(part: Part): boolean {
    try {
      const { text } = this.files.read(part.fixture.file);
      return text !== null && lookFor(text, part).state !== 'missing';
    } catch {
      return false;
    }
  }
}

/** Of those that share something, the one that was installed last says what stands there. */
export function unique(parts: readonly Part[]): Part[] {
  const last = new Map(parts.map((part) => [keyOf(part), part]));
  return [...last.values()];
}

function blockOf({ instructions }: AgentWiring, command: string, isUser: boolean): Fixture[] {
  const file = isUser ? instructions?.user : instructions?.project;
  return file ? [{ kind: 'block', file, text: instructionsText(command) }] : [];
}
