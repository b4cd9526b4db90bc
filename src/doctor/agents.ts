import { join } from 'node:path';
import { AGENT_NAMES, type AgentName, isHookOf, startOf, textsIn } from '../agent/agents.js';
import { readValue } from '../agent/edit-json.js';
import { seenPlace, userPlace } from '../agent/place.js';
import { type SeenAgent, statusOf } from '../agent/status.js';
import { homeFolder } from '../core/environment.js';
import { LINK_HINT } from '../core/error.js';
import { readTarget } from '../core/files.js';
import type { World } from '../core/world.js';
import { parseToml } from '../project/config.js';
import { advisory, type Symptom } from '../status/symptom.js';
import { type Check, runChecks } from './check.js';
import { findOnPath, findProgram, ownPackage, type Program } from './program.js';

/** Where agents are looked at. */
interface AgentPlace {
  /** The project's top folder. */
  root: string;
  world: World;
  /** The log of hooks, and how it is shown. */
  log: string | null;
  logShown: string;
}

/** One agent: its wiring, and what else decides whether forge reaches it. */
interface Sight {
  /** As `forge agent status` has it. */
  status: SeenAgent;
  /** The hooks that call forge, and what they start; null: a program that is missing. */
  hooks: { file: string; command: string; program: Program | 'unknown' | null }[];
  /** Settings by which it calls no hooks, or not forge's server. */
  off: { setting: string; stops: 'hooks' | 'server'; file: string }[];
  /** The file that enables forge's plugin. */
  plugin: string | null;
  /** The last lines of the hook log. */
  faults: string[];
  logShown: string;
}

/** What keeps forge from the agents that were asked for; from those that are wired here, if none was. */
export async function diagnoseAgents(place: AgentPlace, asked: readonly AgentName[]): Promise<Symptom[]> {
  const all = sightsOf(place, asked.length > 0 ? asked : AGENT_NAMES);
  const sights = asked.length > 0 ? all : all.filter(isWired);
  if (sights.length === 0)
    return advisory(
      'no agent is wired here',
      'hooks of an agent that call forge',
      'without them an agent knows of memory only what it asks for',
      'forge agent install claude',
    );
  const found = sights.some(startsBare) ? await runChecks(PATH_CHECKS, place) : [];
  for (const sight of sights) found.push(...(await runChecks(AGENT_CHECKS, sight)));
  return found;
}

const isUnreadable = ({ state }: { state: string }): boolean => state === 'unreadable';
const isWired = ({ status, hooks, plugin }: Sight): boolean =>
  hooks.length > 0 || plugin !== null || status.files.some(isUnreadable);

/** What forge installs starts `forge`, which is whatever the PATH of the agent has. */
const startsBare = ({ hooks, plugin }: Sight): boolean =>
  plugin !== null || hooks.length === 0 || hooks.some(({ command }) => startOf(command) === 'forge');

const PATH_CHECKS: readonly Check<AgentPlace>[] = [
  {
    id: 'path',
    severity: 'blocking',
    expected: `forge ${ownPackage().version} on the PATH`,
    why: 'hooks start that instead',
    fix: LINK_HINT,
    look: ({ world, root }) => {
      const [first] = findOnPath(world.env, root);
      if (!first)
        return { observed: 'there is no forge on the PATH', why: 'no hook and no MCP server starts' };
      const { path, name, version } = first;
      const { name: own, version: current } = ownPackage();
      // A version manager's shim stands in for several programs.
      if (name === null) {
        const why = 'it may be another program';
        const commands = [`${path} --version`];
        return { observed: `${path} belongs to no known package`, severity: 'degraded', why, commands };
      }
      if (name !== own) return `${path} belongs to the package ${name}`;
      if (version === null || version === current) return null;
      const why = 'agents use another version than you do';
      return { observed: `${path} is forge ${version}`, severity: 'advisory', why };
    },
  },
];

const install = ({ name }: SeenAgent): string[] => [`forge agent install ${name}`];

