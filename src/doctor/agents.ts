import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { AGENT_NAMES, type AgentName } from '../agent/agents.js';
import { readValue } from '../agent/edit-json.js';
import { type AgentStatus, readOnlyPlace, statusOf, userPlace } from '../agent/place.js';
import { homeFolder } from '../core/environment.js';
import { LINK_HINT } from '../core/error.js';
import { readTarget } from '../core/files.js';
import type { World } from '../core/world.js';
import { advisory, blocking, degraded, type Symptom } from './checks.js';

interface AgentPlace {
  root: string;
  world: World;
  /** The log of failed hooks; null without a `.forge/`. */
  log: { path: string; shown: string } | null;
}

/** What keeps forge from these agents; by default from those that are wired here or for all projects. */
export function diagnoseAgents(place: AgentPlace, asked: readonly AgentName[]): Symptom[] {
  const { root, world } = place;
  const names = asked.length > 0 ? asked : AGENT_NAMES;
  const [here = [], home = []] = [readOnlyPlace(root), userPlace(world, true)].map((where) =>
    statusOf(where, names),
  );
  const hasPlugin = ({ name }: AgentStatus): boolean => name === 'claude' && findsPlugin(place);
  const agents = here
    .map((status, i) => [status, home[i] as AgentStatus].find(isPresent) ?? status)
    .filter((status) => asked.length > 0 || isPresent(status) || hasPlugin(status));
  if (agents.length === 0)
    return advisory(
      'no agent is wired here',
      'an agent whose hooks call forge',
      'without them an agent uses memory only when it asks for it',
      'forge agent install claude',
    );
  const startsForge = (status: AgentStatus): boolean =>
    hasPlugin(status) || !status.files.some(({ command }) => command !== undefined);
  return [
    ...(agents.some(startsForge) ? pathSymptoms(place) : []),
    ...agents.flatMap((status) => agentSymptoms(place, status, hasPlugin(status))),
  ];
}

const isPresent = ({ state, files }: AgentStatus): boolean =>
  state !== 'absent' || files.some((file) => file.state === 'unreadable');

/** Claude Code's plugin has forge's hooks and server, from any marketplace. */
function findsPlugin({ root, world }: AgentPlace): boolean {
  const files = ['settings.json', 'settings.local.json'].map((name) => join(root, '.claude', name));
  return [...files, join(homeFolder(world.env), '.claude/settings.json')].some((file) => {
    try {
      const { enabledPlugins = {} } = readValue(readText(file)) as { enabledPlugins?: object };
      return Object.entries(enabledPlugins).some(
        ([name, on]) => name.startsWith('forge-memory@') && on === true,
      );
    } catch {
      // A file that cannot be parsed is reported by its status.
      return false;
    }
  });
}

const MAX_BYTES = 1024 * 1024;
const readText = (path: string): string => readTarget(path, MAX_BYTES)?.toString('utf8') ?? '{}';

function agentSymptoms(place: AgentPlace, status: AgentStatus, hasPlugin: boolean): Symptom[] {
  const { name, title, state, files } = status;
  const install = `forge agent install ${name}`;
  if (state === 'absent' && !hasPlugin && !files.some((file) => file.state === 'unreadable'))
    return blocking(
      `${title} is not wired`,
      "all of forge's hooks",
      'the agent does not know of memory',
      install,
    );
  const found = files.flatMap((file) => fileSymptoms(place, file, install));
  const lacking = files.filter((file) => file.state === 'missing' || file.state === 'changed');
  if (state === 'partly' && lacking.length > 0) {
    const why = 'the agent may lack its briefing or its tools, and may stop while a question is open';
    const observed = `${title} is partly wired: see ${lacking.map(({ path }) => path).join(', ')}`;
    found.push(...degraded(observed, 'the hooks and the MCP server of this forge', why, install));
  }
  const faults = recentFaults(place, name);
  if (faults.length > 0) {
    const why = 'the agent continued without them';
    const observed = `hooks failed within the last day: ${faults.join('; ')}`;
    found.push(...degraded(observed, 'hooks that work', why, `tail ${place.log?.shown}`));
  }
  return found;
}

function fileSymptoms(
  { root }: AgentPlace,
  { path, state, problem, command }: AgentStatus['files'][number],
  install: string,
): Symptom[] {
  if (state === 'unreadable')
    return blocking(
      problem?.replace(/\.$/, '') ?? `${path} cannot be read`,
      'a file that the agent understands',
      'the agent takes nothing from it, and forge does not write to it',
      path.endsWith('.json') ? `node -p "JSON.parse(fs.readFileSync(0))" < ${path}` : `cat ${path}`,
    );
  // The PATH or a shell has to find every other program.
  const program = command?.split(' ').at(-1) ?? '';
  const isPath = program.includes('/') && !/["'$`]/.test(program);
  if (!isPath || existsSync(resolve(root, program))) return [];
  const observed = `${path} starts ${command}, which does not exist`;
  return blocking(
    observed,
    'hooks that start this forge',
    'each of them fails, and the agent continues without memory',
    install,
  );
}

/** The last errors of one day in the log of hooks (`TIME AGENT EVENT: CODE`), each once. */
function recentFaults({ log, world }: AgentPlace, agent: AgentName): string[] {
  if (!log || !existsSync(log.path)) return [];
  const lines = readFileSync(log.path, 'utf8').split('\n');
  const faults = lines.flatMap((line) => {
    const [, at = '', name, fault = ''] = /^(\S+) (\S+) (.+)$/.exec(line) ?? [];
    return name === agent && world.now().getTime() - Date.parse(at) < 24 * 3_600_000 ? [fault] : [];
  });
  return [...new Set(faults)].slice(-3);
}

/** Hooks start whatever `forge` the agent's PATH has. */
function pathSymptoms({ root, world }: AgentPlace): Symptom[] {
  const folders = (world.env.PATH ?? '').split(delimiter);
  if (folders.some((folder) => isRunnable(resolve(root, folder, 'forge')))) return [];
  const why = 'no hook and no MCP server starts';
  return blocking('there is no forge on the PATH', 'the forge of this version on the PATH', why, LINK_HINT);
}

function isRunnable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
