import type { AgentAdapter, Moment } from './event.js';

/**
 * The reply of agents that took over Claude Code's JSON and check it: context where they take it, `decision` at a stop,
 * and nothing else at all. A key that an event does not define fails the whole reply.
 */
export const replyStrictly =
  (takes: readonly Moment[], decision: 'block' | 'deny'): AgentAdapter['reply'] =>
  ({ context, block }, moment, name) => {
    if (moment === 'stop') return block?.trim() ? JSON.stringify({ decision, reason: block }) : '';
    if (context === null || !takes.includes(moment)) return '';
    return JSON.stringify({ hookSpecificOutput: { hookEventName: name, additionalContext: context } });
  };
