import { copilot } from '../copilot.js';
import { type AgentWiring, type Fixture, HOOK_FILES, serverOf, type WiringInput } from '../wiring-rules.js';

/** Seconds. */
const TIMEOUTS: Record<string, number> = { 'session-start': 10, 'session-end': 10 };
const TIMEOUT = 5;

/** Of the tools only those that show an agent something it may have forgotten; matched against the whole name. */
const MATCHERS: Record<string, string> = { 'post-tool-use': 'bash|powershell|create|edit|glob|grep|view' };

const HOOKS = HOOK_FILES.copilot;
const USER_HOOKS = '.copilot/hooks/forge.json';

/** The hooks have a file of their own, for Copilot reads all files of its folder; a person may have put more into it. */
const copilotHooks = (command: string): { event: string; value: object }[] =>
  Object.entries(copilot.events)
    .filter(([, { moment }]) => moment !== 'before-tool')
    .map(([word, { name }]) => ({ event: name, value: entry(`${command} hook copilot ${word}`, word) }));

const entry = (line: string, word: string): object => ({
  type: 'command',
  ...(MATCHERS[word] === undefined ? {} : { matcher: MATCHERS[word] }),
  bash: line,
  powershell: line,
  timeoutSec: TIMEOUTS[word] ?? TIMEOUT,
});

/** As `copilot mcp add` writes it; a server without `tools` has none. */
const copilotServer = (command: string): object => ({
  type: 'local',
  ...serverOf(command),
  tools: ['*'],
});

function fixtures({ command, isUser }: WiringInput): Fixture[] {
  const file = isUser ? USER_HOOKS : HOOKS;
  const servers = isUser ? '.copilot/mcp-config.json' : '.github/mcp.json';
  const hooks = copilotHooks(command).map(
    ({ event, value }): Fixture => ({ kind: 'item', file, path: ['hooks', event], value }),
  );
  return [
    ...hooks,
    { kind: 'member', file: servers, path: ['mcpServers', 'forge'], value: copilotServer(command) },
  ];
}

export const copilotWiring: AgentWiring = {
  name: 'copilot',
  fixtures,
  instructions: { project: 'AGENTS.md', user: '.copilot/copilot-instructions.md' },
  wants: ({ isUser }) =>
    isUser
      ? []
      : [
          'Copilot asks once whether you trust this folder, and runs no hook of it before',
          'copilot -p in a folder you have not trusted: --trust-folder (the hooks alone: GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS=true)',
        ],
  beginnings: { [HOOKS]: '{ "version": 1 }', [USER_HOOKS]: '{ "version": 1 }' },
};
