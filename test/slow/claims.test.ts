import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { type Bucket, takeOnServer } from '../../src/events/bucket.js';
import type { Fleet, Issue, Selection } from '../../src/index.js';
import { claim, clones, held, trees } from '../support/claims.js';
import { fixedClock, forgeError, forgeJson, type RunOptions, runForge } from '../support/forge.js';
import { client, hasNats, type NatsServer, startNats, startSilent } from '../support/nats-server.js';
import { commitAll, makeFolder, type Project, projectAt } from '../support/project.js';

/** Where the server does not answer in time, a command works without it: it is typed again. */
const expectLost = (project: Project, words: string[], options: RunOptions): Promise<void> =>
  vi.waitFor(
    async () =>
      expect(await forgeError(project, words, options)).toMatchObject({ exitCode: 3, code: 'claim.lost' }),
    { timeout: 30_000 },
  );

/** The bucket that forge made. */
async function kvOf(server: NatsServer) {
  const { jetstream, jetstreamManager } = await import('@nats-io/jetstream');
  const { Kvm } = await import('@nats-io/kv');
  const connection = await client(server);
  const manager = await jetstreamManager(connection);
  const [stream = ''] = (await manager.streams.names().next()).filter((name) => name.startsWith('KV_'));
  return new Kvm(jetstream(connection)).open(stream.slice(3));
}

describe('claims on one machine', () => {
  it('EVT-03 a claim ends after its time, and the stale holder’s verify and record are refused', async () => {
    const [project, other] = await trees();
    const clock = fixedClock();
    const world = { now: clock.now };
    await claim(project, 'F-1', { world }, '--for', '10m');
    clock.set('2026-03-01T10:09:59.000Z');
    expect(await forgeError(other, ['claim', 'F-1'], { world })).toMatchObject(held);
    clock.set('2026-03-01T10:10:01.000Z');
    await claim(other, 'F-1', { world });
    const lost = { exitCode: 3, code: 'claim.lost', hint: expect.stringContaining('forge next') };
    expect(await forgeError(project, ['done', 'F-1'], { world })).toMatchObject(lost);
    const record = ['memory', 'record', '--task', 'F-1', '--exit-code', '0'];
    expect(await forgeError(project, record, { world })).toMatchObject(lost);
    await forgeJson(project, ['memory', 'record', '--task', 'F-2', '--exit-code', '0'], { world });
    await forgeJson(project, ['release', 'F-1'], { world });
    expect(await forgeError(project, ['claim', 'F-1'], { world })).toMatchObject(held);
  });

  it('EVT-03 without NATS the focus, a session and an issue respect what another worktree has claimed', async () => {
    const [project] = await clones();
    const { linear_id: id } = await forgeJson<Issue>(project, ['linear', 'new', 'Wire the login']);
    commitAll(project, 'Features');
    const other = projectAt(`${makeFolder()}/tree`);
    project.git('worktree', 'add', '-q', other.dir);
    await claim(project, id);
    for (const words of ['focus set --issue', 'start', 'linear start', 'linear done'])
      expect([words, await forgeError(other, `${words} ${id}`)]).toMatchObject([words, held]);
    expect(other.git('status', '--porcelain')).toBe('');
    await forgeJson(project, ['release', id]);
    await forgeJson(other, ['linear', 'start', id]);
    // A worktree that is gone holds nothing.
    await claim(other, id);
    expect(await forgeError(project, ['start', id])).toMatchObject(held);
    project.git('worktree', 'remove', '--force', other.dir);
    await forgeJson(project, ['start', id]);
  });
});

/** A bucket in memory, on a server whose clock is off by so many ms. */
function bucketOf(offset: number): Bucket {
  const entries = new Map<string, { revision: number }>();
  let last = 0;
  const kv = {
    get: async (key: string) => entries.get(key) ?? null,
    put: async (key: string, value: string, { previousSeq }: { previousSeq?: number } = {}) => {
      if (previousSeq !== undefined && previousSeq !== (entries.get(key)?.revision ?? 0))
        throw Object.assign(new Error('wrong last sequence'), { code: 10071 });
      last++;
      const [created, string] = [new Date(Date.now() + offset), () => value];
      const entry = { key, operation: 'PUT', length: 1, created, string };
      entries.set(key, Object.assign({ revision: last }, entry));
      return last;
    },
  };
  return { kv, entries: 1 } as unknown as Bucket;
}

