import { replyAsClaude } from './claude.js';
import type { AgentAdapter } from './event.js';
import { readSnakeCase } from './payload.js';

/** Claude Code (code.claude.com/docs/en/hooks). */
export const cursor: AgentAdapter = {
  name: 'cursor',
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
  read: readSnakeCase,
  reply: replyAsClaude,
  takes: ['start', 'prompt', 'before-tool', 'after-tool'],
  stopLimit: 8,
  blocksCompaction: true,
};
