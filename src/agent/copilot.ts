import type { AgentAdapter, AgentEvent, Answer, Moment, Payload } from './event.js';
import { bareEvent, isOwnPrompt, sourceOf, textOf } from './payload.js';

/**
 * GitHub Copilot CLI (docs.github.com/en/copilot/reference/copilot-cli-reference/cli-hooks-reference): events in camelCase
 * get payloads in camelCase. Its preToolUse is known but never wired: an error of that hook denies the tool.
 */
export const copilot: AgentAdapter = {
  name: 'copilot',
  title: 'GitHub Copilot CLI',
  events: {
    'session-start': { moment: 'start', name: 'sessionStart' },
    'user-prompt-submitted': { moment: 'prompt', name: 'userPromptSubmitted' },
    'pre-tool-use': { moment: 'before-tool', name: 'preToolUse' },
    'post-tool-use': { moment: 'after-tool', name: 'postToolUse' },
    'pre-compact': { moment: 'compaction', name: 'preCompact' },
    'agent-stop': { moment: 'stop', name: 'agentStop' },
    'session-end': { moment: 'end', name: 'sessionEnd' },
  },
  read: readCopilot,
  reply: replyAsCopilot,
  takes: ['start', 'prompt', 'after-tool'],
  stopLimit: 8,
  blocksCompaction: false,
};

function readCopilot(payload: Payload, moment: Moment): AgentEvent {
  // The one field that kept its underscores (1.0.72); the SDK's types spell it like the others.
  const active = payload.stop_hook_active ?? payload.stopHookActive;
  const name = textOf(payload, 'toolName');
  const { toolArgs: input, toolResult: response } = payload;
  return {
    ...bareEvent(moment),
    conversation: textOf(payload, 'sessionId'),
    cwd: textOf(payload, 'cwd') || null,
    source: sourceOf(payload),
    // Its hooks run for sub-agents as well, agentStop included; no documentation says so.
    isSubagent: textOf(payload, 'parentAgentId') !== '',
    isContinuing: moment === 'prompt' ? isOwnPrompt(payload) : typeof active === 'boolean' ? active : null,
    isAsked: textOf(payload, 'trigger') === 'manual',
    tool: name === '' ? null : { name, input, ...(response === undefined ? {} : { response }) },
  };
}

function replyAsCopilot({ context, block }: Answer): string {
  if (block !== null) return JSON.stringify({ decision: 'block', reason: block });
  return context === null ? '' : JSON.stringify({ additionalContext: context });
}
