import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ProcessIdentity } from '../../src/core/holder.js';
import { withLock } from '../../src/core/lock.js';
import { liveness, self } from '../../src/core/world.js';
import { firstWord, startChild } from '../support/child.js';
import { failure } from '../support/failure.js';
import { makeFolder } from '../support/project.js';

const policy = { self, liveness, waitMs: 100 };
/** Does not wait. */
const hasty = { ...policy, waitMs: 0 };
const patient = { ...policy, waitMs: 300_000 };

const claim = (change: Partial<ProcessIdentity> = {}): string =>
  JSON.stringify({ ...self(), token: 'aaaaaaaaaaaaaaaa', ...change });

function lockHeldBy(content: string): string {
  const path = join(makeFolder(), 'lock');
  writeFileSync(path, content);
  return path;
}

/** The number of a process that has ended. */
const finishedPid = (): number => spawnSync(process.execPath, ['-e', '']).pid;

function timed(call: () => unknown): number {
  const start = performance.now();
  call();
  return performance.now() - start;
}

describe('the lock', () => {
  it('returns the result of the work and leaves no file, also when the work fails', () => {
    const folder = join(makeFolder(), 'not', 'there', 'yet');
    const path = join(folder, 'lock');
    expect(withLock(path, policy, () => [existsSync(path), readdirSync(folder)])).toEqual([true, ['lock']]);
    expect(readdirSync(folder)).toEqual([]);
    const work = (): never => {
      throw new Error('no luck');
    };
    expect(() => withLock(path, policy, work)).toThrow('no luck');
    expect(withLock(path, policy, () => 'next')).toBe('next');
  });

  it.each<[string, () => Partial<ProcessIdentity>]>([
    ['a process that has ended', () => ({ pid: finishedPid() })],
    ['a process whose number another one has now', () => ({ started: '1' })],
    ['a process of a former boot', () => ({ boot: 'another' })],
  ])('B-53 B-55 goes at once from %s', (_name, change) => {
    const path = lockHeldBy(claim(change()));
    expect(withLock(path, hasty, () => 'mine')).toBe('mine');
    expect(readdirSync(join(path, '..'))).toEqual([]);
  });

  it.each(['', '\0\0\0'])('B-55 replaces a file that a power failure emptied (%j)', (content) => {
    expect(withLock(lockHeldBy(content), hasty, () => 'mine')).toBe('mine');
  });

  it('B-53 replaces a killed holder that is a zombie', async () => {
    const path = join(makeFolder(), 'lock');
    const child = startChild('hold', path);
    expect(await firstWord(child)).toBe('held');
    process.kill(child.pid ?? 0, 'SIGKILL');
    // Waiting blocks this process, so it cannot reap its child.
    expect(withLock(path, patient, () => 'mine')).toBe('mine');
  });

  it.each<[string, string, string]>([
    ['of another host', claim({ host: 'server', pid: 1, boot: 'x' }), 'process 1 on server'],
    ['of another host, not here', claim({ host: 'server', pid: 4_194_305 }), 'process 4194305 on server'],
    ['that is half written', '{"pid": 1', 'another program'],
    ['that says nothing', 'null', 'another program'],
  ])('B-55 is never broken when it is one %s', (_name, content, who) => {
    const path = lockHeldBy(content);
    const error = failure(() => withLock(path, policy, () => undefined));
    expect(error).toMatchObject({ exit: 3, code: 'lock.held', message: `${path} is held by ${who}.` });
    expect(error.hint).toContain(`remove the file: rm ${path}`);
    expect(readdirSync(join(path, '..'))).toEqual(['lock']);
    expect(readFileSync(path, 'utf8')).toBe(content);
  });

  it('B-53 replaces a dead holder although a waiter died while replacing it', () => {
    const path = lockHeldBy(claim({ pid: finishedPid() }));
    writeFileSync(`${path}.breaker`, claim({ started: '1' }));
    expect(withLock(path, patient, () => 'mine')).toBe('mine');
    expect(readdirSync(join(path, '..'))).toEqual([]);
  });

  it('B-54 does not wait forever for a stopped waiter that replaces it', () => {
    const path = lockHeldBy(claim({ started: '1' }));
    writeFileSync(`${path}.breaker`, claim());
    expect(failure(() => withLock(path, policy, () => undefined))).toMatchObject({ code: 'lock.held' });
  });

  it('B-69 waits by the monotonic clock', () => {
    const path = lockHeldBy(claim());
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const jumping = (holder: ProcessIdentity) => {
      vi.setSystemTime(Date.now() + 86_400_000);
      return liveness(holder);
    };
    const policyNow = { ...policy, liveness: jumping, waitMs: 200 };
    const before = Date.now();
    const waited = timed(() => failure(() => withLock(path, policyNow, () => undefined)));
    expect([waited > 150, Date.now() > before]).toEqual([true, true]);
  });
});