const AGENT_CHECKS: readonly Check<Sight>[] = [
  {
    id: 'wired',
    severity: 'degraded',
    expected: 'all hooks of forge',
    why: 'the agent lacks its briefing, and may stop while a question is open',
    fix: 'forge agent status',
    look: ({ status, plugin }) => {
      const { title, lacking, files, state } = status;
      const commands = install(status);
      if (state === 'absent' && !files.some(isUnreadable))
        return plugin === null && { observed: `${title} is not wired`, severity: 'blocking', commands };
      return (
        lacking.length > 0 && { observed: `${title} is wired in part: see ${lacking.join(', ')}`, commands }
      );
    },
  },
  {
    id: 'server-entry',
    severity: 'advisory',
    expected: 'the entry that forge puts there',
    why: 'it may start another forge, or not know what this one needs',
    fix: 'forge agent status',
    // It may be a person's own, and work.
    look: ({ status }) =>
      status.files
        .filter(({ path, state }) => {
          const isKnown = status.lacking.includes(path) || path === status.serverMissing;
          return status.state !== 'absent' && state === 'changed' && !isKnown;
        })
        .map(({ path }) => ({
          observed: `the MCP server "forge" in ${path} is not as this forge installs it`,
          commands: install(status),
        })),
  },
  {
    id: 'settings-file',
    severity: 'blocking',
    expected: 'a file that the agent understands',
    why: 'the agent takes nothing from it, and forge does not write into it',
    fix: 'forge agent status',
    look: ({ status: { files } }) =>
      files.filter(isUnreadable).map(({ path, problem }) => ({
        observed: problem?.replace(/\.$/, '') ?? `${path} cannot be read`,
        commands: [
          path.endsWith('.json') ? `node -p "JSON.parse(fs.readFileSync(0))" < ${path}` : `cat ${path}`,
        ],
      })),
  },
  {
    id: 'hook-program',
    severity: 'blocking',
    expected: 'hooks that start this forge',
    why: 'each of them fails, and the agent goes on without memory',
    fix: 'forge agent status',
    // Those that name a program by its path; `forge` alone is judged with the PATH.
    look: ({ hooks, status }) => {
      const wrong = hooks.flatMap(({ file, command, program }) => {
        if (program === 'unknown' || program?.name === ownPackage().name) return [];
        const what = program ? 'which is not this forge' : 'which is not there';
        return [`hooks in ${file} start ${startOf(command)}, ${what}`];
      });
      return [...new Set(wrong)].map((observed) => ({ observed, commands: install(status) }));
    },
  },
  {
    id: 'server',
    severity: 'degraded',
    expected: 'an entry that starts forge mcp',
    why: 'the agent has the commands, but not the tools',
    fix: 'forge agent status',
    look: ({ status }) =>
      status.state !== 'absent' &&
      status.serverMissing !== null && {
        observed: `no MCP server "forge" in ${status.serverMissing}`,
        commands: install(status),
      },
  },
  {
    id: 'switched-off',
    severity: 'blocking',
    expected: 'settings that let the agent call forge',
    why: 'no hook is ever called',
    fix: 'forge agent status',
    look: ({ off }) =>
      off.map(({ setting, stops, file }) => ({
        observed: `${file} has ${setting}`,
        commands: [`grep -n ${setting.split(/\W/)[0]} ${file}`],
        ...(stops === 'hooks'
          ? {}
          : { severity: 'degraded', why: 'the agent has the commands, but not the tools' }),
      })),
  },
  {
    id: 'plugin',
    severity: 'advisory',
    expected: 'one of them',
    why: 'both are called, so that the agent gets everything twice',
    fix: 'claude plugin uninstall forge-memory@forge',
    look: ({ plugin, hooks: [hook], status: { title } }) =>
      plugin !== null && hook && `${title} has forge's plugin (${plugin}) and forge's hooks (${hook.file})`,
  },
  {
    id: 'faults',
    severity: 'degraded',
    expected: 'hooks that work',
    why: 'the agent went on without them',
    fix: 'forge agent status',
    look: ({ faults, logShown }) =>
      faults.length > 0 && {
        observed: `hooks failed lately: ${faults.join('; ')}`,
        commands: [`tail ${logShown}`],
      },
  },
];

