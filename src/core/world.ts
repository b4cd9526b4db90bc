import type { StdioOptions } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename } from 'node:path';
import { agentMark } from './environment.js';
import { systemCode } from './error.js';
import { readText } from './files.js';
import type { Holder, Liveness, ProcessIdentity } from './holder.js';

/** The surroundings of an operation. Tests replace them. */
export interface World {
  now(): Date;
  env: NodeJS.ProcessEnv;
  /** True when a human is at a terminal (LTM-14). False in a process that an agent started. */
  terminal: boolean;
  /** True for a call by an agent: by its mark in the environment, its hook or its MCP server. */
  isAgent: boolean;
  /** This process, for locks. */
  self(): ProcessIdentity;
  /** Who would hold a session started now. */
  holder(): Holder;
  liveness(id: ProcessIdentity): Liveness;
  agent(): ProcessIdentity;
  /** True when that process is an ancestor of this one. */
  isBelow(id: ProcessIdentity): boolean;
  /** How the calling agent names a tool of forge's server. Absent when it has only a shell. */
  tool?(name: string): string;
}

export function systemWorld(env: NodeJS.ProcessEnv, isTerminal: boolean): World {
  const isAgent = agentMark(env) !== null;
  const terminal = isTerminal && !isAgent;
  return {
    now: () => new Date(),
    env,
    terminal,
    isAgent,
    self,
    holder: () => (terminal ? { ...parent(), terminal } : agentProcess()),
    liveness,
    agent: agentProcess,
    isBelow,
  };
}

/** For an agent's server: no human decides through it, and FORGE_TRUST in its environment approves nothing. */
export function servedWorld(world: World): World {
  const { FORGE_TRUST: _, ...env } = world.env;
  return { ...world, env, terminal: false, isAgent: true, tool: (name) => name };
}

/** For a hook in the conversation `id`: its agent holds sessions, and puts `toolPrefix` before the names of tools. */
export const agentWorld = (world: World, id: string, toolPrefix = ''): World => ({
  ...servedWorld(world),
  tool: (name) => `${toolPrefix}${name}`,
  holder: () => ({ ...world.agent(), agent: id }),
});

const IS_MACOS = process.platform === 'darwin';

function output(program: string, args: string[]): string | null {
  const { execFileSync } = process.getBuiltinModule('node:child_process');
  try {
    const stdio: StdioOptions = ['ignore', 'pipe', 'ignore'];
    return execFileSync(program, args, { encoding: 'utf8', stdio, timeout: 2000 }).trim() || null;
  } catch {
    return null;
  }
}

let boot: string | null | undefined;

function bootId(): string | null {
  boot ??= IS_MACOS
    ? output('sysctl', ['-n', 'kern.bootsessionuuid'])
    : readText('/proc/sys/kernel/random/boot_id').trim() || null;
  return boot;
}

let host: string | undefined;

/** The host and its container: process numbers mean nothing in another container. */
function hostId(): string {
  host ??= [hostname(), containerId()].filter((part) => part !== null).join('/');
  return host;
}

/** The number of the PID namespace in a container; null outside of one. */
function containerId(): string | null {
  try {
    const namespace = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0];
    // The initial namespace always has this number.
    return namespace === undefined || namespace === '4026531836' ? null : namespace;
  } catch {
    return null;
  }
}

/** Fields of ps(1), and their index in /proc/PID/stat behind the program's name. */
const FIELDS = { state: 0, ppid: 1, sess: 3, lstart: 19 };

/** Null when the process is gone or the field is unknown. macOS has no /proc. */
function fieldOf(pid: number, name: keyof typeof FIELDS): string | null {
  if (IS_MACOS) return output('ps', ['-o', `${name}=`, '-p', String(pid)]);
  const stat = readText(`/proc/${pid}/stat`);
  // The name may contain spaces and parentheses.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[FIELDS[name]] ?? null;
}

const startOf = (pid: number): string | null => fieldOf(pid, 'lstart');

export const identify = (pid: number): ProcessIdentity => ({
  pid,
  started: startOf(pid),
  boot: bootId(),
  host: hostId(),
});

let me: ProcessIdentity | undefined;

export function self(): ProcessIdentity {
  me ??= identify(process.pid);
  return me;
}

const parent = (): ProcessIdentity => identify(process.ppid);

/** At most 32 ancestors, nearest first. Process 1 counts only in a container: it is often the agent or a person's shell. */
function* ancestors(): Generator<number> {
  const first = containerId() === null ? 2 : 1;
  for (let pid = process.ppid, level = 0; level < 32 && pid >= first; level++) {
    yield pid;
    pid = Number(fieldOf(pid, 'ppid') ?? 0);
  }
}

/** Treat an unknown boot id as the same boot. */
const isOtherBoot = (id: ProcessIdentity): boolean =>
  id.boot !== null && bootId() !== null && id.boot !== bootId();

export function isBelow(id: ProcessIdentity): boolean {
  if (id.host !== hostId() || isOtherBoot(id) || ![...ancestors()].includes(id.pid)) return false;
  return id.started === null || startOf(id.pid) === id.started;
}

const SHELL = /^(?:-?(?:ba|da|z|k|a|fi)?sh|busybox)$/;

/** The nearest ancestor but its shell or npx; the container's first process for an agent outside (`docker exec`). */
function agentProcess(): ProcessIdentity {
  for (const pid of ancestors()) if (!isLauncher(pid)) return identify(pid);
  return containerId() === null ? parent() : identify(1);
}

/** A shell that runs one command, or its copy for `( … )`. For a hook any shell but a person's, which leads its session. */
function isLauncher(pid: number): boolean {
  const words = process.argv.slice(2).join(' ');
  const isHook = words.startsWith('hook ');
  const line = commandLine(pid);
  // npx or npm exec, with the same words behind it.
  if (line.endsWith(isHook ? ` ${words}` : ` forge ${words}`)) return true;
  const name = basename(line.split(' ')[0] ?? '');
  if (!SHELL.test(name)) return false;
  if (/ -[a-z]*c /.test(line) || line === commandLine(Number(fieldOf(pid, 'ppid')))) return true;
  return isHook && fieldOf(pid, 'sess') !== String(pid);
}

/** '' when unknown. */
function commandLine(pid: number): string {
  const line = IS_MACOS
    ? output('ps', ['-o', 'command=', '-p', String(pid)])
    : readText(`/proc/${pid}/cmdline`);
  return (line ?? '').replaceAll('\0', ' ').trimEnd();
}

/** `gone` only when that is certain: no such process on this host, another start time, or another boot. */
export function liveness(id: ProcessIdentity): Liveness {
  if (id.host !== hostId()) return 'unknown';
  if (isOtherBoot(id) || !exists(id.pid)) return 'gone';
  // A zombie holds nothing any more.
  if (/^[ZX]/.test(fieldOf(id.pid, 'state') ?? '')) return 'gone';
  const started = id.started === null ? null : startOf(id.pid);
  return started !== null && started !== id.started ? 'gone' : 'alive';
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) !== 'ESRCH';
  }
}
