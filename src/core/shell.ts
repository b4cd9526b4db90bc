import { commandEnvironment } from './environment.js';
import { endGroup, type GroupOptions, runGroup } from './process-group.js';

/** How much of a command's output is kept (the end of it), in bytes. */
const KEPT_OUTPUT = 64 * 1024;

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

export interface RunOptions extends Pick<GroupOptions, 'cwd' | 'timeoutMs' | 'onStart'> {
  env: NodeJS.ProcessEnv;
  /** Beside what is passed of it. */
  add?: Record<string, string> | undefined;
  /** Gets the beginning of the output as it comes. */
  onOutput?: ((chunk: string) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Runs a command without a shell, in its own process group, with a clean environment and no input. When the time is
 * up, or forge itself is ended, the whole group is killed, children included.
 */
export async function runCommand(argv: readonly string[], options: RunOptions): Promise<CommandRun> {
  let kill = (): void => {};
  // Before the command is there: a signal in between would leave it running.
  const unwatch = onTermination(() => kill());
  try {
    const run = await runGroup(argv, {
      cwd: options.cwd,
      env: { ...commandEnvironment(options.env), ...options.add },
      timeoutMs: options.timeoutMs,
      stop: options.signal,
      killAfterMs: 0,
      keepBytes: KEPT_OUTPUT,
      onStart: (command) => {
        kill = () => endGroup(command);
        options.onStart?.(command);
      },
      onOutput: (text, sampled) => {
        if (!sampled) options.onOutput?.(text);
      },
    });
    return {
      argv,
      exit_code: run.exit_code,
      duration_ms: run.duration_ms,
      timed_out: run.timed_out,
      output: run.output.tail,
      output_bytes: run.output.bytes,
      output_sha256: run.output.sha256,
      ...(run.started ? {} : { failure: `${argv[0] ?? ''}: ${run.ended}` }),
    };
  } finally {
    unwatch();
  }
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

export interface TimeLimit {
  signal: AbortSignal;
  /** When what was limited has ended: nothing is left to wait for. */
  release(): void;
}

/**
 * Aborts after so many ms, or when `stop` does. Not AbortSignal.any() with AbortSignal.timeout(): in Node 20 the garbage
 * collector takes that timer, and the limit with it.
 */
export function timeLimit(ms: number, stop?: AbortSignal): TimeLimit {
  const limit = new AbortController();
  const end = (): void => limit.abort();
  const timer = setTimeout(end, ms);
  stop?.addEventListener('abort', end, { once: true });
  if (stop?.aborted) end();
  const release = (): void => {
    clearTimeout(timer);
    stop?.removeEventListener('abort', end);
  };
  return { signal: limit.signal, release };
}
