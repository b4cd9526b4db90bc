import { gemini } from '../gemini.js';
import type { AgentWiring, Fixture, WiringInput } from '../wiring-rules.js';

/** Milliseconds: longer than the hook itself takes at most. */
const TIMEOUTS: Record<string, number> = { 'session-start': 10_000 };
const TIMEOUT = 5000;

/** What happens around a tool: forge has nothing to say there, and each hook is a process. */
const UNWIRED = ['before-tool', 'after-tool'];

/** The hooks of `.gemini/settings.json`, and of the extension: of the same name and command, they run once. */
export const geminiHooks = (command: string): { event: string; group: Record<string, unknown> }[] =>
  Object.entries(gemini.events)
    .filter(([word]) => !UNWIRED.includes(word))
    .map(([word, { name }]) => ({
      event: name,
      group: {
        hooks: [
          {
            name: `forge-${word}`,
            type: 'command',
            command: `${command} hook gemini ${word}`,
            timeout: TIMEOUTS[word] ?? TIMEOUT,
          },
        ],
      },
    }));

export function geminiServer(command: string): { command: string; args: string[] } {
  const [program = 'forge', ...words] = command.split(' ');
  return { command: program, args: [...words, 'mcp'] };
}

/** The same below a project and below home. */
function fixtures({ command }: WiringInput): Fixture[] {
  const file = '.gemini/settings.json';
  const hooks = geminiHooks(command).map(
    ({ event, group }): Fixture => ({ kind: 'item', file, path: ['hooks', event], value: group }),
  );
  return [...hooks, { kind: 'member', file, path: ['mcpServers', 'forge'], value: geminiServer(command) }];
}

export const geminiWiring: AgentWiring = {
  name: 'gemini',
  fixtures,
  instructions: { project: 'GEMINI.md', user: '.gemini/GEMINI.md' },
  wants: ({ isUser }) => [
    ...(isUser
      ? []
      : [
          'at the next start, and after each change, Gemini CLI warns of hooks of the project named forge-…: these are they, and they run',
        ]),
    'Gemini CLI runs hooks and MCP servers only in folders that it trusts: /permissions',
  ],
};
