import { createHash } from 'node:crypto';
import { commandEnvironment } from './environment.js';

/** How much of a command's output is kept (the end of it), in bytes. */
const KEPT_OUTPUT = 64 * 1024;
/** After this much it is no longer shown as it comes. */
const SHOWN_OUTPUT = 1024 * 1024;

export interface CommandRun {
  argv: readonly string[];
  exit_code: number | null;
  duration_ms: number;
  timed_out: boolean;
  /** The end of stdout and stderr together. */
  output: string;
  /** Of all of it. */
  output_bytes: number;
  output_sha256: string;
  /** Why it could not be started. */
  failure?: string;
}

export interface RunOptions {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Beside what is passed of it. */
  add?: Record<string, string> | undefined;
  timeoutMs: number;
  /** Gets the output as it comes. */
  onOutput?: ((chunk: string) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** How long after a command's end its output may stay open: what left the group may hold it for ever. */
const OUTPUT_GRACE_MS = 500;

/**
 * Runs a command without a shell, in its own process group, with a clean environment and no input. When the time is
 * up, or forge itself is ended, the whole group is killed, children included.
 */
export async function runCommand(argv: readonly string[], options: RunOptions): Promise<CommandRun> {
  // Who only might run a command (a server, at its start) does not wait for the library.
  const { execa } = await import('./execa.js');
  const [program = '', ...args] = argv;
  const started = performance.now();
  const kill = (): void => killGroup(child.pid);
  // Before the command is there: a signal in between would leave it running.
  const unwatch = onTermination(kill);
  const child = execa(program, args, {
    cwd: options.cwd,
    env: { ...commandEnvironment(options.env), ...options.add },
    extendEnv: false,
    stdin: 'ignore',
    all: true,
    buffer: false,
    reject: false,
    // Its own group, so that what it started can be ended with it.
    detached: process.platform !== 'win32',
    cleanup: true,
  });
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    kill();
  }, options.timeoutMs);
  options.signal?.addEventListener('abort', kill, { once: true });
  if (options.signal?.aborted) kill();
  const output = collect(child.all, options.onOutput);
  // What the command left running in its group goes with it, else it would hold the output open for ever.
  let ended: number | null | undefined;
  child.once('exit', (code) => {
    ended = code;
    kill();
    setTimeout(() => {
      child.stdout?.destroy();
      child.stderr?.destroy();
    }, OUTPUT_GRACE_MS).unref();
  });
  const result = await child;
  unwatch();
  clearTimeout(timer);
  options.signal?.removeEventListener('abort', kill);
  return {
    argv,
    exit_code: timedOut ? null : (ended ?? null),
    duration_ms: Math.round(performance.now() - started),
    timed_out: timedOut,
    ...output(),
    ...(result.code === 'ENOENT' || result.code === 'EACCES'
      ? { failure: `${program}: ${result.code === 'ENOENT' ? 'not found' : 'not executable'}` }
      : {}),
  };
}

/** The group is not the terminal's, so what ends forge does not reach it by itself. Returns how to stop watching. */
function onTermination(kill: () => void): () => void {
  const signals: NodeJS.Signals[] = ['SIGTERM', 'SIGHUP'];
  const pass = (signal: NodeJS.Signals): void => {
    kill();
    for (const name of signals) process.off(name, pass);
    process.kill(process.pid, signal);
  };
  for (const name of signals) process.on(name, pass);
  return () => {
    for (const name of signals) process.off(name, pass);
  };
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // It is gone already.
  }
}

/** Keeps the end, shows the beginning, and always drains the pipe. */
function collect(
  stream: NodeJS.ReadableStream | undefined,
  onOutput?: (chunk: string) => void,
): () => Pick<CommandRun, 'output' | 'output_bytes' | 'output_sha256'> {
  const hash = createHash('sha256');
  let kept = Buffer.alloc(0);
  let shown = 0;
  // A chunk may end in the middle of a character.
  const decoder = new TextDecoder();
  stream?.on('data', (chunk: Buffer) => {
    if (shown < SHOWN_OUTPUT) onOutput?.(decoder.decode(chunk, { stream: true }));
    shown += chunk.length;
    hash.update(chunk);
    kept = Buffer.concat([kept, chunk]).subarray(-KEPT_OUTPUT);
  });
  return () => ({
    output: kept.toString('utf8'),
    output_bytes: shown,
    output_sha256: hash.digest('hex'),
  });
}
