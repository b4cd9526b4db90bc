import type { Readable } from 'node:stream';
import { ForgeError } from '../core/error.js';
import type { World } from '../index.js';

export interface Output {
  readonly isTerminal: boolean;
  /** Of the terminal; 0 where it does not say. */
  readonly columns?: number | undefined;
  write(text: string): void;
}

/** Everything the command line touches of its process. Tests give their own. */
export interface Io {
  argv: readonly string[];
  cwd: () => string;
  env: NodeJS.ProcessEnv;
  stdin: {
    readonly isTerminal: boolean;
    /** Up to its end; with `isObject` to that of a JSON object. */
    read(isObject?: boolean): Promise<Buffer>;
  };
  stdout: Output;
  stderr: Output;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** From here on signals are the command's: `now` for all but Ctrl-C, which may be typed again. */
  onStop?(handler: (now: boolean) => void): void;
  /** Ends this process with exit code 0 if it is still here after so many ms; with a last word on stderr, or quietly. */
  deadline?(ms: number, word?: string): void;
  /** For a protocol: the bytes of stdin as they come, and lines to stdout; false: nobody reads them any more. */
  channel(): { input: Readable; send(line: string): boolean };
  /** Another clock and other processes, for tests. */
  world?: World;
}

/** The most that is read from stdin or a file argument, in bytes. */
export const MAX_INPUT_BYTES = 16 * 1024 * 1024;

export function checkSize(bytes: Buffer, name: string): Buffer {
  if (bytes.length > MAX_INPUT_BYTES)
    throw new ForgeError('usage', 'input.too_large', `${name} has more than ${MAX_INPUT_BYTES} bytes.`);
  return bytes;
}

/** Decodes what came by stdin or file: exit 2 with the byte offset of what is no UTF-8. */
export async function decodeInput(bytes: Buffer, name: string): Promise<string> {
  checkSize(bytes, name);
  const { decodeUtf8 } = await import('../core/schema.js');
  try {
    return decodeUtf8(bytes, name);
  } catch (error) {
    if (error instanceof ForgeError)
      throw new ForgeError('usage', 'input.encoding', error.message, error.details);
    throw error;
  }
}
