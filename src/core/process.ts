import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { elapsed, timeLimit } from './clock.js';
import type { ProcessIdentity } from './holder.js';
import { LOG_TAIL_BYTES, type Log, lastBytes } from './log-tail.js';
import { identify, leadsGroup } from './process-identity.js';

/** Output beyond this is shown as samples: nobody reads it, and a flood must not slow the command. */
const SHOWN_BYTES = 1024 * 1024;
const SAMPLE_MS = 200;
const SAMPLE_BYTES = 2048;
/** From SIGTERM to SIGKILL. */
const KILL_AFTER_MS = 5000;
/** How long output may stay open after the command: a process that left the group may hold it forever. */
const OUTPUT_GRACE_MS = 500;

const HAS_GROUPS = process.platform !== 'win32';

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
  /** Ends the command. */
  stop?: AbortSignal | undefined;
  /** SIGKILL at once, also before SIGTERM or SIGHUP ends forge. Otherwise SIGTERM, and SIGKILL five seconds later. */
  killAtOnce?: boolean;
  /** How much of the end of the output is kept. Default: 4 KiB. */
  keepBytes?: number;
  /** The group is killed if this throws. */
  onStart?: ((command: ProcessIdentity) => void) | undefined;
  /** Gets the output as it arrives. `sampled`: parts of it are left out. */
  onOutput?: ((text: string, sampled: boolean) => void) | undefined;
}

const START_FAILURES: Record<string, string> = { ENOENT: 'not found', EACCES: 'not executable' };

/**
 * Runs a command without a shell in a process group of its own. The group ends with the command, at the time limit, on
 * `stop`, and with forge, even by SIGKILL. A process that left the group cannot delay the result by holding the output.
 * Memory use does not depend on how much the command prints.
 */
export async function runProcess(argv: readonly string[], options: ProcessOptions): Promise<ProcessRun> {
  const { execa } = await import('execa');
  const [program = '', ...args] = argv;
  const { cwd, env, input = '', timeoutMs, stop, killAtOnce = false } = options;
  const group = new Group();
  // Before the command starts: a signal to forge in between would leave it running.
  const release = killWithForge(group, killAtOnce);
  const limit = timeLimit(timeoutMs, stop);
  try {
    const settings = { extendEnv: false, buffer: false, reject: false, detached: HAS_GROUPS } as const;
    const child = execa(program, args, { cwd, env, input, ...settings });
    const readLog = readOutput([child.stdout, child.stderr], options);
    child.once('exit', limit.release);
    group.follow(child);
    if (child.pid !== undefined) options.onStart?.(identify(child.pid));
    endOnAbort(limit.signal, group, killAtOnce);
    const { exitCode = null, code = '', originalMessage, signal, durationMs } = await child;
    const started = child.pid !== undefined;
    const stopped = whyStopped(limit.signal, timeoutMs);
    const ended = stopped ?? (signal && `ended by ${signal}`);
    return {
      argv,
      exit_code: stopped === undefined ? exitCode : null,
      started,
      timed_out: limit.signal.reason === 'time',
      ended: started ? ended : (START_FAILURES[code] ?? originalMessage),
      duration_ms: Math.round(durationMs),
      output: readLog(),
    };
  } catch (error) {
    group.send('SIGKILL');
    throw error;
  } finally {
    limit.release();
    release();
  }
}

function whyStopped({ aborted, reason }: AbortSignal, timeoutMs: number): string | undefined {
  if (!aborted) return undefined;
  return reason === 'time' ? `stopped after ${timeoutMs / 1000} s` : 'stopped';
}

/** Why a command did not succeed; null when it did. */
export function whyFailed({ argv, exit_code, started, timed_out, ended }: ProcessRun): string | null {
  if (!started) return `${argv[0]}: ${ended}`;
  if (exit_code === null) return timed_out ? `${ended}` : 'ended by a signal';
  return exit_code === 0 ? null : `exit code ${exit_code}`;
}

/** Kills what a dead forge left running. The identity comes from a file, so exactly that process must lead the group. */
export function endGroup(command: ProcessIdentity): void {
  if (leadsGroup(command)) signalGroup(command.pid, 'SIGKILL');
}

