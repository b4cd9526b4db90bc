import { type AgentName, isHookOf, textsIn } from '../agent/agents.js';
import { readValue } from '../agent/edit-json.js';
import { parseToml } from '../project/config.js';

/** The content of a settings file; null for one that cannot be parsed. */
export function parseSettings(path: string, text: string): unknown {
  try {
    return path.endsWith('.toml') ? parseToml(text, path) : readValue(text);
  } catch {
    return null;
  }
}

const valueAt = (settings: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (value, key) => (value as Record<string, unknown> | null | undefined)?.[key],
    settings,
  );

/** Every command in the settings that calls forge's hook for this agent. */
export const hooksIn = (agent: AgentName, settings: unknown): string[] =>
  textsIn(settings).filter((text) => isHookOf(agent, text));

/** How a hook starts forge: what precedes `hook`. */
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

/** Such settings as their vendors document them, and the files that may have them. `~/` is the person's home. */
const SWITCHES: Partial<
  Record<
    AgentName,
    { files: string[]; off: [setting: string, what: SwitchedOff['what'], path: string[], value: unknown][] }
  >
> = {
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

/** The files that may tell an agent not to call forge. */
export const switchFiles = (agent: AgentName): readonly string[] => SWITCHES[agent]?.files ?? [];

/** A setting that turns something off: it has the value, or it is a list that includes the value. */
export const switchedOff = (agent: AgentName, settings: unknown): SwitchedOff[] =>
  (SWITCHES[agent]?.off ?? [])
    .filter(([, , path, value]) => [valueAt(settings, path)].flat().includes(value))
    .map(([setting, what]) => ({ setting, what }));

/** True where forge's plugin is enabled, from any marketplace. */
export const enablesPlugin = (settings: unknown): boolean =>
  Object.entries(valueAt(settings, ['enabledPlugins']) ?? {}).some(
    ([name, enabled]) => name.startsWith('forge-memory@') && enabled === true,
  );

/** The last faults of one day in the log of hooks (`TIME AGENT EVENT: CODE`), each once. */
export function faultsIn(log: string, agent: AgentName, now: Date): string[] {
  const lines = log.split('\n').map((line) => /^(\S+) (\S+) (.+)$/.exec(line)?.slice(1) ?? []);
  const recent = lines.filter(
    ([at = '', name]) => name === agent && now.getTime() - Date.parse(at) < 24 * 3_600_000,
  );
  return [...new Set(recent.map(([, , what = '']) => what))].slice(-3);
}
