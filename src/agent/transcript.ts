import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { RanCommand } from '../session/record.js';

/** In bytes. A turn that wrote more is read from its end. */
const MAX_READ = 1 << 20;

/**
 * The shell commands in a client's transcript behind an offset (bytes) and since a time (ms), and how far it was read. Every client writes its
 * own format, and none documents it: calls and results are known by their fields alone, and all else is passed over.
 */
export function readCommands(
  path: string,
  { from, since }: { from: number; since: number },
): { commands: RanCommand[]; offset: number } {
  const read = readBehind(path, from);
  if (!read) return { commands: [], offset: from };
  const found = new Map<string, RanCommand>();
  for (const value of valuesIn(read.text)) visit(value, since, found);
  return { commands: [...found.values()], offset: read.offset };
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

/** One JSON value, or one a line. A line that was cut is passed over. */
function valuesIn(text: string): unknown[] {
  const whole = parse(text);
  if (whole !== undefined) return [whole];
  return text.split('\n').flatMap((line) => parse(line) ?? []);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Fields = Record<string, unknown>;

const SHELLS = /^(bash|shell|exec_command|local_shell|run_shell_command|run_terminal_cmd|powershell)$/i;

/** Notes each call of a shell by its id, and its exit code once the result comes. */
function visit(value: unknown, since: number, found: Map<string, RanCommand>): void {
  if (typeof value !== 'object' || value === null) return;
  const fields = value as Fields;
  // Every client writes a time beside each message.
  if (typeof fields.timestamp === 'string' && Date.parse(fields.timestamp) < since) return;
  const name = text(fields.name ?? fields.toolName ?? fields.tool_name);
  const id = text(fields.tool_use_id ?? fields.call_id ?? fields.toolCallId ?? fields.id);
  const command = SHELLS.test(name) ? commandIn(fields.input ?? fields.args ?? fields.arguments) : '';
  if (command !== '') {
    // Gemini CLI names the exit code of a failure alone.
    const exit = exitIn(fields.result ?? fields.response) ?? (fields.status === 'success' ? 0 : null);
    found.set(id || command, { command, exit });
  } else if (found.has(id) && id !== '') settle(id, fields, found);
  for (const inner of Object.values(fields)) visit(inner, since, found);
}

/** Claude Code names no exit code of a command that worked, nor of one that a person refused: that one never ran. */
function settle(id: string, result: Fields, found: Map<string, RanCommand>): void {
  const known = found.get(id) as RanCommand;
  const exit = exitIn(result) ?? known.exit;
  if (exit === null && result.is_error === true) found.delete(id);
  else found.set(id, { ...known, exit: exit ?? (result.type === 'tool_result' ? 0 : null) });
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

function commandIn(given: unknown): string {
  const input = typeof given === 'string' ? parse(given) : given;
  if (typeof input !== 'object' || input === null) return '';
  const { command, cmd } = input as Fields;
  const words = command ?? cmd;
  // `["bash", "-lc", "npm test"]`
  if (Array.isArray(words)) return text(words.at(-1));
  return text(words);
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
