import { main } from './main.js';

/** The only place that reads argv and stdin, writes stdout and stderr, and sets the exit code. */

// A reader that closed its end (`| head`) is no error: what was to be stored is stored.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });

// Node 22 and newer keep compiled code between runs.
(process as { getBuiltinModule?: (name: string) => { enableCompileCache?: () => void } })
  .getBuiltinModule?.('module')
  ?.enableCompileCache?.();

const interruption = new AbortController();
process.once('SIGINT', () => {
  interruption.abort();
  // Synchronous work is whole or not begun; a running test is ended by the signal and sets the code itself.
  process.exitCode = 130;
  setTimeout(() => process.exit(130), 1000).unref();
});

async function readStdin(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  } catch {
    // A closed stdin holds nothing.
  }
  return Buffer.concat(chunks);
}

const code = await main({
  argv: process.argv.slice(2),
  cwd: () => process.cwd(),
  env: process.env,
  stdin: { isTerminal: process.stdin.isTTY === true, read: readStdin },
  stdout: { isTerminal: process.stdout.isTTY === true, write: (text) => process.stdout.write(text) },
  stderr: { isTerminal: process.stderr.isTTY === true, write: (text) => process.stderr.write(text) },
  signal: interruption.signal,
});
// Not process.exit(): a pipe would lose what is still to be written.
process.exitCode = interruption.signal.aborted ? 130 : code;
