import type { Part } from '../../src/agent/edit-fixture.js';
import type { AgentName } from '../../src/agent/event.js';
import type { AgentWiring, Fixture } from '../../src/agent/wiring-rules.js';

/** Wirings of all kinds of fixtures, whatever the agents themselves need today. */
export const SETTINGS = '.agent/settings.json';

export const hookGroup = (agent: AgentName, event: string, command = 'forge') => ({
  matcher: '*',
  hooks: [{ type: 'command', command: `${command} hook ${agent} ${event}`, timeout: 5 }],
});

export const item = (agent: AgentName, event: string, command = 'forge', file = SETTINGS): Part => ({
  agent,
  fixture: { kind: 'item', file, path: ['hooks', event], value: hookGroup(agent, event, command) },
});

export const member = (agent: AgentName, command = 'forge', file = SETTINGS): Part => {
  const [program = '', ...words] = command.split(' ');
  const value = { command: program, args: [...words, 'mcp'] };
  return { agent, fixture: { kind: 'member', file, path: ['mcpServers', 'forge'], value } };
};

export const table = (agent: AgentName, command = 'forge', file = 'config.toml'): Part => {
  const [program = '', ...words] = command.split(' ');
  const lines = [`command = "${program}"`, `args = ${JSON.stringify([...words, 'mcp'])}`];
  return { agent, fixture: { kind: 'table', file, name: 'mcp_servers.forge', lines } };
};

export const block = (agent: AgentName, text = 'Use forge.', file = 'AGENTS.md'): Part => ({
  agent,
  fixture: { kind: 'block', file, text },
});

export const file = (agent: AgentName, text = '// forge agent install\nrun();\n'): Part => ({
  agent,
  fixture: { kind: 'file', file: 'plugin.js', text },
});

export const wiring = (
  name: AgentName,
  fixtures: (command: string) => Fixture[],
  change: Partial<AgentWiring> = {},
): AgentWiring => ({
  name,
  fixtures: ({ command }) => fixtures(command),
  instructions: null,
  wants: () => [],
  ...change,
});
