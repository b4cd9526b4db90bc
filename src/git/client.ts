import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { getSystemErrorName, stripVTControlCharacters } from 'node:util';
import { timeLimit } from '../core/clock.js';
import { outside, systemCode } from '../core/error.js';
import { findRepository, mayNamePrograms, type Repository } from './repository.js';

/** Loaded with the first git, because Node takes milliseconds and most messages are checked without git. */
const processes = () => process.getBuiltinModule('node:child_process');

export interface GitResult {
  code: number;
  stdout: string;
  stderr: string;
}

type Settings = readonly (readonly [name: string, value: string])[];

interface GitOptions {
  env?: Record<string, string>;
  settings?: Settings;
  /** Milliseconds; default 60,000. */
  timeout?: number;
  input?: string;
  /** Of input and output; default UTF-8. In `latin1` each character is a byte. */
  encoding?: 'utf8' | 'latin1';
  /** Takes the output in chunks, which is then never buffered as a whole. An error that it throws ends git and the call. */
  onStdout?(chunk: Buffer): void;
  /** Runs through simple-git. Loading it takes 10 ms, so hooks, `session start`, `progress` and `status` do not use it. */
  porcelain?: boolean;
}

/** A git failure is a result. A git that cannot be started or does not end is exit 6. */
export type Git = (args: readonly string[], options?: GitOptions) => Promise<GitResult>;

/** For commands that a person would type, where the time to load simple-git does not matter. */
export const PORCELAIN = { porcelain: true } as const;

/** Git in one folder. Programs that only the repository's own configuration names are not run: they came with the folder. */
export function gitIn(cwd: string, env: NodeJS.ProcessEnv): Git {
  const ask: Git = async (args, { porcelain, encoding = 'utf8', input, ...options } = {}) => {
    const { signal, release } = timeLimit(options.timeout ?? 60_000);
    const call = { ...options, cwd, env: cleanEnvironment(env, options.env), signal };
    try {
      if (porcelain) return await askSimpleGit(args, { ...call, input });
      const bytes = input === undefined ? undefined : Buffer.from(input, encoding);
      const { code, stdout, stderr } = await start([...SETTINGS, ...args], { ...call, input: bytes }).ended;
      return { code, stdout: stdout.toString(encoding), stderr };
    } finally {
      release();
    }
  };
  let repository: Repository | null = null;
  return async (args, options = {}) => {
    repository ??= findRepository(cwd);
    // Read each time, because a command that was run meanwhile may have set a filter.
    const local = !repository || mayNamePrograms(repository) ? await withoutLocalPrograms(ask) : [];
    const env = asEnvironment([...local, ...(options.settings ?? [])]);
    return ask(args, { ...options, env: { ...env, ...options.env } });
  };
}

/** The same for a hook: with `-a` and with paths, git hands it another index. */
export function hookGit(cwd: string, env: NodeJS.ProcessEnv): Git {
  const git = gitIn(cwd, env);
  const index = env.GIT_INDEX_FILE === undefined ? {} : { GIT_INDEX_FILE: env.GIT_INDEX_FILE };
  return (args, options) => git(args, { ...options, env: { ...options?.env, ...index } });
}

