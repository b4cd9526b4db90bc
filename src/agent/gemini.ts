import { isStopReason } from '../kfr/rules.js';
import type { AgentAdapter, AgentEvent, Moment, Payload } from './event.js';
import { readSnakeCase, textOf } from './payload.js';
import { replyStrictly } from './reply.js';

/**
 * Not after a tool, although it would take it: PreCompress comes before every request to the model, whether anything is
 * compressed or not, so an agent would be told its working memory after each tool it calls.
 */
const TAKES: readonly Moment[] = ['start', 'prompt'];

/** Gemini CLI (docs/hooks/reference.md in google-gemini/gemini-cli). */
export const gemini: AgentAdapter = {
  name: 'gemini',
  title: 'Gemini CLI',
  events: {
    'session-start': { moment: 'start', name: 'SessionStart' },
    'before-agent': { moment: 'prompt', name: 'BeforeAgent' },
    'before-tool': { moment: 'before-tool', name: 'BeforeTool' },
    'after-tool': { moment: 'after-tool', name: 'AfterTool' },
    'pre-compress': { moment: 'compaction', name: 'PreCompress' },
    'after-agent': { moment: 'stop', name: 'AfterAgent' },
    'session-end': { moment: 'end', name: 'SessionEnd' },
  },
  read,
  reply: replyStrictly(TAKES, 'deny'),
  takes: TAKES,
  // It documents none; it is as patient as Claude Code.
  stopLimit: 8,
  blocksCompaction: false,
};

/**
 * A stop that was denied comes back as a prompt that nobody wrote. What the agent is told with it must not begin a new
 * row of denials; and `stop_hook_active` is false again as soon as it has called a tool, so only true says anything.
 */
function read(payload: Payload, moment: Moment): AgentEvent {
  const event = readSnakeCase(payload, moment);
  // At a stop `prompt` is still what the person asked for.
  const isRetry = moment === 'prompt' ? isStopReason(textOf(payload, 'prompt')) : event.isContinuing || null;
  return { ...event, isContinuing: isRetry };
}
