import { type ChildProcess, spawn } from 'node:child_process';
import { outside, systemCode } from '../core/error.js';

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
}

/**
 * Settings of the repository that would start programs are turned off: what a folder brings along in `.git/config`
 * is not ours to run. User and system settings stay, except hooks: forge's own commits run none.
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
].flatMap((setting) => ['-c', setting]);

/**
 * The caller's environment without what another git left in it (inside a hook, GIT_DIR and GIT_INDEX_FILE point at
 * somebody else's work), and with nothing that waits for a person or runs a program.
 */
function cleanEnvironment(env: NodeJS.ProcessEnv, extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(
    ([name]) =>
      !name.startsWith('GIT_') ||
      /^GIT_(AUTHOR|COMMITTER)_|^GIT_CONFIG_(NOSYSTEM|GLOBAL|SYSTEM)$|^GIT_EXEC_PATH$/.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    // The same for a git before 2.45: no transport is allowed.
    GIT_ALLOW_PROTOCOL: '',
    GIT_EDITOR: ':',
    GIT_PAGER: 'cat',
    LC_ALL: 'C',
    ...extra,
  };
}

export type Git = (args: readonly string[], options?: Partial<GitOptions>) => Promise<GitResult>;

/** Git in one folder. A failing git is a result; a git that cannot be started or does not end is exit 6. */
export function gitIn(cwd: string, env: NodeJS.ProcessEnv): Git {
  return async (args, options = {}) => {
    const child = startGit(args, { cwd, timeout: 60_000, ...options }, env);
    const stdout = gather(child.stdout);
    const { code, stderr } = await ending(child, args);
    return { code, stdout: stdout(), stderr };
  };
}

export interface StreamOptions {
  env?: Record<string, string>;
  input?: string | Buffer;
  /** Milliseconds; default 600,000. */
  timeout?: number;
}

/** Git whose output is handed on as it comes and is never held as a whole. */
export type GitStream = (
  args: readonly string[],
  onChunk: (chunk: Buffer) => void,
  options?: StreamOptions,
) => Promise<{ code: number; stderr: string }>;

/** As `gitIn`. What `onChunk` throws ends git, and then the call with that error. */
export function streamGit(cwd: string, env: NodeJS.ProcessEnv): GitStream {
  return async (args, onChunk, options = {}) => {
    const child = startGit(args, { timeout: 600_000, ...options, cwd }, env);
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
    // It may have ended well before it was stopped.
    if (thrown.length > 0) throw thrown[0];
    return end;
  };
}

const commandLine = (args: readonly string[]): string[] => [
  '--no-pager',
  '--literal-pathspecs',
  ...NEUTRAL,
  ...args,
];

const processOptions = (options: StreamOptions & { cwd: string }, env: NodeJS.ProcessEnv) => ({
  cwd: options.cwd,
  env: cleanEnvironment(env, options.env),
  windowsHide: true,
});

function startGit(
  args: readonly string[],
  options: StreamOptions & { cwd: string; timeout: number },
  env: NodeJS.ProcessEnv,
): ChildProcess {
  const child = spawn('git', commandLine(args), {
    ...processOptions(options, env),
    // No pipe that nothing is written to: each costs a session start a millisecond.
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  // Not spawn's own `timeout`: Node keeps that timer, and forge with it, when there is no git program.
  const timer = setTimeout(() => child.kill(), options.timeout);
  for (const end of ['exit', 'error']) child.once(end, () => clearTimeout(timer));
  // A git that ends without reading its input has said why by then.
  child.stdin?.on('error', () => {});
  child.stdin?.end(options.input);
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

const timedOut = (args: readonly string[]): Error =>
  outside('git.timeout', `git ${commandOf(args)} did not end in time and was stopped.`);

/** The command among git's own switches. */
const commandOf = (args: readonly string[]): string => args.find((arg) => !arg.startsWith('-')) ?? '';

export function cannotStart(error: Error): Error {
  if (systemCode(error) === 'ENOENT')
    return outside('git.missing', 'git was not found.', { hint: 'Install git 2.39 or newer.', cause: error });
  return outside('git.failed', `git: ${error.message}`, { cause: error });
}

/** The answer of a git command that must work; exit 6 with git's own words otherwise. */
export async function must(
  git: Git,
  args: readonly string[],
  options?: Partial<GitOptions>,
): Promise<string> {
  const { code, stdout, stderr } = await git(args, options);
  if (code === 0) return stdout;
  throw gitError(args, stderr);
}

/** Whether git says of a range that it names no commits here. */
export const isNoRange = (stderr: string): boolean =>
  /(?:bad|unknown) revision|ambiguous argument|invalid revision range|bad object|no merge base/i.test(stderr);

export function gitError(args: readonly string[], stderr: string): Error {
  const lines = stderr.trim().split('\n');
  const said = (lines.find((line) => /^(fatal|error):/.test(line)) ?? lines[0] ?? '').replace(
    /^(fatal|error): /,
    '',
  );
  // Git's own remedy for a folder of another owner is the next thing to type.
  const remedy = /git config --global --add safe\.directory .*/.exec(stderr)?.[0];
  const identity = /Please tell me who you are|empty ident/.test(stderr);
  return outside(remedy ? 'git.unsafe' : 'git.failed', `git ${commandOf(args)}: ${said || 'failed'}`, {
    hint: remedy ?? (identity ? 'git config user.name "…" && git config user.email "…"' : undefined),
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
    const started = spawn('git', commandLine(args), { ...processOptions({ cwd }, env), stdio: 'pipe' });
    started.stdout.on('data', onData);
    started.stdin.on('error', () => {});
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

/** Hands one answer on. `used` is 0 while it is not complete; then `needed` is its length, as far as known. */
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
