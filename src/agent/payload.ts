import { isStopReason } from '../kfr/rules.js';
import type { AgentEvent, Moment, Payload, ToolCall } from './event.js';

/** A field that should be text; '' when it is none. */
export const textOf = (payload: Payload, field: string): string => {
  const value = payload[field];
  return typeof value === 'string' ? value : '';
};

/** What is known of an event before its payload is read. */
export const bareEvent = (moment: Moment): AgentEvent => ({
  moment,
  conversation: '',
  cwd: null,
  source: 'new',
  isSubagent: false,
  isContinuing: null,
  isInterrupted: false,
  isAsked: false,
  isCleared: false,
  tool: null,
  caller: null,
});

const SOURCES: Record<string, AgentEvent['source']> = {
  resume: 'resume',
  clear: 'clear',
  compact: 'compact',
};

/** Why a conversation starts; a word that nobody knows yet is a new one. */
export const sourceOf = (payload: Payload): AgentEvent['source'] =>
  SOURCES[textOf(payload, 'source')] ?? 'new';

/** Agents that hand the reason of a blocked stop to their prompt hook as if a person spoke: whether it is one. */
export const isOwnPrompt = (payload: Payload): boolean => isStopReason(textOf(payload, 'prompt'));

/**
 * The payload as Claude Code has it, which Codex and Gemini took over: `session_id`, `cwd`, `source`, `trigger`,
 * `stop_hook_active`, `agent_id`, `tool_name`, `tool_input`, `tool_response`.
 */
export function readSnakeCase(payload: Payload, moment: Moment): AgentEvent {
  const active = payload.stop_hook_active;
  return {
    ...bareEvent(moment),
    conversation: textOf(payload, 'session_id'),
    cwd: textOf(payload, 'cwd') || null,
    source: sourceOf(payload),
    isSubagent: textOf(payload, 'agent_id') !== '',
    isContinuing: typeof active === 'boolean' ? active : null,
    isAsked: textOf(payload, 'trigger') === 'manual',
    isCleared: textOf(payload, 'reason') === 'clear',
    tool: toolOf(payload, 'tool_response'),
  };
}

/** A tool call in `tool_name` and `tool_input`, and what came of it in a field that agents call differently. */
export function toolOf(payload: Payload, field: string): ToolCall | null {
  const name = textOf(payload, 'tool_name');
  if (name === '') return null;
  const { tool_input: input, [field]: response } = payload;
  return { name, input, ...(response === undefined ? {} : { response }) };
}
