import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect } from 'vitest';
import { main } from '../../src/cli/run.js';
import { formatArgv, splitCommand } from '../../src/core/argv.js';
import type { Holder } from '../../src/core/holder.js';
import { systemWorld, type World } from '../../src/index.js';
import { HANG, makeFolder, type Project, run } from './project.js';

export interface Outcome {
  stdout: string;
  stderr: string;
  exitCode: number | null;
}

export interface RunOptions {
  stdin?: string | Buffer;
  /** Pretend that a person sits there. */
  terminal?: boolean;
  /** How wide it is. */
  columns?: number;
  env?: NodeJS.ProcessEnv;
  world?: Partial<World>;
  cwd?: () => string;
}

/** A clock that stands still until it is set. */
export function fixedClock(at = '2026-03-01T10:00:00.000Z'): { now: () => Date; set(at: string): void } {
  let time = at;
  return {
    now: () => new Date(time),
    set: (next) => {
      time = next;
    },
  };
}

/** Another agent than this test's process: alive, gone, or on another host. */
export function agent(name: string, change: Partial<Holder> = {}): () => Holder {
  const { host, boot } = systemWorld(process.env, false).holder();
  const pid = 100_000 + ([...name].reduce((sum, char) => sum * 7 + char.charCodeAt(0), 0) % 100_000);
  return () => ({ pid, started: name, boot, host, ...change });
}

/** A command as it is typed after `forge`, or its words. */
export type Words = string | readonly string[];
export const wordsOf = (words: Words): readonly string[] =>
  typeof words === 'string' ? splitCommand(words) : words;

/** The command line in this process, about 200 times faster than the binary. Nothing is mocked but the clock and the terminal. */
export async function runForge(
  project: Pick<Project, 'dir'>,
  args: Words,
  options: RunOptions = {},
): Promise<Outcome> {
  const outcome: Outcome = { stdout: '', stderr: '', exitCode: null };
  const terminal = options.terminal ?? false;
  const env = { ...process.env, ...options.env };
  outcome.exitCode = await main({
    argv: wordsOf(args),
    cwd: options.cwd ?? (() => project.dir),
    env,
    stdin: {
      isTerminal: terminal && options.stdin === undefined,
      read: async () => Buffer.from(options.stdin ?? ''),
    },
    stdout: { isTerminal: terminal, columns: options.columns, write: (text) => (outcome.stdout += text) },
    stderr: { isTerminal: terminal, write: (text) => (outcome.stderr += text) },
    signal: new AbortController().signal,
    channel: () => ({
      input: Readable.from([Buffer.from(options.stdin ?? '')]),
      send: (line) => {
        outcome.stdout += line;
        return true;
      },
    }),
    world: { ...systemWorld(env, terminal), ...options.world },
  });
  return outcome;
}

