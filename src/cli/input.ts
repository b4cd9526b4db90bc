import { closeSync, openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import { usage } from '../core/error.js';
import { textGuard } from '../index.js';
import { checkSize, type Io, MAX_INPUT_BYTES } from './io.js';
import type { Call, Invocation } from './spec.js';

interface Place {
  /** Relative paths are from here. */
  cwd: string;
  decodeInput(bytes: Buffer, name: string): Promise<string>;
}

/** What arguments stand for: a text, a file, or stdin for `-`, once. */
export function makeInput(
  io: Io,
  { name, flags }: Invocation,
  { cwd, decodeInput }: Place,
): Pick<Call, 'text' | 'bytes' | 'file'> {
  const stdin = makeStdin(io, name);
  const bytesOf = (argument: string, what: string): Promise<Buffer> | Buffer =>
    argument === '-' ? stdin(what) : readFileArgument(resolve(cwd, argument));
  const nameOf = (argument: string): string => (argument === '-' ? 'stdin' : argument);
  const decoded = async (argument: string, what: string): Promise<string> =>
    decodeInput(await bytesOf(argument, what), nameOf(argument));
  const redacted = async (text: string): Promise<string> => (flags.redact ? textGuard.redact(text) : text);
  // "-" after "--" is text like any other.
  const dashes = io.argv.indexOf('--');
  const literal = dashes >= 0 && !io.argv.slice(0, dashes).includes('-');
  return {
    text: async (argument) =>
      argument === '-' && !literal
        ? redacted((await decoded('-', 'the text')).replace(/\r?\n$/, ''))
        : argument,
    bytes: async (argument) => checkSize(await bytesOf(argument, 'the message'), nameOf(argument)),
    file: async (argument) => redacted(await decoded(argument, 'the list')),
  };
}

function makeStdin(io: Io, name: string): (what: string) => Promise<Buffer> {
  let consumed = false;
  return async (what) => {
    if (consumed) throw usage('stdin.twice', 'Only one "-" can be read from stdin.');
    consumed = true;
    if (io.stdin.isTerminal)
      throw usage('stdin.terminal', `"-" reads ${what} from stdin, but stdin is a terminal.`, {
        hint: `${name} … - <FILE   or   COMMAND | ${name} … -`,
      });
    return io.stdin.read();
  };
}

function readFileArgument(path: string): Buffer {
  try {
    const file = openSync(path, 'r');
    try {
      return readAll(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw usage('file.unreadable', `${path} cannot be read: ${(error as Error).message.split(',')[0]}.`, {
      file: path,
    });
  }
}

/** To its end, or as far as is needed to refuse it: a device has none. */
function readAll(file: number): Buffer {
  const chunks: Buffer[] = [];
  for (let size = 0; size <= MAX_INPUT_BYTES; ) {
    const chunk = Buffer.allocUnsafe(64 * 1024);
    const count = readSync(file, chunk);
    if (count === 0) break;
    chunks.push(chunk.subarray(0, count));
    size += count;
  }
  return Buffer.concat(chunks);
}
