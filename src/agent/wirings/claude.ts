import { claude } from '../claude.js';
import type { AgentWiring, Fixture, WiringInput } from '../wiring-rules.js';

/** Seconds. The highest also lengthens what Claude Code gives to all hooks of a session's end, 1.5 s otherwise. */
const TIMEOUTS: Record<string, number> = { 'session-start': 10, 'session-end': 10 };
const TIMEOUT = 5;

/** Of the tools only those that show an agent something it may have forgotten. */
const MATCHERS: Record<string, string> = { 'post-tool-use': 'Bash|Edit|Glob|Grep|Read|Write' };

/** The hooks of `.claude/settings.json`, and of the plugin. */
export const claudeHooks = (command: string): { event: string; group: Record<string, unknown> }[] =>
  Object.entries(claude.events)
    // What comes before a tool has nothing to say yet.
    .filter(([, { moment }]) => moment !== 'before-tool')
    .map(([word, { name }]) => ({
      event: name,
      group: {
        ...(MATCHERS[word] === undefined ? {} : { matcher: MATCHERS[word] }),
        hooks: [
          { type: 'command', command: `${command} hook claude ${word}`, timeout: TIMEOUTS[word] ?? TIMEOUT },
        ],
      },
    }));

function fixtures({ command, isUser }: WiringInput): Fixture[] {
  const file = '.claude/settings.json';
  const hooks = claudeHooks(command).map(
    ({ event, group }): Fixture => ({ kind: 'item', file, path: ['hooks', event], value: group }),
  );
  const [program = 'forge', ...words] = command.split(' ');
  const server = { type: 'stdio', command: program, args: [...words, 'mcp'] };
  // Claude Code itself keeps writing to ~/.claude.json.
  if (isUser) return hooks;
  return [...hooks, { kind: 'member', file: '.mcp.json', path: ['mcpServers', 'forge'], value: server }];
}

export const claudeWiring: AgentWiring = {
  name: 'claude',
  fixtures,
  instructions: { project: 'CLAUDE.md', user: '.claude/CLAUDE.md' },
  wants: ({ command, isUser }) => [
    isUser
      ? `the MCP server, once: claude mcp add --scope user forge -- ${command} mcp`
      : 'at the next start Claude Code asks once whether to use the MCP server of .mcp.json',
  ],
};
