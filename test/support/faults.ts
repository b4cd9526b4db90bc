import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatArgv } from '../../src/core/argv.js';
import { BIN } from './forge.js';
import { type Ended, HANG, type Project } from './project.js';

/** Where faults come from: the kernel's answers changed by strace, the C library's by a shim, and mounts. */
const works = (program: string, args: string[]): boolean => spawnSync(program, args).status === 0;

/** Says loudly what a machine cannot do; the tests that need it are skipped. */
function need(what: string, is: boolean): boolean {
  if (!is)
    process.stderr.write(`SKIPPED: no ${what} on this machine; the faults that need it are not tested.\n`);
  return is;
}

const isLinux = process.platform === 'linux';
export const hasStrace = need('strace', isLinux && works('strace', ['-o', '/dev/null', 'true']));
export const hasShim = need('gcc for Linux', isLinux && works('gcc', ['--version']));
/** Mounts in a mount namespace of their own, which nobody else sees. */
export const canMount = need(
  'right to mount (root)',
  isLinux && works('unshare', ['--mount', 'sh', '-c', 'mount -t tmpfs -o size=64k none /mnt']),
);

const folder = mkdtempSync(join(tmpdir(), 'forge-faults-'));

let library: string | undefined;

/** test/support/faults.c, compiled once a worker. */
export function shim(): string {
  if (library === undefined) {
    library = join(folder, 'faults.so');
    const source = fileURLToPath(new URL('faults.c', import.meta.url));
    execFileSync('gcc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl']);
  }
  return library;
}

export const ERRNO = { EINTR: 4, EIO: 5, EAGAIN: 11, ENOSPC: 28, EROFS: 30, EDQUOT: 122 } as const;
export type Errno = keyof typeof ERRNO;

/** What the shim does (faults.c); `path` is part of the paths that it concerns. */
export interface Fault {
  path: string;
  call?: string;
  nth?: number;
  /** That one and all after it. */
  lasts?: boolean;
  error?: Errno;
  /** A write that writes only so many bytes; `kill`: and is the last thing that the process does. */
  short?: number;
  kill?: boolean;
  lie?: boolean;
  /** Room for so many bytes. */
  budget?: number;
  statfs?: number;
  /** The process is stopped at the call, and does it when it is continued. */
  stop?: boolean;
}

export function shimEnv(fault: Fault): NodeJS.ProcessEnv {
  const { path, call, nth, lasts, error, short, kill, lie, budget, statfs, stop } = fault;
  const given: Record<string, string | number | undefined> = {
    FAULT_PATH: path,
    FAULT_CALL: call,
    FAULT_NTH: nth,
    FAULT_LASTS: lasts ? 1 : undefined,
    FAULT_ERRNO: error && ERRNO[error],
    FAULT_SHORT: short,
    FAULT_KILL: kill ? 1 : undefined,
    FAULT_LIE: lie ? 1 : undefined,
    FAULT_BUDGET: budget,
    FAULT_STATFS: statfs,
    FAULT_STOP: stop ? 1 : undefined,
  };
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { LD_PRELOAD: shim(), ...Object.fromEntries(set.map(([name, value]) => [name, String(value)])) };
}

/** How a command ended. */
let atTerminal = false;

/** From now on what `start` runs is at a terminal, with util-linux' `script`. */
export function useTerminal(): void {
  atTerminal = true;
}

