import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { elapsed } from './clock.js';
import { systemCode } from './error.js';
import { watchGroup } from './group-watch.js';
import type { ProcessIdentity } from './holder.js';
import { LOG_TAIL_BYTES, type Log, lastBytes } from './log-tail.js';
import { identify, leadsGroup } from './process-identity.js';

/** After this much, output is shown as a sample: nobody reads it, and a flood must not slow the command. */
const SHOWN_OUTPUT = 1024 * 1024;
const SAMPLE_MS = 200;
const SAMPLE_BYTES = 2048;
/** From SIGTERM to SIGKILL. */
const KILL_AFTER_MS = 5000;
/** How long after the command's end its output may stay open: what left the group may hold it for ever. */
const OUTPUT_GRACE_MS = 500;

export interface GroupRun {
  exit_code: number | null;
  /** Whether there was a process at all. */
  started: boolean;
  timed_out: boolean;
  /** What ended it, as a person would say; absent when it ended by itself. */
  ended?: string;
  duration_ms: number;
  output: Log;
}

export interface GroupOptions {
  cwd: string;
  /** All of it: nothing is added. */
  env: Record<string, string>;
  /** For its stdin, which then ends. */
  input?: string;
  timeoutMs: number;
  /** From SIGTERM to SIGKILL, five seconds unless given; 0: SIGKILL at once. */
  killAfterMs?: number;
  /** How much of the end of its output is held; 4 KiB unless given. */
  keepBytes?: number;
  /** Ends it. */
  stop?: AbortSignal | undefined;
  onStart?: ((command: ProcessIdentity) => void) | undefined;
  /** Gets the output as it comes; `sampled` once there is too much of it. */
  onOutput?: ((text: string, sampled: boolean) => void) | undefined;
}

/**
 * Runs a command without a shell in a process group of its own. When the time is up, or `stop` says so, the group gets
 * SIGTERM and five seconds later SIGKILL; what it leaves running in its group goes with it, and what left its group
 * cannot hold forge by its output. The group does not outlive forge either, whatever ends that. However much it prints,
 * little of it is held.
 */
export async function runGroup(argv: readonly string[], options: GroupOptions): Promise<GroupRun> {
  const started = elapsed();
  const child = start(argv, options);
  const output = gather(child, options);
  giveInput(child, options.input);
  if (child.pid !== undefined) announce(child.pid, options);
  const ender = endOnDemand(child, options);
  const { code, signal, failure } = await ending(child);
  const ended = failure ?? ender.reason() ?? (signal ? `ended by ${signal}` : undefined);
  ender.finish();
  return {
    exit_code: ender.reason() === undefined ? code : null,
    started: child.pid !== undefined,
    timed_out: ender.isLate(),
    ...(ended === undefined ? {} : { ended }),
    duration_ms: Math.round(elapsed() - started),
    output: output(),
  };
}

function start([program = '', ...args]: readonly string[], { cwd, env }: GroupOptions): ChildProcess {
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
    // Its own group, so that what it started can be ended with it.
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  if (child.pid !== undefined) child.once('exit', watchGroup(child.pid));
  return child;
}

/** Should it not be possible to say that it runs, it does not run. */
function announce(pid: number, { onStart }: GroupOptions): void {
  try {
    onStart?.(identify(pid));
  } catch (error) {
    signalGroup(pid, 'SIGKILL');
    throw error;
  }
}

/** It may end, or close its stdin, without reading what it is given. */
function giveInput({ stdin }: ChildProcess, input: string | undefined): void {
  stdin?.on('error', () => {});
  stdin?.end(input ?? '');
}

/** The time limit, and the word of a person. */
function endOnDemand(child: ChildProcess, { timeoutMs, stop, killAfterMs = KILL_AFTER_MS }: GroupOptions) {
  let reason: string | undefined;
  let late = false;
  let force: NodeJS.Timeout | undefined;
  const end = (why: string): void => {
    if (reason !== undefined) return;
    reason = why;
    signalGroup(child.pid, killAfterMs > 0 ? 'SIGTERM' : 'SIGKILL');
    if (killAfterMs > 0) force = setTimeout(() => signalGroup(child.pid, 'SIGKILL'), killAfterMs);
  };
  const onStop = (): void => end('stopped');
  const onExit = (): void => signalGroup(child.pid, 'SIGKILL');
  const timer = setTimeout(() => {
    late = reason === undefined;
    end(`stopped after ${timeoutMs / 1000} s`);
  }, timeoutMs);
  stop?.addEventListener('abort', onStop, { once: true });
  if (stop?.aborted) onStop();
  // Whatever ends this process in order takes the command with it.
  process.once('exit', onExit);
  return {
    reason: () => reason,
    isLate: () => late,
    finish: () => {
      clearTimeout(timer);
      clearTimeout(force);
      stop?.removeEventListener('abort', onStop);
      process.off('exit', onExit);
    },
  };
}

interface Ending {
  code: number | null;
  signal?: NodeJS.Signals | null;
  failure?: string;
}

function ending(child: ChildProcess): Promise<Ending> {
  return new Promise((done) => {
    let ended: Ending = { code: null };
    child.once('error', (error) => {
      if (child.pid === undefined) done({ code: null, failure: whyNot(error) });
    });
    child.once('exit', (code, signal) => {
      ended = { code, signal };
      signalGroup(child.pid, 'SIGKILL');
      setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, OUTPUT_GRACE_MS).unref();
    });
    child.once('close', () => done(ended));
  });
}

function whyNot(error: Error): string {
  const code = systemCode(error);
  if (code === 'ENOENT') return 'not found';
  return code === 'EACCES' ? 'not executable' : error.message;
}

/** Its group may be gone already. */
function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal);
  } catch {
    // Nobody is left to hear it.
  }
}

/** Ends what a forge that is gone left running. A file says what that is, so it must be the very same process. */
export function endGroup(command: ProcessIdentity): void {
  if (leadsGroup(command)) signalGroup(command.pid, 'SIGKILL');
}

/** Always drains both pipes, and holds only the end. */
function gather(child: ChildProcess, { onOutput, keepBytes = LOG_TAIL_BYTES }: GroupOptions): () => Log {
  const hash = createHash('sha256');
  let [tail, bytes, sampledAt] = [Buffer.alloc(0), 0, 0];
  const show = (chunk: Buffer, decoder: InstanceType<typeof TextDecoder>): void => {
    const now = elapsed();
    if (bytes <= SHOWN_OUTPUT) onOutput?.(decoder.decode(chunk, { stream: true }), false);
    else if (now - sampledAt >= SAMPLE_MS) {
      sampledAt = now;
      onOutput?.(lastBytes(chunk, SAMPLE_BYTES), true);
    }
  };
  for (const stream of [child.stdout, child.stderr]) {
    // A chunk may end in the middle of a character.
    const decoder = new TextDecoder();
    stream?.on('data', (chunk: Buffer) => {
      hash.update(chunk);
      bytes += chunk.length;
      tail = Buffer.concat([tail, chunk.subarray(-keepBytes)]).subarray(-keepBytes);
      show(chunk, decoder);
    });
  }
  return () => ({ tail: lastBytes(tail, keepBytes), bytes, sha256: hash.digest('hex') });
}
