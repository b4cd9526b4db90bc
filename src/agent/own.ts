import type { AgentName } from './event.js';
import { isHookOf } from './wiring-rules.js';

/** What stands in files of agents and is forge's, whichever version of it put it there: known without any notes. */

type Item = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Item =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Every text in a value. */
export function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

const runsHook = (agent: AgentName, value: unknown): boolean =>
  textsIn(value).some((text) => isHookOf(agent, text));

/** Of a group of hooks (`{"hooks": […]}`) maybe only some are forge's: which ones, by their places. */
export function ownHooks(agent: AgentName, item: unknown): number[] {
  if (!isObject(item) || !Array.isArray(item.hooks)) return [];
  return [...item.hooks.keys()].filter((at) => runsHook(agent, (item.hooks as unknown[])[at]));
}

/** How much of an item in a list of hooks is forge's. */
export function ownShare(agent: AgentName, item: unknown, wanted: unknown): 'all' | 'some' | 'none' {
  if (isSame(item, wanted)) return 'all';
  if (isObject(item) && Array.isArray(item.hooks)) {
    const { length } = ownHooks(agent, item);
    return length === 0 ? 'none' : length === item.hooks.length ? 'all' : 'some';
  }
  return runsHook(agent, item) ? 'all' : 'none';
}

/** The words that start an MCP server: `command` and `args`, or a list in `command`. */
function serverWords(value: unknown): string[] {
  if (!isObject(value)) return [];
  return [value.command, value.args].flatMap(textsIn);
}

/** `forge`, `/opt/bin/forge.js`, `forge-memory@1`; not what only lies in a folder or has a longer name with it. */
const isForge = (word: string): boolean =>
  /(^|[\\/\s"'])forge(-memory)?(@[^\\/\s"']+)?(\.(js|cmd|exe))?["']?$/.test(word);

/** The value of a member `forge` is a server of ours when it runs `forge … mcp`. */
export const isOwnServer = (value: unknown): boolean =>
  serverWords(value).at(-1) === 'mcp' && serverWords(value).slice(0, -1).some(isForge);

/** With which commands forge is started in a value: what stands before ` hook …`, and before `mcp`. */
export function commandsIn(agent: AgentName, value: unknown): string[] {
  const hooks = textsIn(value)
    .flatMap((text) => text.split(/[\n"]/))
    .filter((text) => isHookOf(agent, text));
  const servers = isOwnServer(value) ? [serverWords(value).slice(0, -1).join(' ')] : [];
  return [...hooks.map((text) => text.slice(0, text.lastIndexOf(` hook ${agent} `))), ...servers];
}

/** A whole file of forge's says so, or runs its hooks. */
export const isOwnFile = (agent: AgentName, text: string): boolean =>
  text.includes('forge agent install') || text.split('\n').some((line) => isHookOf(agent, line));

/** The same value, its keys in the same order. */
export const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
