import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { getSystemErrorName } from 'node:util';
import { timeLimit } from '../core/clock.js';
import { ForgeError, outside, systemCode } from '../core/error.js';

/** Named with the first git only: it takes Node milliseconds to load, and most messages are checked without git. */
const processes = () => process.getBuiltinModule('node:child_process');

/** A finished git command. */
export interface GitResult {
  code: number;
  stdout: string;
  stderr: string;
}

export interface GitOptions {
  cwd: string;
  /** Added to the cleaned environment (a private index, an author date). */
  env?: Record<string, string>;
  /** Milliseconds; default 60,000. */
  timeout?: number;
  input?: string;
  /** Runs through simple-git. Loading it takes 10 ms, so hooks, `session start`, `progress` and `status` do not use it. */
  porcelain?: boolean;
}

/** A git failure is a result. A git that cannot be started or does not end is exit 6. */
export type Git = (args: readonly string[], options?: Partial<GitOptions>) => Promise<GitResult>;

/** For commands that a person would type, where the time to load simple-git does not matter. */
export const PORCELAIN = { porcelain: true } as const;

/** Git in one folder. */
export function gitIn(cwd: string, env: NodeJS.ProcessEnv): Git {
  return (args, options = {}) => {
    const call = { cwd, timeout: 60_000, ...options };
    if (!options.porcelain) {
      const child = startGit(args, call, env);
      const stdout = gather(child.stdout);
      return ending(child, args).then((end) => ({ ...end, stdout: stdout() }));
    }
    return askSimpleGit(args, call, env).catch((error) =>
      Promise.reject(error instanceof ForgeError ? error : cannotStart(error)),
    );
  };
}

/**
 * Settings of the repository that would start programs are turned off: `.git/config` may have come with the folder.
 * User and system settings stay, except hooks: forge's own commits run none.
 */
const NEUTRAL = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'core.quotePath=false',
  'core.sshCommand=false',
  'credential.helper=',
  'protocol.ext.allow=never',
  'log.showSignature=false',
  'color.ui=false',
  'gc.auto=0',
  'maintenance.auto=false',
];

/**
 * The caller's environment without variables of another git (in a hook, GIT_DIR and GIT_INDEX_FILE belong to the outer
 * git) and without anything that waits for a person or starts a program.
 */
function cleanEnvironment(env: NodeJS.ProcessEnv, extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(
    ([name]) =>
      !/^(?:GIT_|EDITOR$|VISUAL$|PAGER$)/.test(name) ||
      /^GIT_(AUTHOR|COMMITTER)_|^GIT_CONFIG_(NOSYSTEM|GLOBAL|SYSTEM)$|^GIT_EXEC_PATH$/.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    // The same for a git before 2.45: no transport is allowed.
    GIT_ALLOW_PROTOCOL: '',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_EDITOR: ':',
    GIT_PAGER: 'cat',
    LC_ALL: 'C',
    ...extra,
  };
}

interface Call extends Omit<StreamOptions, 'input'> {
  cwd: string;
  /** Null: stdin stays open for questions. */
  input?: string | Buffer | null;
  timeout: number;
}

/** simple-git refuses NEUTRAL, and variables that forge sets or keeps, without these. */
const ALLOWED = {
  allowUnsafeAskPass: true,
  allowUnsafeConfigEnvCount: true,
  allowUnsafeConfigPaths: true,
  allowUnsafeCredentialHelper: true,
  allowUnsafeEditor: true,
  allowUnsafeExec: true,
  allowUnsafeFilter: true,
  allowUnsafeFsMonitor: true,
  allowUnsafeGpgProgram: true,
  allowUnsafeHooksPath: true,
  allowUnsafePager: true,
  allowUnsafeProtocolOverride: true,
  allowUnsafeSshCommand: true,
};

