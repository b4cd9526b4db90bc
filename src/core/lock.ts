import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { formatArgv } from './argv.js';
import { elapsed } from './clock.js';
import { type ForgeError, refused, systemCode } from './error.js';
import { diskError, makeFolder, removePath, removeQuietly, stampOf } from './files.js';
import type { Liveness, ProcessIdentity } from './holder.js';
import { makeToken, oneLine } from './text.js';

export interface LockPolicy {
  self: () => ProcessIdentity;
  liveness: (holder: ProcessIdentity) => Liveness;
  /** How long to wait for another holder, in ms; default 5,000. */
  waitMs?: number | undefined;
}

/** Looking up the holder is slow. */
const CHECK_HOLDER_MS = 50;

/**
 * Runs `work` as the only holder of the lock file. `work` is synchronous: no lock is held while git, the network, a hook
 * or a person runs. Exit 3 `lock.held` names another holder. One that is provably gone is replaced; age does not count.
 * `isHeld` is false when someone removed the lock while this process was stopped.
 */
export function withLock<T>(path: string, policy: LockPolicy, work: (isHeld: () => boolean) => T): T {
  acquire(path, policy);
  const mine = stampOf(path);
  try {
    return work(() => stampOf(path) === mine);
  } finally {
    release(path, mine);
  }
}

function acquire(path: string, policy: LockPolicy): void {
  makeFolder(dirname(path));
  if (take(path, policy)) return;
  // The wall clock may be set while this process waits.
  const deadline = elapsed() + (policy.waitMs ?? 5000);
  let checkedAt = Number.NEGATIVE_INFINITY;
  for (let pause = 0.1; ; pause = Math.min(pause * 1.5, 5)) {
    const now = elapsed();
    if (now - checkedAt > CHECK_HOLDER_MS) {
      checkedAt = now;
      if (isStale(path, policy)) breakStale(path, policy);
    }
    if (!fs.existsSync(path) && take(path, policy)) return;
    if (now > deadline) throw heldBy(path);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause * (0.5 + Math.random()));
  }
}

/** link(2) of a finished file: the lock never exists without its content. A kill may leave the draft, which no one reads. */
function take(path: string, { self }: LockPolicy): boolean {
  const draft = join(dirname(path), `.${basename(path)}.${makeToken(16)}.tmp`);
  try {
    fs.writeFileSync(draft, JSON.stringify(self()), { flag: 'wx' });
    link(draft, path);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw diskError(error, path);
  } finally {
    removeQuietly(draft);
  }
}

function link(draft: string, path: string): void {
  try {
    fs.linkSync(draft, path);
  } catch (error) {
    // Some file systems have no hard links.
    if (!['EPERM', 'ENOTSUP', 'ENOSYS'].includes(systemCode(error) ?? '')) throw error;
    fs.copyFileSync(draft, path, fs.constants.COPYFILE_EXCL);
  }
}

/** True when the holder is gone. An empty file is left by a power failure, because the lock never exists without content. */
function isStale(path: string, { liveness }: LockPolicy): boolean {
  const holder = readHolder(path);
  if (holder) return liveness(holder) === 'gone';
  try {
    const stat = fs.lstatSync(path);
    return stat.isFile() && stat.size <= 4096 && fs.readFileSync(path).every((byte) => byte === 0);
  } catch {
    return false;
  }
}

function readHolder(path: string): ProcessIdentity | null {
  try {
    // Non-blocking, because the file may be a FIFO.
    const flag = fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0);
    const holder = JSON.parse(fs.readFileSync(path, { encoding: 'utf8', flag: flag as never }));
    return typeof holder.pid === 'number' && typeof holder.host === 'string' ? holder : null;
  } catch {
    return null;
  }
}

/** Removes a stale lock under another lock: the second of two waiters could otherwise remove the new lock of the first. */
function breakStale(path: string, policy: LockPolicy): void {
  const breaker = `${path}.breaker`;
  if (isStale(breaker, policy)) removePath(breaker);
  if (!take(breaker, policy)) return;
  const mine = stampOf(breaker);
  if (isStale(path, policy)) removePath(path);
  release(breaker, mine);
}

/** Never fails work that is done. Others take over a lock that stays, as soon as this process has ended. */
function release(path: string, mine: string): void {
  try {
    if (mine !== '' && stampOf(path) === mine) fs.unlinkSync(path);
  } catch {
    // The lock stays until another process takes it over.
  }
}

function heldBy(path: string): ForgeError {
  const holder = readHolder(path);
  const who = holder ? `process ${holder.pid} on ${oneLine(holder.host, 100)}` : 'another program';
  const remove = formatArgv(['rm', path]);
  const hint = `Wait until it has finished. If that host or process is gone for good, remove the file: ${remove}`;
  return refused('lock.held', `${path} is held by ${who}.`, { file: path, hint });
}
