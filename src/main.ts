import { fstatSync, writeSync } from 'node:fs';
import { MAX_INPUT_BYTES } from './cli/io.js';
import { main } from './cli/run.js';
import { outside, systemCode } from './core/error.js';

/**
 * The only place that reads argv and stdin, writes stdout and stderr, and sets the exit code.
 * Node's own streams cost milliseconds when they are first named, so output goes straight to its descriptor, whole
 * before this process ends, and nothing else is named unasked.
 */

/** The tty module loads sockets, so it is named only for what may be a terminal. */
const isTerminal = (fd: number): boolean =>
  fstatSync(fd).isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(fd);

/** Asked of terminals only: elsewhere Node's own stream is never named. */
const columnsOf = ({ columns }: { columns?: number }): number => columns ?? 0;

/** False when the reader closed its end (`| head`), which is no error: what was to be stored is stored. */
function write(fd: number, text: string): boolean {
  const bytes = Buffer.from(text, 'utf8');
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(fd, bytes, done);
    } catch (error) {
      if (systemCode(error) === 'EPIPE') return false;
      if (systemCode(error) !== 'EAGAIN') throw error;
      // Whoever shares a pipe with us made it non-blocking.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
    }
  }
  return true;
}

/** An answer that could not be written (`> file` on a full disk) is an error; a remark is not. */
function answer(text: string): void {
  try {
    write(1, text);
  } catch (error) {
    const { message } = error as Error;
    throw outside('output.failed', `The command finished, but its output could not be written: ${message}.`);
  }
}

function remark(text: string): void {
  try {
    write(2, text);
  } catch {
    // There is nowhere left to say so.
  }
}

/** Up to its end; an agent may keep the pipe open behind the JSON object that it hands over. */
async function readStdin(isObject = false): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of process.stdin) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      // Enough to be refused: stdin may never end.
      if (size > MAX_INPUT_BYTES || (isObject && isWhole(chunks))) break;
    }
  } catch {
    // A closed stdin holds nothing.
  }
  return Buffer.concat(chunks);
}

/** Looked at where it may end, which is rarely. */
function isWhole(chunks: readonly Buffer[]): boolean {
  if (!/\}\s*$/.test(chunks.at(-1)?.subarray(-16).toString('latin1') ?? '')) return false;
  try {
    JSON.parse(Buffer.concat(chunks).toString('utf8'));
    return true;
  } catch {
    return false;
  }
}

let interrupted = false;
let interruption: AbortController | undefined;
let stopping: ((now: boolean) => void) | undefined;

const onInterrupt = (): void => {
  interrupted = true;
  if (stopping) {
    stopping(false);
    return;
  }
  // A second one ends this process as the system has it.
  process.off('SIGINT', onInterrupt);
  interruption?.abort();
  // A running test ends by the signal, then the command by itself; what does not end in time is ended.
  setTimeout(() => process.exit(130), 2000).unref();
};
process.on('SIGINT', onInterrupt);

/** A governed cycle ends by itself, whatever the signal: what it launched is ended, and it is recorded. */
function handOver(handler: (now: boolean) => void): void {
  stopping = handler;
  for (const name of ['SIGTERM', 'SIGHUP'] as const)
    process.on(name, () => {
      interrupted = true;
      handler(true);
    });
}

/** When nothing is left to wait for, Node need not take apart, piece by piece, what ends with the process. */
function leave(code: number): void {
  process.exitCode = code;
  process.once('beforeExit', () => process.exit());
}

void main({
  argv: process.argv.slice(2),
  cwd: () => process.cwd(),
  env: process.env,
  stdin: {
    get isTerminal() {
      return isTerminal(0);
    },
    read: readStdin,
  },
  stdout: {
    get isTerminal() {
      return isTerminal(1);
    },
    get columns() {
      return columnsOf(process.stdout);
    },
    write: answer,
  },
  stderr: {
    get isTerminal() {
      return isTerminal(2);
    },
    get columns() {
      return columnsOf(process.stderr);
    },
    write: remark,
  },
  get signal() {
    interruption ??= new AbortController();
    return interruption.signal;
  },
  onStop: handOver,
  deadline: (ms, word) => {
    const end = (): never => {
      if (word !== undefined) remark(word);
      process.exit(0);
    };
    setTimeout(end, Math.max(1, ms - process.uptime() * 1000)).unref();
  },
  channel: () => ({ input: process.stdin, send: (line) => write(1, line) }),
}).then(
  (code) => leave(interrupted ? 130 : code),
  // Not even what reports an error could be loaded.
  (error: Error) => {
    remark(`forge: ${systemCode(error) ? error.message : error.stack}\n`);
    leave(systemCode(error) ? 6 : 70);
  },
);