export function start(
  dir: string,
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Ended {
  const line = formatArgv([program, ...args]);
  const [file, words] = atTerminal ? ['script', ['-qec', line, '/dev/null']] : [program, args];
  const { status, signal, stdout, stderr } = spawnSync(file, words, {
    cwd: dir,
    encoding: 'utf8',
    env: { ...process.env, ...env },
    timeout: HANG,
  });
  return { exitCode: status, signal, stdout, stderr };
}

/** The built binary with a fault of the shim's. */
export const runFaulty = (dir: string, args: readonly string[], fault: Fault): Ended =>
  start(dir, process.execPath, [BIN, ...args], shimEnv(fault));

/**
 * Strikes each call that a fault concerns, one a project, until the command makes no more. Returns how many there were.
 */
export async function strikeEach(
  make: () => Promise<Project>,
  args: readonly string[],
  fault: Fault,
  then: (project: Project, ended: Ended) => void,
): Promise<number> {
  for (let nth = 1; ; nth++) {
    const project = await make();
    const ended = runFaulty(project.dir, args, { ...fault, nth });
    if (ended.signal === null && ended.exitCode === 0) return nth - 1;
    then(project, ended);
  }
}

/** The calls that change something on the disk, in the names of both kinds of Linux. */
export const WRITE_CALLS = [
  ...['openat', 'write', 'pwrite64', 'fsync', 'fdatasync', 'rename', 'renameat', 'renameat2'],
  ...['link', 'linkat', 'unlink', 'unlinkat', 'mkdir', 'mkdirat', 'ftruncate'],
] as const;

/** One call of a run, as strace tells it. */
export interface Call {
  name: string;
  /** Among the calls of its name by the main thread: what `when=` counts. */
  nth: number;
  line: string;
}

// What a kernel does not have is no error with the question mark.
const NAMES = WRITE_CALLS.map((name) => `?${name}`).join(',');
const CALL = /^(\w+)\(/;

const report = (): string[] => readFileSync(join(folder, 'trace'), 'utf8').split('\n');

/** Runs the binary and gives the calls with which its main thread changed something under these folders. */
export function traceCalls(
  project: Project,
  args: readonly string[],
  { strings = 300, hex = false }: { strings?: number; hex?: boolean } = {},
): Call[] {
  const names = hex ? `${NAMES},?copy_file_range,?sendfile` : NAMES;
  const options = ['-qq', '-y', ...(hex ? ['-xx'] : []), '-s', String(strings), '-o', join(folder, 'trace')];
  options.push('-e', `trace=${names}`);
  const { exitCode, stderr } = start(project.dir, 'strace', [...options, process.execPath, BIN, ...args]);
  if (exitCode !== 0) throw new Error(`forge ${args.join(' ')}: exit ${exitCode}: ${stderr}`);
  const counts = new Map<string, number>();
  return report().flatMap((line) => {
    const name = CALL.exec(line)?.[1];
    if (name === undefined) return [];
    const nth = (counts.get(name) ?? 0) + 1;
    counts.set(name, nth);
    return changes(hex ? readable(line) : line, name) ? [{ name, nth, line }] : [];
  });
}

const readable = (line: string): string =>
  line.replace(/\\x([0-9a-f]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

const changes = (line: string, name: string): boolean =>
  /\/\.forge|\/\.git\/forge/.test(line) && (name !== 'openat' || /O_WRONLY|O_RDWR/.test(line));

export interface Struck extends Ended {
  /** The call that was struck, as strace tells it; undefined when the run made fewer. */
  hit: string | undefined;
}

/** Runs the binary and has the kernel answer one of its calls as told: `error=EIO`, `signal=KILL`, `retval=0`. */
export function strike(
  dir: string,
  args: readonly string[],
  call: Pick<Call, 'name' | 'nth'>,
  how: string,
): Struck {
  const inject = `inject=${call.name}:${how}:when=${call.nth}`;
  const options = ['-qq', '-y', '-o', join(folder, 'trace'), '-e', `trace=${call.name}`, '-e', inject];
  const ended = start(dir, 'strace', [...options, process.execPath, BIN, ...args]);
  const lines = report();
  const killed = ended.signal === 'SIGKILL' ? lines.findLast((line) => CALL.test(line)) : undefined;
  return { ...ended, hit: killed ?? lines.find((line) => line.includes('(INJECTED)')) };
}

/**
 * The same at one of the calls that `traceCalls` gave. Writes go by the shim, which counts those to forge's files alone:
 * Node writes to pipes of its own as well, now more and now less often, and waits for good when that fails.
 */
export function strikeCall(
  dir: string,
  args: readonly string[],
  calls: readonly Call[],
  call: Call,
  how: string,
): Struck {
  const isWrite = ({ name }: Call): boolean => /^p?write/.test(name);
  if (!isWrite(call) || !hasShim) return strike(dir, args, call, how);
  const nth = calls.filter(isWrite).indexOf(call) + 1;
  const error = /^error=(\w+)$/.exec(how)?.[1] as Errno | undefined;
  const effect = error ? { error } : { kill: true, short: 0 };
  return {
    ...runFaulty(dir, args, { path: '/.forge/|/.git/forge/', call: 'write', nth, ...effect }),
    hit: call.line,
  };
}

/**
 * Runs a shell script with a copy of the project on a small file system of its own, seen by nobody else, in the folder
 * that it starts in. `forge` there is the built binary. Gives what it printed.
 */
export function onSmallDisk(project: Project, options: string, script: string): string {
  const prelude = [
    'set -e',
    'mount -t tmpfs -o "$1" none /mnt',
    'cp -a "$2/." /mnt',
    'cd /mnt',
    `forge() { "${process.execPath}" "${BIN}" "$@" 2>&1 || echo "exit $?"; }`,
    'set +e',
  ].join('\n');
  const args = ['--mount', 'sh', '-c', `${prelude}\n${script}`, 'sh', options, project.dir];
  const { exitCode, stdout, stderr } = start(project.dir, 'unshare', args);
  if (exitCode !== 0) throw new Error(`The script ended with ${exitCode}: ${stdout}${stderr}`);
  return stdout;
}
