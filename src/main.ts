import { fstatSync, writeSync } from 'node:fs';
import { main } from './cli/run.js';
import { MAX_INPUT_BYTES } from './cli/spec.js';
import { outside, systemCode } from './core/error.js';

// The only file that reads argv and stdin, writes stdout and stderr, and sets the exit code. Node's streams take
// milliseconds to load, so output is written straight to its descriptor.

/** The tty module loads sockets, so it is loaded only for character devices. */
const isTerminal = (fd: number): boolean =>
  fstatSync(fd).isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(fd);

/** False if the reader closed its end (`| head`), which is not an error. */
function write(fd: number, text: string): boolean {
  const bytes = Buffer.from(text, 'utf8');
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(fd, bytes, done);
    } catch (error) {
      if (systemCode(error) === 'EPIPE') return false;
      if (systemCode(error) !== 'EAGAIN') throw error;
      // Another process that shares the pipe made it non-blocking.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
    }
  }
  return true;
}

/** Fails if the answer cannot be written, for example to a full disk. */
function writeAnswer(text: string): boolean {
  try {
    return write(1, text);
  } catch (error) {
    const { message } = error as Error;
    throw outside('output.failed', `The command finished, but its output could not be written: ${message}.`);
  }
}

function writeStatus(text: string): void {
  try {
    write(2, text);
  } catch {
    // There is no other place to report this.
  }
}

/** Reads to the end. With `isObject` to the end of a JSON object: an agent may keep the pipe open. */
async function readStdin(isObject = false): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of process.stdin) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      // Too large; stdin may never end.
      if (size > MAX_INPUT_BYTES || (isObject && isCompleteJson(chunks))) break;
    }
  } catch {
    // A closed stdin is empty.
  }
  return Buffer.concat(chunks);
}

/** Parses only after a closing brace. */
function isCompleteJson(chunks: readonly Buffer[]): boolean {
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
let stopHandler: ((now: boolean) => void) | undefined;

const onInterrupt = (): void => {
  interrupted = true;
  if (stopHandler) {
    stopHandler(false);
    return;
  }
  // A second Ctrl-C ends this process at once.
  process.off('SIGINT', onInterrupt);
  interruption?.abort();
  setTimeout(() => process.exit(130), 2000).unref();
};
process.on('SIGINT', onInterrupt);

/** From now on the command ends by itself: a cycle is recorded whatever the signal. */
function onStop(handler: (now: boolean) => void): void {
  stopHandler = handler;
  for (const name of ['SIGTERM', 'SIGHUP'] as const)
    process.on(name, () => {
      interrupted = true;
      handler(true);
    });
}

/** Exits when there is nothing left to wait for, which saves Node its clean-up. */
function leave(code: number): void {
  process.exitCode = code;
  process.once('beforeExit', () => process.exit());
  // A look-up of a name that nobody answers cannot be cancelled.
  setTimeout(() => process.exit(), 50).unref();
}

const output = (fd: 1 | 2, write: (text: string) => unknown) => ({
  get isTerminal() {
    return isTerminal(fd);
  },
  // Read only for terminals.
  get columns() {
    return (fd === 1 ? process.stdout : process.stderr).columns ?? 0;
  },
  write,
});

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
  stdout: output(1, writeAnswer),
  stderr: output(2, writeStatus),
  get signal() {
    interruption ??= new AbortController();
    return interruption.signal;
  },
  onStop,
  deadline: (ms, word) => {
    const end = (): never => {
      if (word !== undefined) writeStatus(word);
      process.exit(0);
    };
    setTimeout(end, Math.max(1, ms - process.uptime() * 1000)).unref();
  },
  channel: () => ({ input: process.stdin, send: (line) => write(1, line) }),
}).then(
  (code) => leave(interrupted ? 130 : code),
  // Not even the code that reports errors could be loaded.
  (error: Error) => {
    writeStatus(`forge: ${systemCode(error) ? error.message : error.stack}\n`);
    leave(systemCode(error) ? 6 : 70);
  },
);
