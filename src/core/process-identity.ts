import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, uptime } from 'node:os';
import { systemCode } from './error.js';
import type { Activity, Liveness, ProcessIdentity } from './holder.js';

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function output(program: string, args: string[]): string | null {
  try {
    return (
      process
        .getBuiltinModule('node:child_process')
        .execFileSync(program, args, {
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'ignore'],
          timeout: 2000,
        })
        .trim() || null
    );
  } catch {
    return null;
  }
}

let cachedBoot: string | null | undefined;

/** Tells one boot of this machine from the next; null where the system does not say. */
function bootId(): string | null {
  cachedBoot ??=
    readText('/proc/sys/kernel/random/boot_id')?.trim() ??
    (process.platform === 'darwin' ? output('sysctl', ['-n', 'kern.bootsessionuuid']) : null);
  return cachedBoot;
}

let cachedHost: string | undefined;

/** The host, and the container in it: a process number means nothing in another one. */
function hostId(): string {
  cachedHost ??= [hostname(), ownNamespace()].filter((part) => part !== null).join('/');
  return cachedHost;
}

/** Of process numbers, in a container; null outside of one. */
function ownNamespace(): string | null {
  try {
    const namespace = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0];
    // The first namespace of a machine always has this number.
    return namespace === undefined || namespace === '4026531836' ? null : namespace;
  } catch {
    return null;
  }
}

/** Fields of /proc/PID/stat, counted behind the program's name, which may hold spaces and brackets. */
const [STATE, PARENT, GROUP, SESSION, START] = [0, 1, 2, 3, 19];

function statField(pid: number, field: number): string | null {
  const stat = readText(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[field] ?? null;
}

/** A field of ps(1), on macOS, which has no /proc. */
const psField = (pid: number, field: string): string | null =>
  process.platform === 'darwin' ? output('ps', ['-o', `${field}=`, '-p', String(pid)]) : null;

/** When a process started, as its system counts; null when it is gone or the system does not say. */
const startOf = (pid: number): string | null => statField(pid, START) ?? psField(pid, 'lstart');

export function identify(pid: number): ProcessIdentity {
  return { pid, started: startOf(pid), boot: bootId(), host: hostId() };
}

let me: ProcessIdentity | undefined;

/** This process. For a lock its start time is read only where that is cheap. */
export function self(): ProcessIdentity {
  me ??= { pid: process.pid, started: statField(process.pid, START), boot: bootId(), host: hostId() };
  return me;
}

/** The process that started this one. */
export function parent(): ProcessIdentity {
  return identify(process.ppid);
}

/** How far up the tree is looked: nobody nests deeper, and a look must end. */
const MAX_ABOVE = 32;

/**
 * The processes above this one, the nearest first. Number 1 of a machine, which is above all, is left out; that of a
 * container is often the agent itself, or the shell that a person types into.
 */
function* above(): Generator<number> {
  const first = ownNamespace() === null ? 2 : 1;
  for (let pid = process.ppid, level = 0; level < MAX_ABOVE && pid >= first; level++) {
    yield pid;
    pid = parentOf(pid);
  }
}

/** 0 when the system does not say. */
const parentOf = (pid: number): number => Number(statField(pid, PARENT) ?? psField(pid, 'ppid') ?? 0);

/** True when that process started this one, at whatever remove. */
export function isBelow(id: ProcessIdentity): boolean {
  if (id.host !== hostId() || (id.boot !== null && bootId() !== null && id.boot !== bootId())) return false;
  for (const pid of above()) if (pid === id.pid) return id.started === null || startOf(pid) === id.started;
  return false;
}

const SHELL = /^(?:-?(?:ba|da|z|k|a|fi)?sh|busybox|pwsh|powershell|cmd)(?:\.exe)?$/;

/** The agent that runs a hook: the first process above that is not just the shell, or the npx, it ran the hook in. */
export function agentProcess(): ProcessIdentity {
  for (const pid of above()) if (!isLauncher(pid)) return identify(pid);
  return parent();
}

/** Gone with the hook. A shell that leads its session is one that a person types into, unless it was given this hook. */
function isLauncher(pid: number): boolean {
  const hook = process.argv.slice(2).join(' ');
  if (hook !== '' && lineOf(pid).endsWith(` ${hook}`)) return true;
  const name = readText(`/proc/${pid}/comm`)?.trim();
  return name !== undefined && SHELL.test(name) && statField(pid, SESSION) !== String(pid);
}

/** The words that a process was started with; npm writes its own over them, which end alike. '' when not told. */
function lineOf(pid: number): string {
  return (psField(pid, 'command') ?? readText(`/proc/${pid}/cmdline`) ?? '').replaceAll('\0', ' ').trimEnd();
}

/** `gone` only when that is certain: no such process here, another start time, or another boot. */
export function liveness(id: ProcessIdentity): Liveness {
  if (id.host !== hostId()) return 'unknown';
  if (id.boot !== null && bootId() !== null && id.boot !== bootId()) return 'gone';
  if (!exists(id.pid) || hasEnded(id.pid)) return 'gone';
  const started = id.started === null ? null : startOf(id.pid);
  return started !== null && started !== id.started ? 'gone' : 'alive';
}

/** The very process, and the first of a group of its own; false as well where the system does not say. */
export function leadsGroup(id: ProcessIdentity): boolean {
  const { pid, started } = id;
  return (
    pid > 1 &&
    liveness(id) === 'alive' &&
    started !== null &&
    startOf(pid) === started &&
    Number(statField(pid, GROUP) ?? psField(pid, 'pgid')) === pid
  );
}

/** A process that has ended stays listed until its parent collects it; it holds nothing any more. */
function hasEnded(pid: number): boolean {
  return /^[ZX]/.test(statField(pid, STATE) ?? '');
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) !== 'ESRCH';
  }
}

/** Now, on the clock that nobody sets, beside the one that people set. */
export function activityNow(): Activity {
  return { boot: bootId(), uptime: uptime(), at: Date.now() };
}
