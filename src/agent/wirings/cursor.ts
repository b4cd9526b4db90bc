import { cursor } from '../cursor.js';
import { type AgentWiring, type Fixture, HOOK_FILES, serverOf, type WiringInput } from '../wiring-rules.js';

const HOOKS = HOOK_FILES.cursor;
const SERVERS = '.cursor/mcp.json';

/** Seconds. */
const TIMEOUTS: Record<string, number> = { 'session-start': 10, 'session-end': 10 };
const TIMEOUT = 5;

/** Of the tools only those that show an agent something it may have forgotten; no follow-up after the limit. */
const EXTRAS: Record<string, object> = {
  'post-tool-use': { matcher: 'Shell|Read|Write|Grep' },
  stop: { loop_limit: cursor.stopLimit },
};

/** The hooks of `.cursor/hooks.json`. */
const cursorHooks = (command: string): { event: string; entry: object }[] =>
  Object.entries(cursor.events)
    // What comes before a tool has nothing to say yet.
    .filter(([, { moment }]) => moment !== 'before-tool')
    .map(([word, { name }]) => ({
      event: name,
      entry: {
        command: `${command} hook cursor ${word}`,
        timeout: TIMEOUTS[word] ?? TIMEOUT,
        ...EXTRAS[word],
      },
    }));

/** The same below a home as below a project. */
function fixtures({ command }: WiringInput): Fixture[] {
  const hooks = cursorHooks(command).map(
    ({ event, entry }): Fixture => ({ kind: 'item', file: HOOKS, path: ['hooks', event], value: entry }),
  );
  const value = { type: 'stdio', ...serverOf(command) };
  return [...hooks, { kind: 'member', file: SERVERS, path: ['mcpServers', 'forge'], value }];
}

export const cursorWiring: AgentWiring = {
  name: 'cursor',
  fixtures,
  // What holds for every project is kept in Cursor's settings, not in a file.
  instructions: { project: 'AGENTS.md', user: null },
  wants: () => ['Cursor starts the MCP server once you have enabled it: Cursor Settings, Tools & MCP, forge'],
  beginnings: { [HOOKS]: '{ "version": 1 }' },
};