async function askSimpleGit(
  args: readonly string[],
  { cwd, env: extra, timeout, input }: Call,
  env: NodeJS.ProcessEnv,
): Promise<GitResult> {
  const { simpleGit } = await import('simple-git');
  const variables = cleanEnvironment(env, extra);
  // The time limit of simple-git starts again with every output.
  const { signal: abort, release } = timeLimit(timeout);
  const end: { code: number | null; stderr: string } = { code: null, stderr: '' };
  const git = simpleGit({
    baseDir: cwd,
    config: NEUTRAL,
    unsafe: ALLOWED,
    allowEnvironment: Object.keys(variables),
    abort,
    completion: { onExit: false },
    input: () => input ?? undefined,
    // A git failure is a result. By default, simple-git takes a killed git for a success.
    errors: (_error, { exitCode, stdErr }) => {
      Object.assign(end, { code: exitCode, stderr: Buffer.concat(stdErr).toString('utf8') });
      return undefined;
    },
  });
  // Without output, simple-git waits another 50 ms for some.
  git.env(variables).outputHandler((_command, stdout, stderr) => {
    stdout.once('end', () => stdout.emit('data', Buffer.alloc(0)));
    abort.addEventListener('abort', () => closePipes(stdout, stderr));
  });
  const stdout = await Promise.resolve(git.raw([...args])).finally(release);
  if (end.code === null) throw timedOut(args);
  if (end.code < 0) throw cannotStart(systemError(end.code));
  return { code: end.code, stdout, stderr: end.stderr };
}

/** A program that git started may outlive it and hold its pipes, and forge waits for their end. */
function closePipes(...pipes: (NodeJS.ReadableStream | null)[]): void {
  for (const pipe of pipes) (pipe as Readable | null)?.destroy();
}

const systemError = (errno: number): Error =>
  Object.assign(new Error(`spawn git ${getSystemErrorName(errno)}`), { code: getSystemErrorName(errno) });

export interface StreamOptions {
  env?: Record<string, string>;
  input?: string | Buffer;
  /** Milliseconds; default 600,000. */
  timeout?: number;
}

/** Git whose output is passed on in chunks and never buffered as a whole. */
export type GitStream = (
  args: readonly string[],
  onChunk: (chunk: Buffer) => void,
  options?: StreamOptions,
) => Promise<{ code: number; stderr: string }>;

/** Like `gitIn`. An error thrown by `onChunk` ends git and the call. */
export function streamGit(
  cwd: string,
  env: NodeJS.ProcessEnv,
  extra: Record<string, string> = {},
): GitStream {
  return async (args, onChunk, options = {}) => {
    const child = startGit(args, { timeout: 600_000, env: extra, ...options, cwd }, env);
    const thrown: unknown[] = [];
    child.stdout?.on('data', (chunk: Buffer) => {
      if (thrown.length > 0) return;
      try {
        onChunk(chunk);
      } catch (error) {
        thrown.push(error);
        child.kill('SIGKILL');
      }
    });
    const end = await ending(child, args).catch((error) => {
      throw thrown[0] ?? error;
    });
    // It may have ended before it was stopped.
    if (thrown.length > 0) throw thrown[0];
    return end;
  };
}

function startGit(args: readonly string[], call: Call, env: NodeJS.ProcessEnv): ChildProcess {
  const child = processes().spawn('git', [...NEUTRAL.flatMap((setting) => ['-c', setting]), ...args], {
    cwd: call.cwd,
    env: cleanEnvironment(env, call.env),
    windowsHide: true,
    // An unused pipe costs a session start a millisecond.
    stdio: [call.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  // Not spawn's own `timeout`: without a git program, Node keeps that timer running, and forge with it.
  const timer = setTimeout(() => {
    child.kill();
    closePipes(child.stdout, child.stderr);
  }, call.timeout);
  for (const end of ['exit', 'error']) child.once(end, () => clearTimeout(timer));
  // A git that ends without reading its input has reported why by then.
  child.stdin?.on('error', () => {});
  if (call.input !== null) child.stdin?.end(call.input);
  return child;
}

function ending(child: ChildProcess, args: readonly string[]): Promise<{ code: number; stderr: string }> {
  return new Promise((done, fail) => {
    const stderr = gather(child.stderr);
    child.on('error', (error) => fail(cannotStart(error)));
    child.on('close', (code) => {
      if (code === null) fail(timedOut(args));
      else done({ code, stderr: stderr() });
    });
  });
}

function gather(stream: NodeJS.ReadableStream | null): () => string {
  const chunks: Buffer[] = [];
  stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString('utf8');
}

/** Variables that point git to another repository. */
const ELSEWHERE =
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|NAMESPACE|PREFIX|GRAFT_FILE|SHALLOW_FILE|QUARANTINE_PATH|IMPLICIT_WORK_TREE|INTERNAL_SUPER_PREFIX)$/;

/** The person's environment, for programs that work in this repository. */
export const ownEnvironment = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !ELSEWHERE.test(name)));

