import { existsSync, readdirSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Flushed, ForgeEvent } from '../../src/index.js';
import { DAY, playDay, types, waiting } from '../support/event-days.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { CONFIG, makeForge } from '../support/forge-project.js';
import {
  client,
  hasNats,
  listed,
  OUTBOX,
  startNats,
  startSilent,
  twoClones,
} from '../support/nats-server.js';

afterEach(() => void vi.restoreAllMocks());

describe.skipIf(!hasNats)('events, with a NATS server', () => {
  it('EVT-01 each kind of change is an event in JetStream, in order, once', async () => {
    const [server, project] = [await startNats(), await makeForge()];
    const { events } = await playDay(project, server.env);
    expect(events.map(({ type, sent }) => [type, sent])).toEqual([
      ['learning', true],
      ['session_end', true],
    ]);
    const found = await listed(project, server);
    expect(found.events.map(({ type }) => type)).toEqual(DAY);
    expect(waiting(project)).toBe(0);
    const [start, note] = found.events as unknown as ForgeEvent[];
    expect(start).toMatchObject({
      ...{ schema_version: '1.0', actor: 'human', data: { branch: 'main', task: 'Wire the login' } },
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      project: expect.stringMatching(/^[0-9a-f]{64}$/),
      session: expect.stringMatching(/^\d{4}-\d\d-\d\d-session-001-/),
    });
    expect(note?.data).toMatchObject({ kind: 'note', title: 'Redis needs a restart' });
    expect((found.events[6] as { data: object }).data).toMatchObject({ next: 'Deploy', learned: 1 });
  });

  it('EVT-01 off by default: nothing is written, and the commands say how to turn it on', async () => {
    const project = await makeForge();
    const { events } = await playDay(project, {});
    expect([events, existsSync(project.path(OUTBOX))]).toEqual([[], false]);
    expect(await forgeError(project, ['events', 'list'])).toMatchObject({
      ...{ exitCode: 2, code: 'events.off', hint: expect.stringContaining('forge config set events.url') },
    });
  });

  it('EVT-01 EVT-02 B-70 what cannot be sent waits, and goes out later, once and in order', async () => {
    const [server, project] = [await startNats(), await makeForge()];
    await server.kill();
    const start = await runForge(project, ['start'], { env: server.env });
    expect([start.exitCode, start.stderr]).toEqual([
      0,
      expect.stringMatching(
        /^! Claims hold in the worktrees of this repository only, and events wait in the outbox \(forge events flush\): nats:\/\/127\.0\.0\.1:\d+ cannot be reached: connection refused\.$/m,
      ),
    ]);
    await forgeJson(project, ['note', 'add', 'one'], { env: server.env });
    expect(waiting(project)).toBe(2);
    expect(await forgeError(project, ['events', 'flush'], { env: server.env })).toMatchObject({
      ...{ exitCode: 6, code: 'events.unreachable' },
    });
    await server.start();
    await forgeJson(project, ['note', 'add', 'two'], { env: server.env });
    expect(await types(project, server)).toEqual(['session_start', 'learning', 'learning']);
    expect(await forgeJson<Flushed>(project, ['events', 'flush'], { env: server.env })).toEqual({
      ...{ sent: 0, waiting: 0 },
    });
  });

  it('B-75 an event whose acknowledgement was lost is in the stream once', async () => {
    const [server, project] = [await startNats(), await makeForge()];
    await server.kill();
    await forgeJson(project, ['note', 'add', 'one'], { env: server.env });
    const [name] = readdirSync(project.path(OUTBOX));
    const kept = project.read(`${OUTBOX}/${name}`);
    await server.start();
    await forgeJson(project, ['events', 'flush'], { env: server.env });
    project.write(`${OUTBOX}/${name}`, kept);
    expect(await forgeJson<Flushed>(project, 'events flush', { env: server.env })).toMatchObject({ sent: 1 });
    const manager = await (await import('@nats-io/jetstream')).jetstreamManager(await client(server));
    expect((await manager.streams.info('FORGE_MEMORY')).state.messages).toBe(1);
  });

  it('EVT-02 B-70 a server that never answers costs a command one line', async () => {
    const [silent, project] = [await startSilent(), await makeForge()];
    const { exitCode, stderr } = await runForge(project, ['note', 'add', 'x'], { env: silent.env });
    expect([exitCode, stderr]).toEqual([0, expect.stringMatching(/^! Claims hold .*\n$/)]);
  });

  it('B-74 an address that came with the repository is used only after a person approved it', async () => {
    const [server, [first, second]] = [await startNats(), await twoClones()];
    first.write(CONFIG, first.read(CONFIG).replace('[events]\n', `[events]\nurl = "${server.url}"\n`));
    second.write(CONFIG, first.read(CONFIG));
    const connections = async (): Promise<number> => Number((await client(server)).info?.client_id);
    const before = await connections();
    await forgeJson(second, ['note', 'add', 'x']);
    expect([existsSync(second.path(OUTBOX)), await connections()]).toEqual([false, before + 1]);
    expect(await forgeError(second, ['events', 'flush'])).toMatchObject({
      ...{ exitCode: 3, code: 'trust.needed', hint: 'forge trust' },
    });
    await forgeJson(second, ['feature', 'add', 'F-1', 'Log in', '--no-run']);
    for (const command of [['fleet'], ['claim', 'F-1']]) {
      const { exitCode, stderr } = await runForge(second, command);
      expect([exitCode, stderr]).toEqual([0, expect.stringMatching(/was not approved .*\(forge trust\)/)]);
    }
    const { stdout } = await runForge(second, ['trust', '--show']);
    expect(stdout).toContain(`[events] url  not approved\n  ${server.url}`);
    await runForge(second, ['trust', '--yes'], { terminal: true });
    await forgeJson(second, ['note', 'add', 'y']);
    expect((await forgeJson<{ events: object[] }>(second, ['events', 'list'])).events).toHaveLength(1);
    // Typing it is approving it.
    await forgeJson(first, ['config', 'set', 'events.url', server.url]);
    expect((await forgeJson<{ events: object[] }>(first, ['events', 'list'])).events).toHaveLength(1);
  });
});
