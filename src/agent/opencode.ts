import type { AgentAdapter, AgentEvent, Answer, Moment, Payload } from './event.js';
import { isOwnPrompt, readSnakeCase, textOf } from './payload.js';

/**
 * opencode has no hook commands: forge's own plugin (wirings/opencode-plugin.ts) calls these, with a payload of
 * `session_id`, `cwd`, `parent_id?`, `source?`, `prompt?`, `tool_name?`, `tool_input?`, and gets `{context?, block?}`.
 */
export const opencode: AgentAdapter = {
  name: 'opencode',
  title: 'opencode',
  events: {
    'session-start': { moment: 'start', name: 'session-start' },
    prompt: { moment: 'prompt', name: 'prompt' },
    'before-tool': { moment: 'before-tool', name: 'before-tool' },
    'after-tool': { moment: 'after-tool', name: 'after-tool' },
    compacting: { moment: 'compaction', name: 'compacting' },
    stop: { moment: 'stop', name: 'stop' },
    'session-end': { moment: 'end', name: 'session-end' },
  },
  read: readOpencode,
  reply: replyAsOpencode,
  takes: ['start', 'prompt', 'after-tool', 'compaction'],
  // opencode itself has no limit.
  stopLimit: 5,
  blocksCompaction: false,
};

function readOpencode(payload: Payload, moment: Moment): AgentEvent {
  return {
    ...readSnakeCase(payload, moment),
    isSubagent: textOf(payload, 'parent_id') !== '',
    isContinuing: moment === 'prompt' ? isOwnPrompt(payload) : null,
  };
}

function replyAsOpencode({ context, block }: Answer): string {
  if (block !== null) return JSON.stringify({ block });
  return context === null ? '' : JSON.stringify({ context });
}
