import { codex } from '../codex.js';
import type { AgentWiring, Fixture, WiringInput } from '../wiring-rules.js';

/** Seconds: longer than the hook itself takes at most. */
const TIMEOUTS: Record<string, number> = { 'session-start': 10 };
const TIMEOUT = 5;

/** It reads files by its shell, and writes them by a patch. */
const MATCHERS: Record<string, string> = { 'post-tool-use': 'Bash|apply_patch' };

/** What comes before a tool has nothing to say yet, and older versions know no end of a session. */
const UNWIRED = ['pre-tool-use', 'session-end'];

/** The hooks of `.codex/hooks.json`. */
const codexHooks = (command: string): { event: string; group: Record<string, unknown> }[] =>
  Object.entries(codex.events)
    .filter(([word]) => !UNWIRED.includes(word))
    .map(([word, { name }]) => ({
      event: name,
      group: {
        ...(MATCHERS[word] === undefined ? {} : { matcher: MATCHERS[word] }),
        hooks: [
          { type: 'command', command: `${command} hook codex ${word}`, timeout: TIMEOUTS[word] ?? TIMEOUT },
        ],
      },
    }));

/** The same below a project and below home. */
function fixtures({ command }: WiringInput): Fixture[] {
  const hooks = codexHooks(command).map(
    ({ event, group }): Fixture => ({
      kind: 'item',
      file: '.codex/hooks.json',
      path: ['hooks', event],
      value: group,
    }),
  );
  const [program = 'forge', ...words] = command.split(' ');
  // A string of JSON is one of TOML, too.
  const lines = [
    `command = ${JSON.stringify(program)}`,
    `args = [${[...words, 'mcp'].map((word) => JSON.stringify(word)).join(', ')}]`,
  ];
  return [...hooks, { kind: 'table', file: '.codex/config.toml', name: 'mcp_servers.forge', lines }];
}

export const codexWiring: AgentWiring = {
  name: 'codex',
  fixtures,
  instructions: { project: 'AGENTS.md', user: '.codex/AGENTS.md' },
  wants: ({ isUser }) => [
    'in Codex type /hooks, and trust the new ones: until then, and after each change, it skips them without a word',
    ...(isUser
      ? []
      : ['Codex reads .codex/ only in a project that it trusts: it asks when it is next started here']),
  ],
};
