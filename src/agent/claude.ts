import { readCursor } from './cursor.js';
import type { AgentAdapter, AgentEvent, Answer, Moment, Payload } from './event.js';
import { readSnakeCase, textOf } from './payload.js';

/** Claude Code (code.claude.com/docs/en/hooks). */
export const claude: AgentAdapter = {
  name: 'claude',
  title: 'Claude Code',
  events: {
    'session-start': { moment: 'start', name: 'SessionStart' },
    'user-prompt-submit': { moment: 'prompt', name: 'UserPromptSubmit' },
    'pre-tool-use': { moment: 'before-tool', name: 'PreToolUse' },
    'post-tool-use': { moment: 'after-tool', name: 'PostToolUse' },
    'pre-compact': { moment: 'compaction', name: 'PreCompact' },
    stop: { moment: 'stop', name: 'Stop' },
    'session-end': { moment: 'end', name: 'SessionEnd' },
  },
  read: readClaude,
  reply: replyAsClaude,
  takes: ['start', 'prompt', 'before-tool', 'after-tool'],
  stopLimit: 8,
  blocksCompaction: true,
};

/**
 * Others run the hooks of `.claude/settings.json`, too: Cursor with its own payloads, GitHub Copilot CLI with these and the
 * time, which Claude Code does not tell.
 */
function readClaude(payload: Payload, moment: Moment): AgentEvent {
  if (textOf(payload, 'cursor_version') !== '') return { ...readCursor(payload, moment), caller: 'cursor' };
  const event = readSnakeCase(payload, moment);
  return textOf(payload, 'timestamp') === '' ? event : { ...event, caller: 'copilot' };
}

/** JSON with exit 0; a key that an event does not define fails its validation, so there is none too many. */
function replyAsClaude({ context, block }: Answer, _moment: Moment, name: string): string {
  if (block !== null) return JSON.stringify({ decision: 'block', reason: block });
  if (context === null) return '';
  return JSON.stringify({ hookSpecificOutput: { hookEventName: name, additionalContext: context } });
}