/** The process group of a command. No signal is sent before the command starts and after it ended. */
class Group {
  private pid: number | undefined;

  /** What the command leaves running in its group ends with it. */
  follow(command: Pick<ChildProcess, 'pid' | 'once' | 'stdout' | 'stderr'>): void {
    if (command.pid === undefined) return;
    this.pid = command.pid;
    const unwatch = watchGroup(command.pid);
    command.once('exit', () => {
      this.send('SIGKILL');
      this.pid = undefined;
      unwatch();
      const close = (): unknown => [command.stdout?.destroy(), command.stderr?.destroy()];
      setTimeout(close, OUTPUT_GRACE_MS).unref();
    });
  }

  send(signal: NodeJS.Signals): void {
    if (this.pid !== undefined) signalGroup(this.pid, signal);
  }
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(HAS_GROUPS ? -pid : pid, signal);
  } catch {
    // The group is gone already.
  }
}

/** Kills the group when forge exits and, with `onSignals`, before a signal ends forge. Returns how to undo that. */
function killWithForge(group: Group, onSignals: boolean): () => void {
  const kill = (): void => group.send('SIGKILL');
  const onSignal = (name: NodeJS.Signals): void => {
    kill();
    process.kill(process.pid, name);
  };
  const signals: NodeJS.Signals[] = onSignals ? ['SIGTERM', 'SIGHUP'] : [];
  for (const name of signals) process.once(name, onSignal);
  process.once('exit', kill);
  return () => {
    for (const name of signals) process.off(name, onSignal);
    process.off('exit', kill);
  };
}

/** execa's own time limit and cancellation reach only the command, not the processes that it started. */
function endOnAbort(limit: AbortSignal, group: Group, killAtOnce: boolean): void {
  const end = (): void => {
    group.send(killAtOnce ? 'SIGKILL' : 'SIGTERM');
    setTimeout(() => group.send('SIGKILL'), KILL_AFTER_MS).unref();
  };
  if (limit.aborted) end();
  else limit.addEventListener('abort', end, { once: true });
}

/**
 * Ends a process group when forge is gone, whatever ended it: a shell waits for the end of a pipe that only forge holds.
 * It has a session of its own, since a signal may be meant for forge's whole group. On Windows, and where it cannot
 * start, nothing watches; execa would throw without free file descriptors. Returns how to end the watch.
 */
function watchGroup(pid: number): () => void {
  if (!HAS_GROUPS) return () => {};
  const args = ['-c', 'read -r _; kill -KILL "-$0"', `${pid}`];
  const options: SpawnOptions = { cwd: '/', env: {}, stdio: ['pipe', 'ignore', 'ignore'], detached: true };
  const shell = spawn('/bin/sh', args, options);
  shell.on('error', () => {});
  shell.stdin?.on('error', () => {});
  shell.unref();
  return () => void shell.kill('SIGKILL');
}

/** Always drains the streams, and keeps only the end. */
function readOutput(
  streams: readonly Readable[],
  { onOutput, keepBytes = LOG_TAIL_BYTES }: ProcessOptions,
): () => Log {
  const hash = createHash('sha256');
  let [tail, bytes, sampledAt] = [Buffer.alloc(0), 0, 0];
  const show = (chunk: Buffer, decoder: InstanceType<typeof TextDecoder>): void => {
    const now = elapsed();
    if (bytes <= SHOWN_BYTES) onOutput?.(decoder.decode(chunk, { stream: true }), false);
    else if (now - sampledAt >= SAMPLE_MS) {
      sampledAt = now;
      onOutput?.(lastBytes(chunk, SAMPLE_BYTES), true);
    }
  };
  for (const stream of streams) {
    // A chunk may end in the middle of a character.
    const decoder = new TextDecoder();
    stream.on('data', (chunk: Buffer) => {
      hash.update(chunk);
      bytes += chunk.length;
      tail = Buffer.concat([tail, chunk.subarray(-keepBytes)]).subarray(-keepBytes);
      show(chunk, decoder);
    });
  }
  return () => ({ tail: lastBytes(tail, keepBytes), bytes, sha256: hash.digest('hex') });
}
