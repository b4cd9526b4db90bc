import type { AgentName } from './event.js';
import { hooksIn, parseSettings, valueAt } from './settings.js';
import type { AgentWiring, Fixture } from './wiring.js';

/** All that forge would put there, a part of it, nothing, or nothing that can be parsed. */
export type WiredState = 'wired' | 'partial' | 'missing' | 'unreadable';

/** How one agent is wired. Paths are from the project's top folder, or from home with `~/`. */
export interface WiringReport {
  name: AgentName;
  state: WiredState;
  files: { path: string; state: WiredState }[];
  /** What the person has to do beside, a line each. */
  wants: string[];
}

export const HOME = '~/';

/** The things that forge would write, by file. */
export function fixturesByFile(wiring: AgentWiring, isUser: boolean): Map<string, Fixture[]> {
  const files = new Map<string, Fixture[]>();
  for (const fixture of wiring.fixtures({ command: 'forge', isUser })) {
    const path = `${isUser ? HOME : ''}${fixture.file}`;
    files.set(path, [...(files.get(path) ?? []), fixture]);
  }
  return files;
}

/** What stands in the files of a wiring; `read` gives null for a file that is not there. */
export function reportWiring(
  wiring: AgentWiring,
  isUser: boolean,
  read: (path: string) => string | null,
): WiringReport {
  const { name } = wiring;
  const files = [...fixturesByFile(wiring, isUser)].map(([path, fixtures]) => ({
    path,
    state: stateOf(name, path, fixtures, read(path)),
  }));
  return {
    name,
    state: together(files.map(({ state }) => state)),
    files,
    wants: wiring.wants({ command: 'forge', isUser }),
  };
}

function stateOf(
  agent: AgentName,
  path: string,
  fixtures: readonly Fixture[],
  text: string | null,
): WiredState {
  if (text === null) return 'missing';
  const settings = /\.(json|toml)$/.test(path) ? parseSettings(path, text) : text;
  if (settings === null) return 'unreadable';
  return together(fixtures.map((fixture) => (isPresent(agent, fixture, settings) ? 'wired' : 'missing')));
}

function together(states: readonly WiredState[]): WiredState {
  if (states.includes('unreadable')) return 'unreadable';
  if (states.every((state) => state === 'wired')) return 'wired';
  return states.every((state) => state === 'missing') ? 'missing' : 'partial';
}

function isPresent(agent: AgentName, fixture: Fixture, settings: unknown): boolean {
  switch (fixture.kind) {
    case 'item':
      return hooksIn(agent, valueAt(settings, fixture.path)).length > 0;
    case 'member':
      return valueAt(settings, fixture.path) !== undefined;
    case 'table':
      return valueAt(settings, fixture.name.split('.')) !== undefined;
    default:
      return String(settings).includes(fixture.text);
  }
}

/** The file in which the MCP server is missing; null where it stands, or is no part of the wiring. */
export function missingServer(
  wiring: AgentWiring,
  isUser: boolean,
  read: (path: string) => string | null,
): string | null {
  for (const [path, fixtures] of fixturesByFile(wiring, isUser)) {
    const servers = fixtures.filter(({ kind }) => kind === 'member' || kind === 'table');
    if (servers.length === 0) continue;
    const state = stateOf(wiring.name, path, servers, read(path));
    if (state === 'missing' || state === 'partial') return path;
  }
  return null;
}