describe('the server’s clock', () => {
  // Only times of that one clock are compared: that of the entry, and that of a key that is written to read the clock.
  it.each([-3_600_000, 3_600_000])('EVT-03 off by %i ms frees no task early, none late', async (offset) => {
    const bucket = bucketOf(offset);
    const held = {
      ...{ task: 'F-1', state: 'held' as const, host: 'h', session: null, branch: null },
      ...{ since: '2026-03-01T10:00:00.000Z', seconds: 2 },
    };
    const first = await takeOnServer(bucket, { ...held, place: 'a' }, true);
    const other = await takeOnServer(bucket, { ...held, place: 'b' }, true);
    expect(other).toMatchObject({ claim: { place: 'a' } });
    expect(await takeOnServer(bucket, { ...held, place: 'a' }, false, Number(first))).toBeGreaterThan(0);
    await setTimeout(2100);
    expect(await takeOnServer(bucket, { ...held, place: 'b' }, true)).toBeGreaterThan(0);
    expect(await takeOnServer(bucket, { ...held, place: 'a' }, false, Number(first))).toMatchObject({
      claim: { place: 'b' },
    });
  });
});

/** Two clones and their server. */
async function connected() {
  const [server, [first, second]] = [await startNats(), await clones()];
  return { server, env: server.env, first, second };
}

/** Why forge next leaves a task alone. */
async function reasonOf(project: Project, task: string, env: NodeJS.ProcessEnv) {
  const { candidates } = await forgeJson<Selection>(project, ['next'], { env });
  return candidates.find(({ id }) => id === task)?.reason;
}

