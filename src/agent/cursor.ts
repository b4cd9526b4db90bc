import type { AgentAdapter, AgentEvent, Answer, Moment, Payload } from './event.js';
import { bareEvent, isOwnPrompt, textOf, toolOf } from './payload.js';

/** Cursor (cursor.com/docs/hooks): flat hooks in camelCase. A prompt takes no context, and a compaction no refusal. */
export const cursor: AgentAdapter = {
  name: 'cursor',
  title: 'Cursor',
  events: {
    'session-start': { moment: 'start', name: 'sessionStart' },
    'before-submit-prompt': { moment: 'prompt', name: 'beforeSubmitPrompt' },
    'pre-tool-use': { moment: 'before-tool', name: 'preToolUse' },
    'post-tool-use': { moment: 'after-tool', name: 'postToolUse' },
    'pre-compact': { moment: 'compaction', name: 'preCompact' },
    stop: { moment: 'stop', name: 'stop' },
    'session-end': { moment: 'end', name: 'sessionEnd' },
  },
  read: readCursor,
  reply: replyAsCursor,
  takes: ['start', 'after-tool'],
  // Cursor's own limit for follow-ups, where a hook names none.
  stopLimit: 5,
  blocksCompaction: false,
};

export function readCursor(payload: Payload, moment: Moment): AgentEvent {
  const loops = payload.loop_count;
  return {
    ...bareEvent(moment),
    conversation: textOf(payload, 'conversation_id') || textOf(payload, 'session_id'),
    cwd: firstRoot(payload),
    isContinuing: moment === 'prompt' ? isOwnPrompt(payload) : typeof loops === 'number' ? loops > 0 : null,
    // Someone pressed stop, or a model did not answer: a follow-up would go on against them.
    isInterrupted: ['aborted', 'error'].includes(textOf(payload, 'status')),
    isAsked: textOf(payload, 'trigger') === 'manual',
    tool: toolOf(payload, 'tool_output'),
  };
}

/** On Windows Cursor writes `/c:/Users/…`. */
function firstRoot({ workspace_roots: roots }: Payload): string | null {
  const root = Array.isArray(roots) ? roots[0] : null;
  return typeof root === 'string' && root !== '' ? root.replace(/^\/(?=[A-Za-z]:)/, '') : null;
}

function replyAsCursor({ context, block }: Answer): string {
  if (block !== null) return JSON.stringify({ followup_message: block });
  return context === null ? '' : JSON.stringify({ additional_context: context });
}
