import type { AgentAdapter, Moment } from './event.js';
import { readSnakeCase } from './payload.js';
import { replyStrictly } from './reply.js';

const TAKES: readonly Moment[] = ['start', 'prompt', 'before-tool', 'after-tool'];

/** OpenAI Codex CLI (developers.openai.com/codex/hooks; codex-rs/hooks/schema in openai/codex). */
export const codex: AgentAdapter = {
  name: 'codex',
  title: 'Codex CLI',
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
  reply: replyStrictly(TAKES, 'block'),
  takes: TAKES,
  // It documents none; it is as patient as Claude Code.
  stopLimit: 8,
  // `continue: false` would end the turn, and tells the agent nothing.
  blocksCompaction: false,
};
