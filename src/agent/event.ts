import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { isObject, sha256 } from '../core/text.js';
import { kindOf, type ToolInput } from '../finding/question.js';
import { isStopReason } from '../kfr/rules.js';
import type { RanCommand } from '../session/record.js';
import { AGENTS, type Agent, type AgentName, type Moment, type Payload } from './agents.js';

/** A hook payload in the same terms for all agents. */
export interface AgentEvent {
  moment: Moment;
  /** The agent's own id of the conversation, unchecked. '' when there is none. */
  conversation: string;
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
  /** At a stop that is not blocked: what the person has to know. */
  notice?: string;
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
  const { workspace_roots: roots } = payload;
  return {
    moment,
    conversation: text('conversation_id', 'session_id', 'sessionId'),
    // Cursor sends its workspace folders.
    cwd: (Array.isArray(roots) && asText(roots[0])) || text('cwd') || null,
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

/** The reply on stdout, '' for none. Agents reject fields that an event does not define. */
export function replyTo(agent: Agent, { moment, name }: Agent['events'][string], answer: Answer): string {
  const { context, block, ask, notice } = answer;
  if (moment === 'before-tool' && block?.trim())
    return JSON.stringify(ask && agent.ask ? agent.ask(block, name) : agent.deny(block, name));
  const canBlock = moment === 'stop' || (moment === 'compaction' && agent.blocksCompaction);
  if (canBlock && block?.trim()) return JSON.stringify(agent.block(block));
  if (moment === 'stop' && notice && agent.notify) return JSON.stringify(agent.notify(notice));
  if (context === null || !agent.takes.includes(moment)) return '';
  return JSON.stringify(agent.context(context, name));
}

/** A conversation id that is safe as a file name. */
export function conversationId(agent: AgentName, conversation: string): string {
  if (conversation === '') return `${agent}-unnamed`;
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(conversation)) return `${agent}-${conversation}`;
  return `${agent}-${sha256(conversation).slice(0, 32)}`;
}

/** In bytes. Of a longer turn only the end is read. */
const MAX_READ = 1 << 20;

type Fields = Record<string, unknown>;

/** A tool call in a client's transcript. */
export interface ToolCall {
  tool: string;
  input: Fields;
  /** In ms. 0 where the client writes no time. */
  at: number;
  /** Null while the call runs, and if it never ended. */
  output: string | null;
  /** The exit code of a command. Null: unknown. */
  exit: number | null;
  failed: boolean;
  /** A sub-agent made the call, in a separate context. */
  isSubagent: boolean;
  /** The working directory, where the client names it. */
  cwd?: string;
  /** Byte offset of the line. */
  offset: number;
}

/**
 * Reads the tool calls after an offset (bytes) and since a time (ms), and how far it got: up to the first call without a
 * result, unless the turn is over. No client documents its format, so calls and results are recognized by their fields.
 */
export function readCalls(
  path: string,
  { from, since, isOver = true }: { from: number; since: number; isOver?: boolean },
): { calls: ToolCall[]; offset: number } {
  const read = readTail(path, from);
  if (!read) return { calls: [], offset: from };
  const found = new Map<string, ToolCall>();
  let offset = read.end - Buffer.byteLength(read.text);
  const last: { cwd?: string } = {};
  const whole = parseJson(read.text);
  for (const line of whole === undefined ? read.text.split('\n') : [read.text]) {
    const value = whole ?? parseJson(line);
    visit(value, { since, at: 0, isSubagent: false, offset, last }, found);
    offset += Buffer.byteLength(line) + 1;
  }
  const calls = [...found.values()];
  const open = isOver ? undefined : calls.find(({ output }) => output === null);
  return { calls, offset: open?.offset ?? read.end };
}

function readTail(path: string, from: number): { text: string; end: number } | null {
  let file: number | undefined;
  try {
    // Without O_NONBLOCK a FIFO would block.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = fstatSync(file);
    if (!stats.isFile()) return null;
    const start = Math.max(from <= stats.size ? from : 0, stats.size - MAX_READ);
    const bytes = Buffer.alloc(stats.size - start);
    const length = readSync(file, bytes, 0, bytes.length, start);
    return { text: bytes.toString('utf8', 0, length), end: start + length };
  } catch {
    return null;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Undefined for text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface Position {
  since: number;
  at: number;
  isSubagent: boolean;
  offset: number;
  /** The last working directory that the client named. */
  last: { cwd?: string };
}

/** Collects each tool call by its id, and its result when it comes. */
function visit(value: unknown, position: Position, found: Map<string, ToolCall>): void {
  if (typeof value !== 'object' || value === null) return;
  const fields = value as Fields;
  const at = typeof fields.timestamp === 'string' ? Date.parse(fields.timestamp) || 0 : position.at;
  if (typeof fields.timestamp === 'string' && at < position.since) return;
  if (typeof fields.cwd === 'string' && isAbsolute(fields.cwd)) position.last.cwd = fields.cwd;
  const isSubagent = position.isSubagent || fields.isSidechain === true;
  const tool = asText(fields.name ?? fields.toolName ?? fields.tool_name);
  const id = asText(fields.tool_use_id ?? fields.call_id ?? fields.toolCallId ?? fields.id);
  const input = kindOf(tool) === 'other' ? null : inputIn(fields.input ?? fields.args ?? fields.arguments);
  const known = id === '' ? undefined : found.get(id);
  if (input) {
    // Gemini CLI stores the result in the call, and an exit code only for failures.
    const result = fields.result ?? fields.response;
    found.set(id || `${tool} ${JSON.stringify(input)}`, {
      tool,
      input,
      at,
      output: result === undefined ? null : outputIn(result),
      exit: exitIn(result) ?? (fields.status === 'success' ? 0 : null),
      failed: fields.status === 'error',
      isSubagent,
      offset: position.offset,
      ...position.last,
    });
  } else if (known) settle(known, fields);
  for (const inner of Object.values(fields)) visit(inner, { ...position, at, isSubagent }, found);
}

/** Claude Code writes no exit code for a successful command, and none for one that the person refused. */
function settle(call: ToolCall, result: Fields): void {
  call.failed = result.is_error === true || result.success === false;
  call.exit = exitIn(result) ?? call.exit ?? (result.type === 'tool_result' && !call.failed ? 0 : null);
  call.output = outputIn(result) || (call.output ?? '');
}

const OUTPUTS = ['content', 'output', 'text', 'stdout', 'result', 'response', 'functionResponse', 'data'];

/** The text of a result, wherever a client puts it. */
function outputIn(value: unknown): string {
  if (typeof value === 'string') {
    const inner = value.startsWith('{') ? parseJson(value) : undefined;
    return (inner === undefined ? '' : outputIn(inner)) || value;
  }
  if (Array.isArray(value)) return value.map(outputIn).filter(Boolean).join('\n');
  if (typeof value !== 'object' || value === null) return '';
  for (const field of OUTPUTS) {
    const found = outputIn((value as Fields)[field]);
    if (found !== '') return found;
  }
  return '';
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

function inputIn(given: unknown): Fields | null {
  const input = typeof given === 'string' ? parseJson(given) : given;
  return isObject(input) ? input : null;
}

const EXIT_WORDS = /(?:exit code:?|exited with (?:exit )?code:?)\s*(-?\d{1,5})/i;

/** The first exit code anywhere in a result. */
function exitIn(value: unknown): number | null {
  if (typeof value === 'string') {
    const inner = value.startsWith('{') ? parseJson(value) : undefined;
    if (inner !== undefined) return exitIn(inner);
    const ends = value.length > 4000 ? value.slice(0, 2000) + value.slice(-2000) : value;
    const code = EXIT_WORDS.exec(ends)?.[1];
    return code === undefined ? null : Number(code);
  }
  if (typeof value !== 'object' || value === null) return null;
  const { exit_code, exitCode, exit } = value as Fields;
  const own = [exit_code, exitCode, exit].find((code) => typeof code === 'number');
  if (own !== undefined) return own as number;
  for (const inner of Object.values(value)) {
    const code = exitIn(inner);
    if (code !== null) return code;
  }
  return null;
}
