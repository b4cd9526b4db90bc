import { getNodeValue } from 'jsonc-parser';
import { parseToml } from '../project/config.js';
import { type AgentName, isHookOf } from './agents.js';
import { parseSettings as parseJson } from './edit-json.js';

/** What a settings file says, comments and trailing commas allowed as where forge writes into it; null for what cannot be parsed. */
export function parseSettings(path: string, text: string): unknown {
  try {
    if (path.endsWith('.toml')) return parseToml(text, path);
    const root = parseJson(text);
    return root && getNodeValue(root);
  } catch {
    return null;
  }
}

/** What stands at a path of keys; undefined where there is nothing. */
export const valueAt = (settings: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? (value as Record<string, unknown>)[key]
        : undefined,
    settings,
  );

/** Every command in the settings that calls forge's hook for this agent. */
export function hooksIn(agent: AgentName, settings: unknown): string[] {
  if (typeof settings === 'string') return isHookOf(agent, settings) ? [settings] : [];
  if (typeof settings !== 'object' || settings === null) return [];
  return Object.values(settings).flatMap((value) => hooksIn(agent, value));
}

/** How a hook starts forge: what stands before `hook`. */
export const startOf = (command: string): string => command.replace(/ hook .*/s, '');

/**
 * The program that a hook names by its path, for `/opt/forge.js hook …` and `node /opt/forge.js hook …`. Null for
 * `forge` and `npx --no-install forge`, which others find, and for what a shell has to complete.
 */
export function programIn(command: string): string | null {
  const word = /(?:"([^"]*)"|'([^']*)'|(\S+))$/.exec(startOf(command))?.slice(1).find(Boolean) ?? '';
  return /[\\/]/.test(word) && !/[$`]/.test(word) ? word : null;
}

/** A setting by which an agent calls no hooks, or does not start forge's server. */
export interface SwitchedOff {
  setting: string;
  what: 'hooks' | 'server';
}

/** Such settings, and the files that may have them. */
interface Switches {
  files: readonly string[];
  off: readonly (SwitchedOff & { isSet(settings: unknown): boolean })[];
}

const has = (path: string[], value: unknown) => (settings: unknown) => valueAt(settings, path) === value;

function refusesServer(settings: unknown): boolean {
  const refused = valueAt(settings, ['disabledMcpjsonServers']);
  return Array.isArray(refused) && refused.includes('forge');
}

/** As their vendors document them; `~/` is the person's home. */
const SWITCHES: Partial<Record<AgentName, Switches>> = {
  claude: {
    files: ['.claude/settings.json', '.claude/settings.local.json', '~/.claude/settings.json'],
    off: [
      { setting: 'disableAllHooks: true', what: 'hooks', isSet: has(['disableAllHooks'], true) },
      { setting: 'disabledMcpjsonServers: ["forge"]', what: 'server', isSet: refusesServer },
    ],
  },
  codex: {
    files: ['.codex/config.toml', '~/.codex/config.toml'],
    off: [
      { setting: 'hooks = false in [features]', what: 'hooks', isSet: has(['features', 'hooks'], false) },
      // What it was called at first.
      {
        setting: 'codex_hooks = false in [features]',
        what: 'hooks',
        isSet: has(['features', 'codex_hooks'], false),
      },
    ],
  },
};

/** The files in which an agent may be told not to call forge. */
export const switchFiles = (agent: AgentName): readonly string[] => SWITCHES[agent]?.files ?? [];

/** What one of them turns off. */
export const switchedOff = (agent: AgentName, settings: unknown): SwitchedOff[] =>
  (SWITCHES[agent]?.off ?? [])
    .filter(({ isSet }) => isSet(settings))
    .map(({ setting, what }) => ({ setting, what }));

/** Forge's plugin is enabled there, from whatever marketplace. */
export const enablesPlugin = (settings: unknown): boolean =>
  Object.entries(valueAt(settings, ['enabledPlugins']) ?? {}).some(
    ([name, enabled]) => name.startsWith('forge-memory@') && enabled === true,
  );

/** What failed within the last day, by the log of hooks (`TIME AGENT EVENT: CODE`): the last ones, each once. */
export function faultsIn(log: string, agent: AgentName, now: Date): string[] {
  const lines = log.split('\n').map((line) => /^(\S+) (\S+) (.+)$/.exec(line)?.slice(1) ?? []);
  const recent = lines.filter(
    ([at = '', name]) => name === agent && now.getTime() - Date.parse(at) < 24 * 3_600_000,
  );
  return [...new Set(recent.map(([, , what = '']) => what))].slice(-3);
}
