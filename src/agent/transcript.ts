import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { kindOf } from '../finding/question.js';

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
  const tool = text(fields.name ?? fields.toolName ?? fields.tool_name);
  const id = text(fields.tool_use_id ?? fields.call_id ?? fields.toolCallId ?? fields.id);
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
export function outputIn(value: unknown): string {
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

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

function inputIn(given: unknown): Fields | null {
  const input = typeof given === 'string' ? parseJson(given) : given;
  return typeof input === 'object' && input !== null && !Array.isArray(input) ? (input as Fields) : null;
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
