import { join } from 'node:path';
import { homeFolder } from '../adapters/environment.js';
import { findOnPath, findProgram, ownPackage } from '../adapters/program.js';
import type { World } from '../adapters/world.js';
import { adapterOf } from '../domain/agent/agents.js';
import { AGENT_NAMES, type AgentName } from '../domain/agent/event.js';
import {
  enablesPlugin,
  faultsIn,
  hooksIn,
  parseSettings,
  programIn,
  switchedOff,
  switchFiles,
} from '../domain/agent/settings.js';
import type { AgentWiring } from '../domain/agent/wiring.js';
import { HOME, missingServer, reportWiring, type WiringReport } from '../domain/agent/wiring-report.js';
import type { AgentFacts, AgentSight } from '../domain/diagnosis-agent.js';
import type { Problem } from '../domain/symptom.js';
import { readTarget } from '../store/durable.js';

/** How forge wires itself into an agent, as far as it does. */
const WIRINGS: Partial<Record<AgentName, () => Promise<AgentWiring>>> = {
  claude: async () => (await import('../domain/agent/wirings/claude.js')).claudeWiring,
};

/** Where agents are looked at. */
export interface AgentPlace {
  /** The project's top folder. */
  root: string;
  world: World;
  /** The text of the log of hooks, and how it is shown. */
  log: { text: string; shown: string };
  unapproved: number | Problem;
}

/** What can be seen of the agents that someone asked for; of those that are wired here, if nobody did. */
export async function lookAtAgents(place: AgentPlace, asked: readonly AgentName[]): Promise<AgentFacts> {
  const { root, world, log, unapproved } = place;
  const names = asked.length > 0 ? asked : AGENT_NAMES;
  const seen = await Promise.all(names.map((name) => lookAt(name, place)));
  return {
    self: ownPackage(),
    onPath: findOnPath(world.env, root),
    agents: asked.length > 0 ? seen : seen.filter(isWired),
    unapproved,
    log: log.shown,
  };
}

/** Forge's hooks are there, or may be. */
const isWired = ({ report, hooks, plugin }: AgentSight): boolean =>
  hooks.length > 0 || plugin !== null || report.state === 'unreadable';

async function lookAt(name: AgentName, { root, world, log }: AgentPlace): Promise<AgentSight> {
  const read = readerOf(root, homeFolder(world.env));
  const settings = (path: string): unknown => parseSettings(path, read(path) ?? 'null');
  const wiring = await WIRINGS[name]?.();
  const { report, serverMissing } = wiring ? wired(wiring, read) : notWired(name);
  return {
    title: (await adapterOf(name)).title,
    report,
    hooks: report.files.flatMap(({ path }) => hooksOf(name, path, settings(path), root)),
    serverMissing,
    off: switchFiles(name).flatMap((file) =>
      switchedOff(name, settings(file)).map((found) => ({ ...found, file })),
    ),
    plugin: switchFiles(name).find((file) => enablesPlugin(settings(file))) ?? null,
    faults: faultsIn(log.text, name, world.now()),
  };
}

type Read = (path: string) => string | null;

const MAX_BYTES = 1024 * 1024;

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

/** In the project, or else for all projects of this person. */
function wired(wiring: AgentWiring, read: Read): Pick<AgentSight, 'report' | 'serverMissing'> {
  const [project, user] = [reportWiring(wiring, false, read), reportWiring(wiring, true, read)];
  const isUser = project.state === 'missing' && user.state !== 'missing';
  const report = isUser ? user : project;
  return {
    report,
    serverMissing: report.state === 'missing' ? null : missingServer(wiring, isUser, read),
  };
}

const notWired = (name: AgentName): { report: WiringReport; serverMissing: null } => ({
  report: { name, state: 'missing', files: [], wants: [] },
  serverMissing: null,
});

function hooksOf(agent: AgentName, file: string, settings: unknown, root: string): AgentSight['hooks'] {
  return hooksIn(agent, settings).map((command) => {
    const path = programIn(command);
    return { file, command, program: path === null ? 'unknown' : findProgram(path, root) };
  });
}