/** Environment variables, because `-c` would split a filter's name at its first `=`. */
function asEnvironment(settings: Settings): Record<string, string> {
  const pairs = settings.flatMap(([name, value], i) => [
    [`GIT_CONFIG_KEY_${i}`, name],
    [`GIT_CONFIG_VALUE_${i}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(pairs) };
}

/** The output of a git that a caller cannot wait for; empty if it fails. */
export const askNow = (cwd: string, env: NodeJS.ProcessEnv, args: readonly string[]): string =>
  processes().spawnSync('git', [...SETTINGS, ...args], {
    cwd,
    env: cleanEnvironment(env),
    encoding: 'utf8',
    timeout: 60_000,
  }).stdout ?? '';

/** A setting, and which of git's files defines it: `local`, `global`, `system`, `worktree`. */
export interface Setting {
  key: string;
  value: string;
  scope: string;
}

/** The settings whose keys match, in git's order. Settings of forge's own calls are left out. */
export async function readSettings(git: Git, pattern: string, options?: GitOptions): Promise<Setting[]> {
  const { stdout } = await git(['config', '--show-scope', '-z', '--get-regexp', pattern], options);
  const fields = stdout.split('\0');
  const all: Setting[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [scope = '', line = ''] = fields.slice(at, at + 2);
    const [key = '', ...value] = line.split('\n');
    // A key without a value is a switch that is on.
    if (scope !== 'command') all.push({ key, value: value.length > 0 ? value.join('\n') : 'true', scope });
  }
  return all;
}

/** Whether the repository's own configuration has a setting. It may have come with a clone. */
export const isLocal = ({ scope }: Setting): boolean => scope === 'local' || scope === 'worktree';

/** The programs that sign where no setting names one. */
const SIGNERS: Record<string, string> = {
  'gpg.program': 'gpg',
  'gpg.openpgp.program': 'gpg',
  'gpg.x509.program': 'gpgsm',
  'gpg.ssh.program': 'ssh-keygen',
  'gpg.ssh.defaultkeycommand': '',
};

/** Replaces the repository's programs with the person's own, or with none. */
async function withoutLocalPrograms(git: Git): Promise<Settings> {
  const all = await readSettings(git, '^(filter|gpg)\\.');
  const own = new Map(all.filter((setting) => !isLocal(setting)).map(({ key, value }) => [key, value]));
  return all
    .filter((setting) => isLocal(setting) && (setting.key in SIGNERS || setting.key.startsWith('filter.')))
    .map(({ key }) => [key, own.get(key) ?? SIGNERS[key] ?? (key.endsWith('.required') ? 'false' : '')]);
}

/** `codes`: the exit codes of success; default 0. */
type MustOptions = GitOptions & { codes?: readonly number[] };

/** The output of a git command that must succeed (exit 6 otherwise). */
export async function must(
  git: Git,
  args: readonly string[],
  { codes = [0], ...options }: MustOptions = {},
): Promise<string> {
  const { code, stdout, stderr } = await git(args, options);
  if (codes.includes(code)) return stdout;
  throw gitError(args, stderr);
}

/** `must` with binary input and output as latin1 text: a path need not be UTF-8, and no byte is lost. */
export type ByteGit = (args: readonly string[], options?: MustOptions) => Promise<string>;

export const byteGit =
  (git: Git, fixed: GitOptions = {}): ByteGit =>
  (args, options) => {
    const env = { ...fixed.env, ...options?.env };
    return must(git, args, { timeout: 600_000, encoding: 'latin1', ...fixed, ...options, env });
  };

/** Converts a path between text and bytes. */
export const toBytes = (text: string): string => Buffer.from(text).toString('latin1');
export const toText = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8');

/** The fields of an output with `-z`, and the lines of any other. */
export const words = (output: string): string[] => output.split('\0').filter(Boolean);
export const lines = (output: string): string[] => output.split('\n').filter(Boolean);

/** Records of `size` fields. Each field ends with NUL, and each record with a line break. */
export function records(output: string, size: number): string[][] {
  const fields = output.split('\0');
  const count = Math.floor(fields.length / size);
  return Array.from({ length: count }, (_, i) => {
    const [first = '', ...more] = fields.slice(i * size, (i + 1) * size);
    return [first.replace(/^\n/, ''), ...more];
  });
}

/**
 * Turns off settings that would start programs, because `.git/config` may have come with the folder, and those that
 * change what git answers or touches.
 */
const NEUTRAL = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'core.quotePath=false',
  'core.abbrev=auto',
  'submodule.recurse=false',
  'core.sshCommand=false',
  // Do not fail on a file with CRLF: its attributes decide how it is stored.
  'core.safecrlf=false',
  'credential.helper=',
  'protocol.ext.allow=never',
  'log.diffMerges=separate',
  'log.follow=false',
  'log.showRoot=true',
  'log.showSignature=false',
  'trailer.separators=:',
  'color.ui=false',
  'gc.auto=0',
  'maintenance.auto=false',
];
const SETTINGS = NEUTRAL.flatMap((setting) => ['-c', setting]);

/** Without variables of another git (in a hook, those of the outer one), and without anything that waits for a person. */
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

interface Call {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Null: stdin stays open for questions. */
  input?: string | Buffer | null | undefined;
  /** Ends git, with the reason `time` at a time limit. */
  signal?: AbortSignal | undefined;
  onStdout?(chunk: Buffer): void;
  onStderr?(chunk: Buffer): void;
}

/** `stdout` is empty if `onStdout` takes it. */
type Ended = Omit<GitResult, 'stdout'> & { stdout: Buffer };

/** Starts git. It and its pipes are closed when the signal aborts, and if a callback throws. */
function start(args: readonly string[], call: Call): { child: ChildProcess; ended: Promise<Ended> } {
  const { cwd, env, input, signal, onStdout, onStderr } = call;
  const child = processes().spawn('git', args, {
    cwd,
    env,
    windowsHide: true,
    // An unused pipe costs a session start a millisecond.
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    ...(signal ? { signal } : {}),
  });
  const ended = new Promise<Ended>((done, fail) => {
    const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
    const stop = (error: unknown): void => {
      fail(error);
      child.kill();
      closePipes(child.stdout, child.stderr);
    };
    const take = (kept: Buffer[], onChunk?: (chunk: Buffer) => void) => (chunk: Buffer) => {
      try {
        if (onChunk) onChunk(chunk);
        else kept.push(chunk);
      } catch (error) {
        stop(error);
      }
    };
    if (input !== null) child.stdout?.on('data', take(stdout, onStdout));
    child.stderr?.on('data', take(stderr)).on('data', take([], onStderr));
    child.on('error', (error) => stop(signal?.aborted ? stopped(args, signal) : cannotStart(error)));
    child.on('close', (code) => {
      if (code === null) fail(stopped(args));
      else done({ code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString('utf8') });
    });
  });
  // A git that ends without reading its input has reported why by then.
  child.stdin?.on('error', () => {});
  if (input !== null) child.stdin?.end(input);
  return { child, ended };
}

/** A program that git started may outlive it and hold its pipes, and forge waits for their end. */
function closePipes(...pipes: (NodeJS.ReadableStream | null)[]): void {
  for (const pipe of pipes) (pipe as Readable | null)?.destroy();
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
  { cwd, env, signal, input }: Call & { signal: AbortSignal },
): Promise<GitResult> {
  const { simpleGit } = await import('simple-git');
  const end: { code: number | null; stderr: string } = { code: null, stderr: '' };
  const git = simpleGit({
    baseDir: cwd,
    config: NEUTRAL,
    unsafe: ALLOWED,
    allowEnvironment: Object.keys(env),
    // The time limit of simple-git starts again with every output.
    abort: signal,
    completion: { onExit: false },
    input: () => input ?? undefined,
    // A git failure is a result. By default, simple-git takes a killed git for a success.
    errors: (_error, { exitCode, stdErr }) => {
      Object.assign(end, { code: exitCode, stderr: Buffer.concat(stdErr).toString('utf8') });
      return undefined;
    },
  });
  // Without output, simple-git waits another 50 ms for some.
  git.env(env).outputHandler((_command, stdout, stderr) => {
    stdout.once('end', () => stdout.emit('data', Buffer.alloc(0)));
    signal.addEventListener('abort', () => closePipes(stdout, stderr));
  });
  const stdout = await Promise.resolve(git.raw([...args])).catch((error: Error) =>
    Promise.reject(cannotStart(error)),
  );
  if (end.code === null) throw stopped(args, signal);
  if (end.code < 0) throw cannotStart(systemError(end.code));
  return { code: end.code, stdout, stderr: end.stderr };
}

const systemError = (errno: number): Error =>
  Object.assign(new Error(`spawn git ${getSystemErrorName(errno)}`), { code: getSystemErrorName(errno) });

const ELSEWHERE =
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|NAMESPACE|PREFIX|GRAFT_FILE|SHALLOW_FILE|QUARANTINE_PATH|IMPLICIT_WORK_TREE|INTERNAL_SUPER_PREFIX)$/;

/** The person's environment, for programs that work in this repository. */
export const ownEnvironment = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !ELSEWHERE.test(name)));

interface UserGitOptions {
  input?: string;
  /** Output of hooks and git on stderr, in chunks. */
  onOutput?: ((chunk: string) => void) | undefined;
  /** Ends git, which then removes its own locks. */
  signal?: AbortSignal | undefined;
}

export type UserGit = (args: readonly string[], options?: UserGitOptions) => Promise<GitResult>;

/** Git as the person would start it, with their hooks, signing, filters and settings, and without a time limit. */
export function userGit(cwd: string, env: NodeJS.ProcessEnv): UserGit {
  return async (args, { input = '', onOutput, signal } = {}) => {
    // Some hooks color even in a pipe. A chunk may end in the middle of a character.
    const decoder = new TextDecoder();
    const onStderr = (chunk: Buffer): void =>
      onOutput?.(stripVTControlCharacters(decoder.decode(chunk, { stream: true })));
    const call = { cwd, env: ownEnvironment(env), input, signal, onStderr };
    const { code, stdout, stderr } = await start(['--no-pager', ...args], call).ended;
    return { code, stdout: stdout.toString('utf8'), stderr: stripVTControlCharacters(stderr) };
  };
}

const stopped = (args: readonly string[], signal?: AbortSignal): Error =>
  signal?.reason === 'time'
    ? outside('git.timeout', `git ${commandOf(args)} did not end in time and was stopped.`)
    : outside('git.stopped', 'git was killed: it timed out or was stopped.');

const commandOf = (args: readonly string[]): string => args.find((arg) => !arg.startsWith('-')) ?? '';

function cannotStart(error: Error): Error {
  if (systemCode(error) === 'ENOENT')
    return outside('git.missing', 'git was not found.', { hint: 'Install git 2.39 or newer.', cause: error });
  return outside('git.failed', `git: ${error.message}`, { cause: error });
}

/** Whether git reports that a range matches no commits here. */
export const isNoRange = (stderr: string): boolean =>
  /(?:bad|unknown) revision|ambiguous argument|invalid revision range|bad object|no merge base/i.test(stderr);

const HINTS: readonly (readonly [RegExp, string])[] = [
  [
    /index file (?:corrupt|smaller than expected)|bad (?:index file sha1 )?signature/,
    'rm "$(git rev-parse --git-path index)" && git reset   # makes a new index; your files stay as they are',
  ],
  [
    /object .* is corrupt|missing object/,
    'git fsck   # names the damaged files: move them away; git fetch --refetch gets them again from a remote',
  ],
  [
    /promisor remote|bad tree object|unable to read tree/,
    'git fetch --refetch --no-filter   # a clone made with --filter lacks parts of its history',
  ],
  [
    /Please tell me who you are|empty ident/,
    'git config user.name "NAME" && git config user.email "ADDRESS"',
  ],
  [
    /Permission denied|Read-only file system|insufficient permission|unable to create directory/,
    'ls -la "$(git rev-parse --git-common-dir)"   # you must be allowed to write there',
  ],
];

export function gitError(args: readonly string[], stderr: string): Error {
  const [first = ''] = stderr.trim().split('\n');
  // The first line has the cause, such as a refused signature. Of a damaged object, the last one has its name.
  const line = /^fatal:.* corrupt$/m.exec(stderr) ?? /^(?:fatal|error):.*$/m.exec(stderr);
  const reason = (line?.[0] ?? first).replace(/^(fatal|error): /, '');
  // Git's own remedy for a folder of another owner is the next thing to type.
  const remedy = /git config --global --add safe\.directory .*/.exec(stderr)?.[0];
  const [, hint] = HINTS.find(([pattern]) => pattern.test(stderr)) ?? [];
  return outside(remedy ? 'git.unsafe' : 'git.failed', `git ${commandOf(args)}: ${reason || 'failed'}`, {
    hint: remedy ?? hint,
  });
}

type GitObject = { oid: string; type: string; bytes: Buffer };

/** One `git cat-file --batch-command`, started by the first question. Null for an object that git does not have. */
export interface ObjectReader {
  info(name: string): Promise<{ oid: string; type: string } | null>;
  read(name: string): Promise<GitObject | null>;
  close(): Promise<void>;
}

/** A git that ends before it has answered is an error, never an empty answer. */
export function openObjects(cwd: string, env: NodeJS.ProcessEnv): ObjectReader {
  const args = ['cat-file', '--batch-command'];
  /** The questions without an answer, as git reads them. */
  const open: string[] = [];
  let git: (ReturnType<typeof start> & { next: ReturnType<typeof answersOf> }) | null = null;
  let last: Promise<unknown> = Promise.resolve();
  const send = (lines: readonly string[]): void => {
    if (!git) {
      const started = start([...SETTINGS, ...args], { cwd, env: cleanEnvironment(env), input: null });
      // A failure is reported by the answers.
      started.ended.catch(() => {});
      git = { ...started, next: answersOf(started.child.stdout as Readable) };
    }
    for (const line of lines) git.child.stdin?.write(line);
  };
  const answer = async (isRead: boolean): Promise<GitObject | null> => {
    const object = await git?.next(isRead);
    open.shift();
    if (object !== undefined) return object;
    const stderr = (await git?.ended)?.stderr ?? '';
    // In a partial clone an older git ends at an object that it does not have. The rest is asked again.
    if (!/could not fetch [0-9a-f]+ from promisor remote/.test(stderr)) throw gitError(args, stderr);
    git = null;
    if (open.length > 0) send(open);
    return null;
  };
  const ask = (isRead: boolean, name: string): Promise<GitObject | null> => {
    const line = `${isRead ? 'contents' : 'info'} ${name}\n`;
    open.push(line);
    send([line]);
    const object = last.then(() => answer(isRead));
    last = object.catch(() => {});
    return object;
  };
  const close = async (): Promise<void> => {
    git?.child.stdin?.end();
    await git?.ended;
  };
  return { info: (name) => ask(false, name), read: (name) => ask(true, name), close };
}

/** Returns answers of git: `<oid> <type> <size>`, and the content if `isRead`. Undefined once git has ended. */
function answersOf(stdout: Readable): (isRead: boolean) => Promise<GitObject | null | undefined> {
  const chunks: AsyncIterator<Buffer> = stdout[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  /** Reads until so many bytes are there. False if git ends before. */
  const fill = async (size: number): Promise<boolean> => {
    const parts = [rest];
    let length = rest.length;
    while (length < size) {
      const { done, value } = await chunks.next();
      if (done) return false;
      parts.push(value);
      length += value.length;
    }
    if (parts.length > 1) rest = Buffer.concat(parts);
    return true;
  };
  return async (isRead) => {
    while (!rest.includes(10)) if (!(await fill(rest.length + 1))) return undefined;
    const start = rest.indexOf(10) + 1;
    const [oid = '', type = '', size] = rest.toString('utf8', 0, start - 1).split(' ');
    const isFound = /^[0-9a-f]{40,64}$/.test(oid) && /^(blob|tree|commit|tag)$/.test(type);
    const end = isFound && isRead ? start + Number(size) + 1 : start;
    if (!(await fill(end))) return undefined;
    const bytes = rest.subarray(start, Math.max(start, end - 1));
    rest = rest.subarray(end);
    return isFound ? { oid, type, bytes } : null;
  };
}