export interface UserGitOptions {
  input?: string;
  /** Output of hooks and git on stderr, in chunks. */
  onOutput?: (chunk: string) => void;
  /** Ends git, which then removes its own locks. */
  signal?: AbortSignal;
}

export type UserGit = (args: readonly string[], options?: UserGitOptions) => Promise<GitResult>;

/** Git as the person would start it, with their hooks, signing, filters and settings, and without a time limit. */
export function userGit(cwd: string, env: NodeJS.ProcessEnv): UserGit {
  return (args, { input, onOutput, signal } = {}) =>
    new Promise((done, fail) => {
      const child = processes().spawn('git', ['--no-pager', ...args], {
        cwd,
        env: ownEnvironment(env),
        windowsHide: true,
        stdio: ['pipe', 'pipe', 'pipe'],
        ...(signal ? { signal } : {}),
      });
      const output = { stdout: '', stderr: '' };
      for (const name of ['stdout', 'stderr'] as const)
        child[name].setEncoding('utf8').on('data', (chunk: string) => {
          output[name] += chunk;
          if (name === 'stderr') onOutput?.(chunk);
        });
      child.on('error', (error) => fail(signal?.aborted ? stopped() : cannotStart(error)));
      child.on('close', (code) => done({ code: code ?? 1, ...output }));
      // A hook that fails ends git before it reads.
      child.stdin.on('error', () => {});
      child.stdin.end(input ?? '');
    });
}

const stopped = (): Error => outside('git.stopped', 'git was killed: it timed out or was stopped.');

const timedOut = (args: readonly string[]): Error =>
  outside('git.timeout', `git ${commandOf(args)} did not end in time and was stopped.`);

/** The command after git's own options. */
const commandOf = (args: readonly string[]): string => args.find((arg) => !arg.startsWith('-')) ?? '';

function cannotStart(error: Error): Error {
  if (systemCode(error) === 'ENOENT')
    return outside('git.missing', 'git was not found.', { hint: 'Install git 2.39 or newer.', cause: error });
  return outside('git.failed', `git: ${error.message}`, { cause: error });
}

/** The output of a git command that must succeed. Exit 6 with git's message otherwise. */
export async function must(
  git: Git,
  args: readonly string[],
  options?: Partial<GitOptions>,
): Promise<string> {
  const { code, stdout, stderr } = await git(args, options);
  if (code === 0) return stdout;
  throw gitError(args, stderr);
}

/** Whether git reports that a range matches no commits here. */
export const isNoRange = (stderr: string): boolean =>
  /(?:bad|unknown) revision|ambiguous argument|invalid revision range|bad object|no merge base/i.test(stderr);

export function gitError(args: readonly string[], stderr: string): Error {
  const lines = stderr.trim().split('\n');
  const reason = (lines.find((line) => /^(fatal|error):/.test(line)) ?? lines[0] ?? '').replace(
    /^(fatal|error): /,
    '',
  );
  // Git's own remedy for a folder of another owner is the next thing to type.
  const remedy = /git config --global --add safe\.directory .*/.exec(stderr)?.[0];
  const identity = /Please tell me who you are|empty ident/.test(stderr);
  return outside(remedy ? 'git.unsafe' : 'git.failed', `git ${commandOf(args)}: ${reason || 'failed'}`, {
    hint: remedy ?? (identity ? 'git config user.name "NAME" && git config user.email "ADDRESS"' : undefined),
  });
}

