import type { Readable } from 'node:stream';
import type { World } from '../index.js';

export interface Output {
  readonly isTerminal: boolean;
  /** 0 if the terminal does not report it. */
  readonly columns?: number | undefined;
  /** False when the reader closed its end. */
  write(text: string): unknown;
}

/** Everything the command line uses of its process. Tests provide their own. */
export interface Io {
  argv: readonly string[];
  cwd: () => string;
  env: NodeJS.ProcessEnv;
  stdin: {
    readonly isTerminal: boolean;
    /** Reads to the end; with `isObject` to the end of a JSON object. */
    read(isObject?: boolean): Promise<Buffer>;
  };
  stdout: Output;
  stderr: Output;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Hands signals to the command. `now` is false for Ctrl-C, which can be repeated. */
  onStop?(handler: (now: boolean) => void): void;
  /** Ends this process with exit code 0 after so many ms, and writes `word` to stderr. */
  deadline?(ms: number, word?: string): void;
  /** For a protocol: stdin as a stream, and lines to stdout. `send` returns false if nobody reads them. */
  channel(): { input: Readable; send(line: string): boolean };
  /** For tests: another clock and other processes. */
  world?: World;
}

/** The most that is read from stdin or a file argument. */
export const MAX_INPUT_BYTES = 16 * 1024 * 1024;