/** Runs and returns the JSON value; fails the test when the command did. */
export async function forgeJson<T = Record<string, never>>(
  project: Pick<Project, 'dir'>,
  args: Words,
  options: RunOptions = {},
): Promise<T> {
  const words = wordsOf(args);
  const { stdout, stderr, exitCode } = await runForge(project, [...words, '--json'], options);
  if (exitCode !== 0) throw new Error(`forge ${words.join(' ')}: exit ${exitCode}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

/** The JSON value of a command that may end with the exit code of a finding. */
export async function forgeFound<T extends object>(
  project: Pick<Project, 'dir'>,
  args: Words,
  options: RunOptions = {},
): Promise<T & { exitCode: number | null }> {
  const words = wordsOf(args);
  const { stdout, stderr, exitCode } = await runForge(project, [...words, '--json'], options);
  if (stdout === '') throw new Error(`forge ${words.join(' ')}: exit ${exitCode}: ${stderr}`);
  return { ...(JSON.parse(stdout) as T), exitCode };
}

/** The `error` of a command that must fail, with its exit code checked by the caller. */
export async function forgeError(
  project: Pick<Project, 'dir'>,
  args: Words,
  options: RunOptions = {},
): Promise<FailedForge> {
  return errorIn(await runForge(project, [...wordsOf(args), '--json'], options));
}

/** The error that a command with --json ended with: one line, and nothing on stdout. */
export function errorIn({ stdout, stderr, exitCode }: Outcome): FailedForge {
  if (exitCode === 0 || stdout !== '') throw new Error(`It was to fail, but printed: ${stdout}`);
  return { ...(JSON.parse(stderr) as { error: FailedForge }).error, exitCode };
}

/** That a command fails with an exit code, the code of its error, or both: `3 trust.needed`. */
export async function expectError(
  project: Pick<Project, 'dir'>,
  args: Words,
  wanted: string,
  options: RunOptions = {},
): Promise<void> {
  const { exitCode, code } = await forgeError(project, args, options);
  const [, exit, name] = /^(\d*) ?(.*)$/.exec(wanted) as unknown as [string, string, string];
  const found = [exit === '' ? '' : exitCode, name === '' ? '' : code];
  expect(found, wordsOf(args).join(' ')).toEqual([exit === '' ? '' : Number(exit), name]);
}

/** The JSON error line, beside the process's exit code. */
export interface FailedForge {
  exitCode: number | null;
  kind: string;
  code: string;
  message: string;
  hint?: string;
  exit: number;
  file?: string;
  line?: number;
  field?: string;
  offset?: number;
}

export const BIN = fileURLToPath(new URL('../../bin/forge.js', import.meta.url));

/** A copy of the built forge, whose files may be changed. */
export function copyForge(): { home: string; bin: string } {
  const home = makeFolder();
  for (const part of ['bin', 'dist/cli', 'templates', 'package.json'])
    cpSync(join(BIN, '../..', part), join(home, part), { recursive: true });
  return { home, bin: join(home, 'bin/forge.js') };
}

/** For `env`: the limits that forge sets itself, such as two seconds for a completion, come a hundred times later. */
export const SLOW_MOTION = {
  NODE_OPTIONS: `--require ${JSON.stringify(fileURLToPath(new URL('slow-motion.cjs', import.meta.url)))}`,
};

/** For `env`: the process writes the most memory that it had, in KiB, to this file. */
export const peakTo = (file: string): NodeJS.ProcessEnv => ({
  NODE_OPTIONS: `--require ${JSON.stringify(fileURLToPath(new URL('peak.cjs', import.meta.url)))}`,
  PEAK_FILE: file,
});

/** The built binary as a process of its own. */
export function runBinary(
  dir: string,
  args: Words,
  options: { input?: string; env?: NodeJS.ProcessEnv } = {},
) {
  return run(dir, process.execPath, [BIN, ...wordsOf(args)], options);
}

/** The built binary in the background. */
export function startBinary(dir: string, args: Words, env: NodeJS.ProcessEnv = {}): ChildProcess {
  return spawn(process.execPath, [BIN, ...wordsOf(args)], {
    cwd: dir,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** A program that starts this forge, below a path without spaces: hooks name it as a part of a shell line. */
export function makeLauncher(): string {
  const path = join(makeFolder(), 'forge');
  writeFileSync(path, `#!/bin/sh\nexec ${formatArgv([process.execPath, BIN])} "$@"\n`, { mode: 0o755 });
  return path;
}

const LIBRARY = pathToFileURL(join(dirname(dirname(BIN)), 'dist', 'index.js')).href;

/**
 * The built library in a process of its own, in whose script `open()` opens the project. It waits for others that write as
 * long as it takes, which the binary does for five seconds: a busy machine may need longer.
 */
export function startLibrary(dir: string, script: string, env: NodeJS.ProcessEnv = {}): ChildProcess {
  const open = `() => openForge(${JSON.stringify(dir)}, { patience: ${HANG} })`;
  const text = `const { openForge } = await import(${JSON.stringify(LIBRARY)}); const open = ${open}; ${script}`;
  return spawn(process.execPath, ['--input-type=module', '-e', text], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}
