import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BIN, forgeJson, runForge } from '../support/forge.js';
import { makeStarted, PROGRESS } from '../support/forge-project.js';
import { isAlive } from '../support/kills.js';
import type { Project } from '../support/project.js';
import { CLIENT, greeted } from '../support/servers.js';

const LOCK = '.forge/local/lock';

/** A feature whose test starts a child of its own and says both process ids in a file. */
async function withLongTest(project: Project): Promise<() => Promise<number[]>> {
  const script = `sleep 1000 & echo "$$ $!" > pids; wait`;
  project.write('long.sh', script);
  await forgeJson(project, ['feature', 'add', '--no-run', 'LONG', 'takes long', '--test', 'sh long.sh']);
  await runForge(project, ['trust', '--yes'], { terminal: true });
  const pids = (): number[] =>
    project.has('pids') ? project.read('pids').trim().split(' ').map(Number) : [];
  return async () => {
    await expect.poll(() => pids().filter(isAlive)).toHaveLength(2);
    return pids();
  };
}

const gone = (pids: readonly number[]): Promise<void> => expect.poll(() => pids.filter(isAlive)).toEqual([]);

describe('a canceled call', () => {
  it('B-82 ends the test with all its processes, and records nothing', async () => {
    const project = await makeStarted();
    const started = await withLongTest(project);
    const wire = await greeted(project);
    wire.send({ id: 'long', method: 'tools/call', params: { name: 'feature_verify', arguments: {} } });
    const pids = await started();
    // While it runs others are answered.
    expect((await wire.call('aside', 'progress_add', { text: 'meanwhile' })).result?.isError).toBeUndefined();

    wire.send({ method: 'notifications/cancelled', params: { requestId: 'long', reason: 'enough' } });
    await gone(pids);
    await wire.lives();
    expect(wire.messages.filter(({ id }) => id === 'long')).toEqual([]);
    const { features } = await forgeJson<{ features: { status: string }[] }>(project, ['feature', 'list']);
    expect(features).toMatchObject([{ status: 'not_implemented' }]);
  });
});

describe('many calls at once', () => {
  it('B-82 1,000 are all done and answered in order', async () => {
    const project = await makeStarted();
    const wire = await greeted(project);
    const answers = await Promise.all(
      Array.from({ length: 1000 }, (_, i) => wire.call(i, 'progress_add', { text: `line ${i}.` })),
    );
    expect(answers.filter(({ result }) => result?.isError === undefined)).toHaveLength(1000);
    const lines = [...project.read(PROGRESS).matchAll(/line (\d+)\./g)].map(([, n]) => Number(n));
    expect(lines).toEqual(Array.from({ length: 1000 }, (_, i) => i));
  });

  it('B-82 beyond 1,024 get the error busy, and later calls work', async () => {
    const project = await makeStarted();
    const wire = await greeted(project);
    const call = { jsonrpc: '2.0', method: 'tools/call', params: { name: 'briefing', arguments: {} } };
    const calls = Array.from({ length: 3000 }, (_, id) => `${JSON.stringify({ ...call, id })}\n`);
    wire.write(calls.join(''));
    await expect.poll(() => wire.messages.length).toBeGreaterThanOrEqual(3001);
    const refused = wire.messages.filter(({ error }) => error !== undefined);
    const answered = wire.messages.filter(({ result }) => result?.content !== undefined);
    expect(refused.length + answered.length).toBe(3000);
    expect(answered.length).toBeGreaterThanOrEqual(1024);
    expect(refused.length).toBeGreaterThan(0);
    for (const { error } of refused)
      expect(error).toMatchObject({ code: -32000, message: expect.stringMatching(/^busy: 1024 calls/) });
    expect((await wire.call('again', 'briefing')).error).toBeUndefined();
  });
});

