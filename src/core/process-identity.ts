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

/** Fields of ps(1), and where /proc/PID/stat has them behind the program's name, which may hold spaces and brackets. */
const FIELDS = { state: 0, ppid: 1, pgid: 2, sess: 3, lstart: 19 };

/** Null when the process is gone or the system does not say. macOS has no /proc. */
function fieldOf(pid: number, name: keyof typeof FIELDS): string | null {
  if (process.platform === 'darwin') return output('ps', ['-o', `${name}=`, '-p', String(pid)]);
  const stat = readText(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[FIELDS[name]] ?? null;
}

const startOf = (pid: number): string | null => fieldOf(pid, 'lstart');

export function identify(pid: number): ProcessIdentity {
  return { pid, started: startOf(pid), boot: bootId(), host: hostId() };
}

let me: ProcessIdentity | undefined;

/** This process. */
export function self(): ProcessIdentity {
  me ??= identify(process.pid);
  return me;
}

/** The process that started this one. */
export function parent(): ProcessIdentity {
  return identify(process.ppid);
}

/**
 * The processes above this one, the nearest first, and no more than 32. Number 1 of a machine, which is above all, is left
 * out; that of a container is often the agent itself, or the shell that a person types into.
 */
function* above(): Generator<number> {
  const first = ownNamespace() === null ? 2 : 1;
  for (let pid = process.ppid, level = 0; level < 32 && pid >= first; level++) {
    yield pid;
    pid = Number(fieldOf(pid, 'ppid') ?? 0);
  }
}

/** Treat an unknown boot id as the same boot. */
const isOtherBoot = ({ boot }: ProcessIdentity): boolean =>
  boot !== null && bootId() !== null && boot !== bootId();

/** True when that process started this one, at whatever remove. */
export function isBelow(id: ProcessIdentity): boolean {
  if (id.host !== hostId() || isOtherBoot(id)) return false;
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
  return name !== undefined && SHELL.test(name) && fieldOf(pid, 'sess') !== String(pid);
}

/** The words that a process was started with; npm writes its own over them, which end alike. '' when not told. */
function lineOf(pid: number): string {
  const line =
    process.platform === 'darwin'
      ? output('ps', ['-o', 'command=', '-p', String(pid)])
      : readText(`/proc/${pid}/cmdline`);
  return (line ?? '').replaceAll('\0', ' ').trimEnd();
}

/** `gone` only when that is certain: no such process here, another start time, or another boot. */
export function liveness(id: ProcessIdentity): Liveness {
  if (id.host !== hostId()) return 'unknown';
  if (isOtherBoot(id) || !exists(id.pid)) return 'gone';
  // A process that has ended stays listed until its parent collects it; it holds nothing any more.
  if (/^[ZX]/.test(fieldOf(id.pid, 'state') ?? '')) return 'gone';
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
    Number(fieldOf(pid, 'pgid')) === pid
  );
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