describe.skipIf(!hasNats)('claims with NATS', () => {
  it('EVT-03 a focus claims its task, another focus and the end of the session free it', async () => {
    const { env, first, second } = await connected();
    await forgeJson(first, ['start', 'F-1'], { env });
    expect(await forgeError(second, ['start', 'F-1'], { env })).toMatchObject(held);
    expect(await forgeError(second, ['focus', 'set', '--task', 'F-1: Do F-1'], { env })).toMatchObject(held);
    // Without a task named, the session begins with one that is free.
    const started = await forgeJson<{ focus: { task: string } }>(second, ['start'], { env });
    expect(started.focus.task).toBe('F-2: Do F-2');
    for (const task of ['F-2: Do F-2', 'f-2', 'do f-2'])
      expect(await forgeError(first, ['focus', 'set', '--task', task], { env })).toMatchObject(held);
    await forgeJson(second, ['end'], { env });
    await forgeJson(first, ['focus', 'set', '--task', 'F-2: Do F-2'], { env });
    await claim(second, 'F-1', { env });
  });

  it('EVT-03 B-70 while the server is away claims hold on this machine, and are shared when it is back', async () => {
    const { server, env, first, second } = await connected();
    await claim(second, 'F-2', { env });
    await forgeJson(first, ['next'], { env });
    await server.kill();
    const { exitCode, stdout, stderr } = await runForge(first, ['claim', 'F-1'], { env });
    expect([exitCode, stdout, stderr]).toEqual([
      0,
      expect.stringContaining('in the worktrees of this repository'),
      expect.stringMatching(
        /^! Claims hold in the worktrees of this repository only, .* connection refused\.\n$/,
      ),
    ]);
    // The last answer of the server still counts.
    expect(await forgeError(first, ['claim', 'F-2'], { env })).toMatchObject(held);
    await server.start();
    await claim(first, 'F-1', { env });
    expect(await forgeError(second, ['claim', 'F-1'], { env })).toMatchObject(held);
    const silent = await startSilent();
    expect((await runForge(first, ['next'], { env: silent.env })).exitCode).toBe(0);
  });

  it('EVT-03 starting an issue claims it, and only its holder finishes it', async () => {
    const { env, first, second } = await connected();
    const { linear_id: id } = await forgeJson<Issue>(first, ['linear', 'new', 'Wire the login']);
    commitAll(first, 'Issue');
    second.git('checkout', '-q', '-f', '.');
    second.git('clean', '-qfd');
    second.git('pull', '-q', '--no-rebase');
    await forgeJson(first, ['linear', 'start', id], { env });
    for (const word of ['start', 'done'])
      expect([word, await forgeError(second, ['linear', word, id], { env })]).toMatchObject([word, held]);
    await forgeJson(first, ['linear', 'done', id], { env });
    expect(await reasonOf(second, id, env)).toContain('which finished it');
  });

  it('EVT-03 what was finished while the server was away is sent when it is back', async () => {
    const { server, env, first, second } = await connected();
    await claim(first, 'F-1', { env });
    await server.kill();
    first.write('ok', '');
    expect((await runForge(first, ['done', 'F-1'], { env })).exitCode).toBe(0);
    await server.start();
    await forgeJson(first, ['next'], { env });
    expect(await reasonOf(second, 'F-1', env)).toContain(
      'which finished it (pull or merge it, or: forge claim F-1)',
    );
    // A person who asks for it gets it.
    await claim(second, 'F-1', { env });
  });

  it('EVT-03 what was released is not remembered once the server goes away', async () => {
    const { server, env, first, second } = await connected();
    await claim(second, 'F-1', { env });
    await forgeJson(first, ['next'], { env });
    await forgeJson(second, ['release', 'F-1'], { env });
    const fleet = () => forgeJson<Fleet>(first, ['fleet'], { env });
    expect(await fleet()).toMatchObject({ source: 'server', rows: [] });
    await server.kill();
    expect(await fleet()).toMatchObject({ source: 'machine', rows: [] });
    await claim(first, 'F-1', { env });
  });

  it('EVT-03 of two that claimed a task without the server, the loser cannot verify it', async () => {
    const { server, env, first, second } = await connected();
    await server.kill();
    for (const project of [first, second]) await claim(project, 'F-1', { env });
    await server.start();
    await claim(first, 'F-1', { env });
    await expectLost(second, ['done', 'F-1'], { env });
    await expectLost(second, ['memory', 'record', '--task', 'F-1', '--exit-code', '0'], { env });
    const released = await runForge(second, ['release', 'F-1'], { env });
    expect(released.stdout).toMatch(/^✓ You no longer hold F-1\. It is held by .+\n$/);
    expect((await runForge(first, ['release', 'F-1'], { env })).stdout).toBe('✓ You no longer hold F-1\n');
  });

  it('EVT-03 a release that the server does not get is warned about', async () => {
    const { server, env, first, second } = await connected();
    await claim(first, 'F-1', { env });
    await server.kill();
    await claim(second, 'F-2', { env });
    const { stderr } = await runForge(first, ['release', 'F-1'], { env });
    expect(stderr).toMatch(/^! Claims hold in the worktrees of this repository only, /);
    await server.start();
    await claim(first, 'F-2', { env });
    await expectLost(second, ['done', 'F-2'], { env });
    await forgeJson(first, ['release', 'F-2'], { env });
    await forgeJson(second, ['next'], { env });
    const { message } = await forgeError(second, ['done', 'F-2'], { env });
    expect(message).toContain('Your claim on F-2 is lost: somebody else held it meanwhile.');
  });

  it('B-76 a claim with escape codes is shown as data', async () => {
    const { server, env, first } = await connected();
    await claim(first, 'F-2', { env });
    const kv = await kvOf(server);
    const own = (await kv.get('task.F-2'))?.json<object>();
    const evil = { ...own, task: 'F-1', place: 'x', host: '\u001b]0;x\u0007\nF-9' };
    await kv.put('task.F-1', JSON.stringify(evil));
    for (const args of [['next'], ['fleet'], ['claim', 'F-1']]) {
      const { stdout, stderr } = await runForge(first, args, { env });
      const hidden = [...(stdout + stderr)].filter((char) => char < ' ' && char !== '\n');
      expect([hidden, /^F-9/m.test(stdout + stderr)]).toEqual([[], false]);
    }
    expect((await forgeJson<Selection>(first, ['next'], { env })).task?.id).toBe('F-2');
  });

  it('EVT-03 a session for which others hold every task says so', async () => {
    const { env, first, second } = await connected();
    for (const id of ['F-1', 'F-2']) await claim(first, id, { env });
    const { stderr } = await runForge(second, ['start'], { env });
    expect(stderr).toMatch(/No task is set: everything left is blocked; F-1 waits for /);
  });
});