/** A client with a server of its own, in a process that can be killed. Prints the server's process id. */
function startClient(project: Project, calls: readonly object[]): ChildProcess {
  const opening = [
    { id: 'hello', method: 'initialize', params: CLIENT },
    { method: 'notifications/initialized' },
    ...calls,
  ].map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const script = `
    const server = require('node:child_process').spawn(process.execPath, [${JSON.stringify(BIN)}, 'mcp'], { stdio: ['pipe', 'pipe', 'inherit'] });
    server.stdin.write(${JSON.stringify(opening.join(''))});
    console.log(server.pid);
    server.stdout.on('data', () => {});
    setInterval(() => {}, 1000)`;
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const child = spawn(process.execPath, ['-e', script], { cwd: project.dir, stdio: [...stdio] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

const serverOf = (client: ChildProcess): Promise<number> =>
  new Promise((done) => client.stdout?.once('data', (chunk: Buffer) => done(Number(String(chunk)))));

/** What a death may leave: whole lines, no draft, no lock. */
async function expectWhole(project: Project): Promise<void> {
  expect(project.has(LOCK)).toBe(false);
  const names = readdirSync(project.path('.forge'), { recursive: true });
  expect(names.filter((name) => String(name).endsWith('.tmp'))).toEqual([]);
  expect(project.read(PROGRESS)).toMatch(/(^|\n)(\[\d\d:\d\d\] [^\n]*\n)+$/);
  expect((await runForge(project, ['progress', 'add', 'after'])).exitCode).toBe(0);
  expect((await runForge(project, ['memory', 'verify'])).exitCode).toBe(0);
}

describe('a client that dies', () => {
  it.each([0, 20, 80, 200])('B-81 by kill -9 at %d ms: all is whole, ended and unlocked', async (ms) => {
    const project = await makeStarted();
    const calls = Array.from({ length: 300 }, (_, id) => {
      const note = { name: 'learn', arguments: { kind: 'note', text: `note ${id}` } };
      const line = { name: 'progress_add', arguments: { text: `line ${id}` } };
      return { id, method: 'tools/call', params: id % 3 === 0 ? note : line };
    });
    const client = startClient(project, calls);
    const pid = await serverOf(client);
    if (ms > 0) await expect.poll(() => project.read(PROGRESS), { interval: 2 }).toContain('line');
    await pause(ms);
    client.kill('SIGKILL');
    await gone([pid]);
    await expectWhole(project);
  });

  it('B-81 by kill -9 during a long test: the test ends with all its processes', async () => {
    const project = await makeStarted();
    const started = await withLongTest(project);
    const call = { id: 1, method: 'tools/call', params: { name: 'feature_verify', arguments: {} } };
    const client = startClient(project, [call]);
    const pid = await serverOf(client);
    const pids = await started();
    client.kill('SIGKILL');
    await gone([pid, ...pids]);
    await expectWhole(project);
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'B-81 %s ends the server, and the test that it runs',
    async (signal) => {
      const project = await makeStarted();
      const started = await withLongTest(project);
      const wire = await greeted(project);
      wire.send({ id: 1, method: 'tools/call', params: { name: 'feature_verify', arguments: {} } });
      const pids = await started();
      wire.server.kill(signal);
      expect(await wire.ended).toBe(130);
      await gone(pids);
      await expectWhole(project);
    },
  );

  it('B-81 at the end of stdin, inside a message too: the server exits with 0', async () => {
    const project = await makeStarted();
    const wire = await greeted(project);
    await wire.call(1, 'progress_add', { text: 'kept' });
    wire.write('{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"progress_add","argu');
    expect(await wire.close()).toBe(0);
    expect(wire.stderr).toBe('');
    expect(project.read(PROGRESS)).toContain('kept');
    await expectWhole(project);
  });

  it('B-81 that stops reading: the server ends at its next answer, and the write is done', async () => {
    const project = await makeStarted();
    const wire = await greeted(project);
    wire.server.stdout?.destroy();
    wire.send({ id: 1, method: 'tools/call', params: { name: 'progress_add', arguments: { text: 'kept' } } });
    expect(await wire.ended).toBe(0);
    expect(wire.stderr).toBe('');
    expect(project.read(PROGRESS)).toContain('kept');
    await expectWhole(project);
  });
});
