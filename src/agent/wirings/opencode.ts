import { type AgentWiring, type Fixture, serverOf, type WiringInput } from '../wiring-rules.js';
import { opencodePlugin } from './opencode-plugin.js';

function fixtures({ command, isUser }: WiringInput): Fixture[] {
  const folder = isUser ? '.config/opencode' : '.opencode';
  const config = isUser ? '.config/opencode/opencode.json' : 'opencode.json';
  const server = serverOf(command);
  const value = { type: 'local', command: [server.command, ...server.args], enabled: true };
  return [
    { kind: 'file', file: `${folder}/plugins/forge.js`, text: opencodePlugin(command) },
    { kind: 'member', file: config, path: ['mcp', 'forge'], value },
  ];
}

export const opencodeWiring: AgentWiring = {
  name: 'opencode',
  fixtures,
  instructions: { project: 'AGENTS.md', user: '.config/opencode/AGENTS.md' },
  wants: () => ['opencode that is running loads the plugin at its next start'],
  beginnings: {
    'opencode.json': '{ "$schema": "https://opencode.ai/config.json" }',
    '.config/opencode/opencode.json': '{ "$schema": "https://opencode.ai/config.json" }',
  },
};