export interface GitObject {
  oid: string;
  type: string;
  bytes: Buffer;
}

/** One `git cat-file --batch-command`, started by the first question. Null for an object that git does not have. */
export interface ObjectReader {
  info(name: string): Promise<{ oid: string; type: string } | null>;
  read(name: string): Promise<GitObject | null>;
  close(): Promise<void>;
}

const NOT_FETCHED = /could not fetch [0-9a-f]+ from promisor remote/;

interface Question {
  line: string;
  isRead: boolean;
  answer: (object: GitObject | null) => void;
  fail: (error: unknown) => void;
}

/** A git that ends before it has answered is an error, never an empty answer. */
export function openObjects(cwd: string, env: NodeJS.ProcessEnv): ObjectReader {
  const questions: Question[] = [];
  let child: ChildProcess | null = null;
  let ended: Promise<unknown> = Promise.resolve();
  let waiting: Buffer[] = [];
  let length = 0;
  let needed = 0;
  const failAll = (error: unknown): void => {
    for (const { fail } of questions.splice(0)) fail(error);
  };
  const onData = (chunk: Buffer): void => {
    waiting.push(chunk);
    length += chunk.length;
    if (length < needed) return;
    let bytes = Buffer.concat(waiting);
    for (let taken = takeAnswer(bytes, questions); taken.used > 0; taken = takeAnswer(bytes, questions))
      bytes = bytes.subarray(taken.used);
    waiting = [bytes];
    length = bytes.length;
    needed = takeAnswer(bytes, []).needed;
  };
  const start = (): ChildProcess => {
    const args = ['cat-file', '--batch-command'];
    const started = startGit(args, { cwd, timeout: 600_000, input: null }, env);
    started.stdout?.on('data', onData);
    ended = ending(started, args).then(
      ({ stderr }) => (NOT_FETCHED.test(stderr) ? goOn() : failAll(gitError(args, stderr))),
      (error) => failAll(error),
    );
    return started;
  };
  /** In a partial clone an older git ends at an object that it does not have. The rest is asked again. */
  const goOn = (): Promise<unknown> | undefined => {
    questions.shift()?.answer(null);
    waiting = [];
    length = 0;
    needed = 0;
    child = null;
    if (questions.length === 0) return undefined;
    child = start();
    for (const { line } of questions) child.stdin?.write(line);
    return ended;
  };
  const ask = (isRead: boolean, name: string): Promise<GitObject | null> =>
    new Promise((answer, fail) => {
      child ??= start();
      const line = `${isRead ? 'contents' : 'info'} ${name}\n`;
      questions.push({ line, isRead, answer, fail });
      child.stdin?.write(line);
    });
  return {
    info: (name) => ask(false, name),
    read: (name) => ask(true, name),
    close: async () => {
      child?.stdin?.end();
      await ended;
    },
  };
}

/** Passes one answer on. `used` is 0 while it is incomplete; then `needed` is its length, if known. */
function takeAnswer(bytes: Buffer, questions: Question[]): { used: number; needed: number } {
  const end = bytes.indexOf(10);
  if (end < 0) return { used: 0, needed: 0 };
  const [oid = '', type = '', size] = bytes.toString('utf8', 0, end).split(' ');
  const isFound = /^[0-9a-f]{40,64}$/.test(oid) && /^(blob|tree|commit|tag)$/.test(type);
  const isRead = isFound && questions[0]?.isRead === true;
  const needed = isRead ? end + 1 + Number(size) + 1 : end + 1;
  if (bytes.length < needed || questions.length === 0) return { used: 0, needed };
  const content = isRead ? Buffer.from(bytes.subarray(end + 1, needed - 1)) : Buffer.alloc(0);
  questions.shift()?.answer(isFound ? { oid, type, bytes: content } : null);
  return { used: needed, needed };
}
