import type { ToolInput } from '../finding/question.js';
import type { RanCommand } from '../session/record.js';
import { AGENTS, type Agent, type Moment, type Payload } from './agents.js';
import { outputIn } from './transcript.js';

/** A payload in the same words for all agents. */
export interface AgentEvent {
  moment: Moment;
  /** The agent's own id of the conversation, unchecked; '' when it names none. */
  conversation: string;
  /** Where the agent works; null when it does not say. */
  cwd: string | null;
  /** A sub-agent has a context of its own: its stop is not a stop of the conversation. */
  isSubagent: boolean;
  /** The sub-agent's id; '' for none. */
  part: string;
  /** At a stop or a prompt: the agent runs only because a stop was blocked. Null when it does not say. */
  isContinuing: boolean | null;
  /** At a stop: a person or an error stopped it. Nothing may make it continue. */
  isInterrupted: boolean;
  /** At a compaction: a person asked for it. */
  isAsked: boolean;
  /** At the end of a conversation: only its context was cleared, and the agent continues at once. */
  isCleared: boolean;
  /** Before and after a tool: the call, and what came of it. */
  call: { tool: string; input: ToolInput; output: string | null } | null;
  /** Before a tool: the files that it is about to write, as the agent names them. */
  paths: string[];
  /** Where the agent keeps what was said and done; null when it does not say. */
  transcript: string | null;
  /** Shell commands of this turn, from an agent without a transcript. */
  commands: RanCommand[];
  /** Another agent, which runs the hooks of this one as well as its own. */
  caller: 'cursor' | 'copilot' | null;
}

/** What forge answers. Both null: nothing. */
export interface Answer {
  context: string | null;
  /** Why the agent may not stop or compact now, or not run this tool. */
  block: string | null;
  /** Its person may let it run the tool all the same. */
  ask?: boolean;
  /** Runs after the answer, so that a failure cannot open a gate. */
  after?: () => Promise<unknown>;
}

export const NOTHING: Answer = { context: null, block: null };

/**
 * The most that any agent takes uncut, in bytes, with some room: Claude Code documents 10,000 characters, and Codex cuts
 * the middle out of more than 2,500 tokens of four bytes each.
 */
export const MAX_CONTEXT = 9500;

/** Reads the documented fields of a payload. Fields of another type count as missing. */
export function readEvent(agent: Agent, moment: Moment, payload: Payload): AgentEvent {
  const text = (field: string): string => {
    const value = payload[field];
    return typeof value === 'string' ? value : '';
  };
  // Cursor and Copilot CLI run the hooks of .claude/settings.json too. Claude Code sends neither of these fields.
  if (agent === AGENTS.claude && text('cursor_version') !== '')
    return { ...readEvent(AGENTS.cursor, moment, payload), caller: 'cursor' };
  const isCopilot = agent === AGENTS.claude && text('timestamp') !== '';
  return {
    moment,
    conversation: agent.conversation.map(text).find(Boolean) ?? '',
    cwd: agent.roots ? firstRoot(payload) : text('cwd') || null,
    isSubagent: text(agent.subagent) !== '',
    part: text(agent.subagent),
    isContinuing: agent.isContinuing(payload, moment, text),
    isInterrupted: ['aborted', 'error'].includes(text('status')),
    isAsked: text('trigger') === 'manual',
    isCleared: text('reason') === 'clear',
    transcript: text('transcript_path') || text('transcriptPath') || null,
    commands: moment === 'stop' ? ranIn(payload.commands) : [],
    call: moment.endsWith('-tool') ? callIn(payload) : null,
    paths: moment === 'before-tool' ? pathsIn(payload.tool_input ?? payload.toolArgs) : [],
    caller: isCopilot ? 'copilot' : null,
  };
}

/** Copilot CLI may send the input as JSON text; a result is whatever the tool returns. */
function callIn(payload: Payload): AgentEvent['call'] {
  const tool = payload.tool_name ?? payload.toolName;
  const given = payload.tool_input ?? payload.toolArgs;
  const input = typeof given === 'string' ? parseObject(given) : given;
  if (typeof tool !== 'string' || typeof input !== 'object' || input === null) return null;
  const output = payload.tool_response ?? payload.tool_output ?? payload.toolResult;
  return { tool, input: input as ToolInput, output: output === undefined ? null : outputIn(output) };
}

const ranIn = (commands: unknown): RanCommand[] =>
  (Array.isArray(commands) ? commands : []).flatMap((one) => {
    const { command, exit } = (one ?? {}) as Record<string, unknown>;
    return typeof command === 'string' ? [{ command, exit: typeof exit === 'number' ? exit : null }] : [];
  });

/** Path arguments, and the files of a patch. Copilot CLI may send the arguments as JSON text. */
function pathsIn(given: unknown): string[] {
  const input = typeof given === 'string' ? parseObject(given) : given;
  if (typeof input !== 'object' || input === null) return typeof given === 'string' ? patched(given) : [];
  return Object.entries(input).flatMap(([name, value]) => {
    if (typeof value !== 'string') return [];
    return /path|file$/i.test(name) ? [value] : patched(value);
  });
}

const patched = (text: string): string[] =>
  [...text.matchAll(/^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm)].map(([, path = '']) =>
    path.trim(),
  );

function parseObject(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** On Windows Cursor writes `/c:/Users/…`. */
function firstRoot({ workspace_roots: roots }: Payload): string | null {
  const root = Array.isArray(roots) ? roots[0] : null;
  return typeof root === 'string' && root !== '' ? root.replace(/^\/(?=[A-Za-z]:)/, '') : null;
}

/** What the agent expects on stdout; '' where it takes nothing. Agents reject what an event does not define. */
export function replyTo(agent: Agent, { moment, name }: Agent['events'][string], answer: Answer): string {
  const { context, block, ask } = answer;
  if (moment === 'before-tool' && block?.trim())
    return JSON.stringify(ask && agent.ask ? agent.ask(block, name) : agent.deny(block, name));
  const canBlock = moment === 'stop' || (moment === 'compaction' && agent.blocksCompaction);
  if (canBlock && block?.trim()) return JSON.stringify(agent.block(block));
  if (context === null || !agent.takes.includes(moment)) return '';
  return JSON.stringify(agent.context(context, name));
}