/** In the project, and for all projects of this person, as `forge agent status` reads them. */
function sightsOf({ root, world, log, logShown }: AgentPlace, names: readonly AgentName[]): Sight[] {
  const [project = [], home = []] = [
    statusOf(seenPlace(root), names, undefined),
    statusOf(userPlace(world, { dryRun: true, warn: () => {} }), names, undefined),
  ].map((seen) => seen.filter(({ folder }) => folder === undefined));
  const hookLog = (log && readText(log)) ?? '';
  return project.map((here, i) => {
    const { name } = here;
    const there = home[i] as SeenAgent;
    const isNowhere = here.state === 'absent' && !here.files.some(isUnreadable);
    const status = isNowhere && there.state !== 'absent' ? there : here;
    const settings = (path: string): unknown => parseSettings(path, readSettings(root, world, path));
    const files = SWITCHES[name]?.files ?? [];
    const hooks = status.files.flatMap(({ path: file }) =>
      textsIn(settings(file))
        .filter((text) => isHookOf(name, text))
        .map((command) => ({ file, command, program: programOf(command, root) })),
    );
    const off = files.flatMap((file) =>
      switchedOff(name, settings(file)).map((found) => ({ ...found, file })),
    );
    const plugin = files.find((file) => enablesPlugin(settings(file))) ?? null;
    return { status, hooks, off, plugin, faults: faultsIn(hookLog, name, world.now()), logShown };
  });
}

const MAX_BYTES = 1024 * 1024;

function readSettings(root: string, { env }: World, path: string): string {
  const whole = path.startsWith('~/') ? join(homeFolder(env), path.slice(2)) : join(root, path);
  return readText(whole) ?? 'null';
}

function readText(path: string): string | null {
  try {
    return readTarget(path, MAX_BYTES)?.toString('utf8') ?? null;
  } catch {
    return null;
  }
}

/** Null for a file that cannot be parsed. */
function parseSettings(path: string, text: string): unknown {
  try {
    return path.endsWith('.toml') ? parseToml(text, path) : readValue(text);
  } catch {
    return null;
  }
}

/**
 * The program that a hook names by its path, for `/opt/forge.js hook …` and `node /opt/forge.js hook …`. Unknown for
 * `forge` and `npx --no-install forge`, which a PATH finds, and for what a shell has to complete.
 */
function programOf(command: string, root: string): Program | 'unknown' | null {
  const word = /(?:"([^"]*)"|'([^']*)'|(\S+))$/.exec(startOf(command))?.slice(1).find(Boolean) ?? '';
  return /[\\/]/.test(word) && !/[$`]/.test(word) ? findProgram(word, root) : 'unknown';
}

type Switch = readonly [setting: string, stops: 'hooks' | 'server', path: readonly string[], value: unknown];

/** Settings as their vendors document them, and the files that may have them. `~/` is the person's home. */
const SWITCHES: Partial<Record<AgentName, { files: string[]; off: Switch[] }>> = {
  claude: {
    files: ['.claude/settings.json', '.claude/settings.local.json', '~/.claude/settings.json'],
    off: [
      ['disableAllHooks: true', 'hooks', ['disableAllHooks'], true],
      ['disabledMcpjsonServers: ["forge"]', 'server', ['disabledMcpjsonServers'], 'forge'],
    ],
  },
  codex: {
    files: ['.codex/config.toml', '~/.codex/config.toml'],
    off: [
      ['hooks = false in [features]', 'hooks', ['features', 'hooks'], false],
      // The older name of the setting.
      ['codex_hooks = false in [features]', 'hooks', ['features', 'codex_hooks'], false],
    ],
  },
};

const valueAt = (settings: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (value, key) => (value as Record<string, unknown> | null | undefined)?.[key],
    settings,
  );

/** It has the value, or it is a list that includes the value. */
const switchedOff = (agent: AgentName, settings: unknown) =>
  (SWITCHES[agent]?.off ?? [])
    .filter(([, , path, value]) => [valueAt(settings, path)].flat().includes(value))
    .map(([setting, stops]) => ({ setting, stops }));

/** From any marketplace. */
const enablesPlugin = (settings: unknown): boolean =>
  Object.entries(valueAt(settings, ['enabledPlugins']) ?? {}).some(
    ([name, enabled]) => name.startsWith('forge-memory@') && enabled === true,
  );

/** The last faults of one day in the log of hooks (`TIME AGENT EVENT: CODE`), each once. */
function faultsIn(log: string, agent: AgentName, now: Date): string[] {
  const lines = log.split('\n').map((line) => /^(\S+) (\S+) (.+)$/.exec(line)?.slice(1) ?? []);
  const recent = lines.filter(
    ([at = '', name]) => name === agent && now.getTime() - Date.parse(at) < 24 * 3_600_000,
  );
  return [...new Set(recent.map(([, , what = '']) => what))].slice(-3);
}
