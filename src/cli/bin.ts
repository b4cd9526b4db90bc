import { isatty } from 'node:tty';
import { main } from './main.js';

/**
 * The only place that reads argv and stdin, writes stdout and stderr, and sets the exit code.
 * Node makes its streams when they are first named, which costs milliseconds: nothing here names one unasked.
 */

/** A reader that closed its end (`| head`) is no error: what was to be stored is stored. */
function lenient(stream: NodeJS.WriteStream): NodeJS.WriteStream {
  if (stream.listenerCount('error') === 0)
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  return stream;
}

async function readStdin(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
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
  process.exitCode = interruption.signal.aborted ? 130 : code;
});
