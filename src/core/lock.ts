import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { elapsed } from './clock.js';
import { refused, systemCode } from './error.js';
import { diskError, listFolder, makeFolder, removeQuietly } from './files.js';
import type { Liveness, ProcessIdentity } from './holder.js';
import { makeToken, oneLine } from './text.js';

export interface LockPolicy {
  me: () => ProcessIdentity;
  liveness: (holder: ProcessIdentity) => Liveness;
  /** When this machine was started, milliseconds since 1970. */
  bootedAt?: () => number;
  /** How long to wait for another holder, ms; default 5,000. */
  waitMs?: number;
}

interface Claim extends ProcessIdentity {
  token: string;
}

/**
 * Runs `work` as the only holder of the lock file. `work` is synchronous: no lock is held while git, the network, a
 * hook or a person runs. A holder that is provably gone is replaced (never by age); any other makes this throw
 * exit 3 `lock.held`, naming it. A crash leaves the lock file, which the next caller sees is stale. `isHeld` tells
 * whether it is still ours: while this process was stopped, a person may have removed it for another.
 */
export function withLock<T>(path: string, policy: LockPolicy, work: (isHeld: () => boolean) => T): T {
  const token = acquire(path, policy);
  const mine = stampOf(path);
  try {
    return work(() => stampOf(path) === mine);
  } finally {
    release(path, token, mine);
  }
}

/** Which file stands there; another one that took its inode was changed at another time. */
function stampOf(path: string): string | null {
  const stat = fs.lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.ino}:${stat.ctimeNs}` : null;
}

function acquire(path: string, policy: LockPolicy): string {
  makeFolder(dirname(path));
  const claim: Claim = { ...policy.me(), token: makeToken(16) };
  // Not the wall clock: someone may set it while we wait.
  let deadline = 0;
  let lookedAt = Number.NEGATIVE_INFINITY;
  for (let pause = 0.1; ; pause = Math.min(pause * 1.5, 5)) {
    // A look is cheaper than a try.
    if ((deadline === 0 || !fs.existsSync(path)) && take(path, claim)) {
      removeDeadDrafts(dirname(path), policy);
      return claim.token;
    }
    const now = elapsed();
    deadline ||= now + (policy.waitMs ?? 5000);
    // Who holds it, and whether that one lives, is looked up now and then.
    if (now - lookedAt > LOOK_AGAIN_MS) {
      lookedAt = now;
      if (isLeft(path, readClaim(path), policy) && breakStale(path, claim, policy)) continue;
    }
    if (now > deadline) throw heldBy(path, readClaim(path));
    sleep(pause * (0.5 + Math.random()));
  }
}

const LOOK_AGAIN_MS = 50;

/** Locks that this process could not remove when it was done with them (a failing disk): they hold nothing. */
const leftBehind = new Set<string>();

const isStale = (claim: Claim, { liveness }: LockPolicy): boolean =>
  leftBehind.has(claim.token) || liveness(claim) === 'gone';

/** Nobody holds what a process that is gone left, or a power failure, which may take a file's bytes and leave its name. */
const isLeft = (path: string, holder: Claim | null, policy: LockPolicy): boolean =>
  holder ? isStale(holder, policy) : isEmptied(path, policy);

/** Made whole before it had this name, so it was emptied with a former boot if it is older than this one. */
function isEmptied(path: string, { bootedAt }: LockPolicy): boolean {
  try {
    const stat = fs.statSync(path);
    if (!bootedAt || !stat.isFile() || stat.size > 4096 || stat.ctimeMs >= bootedAt()) return false;
    return fs.readFileSync(path).every((byte) => byte === 0);
  } catch {
    return false;
  }
}

/**
 * A kill between writing a claim and linking it leaves its draft; only who is provably gone needs it no more. A disk that does
 * not answer must not fail who has the lock in hand.
 */
function removeDeadDrafts(folder: string, policy: LockPolicy): void {
  try {
    const drafts = listFolder(folder).filter((name) => /^\.lock\.[0-9a-f]+\.tmp$/.test(name));
    for (const path of drafts.map((name) => join(folder, name)))
      if (isLeft(path, readClaim(path), policy)) removeQuietly(path);
  } catch {
    // The next holder tries again.
  }
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** link(2) of a finished file: the lock never exists without its content. */
function take(path: string, claim: Claim): boolean {
  const draft = join(dirname(path), `.lock.${claim.token}.tmp`);
  try {
    fs.writeFileSync(draft, JSON.stringify(claim), { flag: 'wx' });
    fs.linkSync(draft, path);
    return true;
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EEXIST') return false;
    if (code === 'EPERM' || code === 'ENOTSUP' || code === 'ENOSYS') return takeExclusive(path, claim);
    throw diskError(error, path);
  } finally {
    removeQuietly(draft);
  }
}

/** For file systems without hard links. */
function takeExclusive(path: string, claim: Claim): boolean {
  try {
    fs.writeFileSync(path, JSON.stringify(claim), { flag: 'wx' });
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw diskError(error, path);
  }
}

function readClaim(path: string): Claim | null {
  try {
    // Non-blocking: what stands there may be a FIFO.
    const flag = fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0);
    const claim = JSON.parse(fs.readFileSync(path, { encoding: 'utf8', flag: flag as never })) as Claim;
    return typeof claim.pid === 'number' && typeof claim.token === 'string' ? claim : null;
  } catch {
    return null;
  }
}

/**
 * Removes a dead holder's lock. Two waiters must not both do it: the second would remove the first one's new lock.
 * So it happens under a lock of its own, and only if what is there then is dead as well. False while another waiter
 * is at it.
 */
function breakStale(path: string, claim: Claim, policy: LockPolicy): boolean {
  const breaker = `${path}.breaker`;
  if (!take(breaker, claim)) {
    const other = readClaim(breaker);
    // A breaker that died holds no one up for long: it is renamed away first, so only one waiter gets it.
    if (!isLeft(breaker, other, policy)) return false;
    discardBreaker(breaker, claim.token);
    return true;
  }
  const mine = stampOf(breaker);
  try {
    if (isLeft(path, readClaim(path), policy)) fs.rmSync(path, { force: true });
  } catch (error) {
    throw diskError(error, path);
  } finally {
    release(breaker, claim.token, mine);
  }
  return true;
}

function discardBreaker(breaker: string, token: string): void {
  try {
    fs.renameSync(breaker, `${breaker}.${token}`);
    fs.rmSync(`${breaker}.${token}`, { force: true });
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw diskError(error, breaker);
  }
}

/** Never fails work that is done: this process takes over what it left behind, others do as soon as it has ended. */
function release(path: string, token: string, mine: string | null): void {
  try {
    const now = stampOf(path);
    if (now !== null && now === mine) fs.unlinkSync(path);
  } catch {
    leftBehind.add(token);
  }
}

/** Who holds a lock file; null for nobody, and for one that the next writer takes over by itself. */
export function lookAtLock(path: string, policy: LockPolicy): { who: string; isSure: boolean } | null {
  if (!fs.existsSync(path)) return null;
  const claim = readClaim(path);
  if (isLeft(path, claim, policy)) return null;
  return { who: nameOf(claim), isSure: claim !== null && policy.liveness(claim) === 'alive' };
}

const nameOf = (holder: Claim | null): string =>
  holder ? `process ${holder.pid} on ${oneLine(holder.host, 100)}` : 'another program';

function heldBy(path: string, holder: Claim | null): Error {
  return refused('lock.held', `${path} is held by ${nameOf(holder)}.`, {
    file: path,
    hint: 'Wait until it has finished. If that host or process is gone for good, remove the file.',
  });
}
