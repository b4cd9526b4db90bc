import type { ChildProcess, SpawnOptions } from 'node:child_process';
import type { Readable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { timeLimit } from './clock.js';
import { lastBytes, MAX_TAIL_BYTES } from './text.js';

/** Loaded for the first process: it takes Node milliseconds. */
const processes = () => process.getBuiltinModule('node:child_process');

/** No more output than this is passed on while the command runs. */
const MAX_SHOWN_BYTES = 1024 * 1024;
const KILL_AFTER_MS = 5000;
/** A process that left the group may hold the output open forever, so close it this long after the command. */
const OUTPUT_GRACE_MS = 500;

const HAS_GROUPS = process.platform !== 'win32';

export interface Log {
  tail: string;
  bytes: number;
  sha256: string;
}

export interface ProcessRun {
  argv: readonly string[];
  /** Null for a command that did not start, or that a signal or forge ended. */
  exit_code: number | null;
  started: boolean;
  timed_out: boolean;
  /** Why it did not exit by itself: `not found`, `stopped after 30 s`, `ended by SIGTERM`. */
  ended: string | undefined;
  duration_ms: number;
  /** stdout and stderr together. */
  output: Log;
}

export interface ProcessOptions {
  cwd: string;
  /** The whole environment: nothing is added. */
  env: Record<string, string>;
  /** Written to stdin, which then ends. */
  input?: string;
  timeoutMs: number;
  stop?: AbortSignal | undefined;
  /** How much of the end of the output is kept. Default: 4 KiB. */
  keepBytes?: number;
  /** Gets the first MiB of output as it arrives. */
  onOutput?: ((text: string) => void) | undefined;
}

const START_FAILURES: Record<string, string> = { ENOENT: 'not found', EACCES: 'not executable' };

/**
 * Runs a command without a shell in its own process group. SIGTERM ends the group at the time limit and on `stop`,
 * SIGKILL five seconds later. Nothing of the group outlives the command or forge.
 */
export async function runProcess(argv: readonly string[], options: ProcessOptions): Promise<ProcessRun> {
  const { execa } = await import('execa');
  const [program = '', ...args] = argv;
  const { cwd, env, input = '', timeoutMs, stop } = options;
  const limit = timeLimit(timeoutMs, stop);
  const release = deferSignals();
  // Started first: forge may be killed as soon as the command runs.
  const watch = watchGroup();
  try {
    const settings = { extendEnv: false, buffer: false, reject: false, detached: HAS_GROUPS } as const;
    const child = execa(program, args, { cwd, env, input, ...settings });
    const readLog = readOutput([child.stdout, child.stderr], options);
    child.once('exit', limit.release);
    followGroup(child, limit.signal, watch);
    const { exitCode = null, code = '', originalMessage, signal, durationMs } = await child;
    const started = child.pid !== undefined;
    const { aborted, reason } = limit.signal;
    const stopped = reason === 'time' ? `stopped after ${timeoutMs / 1000} s` : 'stopped';
    const ended = aborted ? stopped : signal && `ended by ${signal}`;
    return {
      argv,
      exit_code: aborted ? null : exitCode,
      started,
      timed_out: reason === 'time',
      ended: started ? ended : (START_FAILURES[code] ?? originalMessage),
      duration_ms: Math.round(durationMs),
      output: readLog(),
    };
  } finally {
    limit.release();
    release();
    watch.end();
  }
}

/** Why a command did not succeed; null when it did. */
export function whyFailed({ argv, exit_code, started, timed_out, ended }: ProcessRun): string | null {
  if (!started) return `${argv[0]}: ${ended}`;
  if (exit_code === null) return timed_out ? `${ended}` : 'ended by a signal';
  return exit_code === 0 ? null : `exit code ${exit_code}`;
}

/** A signal that would end forge waits for the event loop (up to 50 ms): until then the watch may not know the group. */
function deferSignals(): () => void {
  const names = (['SIGTERM', 'SIGHUP'] as const).filter((name) => process.listenerCount(name) === 0);
  const raise = (name: NodeJS.Signals): void => void process.kill(process.pid, name);
  for (const name of names) process.once(name, raise);
  return () => {
    for (const name of names) process.off(name, raise);
  };
}

/** Ends the whole group with the command and on abort: execa's own time limit reaches only the command. */
function followGroup(
  command: Pick<ChildProcess, 'pid' | 'once' | 'stdout' | 'stderr'>,
  limit: AbortSignal,
  watch: ReturnType<typeof watchGroup>,
): void {
  let { pid } = command;
  if (pid === undefined) return;
  const send = (signal: NodeJS.Signals): void => {
    try {
      if (pid !== undefined) process.kill(HAS_GROUPS ? -pid : pid, signal);
    } catch {
      // The group is gone already.
    }
  };
  const end = (): void => {
    send('SIGTERM');
    setTimeout(send, KILL_AFTER_MS, 'SIGKILL').unref();
  };
  if (limit.aborted) end();
  else limit.addEventListener('abort', end, { once: true });
  watch.follow(pid);
  command.once('exit', () => {
    send('SIGKILL');
    pid = undefined;
    watch.end();
    const close = (): unknown => [command.stdout?.destroy(), command.stderr?.destroy()];
    setTimeout(close, OUTPUT_GRACE_MS).unref();
  });
}

/** Kills a group when forge is gone, even by SIGKILL: a shell, outside of forge's own group, waits for its pipe to close. */
function watchGroup() {
  if (!HAS_GROUPS) return { follow: () => {}, end: () => {} };
  const args = ['-c', 'read -r group; read -r _; [ -z "$group" ] || kill -KILL "-$group"'];
  const options: SpawnOptions = { cwd: '/', env: {}, stdio: ['pipe', 'ignore', 'ignore'], detached: true };
  const shell = processes().spawn('/bin/sh', args, options);
  shell.on('error', () => {});
  shell.stdin?.on('error', () => {});
  shell.unref();
  return {
    follow: (pid: number) => void shell.stdin?.write(`${pid}\n`),
    end: () => void shell.kill('SIGKILL'),
  };
}

/** Always drains the streams, and keeps only the end. Colors are left out: test runners use them even in a pipe. */
function readOutput(
  streams: readonly Readable[],
  { onOutput, keepBytes = MAX_TAIL_BYTES }: ProcessOptions,
): () => Log {
  const hash = process.getBuiltinModule('node:crypto').createHash('sha256');
  let [tail, bytes] = [Buffer.alloc(0), 0];
  for (const stream of streams) {
    // A chunk may end in the middle of a character.
    const decoder = new TextDecoder();
    stream.on('data', (chunk: Buffer) => {
      hash.update(chunk);
      bytes += chunk.length;
      tail = Buffer.concat([tail, chunk.subarray(-keepBytes)]).subarray(-keepBytes);
      if (bytes <= MAX_SHOWN_BYTES)
        onOutput?.(stripVTControlCharacters(decoder.decode(chunk, { stream: true })));
    });
  }
  return () => ({
    tail: stripVTControlCharacters(lastBytes(tail, keepBytes)),
    bytes,
    sha256: hash.digest('hex'),
  });
}

/** Starts a program that lives on by itself, such as a browser. False if it could not be started. */
export function startDetached(
  argv: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<boolean> {
  const [program = '', ...args] = argv;
  return new Promise((done) => {
    const child = processes().spawn(program, args, { cwd, env, detached: true, stdio: 'ignore' });
    child.once('error', () => done(false));
    child.once('spawn', () => {
      child.unref();
      done(true);
    });
  });
}
