import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { kindOf } from '../finding/question.js';

/** In bytes. A turn that wrote more is read from its end. */
const MAX_READ = 1 << 20;

/** A tool call in a client's transcript. */
export interface ToolCall {
  tool: string;
  input: Fields;
  /** When it was made, ms; 0 where the client writes no time. */
  at: number;
  /** Null while it runs, or where it never came to an end. */
  output: string | null;
  /** Of a command; null: not known. */
  exit: number | null;
  failed: boolean;
  /** A sub-agent made it, in a context of its own. */
  isPart: boolean;
  /** The folder it was made in; absent where the client does not say. */
  cwd?: string;
}

/**
 * The tool calls in a client's transcript behind an offset (bytes) and since a time (ms), and how far it was read: up to
 * the first call that has no result yet, unless the turn is over. Every client writes its own format, and none documents
 * it: calls and results are known by their fields alone, and all else is passed over.
 */
export function readCalls(
  path: string,
  { from, since, isOver = true }: { from: number; since: number; isOver?: boolean },
): { calls: ToolCall[]; offset: number } {
  const read = readBehind(path, from);
  if (!read) return { calls: [], offset: from };
  const found: Found = new Map();
  let offset = read.offset - Buffer.byteLength(read.text);
  const last: { cwd?: string } = {};
  const whole = parse(read.text);
  for (const line of whole === undefined ? read.text.split('\n') : [read.text]) {
    const value = whole ?? parse(line);
    if (value !== undefined) visit(value, { since, at: 0, isPart: false, offset, last }, found);
    offset += Buffer.byteLength(line) + 1;
  }
  const calls = [...found.values()];
  const open = isOver ? undefined : calls.find(({ output }) => output === null);
  return { calls, offset: open?.offset ?? read.offset };
}

function readBehind(path: string, from: number): { text: string; offset: number } | null {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = fstatSync(file);
    if (!stats.isFile()) return null;
    const start = Math.max(from <= stats.size ? from : 0, stats.size - MAX_READ);
    const bytes = Buffer.alloc(stats.size - start);
    const length = readSync(file, bytes, 0, bytes.length, start);
    return { text: bytes.toString('utf8', 0, length), offset: start + length };
  } catch {
    return null;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Fields = Record<string, unknown>;

interface Around {
  since: number;
  at: number;
  isPart: boolean;
  /** Of the line, in bytes. */
  offset: number;
  /** The last folder that the client named. */
  last: { cwd?: string };
}

type Found = Map<string, ToolCall & { offset: number }>;

/** Notes each call of a tool by its id, and its result once that comes. */
function visit(value: unknown, around: Around, found: Found): void {
  if (typeof value !== 'object' || value === null) return;
  const fields = value as Fields;
  // Every client writes a time beside each message.
  const at = typeof fields.timestamp === 'string' ? Date.parse(fields.timestamp) || 0 : around.at;
  if (typeof fields.timestamp === 'string' && at < around.since) return;
  if (typeof fields.cwd === 'string' && isAbsolute(fields.cwd)) around.last.cwd = fields.cwd;
  const here = { ...around, at, isPart: around.isPart || fields.isSidechain === true };
  const tool = text(fields.name ?? fields.toolName ?? fields.tool_name);
  const id = text(fields.tool_use_id ?? fields.call_id ?? fields.toolCallId ?? fields.id);
  const input = kindOf(tool) === 'other' ? null : inputIn(fields.input ?? fields.args ?? fields.arguments);
  if (input) {
    // Gemini CLI names the exit code of a failure alone, and has the result beside the call.
    const result = fields.result ?? fields.response;
    const output = result === undefined ? null : outputIn(result);
    const exit = exitIn(result) ?? (fields.status === 'success' ? 0 : null);
    found.set(id || `${tool} ${JSON.stringify(input)}`, {
      ...{ tool, input, at, output, exit, failed: fields.status === 'error' },
      ...{ isPart: here.isPart, offset: here.offset, ...around.last },
    });
  } else if (found.has(id) && id !== '') settle(id, fields, found);
  for (const inner of Object.values(fields)) visit(inner, here, found);
}

/** Claude Code names no exit code of a command that worked, nor of one that a person refused: that one never ran. */
function settle(id: string, result: Fields, found: Found): void {
  const known = found.get(id) as ToolCall & { offset: number };
  const exit = exitIn(result) ?? known.exit;
  const failed = result.is_error === true || result.success === false;
  found.set(id, {
    ...known,
    exit: exit ?? (result.type === 'tool_result' && !failed ? 0 : null),
    output: outputIn(result) || (known.output ?? ''),
    failed,
  });
}

const OUTPUTS = ['content', 'output', 'text', 'stdout', 'result', 'response', 'functionResponse', 'data'];

/** The text of a result, wherever a client puts it. */
export function outputIn(value: unknown): string {
  if (typeof value === 'string') {
    const inner = value.startsWith('{') ? parse(value) : undefined;
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
  const input = typeof given === 'string' ? parse(given) : given;
  return typeof input === 'object' && input !== null && !Array.isArray(input) ? (input as Fields) : null;
}

const EXIT_FIELDS = ['exit_code', 'exitCode', 'exit'];
const EXIT_WORDS = /(?:exit code:?|exited with (?:exit )?code:?)\s*(-?\d{1,5})/i;

/** The first exit code anywhere in a result. */
function exitIn(value: unknown): number | null {
  if (typeof value === 'string') {
    const inner = value.startsWith('{') ? parse(value) : undefined;
    const code = EXIT_WORDS.exec(
      value.length > 4000 ? value.slice(0, 2000) + value.slice(-2000) : value,
    )?.[1];
    return inner === undefined ? (code === undefined ? null : Number(code)) : exitIn(inner);
  }
  if (typeof value !== 'object' || value === null) return null;
  const own = EXIT_FIELDS.map((field) => (value as Fields)[field]).find((code) => typeof code === 'number');
  if (typeof own === 'number') return own;
  for (const inner of Object.values(value)) {
    const code = exitIn(inner);
    if (code !== null) return code;
  }
  return null;
}
