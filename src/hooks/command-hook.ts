import { AGENT_NAMES } from '../agent/agents.js';
import { command, type Group } from '../cli/spec.js';
import { usage } from '../core/error.js';

/** Agents never come here: `main` answers them before it looks at options. This is what a person sees who types it. */
export const group: Group = {
  commands: [
    command<never>({
      name: 'hook',
      args: ['<agent>', '<event>'],
      values: { agent: { words: AGENT_NAMES } },
      summary: 'Answer a hook of an agent, which hands over the event as JSON on stdin',
      example: 'forge hook claude session-start',
      run: async () => {
        throw usage('hook.terminal', 'forge hook is called by agents, with the event as JSON on stdin.', {
          hint: 'forge agent install claude',
        });
      },
      render: () => '',
    }),
  ],
};
