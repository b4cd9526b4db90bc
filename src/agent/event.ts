import { createHash } from 'node:crypto';
import type { ToolInput } from '../finding/question.js';
import { isStopReason } from '../kfr/rules.js';
import type { RanCommand } from '../session/record.js';
import { AGENTS, type Agent, type AgentName, type Moment, type Payload } from './agents.js';
import { outputIn, parseJson } from './transcript.js';

/** A hook payload in the same terms for all agents. */
export interface AgentEvent {
  moment: Moment;
  /** The agent's own id of the conversation, unchecked. '' when there is none. */
  conversation: string;
  /** Where the agent works. */
  cwd: string | null;
  /** The id of a sub-agent, '' for none. A sub-agent has a separate context. */
  subagent: string;
  /** A prompt that a client made of the reason of a blocked stop. No person typed it. */
  isOwnPrompt: boolean;
  /** At a stop: a person or an error stopped the agent. Nothing may make it continue. */
  isInterrupted: boolean;
  /** At a compaction: a person requested it. */
  isAsked: boolean;
  /** At the end of a conversation: only its context was cleared, and the agent continues at once. */
  isCleared: boolean;
  /** Before and after a tool: the call, and its output. */
  call: { tool: string; input: ToolInput; output: string | null } | null;
  /** Before a tool: the files it is about to write, as the agent names them. */
  paths: string[];
  /** The client's transcript file. */
  transcript: string | null;
  /** Shell commands of this turn, from an agent without a transcript. */
  commands: RanCommand[];
  /** Another agent, which runs this agent's hooks in addition to its own. */
  caller: 'cursor' | 'copilot' | null;
}

/** What a hook answers. Both null: nothing. */
export interface Answer {
  context: string | null;
  /** Why the agent may not stop, compact or run this tool. */
  block: string | null;
  /** The person may allow the blocked tool call. */
  ask?: boolean;
  /** Runs after the answer is written, so that a failure cannot open a gate. */
  after?: () => Promise<unknown>;
}

export const NOTHING: Answer = { context: null, block: null };

/** Bytes. Claude Code documents 10,000 characters; Codex cuts the middle out of more than 2,500 tokens of four bytes. */
export const MAX_CONTEXT = 9500;

/** Reads the documented fields of a payload. Fields of another type count as missing. */
export function readEvent(agent: Agent, moment: Moment, payload: Payload): AgentEvent {
  const text = (...fields: string[]): string => {
    const found = fields.map((field) => payload[field]).find((value) => typeof value === 'string' && value);
    return typeof found === 'string' ? found : '';
  };
  // Cursor and Copilot CLI run the hooks of .claude/settings.json too. Claude Code sends neither of these fields.
  const isCursor = agent === AGENTS.claude && text('cursor_version') !== '';
  const isCopilot = agent === AGENTS.claude && text('timestamp') !== '';
  return {
    moment,
    conversation: text('conversation_id', 'session_id', 'sessionId'),
    cwd: firstRoot(payload) ?? (text('cwd') || null),
    subagent: text('agent_id', 'parent_id', 'parentAgentId'),
    isOwnPrompt: isStopReason(text('prompt')),
    isInterrupted: ['aborted', 'error'].includes(text('status')),
    isAsked: text('trigger') === 'manual',
    isCleared: text('reason') === 'clear',
    transcript: text('transcript_path', 'transcriptPath') || null,
    commands: moment === 'stop' ? commandsIn(payload.commands) : [],
    call: moment.endsWith('-tool') ? callIn(payload) : null,
    paths: moment === 'before-tool' ? pathsIn(payload) : [],
    caller: isCursor ? 'cursor' : isCopilot ? 'copilot' : null,
  };
}

function callIn(payload: Payload): AgentEvent['call'] {
  const tool = payload.tool_name ?? payload.toolName;
  const input = argumentsIn(payload);
  if (typeof tool !== 'string' || typeof input !== 'object' || input === null) return null;
  const output = payload.tool_response ?? payload.tool_output ?? payload.toolResult;
  return { tool, input: input as ToolInput, output: output === undefined ? null : outputIn(output) };
}

/** Copilot CLI may send the arguments as JSON text, and a patch is text. */
function argumentsIn(payload: Payload): unknown {
  const given = payload.tool_input ?? payload.toolArgs;
  return typeof given === 'string' ? (parseJson(given) ?? given) : given;
}

const commandsIn = (commands: unknown): RanCommand[] =>
  (Array.isArray(commands) ? commands : []).flatMap((one) => {
    const { command, exit } = (one ?? {}) as Record<string, unknown>;
    return typeof command === 'string' ? [{ command, exit: typeof exit === 'number' ? exit : null }] : [];
  });

/** Path arguments, and the files of a patch. */
function pathsIn(payload: Payload): string[] {
  const input = argumentsIn(payload);
  if (typeof input === 'string') return patchedFiles(input);
  return Object.entries(input ?? {}).flatMap(([name, value]) => {
    if (typeof value !== 'string') return [];
    return /path|file$/i.test(name) ? [value] : patchedFiles(value);
  });
}

const patchedFiles = (text: string): string[] =>
  [...text.matchAll(/^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm)].map(([, path = '']) =>
    path.trim(),
  );

/** Cursor sends its workspace folders. On Windows it writes `/c:/Users/…`. */
function firstRoot({ workspace_roots: roots }: Payload): string | null {
  const root = Array.isArray(roots) ? roots[0] : null;
  return typeof root === 'string' && root !== '' ? root.replace(/^\/(?=[A-Za-z]:)/, '') : null;
}

/** The reply on stdout, '' for none. Agents reject fields that an event does not define. */
export function replyTo(agent: Agent, { moment, name }: Agent['events'][string], answer: Answer): string {
  const { context, block, ask } = answer;
  if (moment === 'before-tool' && block?.trim())
    return JSON.stringify(ask && agent.ask ? agent.ask(block, name) : agent.deny(block, name));
  const canBlock = moment === 'stop' || (moment === 'compaction' && agent.blocksCompaction);
  if (canBlock && block?.trim()) return JSON.stringify(agent.block(block));
  if (context === null || !agent.takes.includes(moment)) return '';
  return JSON.stringify(agent.context(context, name));
}

/** A conversation id that is safe as a file name. */
export function conversationId(agent: AgentName, conversation: string): string {
  if (conversation === '') return `${agent}-unnamed`;
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(conversation)) return `${agent}-${conversation}`;
  return `${agent}-${createHash('sha256').update(conversation).digest('hex').slice(0, 32)}`;
}
