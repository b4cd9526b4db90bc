import type { AgentName } from './event.js';

/** One thing that forge puts into a file of an agent. Paths are from the project's top folder, or from home. */
export type Fixture =
  /** A member of an object in a JSON file; the objects on the way are made. */
  | { kind: 'member'; file: string; path: readonly string[]; value: unknown }
  /** An item at the end of an array in a JSON file; the array and the objects on the way are made. */
  | { kind: 'item'; file: string; path: readonly string[]; value: unknown }
  /** A table of a TOML file: its name, and its lines. */
  | { kind: 'table'; file: string; name: string; lines: readonly string[] }
  /** A whole file that is forge's own. */
  | { kind: 'file'; file: string; text: string }
  /** A marked block in a Markdown file. */
  | { kind: 'block'; file: string; text: string };

/** What stands of a fixture in a file. `changed`: it is forge's, but not as it is installed now. */
export interface Found {
  state: 'wired' | 'missing' | 'changed';
  /** What is there instead. */
  value: unknown;
}

export interface WiringInput {
  /** What starts forge: `forge`, unless someone said otherwise. Hooks and the MCP server are words behind it. */
  command: string;
  /** For the person's home instead of a project. */
  isUser: boolean;
}

/** How one agent is wired: what is written where, and what it wants from the person beyond that. Pure. */
export interface AgentWiring {
  name: AgentName;
  fixtures(input: WiringInput): Fixture[];
  /** Into which file of instructions the marked block goes, on request; null where the agent has none. */
  instructions: { project: string; user: string | null } | null;
  /** What forge cannot do: a review, a fingerprint, an approval. A line each, with what to type. */
  wants(input: WiringInput): string[];
  /** Values that have to be in a file beside fixtures, when it is made: `{"version": 1}`. */
  beginnings?: Readonly<Record<string, string>>;
}

/** Where agents that run the hooks of others as well have their own, below a project. */
export const HOOK_FILES = { cursor: '.cursor/hooks.json', copilot: '.github/hooks/forge.json' } as const;

/** The MCP server's program and its words, for files that want them apart. */
export function serverOf(command: string): { command: string; args: string[] } {
  const [program = 'forge', ...words] = command.split(' ');
  return { command: program, args: [...words, 'mcp'] };
}

/** The commands of a file of hooks in the form that Cursor and Copilot have: entries by event, without matchers. */
export function commandsOf(file: unknown): unknown[] {
  const { hooks } = (file ?? {}) as { hooks?: Record<string, unknown> | null };
  const entries: unknown[] = Object.values(hooks ?? {}).flat();
  return entries.flatMap((entry) => {
    const { command, bash } = (entry ?? {}) as { command?: unknown; bash?: unknown };
    return [command, bash];
  });
}

/** A hook as it was installed by any version of forge: what uninstall and a second install recognise. */
export const isHookOf = (agent: AgentName, command: unknown): boolean =>
  typeof command === 'string' &&
  new RegExp(`(^|[\\\\/\\s"'])forge(\\.js|\\.cmd)?["']? hook ${agent} `).test(command);
