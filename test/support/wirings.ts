import { AGENTS, type AgentName } from '../../src/agent/agents.js';
import { type AgentEvent, readEvent, replyTo } from '../../src/agent/event.js';
import { type Part, partsOf } from '../../src/agent/parts.js';
import { template } from '../../src/core/templates.js';
import { payload } from './agent-hooks.js';

/** Parts of all kinds, independent of what the agents need today. */
export const SETTINGS = '.agent/settings.json';

export const hookGroup = (agent: AgentName, event: string, command = 'forge') => ({
  matcher: '*',
  hooks: [{ type: 'command', command: `${command} hook ${agent} ${event}`, timeout: 5 }],
});

/** Hooks at events and the MCP server, in one file. */
export function json(
  agent: AgentName,
  events: readonly string[],
  { command = 'forge', server = false, beginning = {} } = {},
): Part {
  const [program = '', ...words] = command.split(' ');
  const value = { command: program, args: [...words, 'mcp'] };
  return {
    agent,
    kind: 'json',
    file: SETTINGS,
    hooks: Object.fromEntries(events.map((event) => [event, hookGroup(agent, event, command)])),
    server: server ? { path: ['mcpServers', 'forge'], value } : null,
    beginning,
  };
}

export const table = (command = 'forge'): Part => {
  const [program = '', ...words] = command.split(' ');
  const lines = [`command = "${program}"`, `args = ${JSON.stringify([...words, 'mcp'])}`];
  return { agent: 'codex', kind: 'toml', file: 'config.toml', table: 'mcp_servers.forge', lines };
};

export const file = (text = '// forge agent install\nrun();\n'): Part => ({
  agent: 'opencode',
  kind: 'file',
  file: 'plugin.js',
  text,
});

/** What the table of agents gives one of them. */
export const partsFor = (agent: AgentName, isUser = false, command = 'forge'): Part[] =>
  partsOf({ agent, command }, isUser, template('agent', 'opencode-plugin.js'));

export const hooksFor = (agent: AgentName, isUser = false, command = 'forge'): Record<string, object> =>
  Object.assign(
    {},
    ...partsFor(agent, isUser, command).map((part) => (part.kind === 'json' ? part.hooks : {})),
  );

/** The member `hooks` of the file that an agent gets. */
export const hookLists = (agent: AgentName, command = 'forge'): Record<string, object[]> =>
  Object.fromEntries(Object.entries(hooksFor(agent, false, command)).map(([event, item]) => [event, [item]]));

export const serverFor = (agent: AgentName, isUser = false, command = 'forge') =>
  partsFor(agent, isUser, command).flatMap((part) =>
    part.kind === 'json' && part.server ? [part.server] : [],
  )[0];

export const pluginFor = (command: string): string =>
  partsFor('opencode', false, command).flatMap((part) => (part.kind === 'file' ? [part.text] : []))[0] ?? '';

/** A documented payload, as forge reads it; its event is the longest one that the name begins with. */
export function readPayload(agent: AgentName, name: string, change: object = {}): AgentEvent {
  const { events } = AGENTS[agent];
  const word = Object.keys(events).find((one) => name === one || name.startsWith(`${one}-`)) ?? '';
  return readEvent(AGENTS[agent], events[word]?.moment ?? 'end', payload(agent, name, change));
}

/** What an agent is answered at an event. */
export const replyAt = (
  agent: AgentName,
  word: string,
  context: string | null,
  block: string | null = null,
): string =>
  replyTo(AGENTS[agent], AGENTS[agent].events[word] ?? { moment: 'end', name: '' }, { context, block });
