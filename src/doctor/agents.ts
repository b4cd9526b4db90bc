import { join } from 'node:path';
import { AGENT_NAMES, type AgentName } from '../agent/agents.js';
import { type Place, seenPlace, userPlace } from '../agent/place.js';
import { type SeenAgent, statusOf, type WiredFile } from '../agent/status.js';
import { homeFolder } from '../core/environment.js';
import { readTarget } from '../core/files.js';
import type { World } from '../core/world.js';
import type { AgentFacts, AgentSight } from './agent-rules.js';
import {
  enablesPlugin,
  faultsIn,
  hooksIn,
  parseSettings,
  programIn,
  switchedOff,
  switchFiles,
} from './agent-settings.js';
import { findOnPath, findProgram, ownPackage } from './program.js';

/** Where agents are looked at. */
interface AgentPlace {
  /** The project's top folder. */
  root: string;
  world: World;
  /** The text of the log of hooks, and how it is shown. */
  log: { text: string; shown: string };
}

/** What can be seen of the agents that someone asked for; of those that are wired here, if nobody did. */
export async function lookAtAgents(place: AgentPlace, asked: readonly AgentName[]): Promise<AgentFacts> {
  const { root, world, log } = place;
  const names = asked.length > 0 ? asked : AGENT_NAMES;
  const sights = lookAtFiles(place, names);
  const seen = names.map((name) => sightOf(name, sights));
  return {
    self: ownPackage(),
    onPath: findOnPath(world.env, root)[0] ?? null,
    agents: asked.length > 0 ? seen : seen.filter(isWired),
    log: log.shown,
  };
}

/** Forge's hooks are there, or may be. */
const isWired = ({ status, hooks, plugin }: AgentSight): boolean =>
  hooks.length > 0 || plugin !== null || status.files.some(isUnreadable);

const isUnreadable = ({ state }: WiredFile): boolean => state === 'unreadable';

interface Sights {
  place: AgentPlace;
  project: Map<AgentName, SeenAgent>;
  home: Map<AgentName, SeenAgent>;
}

/** As `forge agent status` sees them, in the project and for all projects of this person. */
function lookAtFiles(place: AgentPlace, names: readonly AgentName[]): Sights {
  const look = (at: Place): Map<AgentName, SeenAgent> =>
    new Map(statusOf(at, names, undefined).map((agent) => [agent.name, agent]));
  return {
    place,
    project: look(seenPlace(place.root)),
    home: look(userPlace(place.world, { dryRun: true, warn: () => {} })),
  };
}

function sightOf(name: AgentName, { place, project, home }: Sights): AgentSight {
  const { root, world, log } = place;
  const read = readerOf(root, homeFolder(world.env));
  const settings = (path: string): unknown => parseSettings(path, read(path) ?? 'null');
  const [here, there] = [project, home].map((seen) => seen.get(name)) as [SeenAgent, SeenAgent];
  const { serverMissing, lacking, ...status } = isNowhere(here) && there.state !== 'absent' ? there : here;
  return {
    status,
    hooks: status.files.flatMap(({ path }) => hooksOf(name, path, settings(path), root)),
    lacking,
    serverMissing: status.state === 'absent' ? null : serverMissing,
    off: switchFiles(name).flatMap((file) =>
      switchedOff(name, settings(file)).map((found) => ({ ...found, file })),
    ),
    plugin: switchFiles(name).find((file) => enablesPlugin(settings(file))) ?? null,
    faults: faultsIn(log.text, name, world.now()),
  };
}

const isNowhere = ({ state, files }: SeenAgent): boolean => state === 'absent' && !files.some(isUnreadable);

type Read = (path: string) => string | null;

const MAX_BYTES = 1024 * 1024;
const HOME = '~/';

/** Each file once. What cannot be read is nothing that can be parsed. */
function readerOf(root: string, home: string): Read {
  const known = new Map<string, string | null>();
  return (path) => {
    const whole = path.startsWith(HOME) ? join(home, path.slice(HOME.length)) : join(root, path);
    if (!known.has(path)) known.set(path, readText(whole));
    return known.get(path) ?? null;
  };
}

function readText(path: string): string | null {
  try {
    return readTarget(path, MAX_BYTES)?.toString('utf8') ?? null;
  } catch {
    return '';
  }
}

function hooksOf(agent: AgentName, file: string, settings: unknown, root: string): AgentSight['hooks'] {
  return hooksIn(agent, settings).map((command) => {
    const path = programIn(command);
    return { file, command, program: path === null ? 'unknown' : findProgram(path, root) };
  });
}
