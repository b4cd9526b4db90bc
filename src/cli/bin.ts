import { isatty } from 'node:tty';
import { outside } from '../domain/error.js';
import { MAX_INPUT_BYTES } from './io.js';
import { main } from './main.js';

/**
 * The only place that reads argv and stdin, writes stdout and stderr, and sets the exit code.
 * Node makes its streams when they are first named, which costs milliseconds: nothing here names one unasked.
 */

let unwritten = false;

/**
 * A reader that closed its end (`| head`) is no error: what was to be stored is stored. An answer that the disk did
 * not take (`> file`) is one.
 */
function lenient(stream: NodeJS.WriteStream): NodeJS.WriteStream {
  if (stream.listenerCount('error') === 0)
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE' || unwritten) return;
      unwritten = true;
      process.exitCode ||= 6;
      if (stream === process.stdout) complain(error);
    });
  return stream;
}

function complain(error: Error): void {
  const problem = outside('output.failed', `The answer could not be written: ${error.message}.`);
  const json = process.argv.includes('--json');
  lenient(process.stderr).write(
    json ? `${JSON.stringify({ error: problem })}\n` : `forge: ${problem.message}\n`,
  );
}

async function readStdin(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of process.stdin) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      // Enough to be refused: stdin may never end.
      if (size > MAX_INPUT_BYTES) break;
    }
  } catch {
    // A closed stdin holds nothing.
  }
  return Buffer.concat(chunks);
}

const interruption = new AbortController();
process.once('SIGINT', () => {
  interruption.abort();
  // A running test ends by the signal, then the command by itself; what does not end in time is ended.
  setTimeout(() => process.exit(130), 2000).unref();
});

void main({
  argv: process.argv.slice(2),
  cwd: () => process.cwd(),
  env: process.env,
  stdin: { isTerminal: isatty(0), read: readStdin },
  stdout: { isTerminal: isatty(1), write: (text) => lenient(process.stdout).write(text) },
  stderr: { isTerminal: isatty(2), write: (text) => lenient(process.stderr).write(text) },
  signal: interruption.signal,
}).then((code) => {
  // Not process.exit(): a pipe would lose what is still to be written.
  process.exitCode = interruption.signal.aborted ? 130 : code || (unwritten ? 6 : 0);
});
