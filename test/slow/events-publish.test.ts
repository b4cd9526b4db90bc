import { existsSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { DAY, playDay, types, waiting } from '../support/event-days.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { CONFIG, makeForge } from '../support/forge-project.js';
import {
  client,
  hasNats,
  listed,
  OUTBOX,
  relayTo,
  startNats,
  startSilent,
  twoClones,
} from '../support/nats-server.js';

afterEach(() => void vi.restoreAllMocks());

describe.skipIf(!hasNats)('events, with a NATS server', () => {
  it('EVT-01 a subscriber sees RFC-9060’s subjects with CloudEvents headers, under another prefix too', async () => {
    const [server, project] = [await startNats(), await makeForge()];
    await forgeJson(project, ['config', 'set', 'events.prefix', 'acme.memory']);
    const messages: [subject: string, headers: Record<string, string | undefined>][] = [];
    const connection = await client(server);
    connection.subscribe('acme.memory.>', {
      callback: (_, { subject, headers }) => {
        const names = ['ce-specversion', 'ce-type', 'ce-id', 'ce-source', 'Nats-Msg-Id'];
        const found = Object.fromEntries(names.map((name) => [name, headers?.get(name)]));
        // On a busy machine the first answer may come too late, and the event is sent again.
        if (messages.every(([, { 'ce-id': id }]) => id !== found['ce-id'])) messages.push([subject, found]);
      },
    });
    await connection.flush();
    await forgeJson(project, ['start'], { env: server.env });
    await forgeJson(project, ['note', 'add', 'x'], { env: server.env });
    await expect.poll(() => messages.length).toBe(2);
    expect(messages.map(([subject]) => subject)).toEqual([
      'acme.memory.session.start',
      'acme.memory.learning',
    ]);
    const [[, headers]] = messages as [(typeof messages)[number]];
    expect(headers).toMatchObject({ 'ce-specversion': '1.0', 'ce-type': 'acme.memory.session.start' });
    expect(headers['ce-id']).toBe(headers['Nats-Msg-Id']);
  });

  it('EVT-01 with JetStream off events go to those who listen, and list says that nothing is kept', async () => {
    const [server, project] = [await startNats({ jetstream: false }), await makeForge()];
    let heard = 0;
    const connection = await client(server);
    connection.subscribe('sx9.forge.memory.>', { callback: () => void heard++ });
    await connection.flush();
    await playDay(project, server.env);
    await expect.poll(() => heard).toBe(DAY.length);
    expect(waiting(project)).toBe(0);
    expect(await forgeError(project, ['events', 'list'], { env: server.env })).toMatchObject({
      ...{ exitCode: 6, code: 'events.no_stream', message: expect.stringContaining('keeps no events') },
    });
  });

  it('EVT-01 two processes that flush the same outbox lose, repeat and reorder nothing', async () => {
    const [server, project] = [await startNats(), await makeForge()];
    await server.kill();
    const texts = Array.from({ length: 30 }, (_, i) => `note ${i}`);
    const env = { NATS_URL: 'nats://127.0.0.1:1' };
    for (const text of texts) await forgeJson(project, ['note', 'add', text], { env });
    await server.start();
    await Promise.all([1, 2, 3].map(() => forgeJson(project, ['events', 'flush'], { env: server.env })));
    const { events } = await listed(project, server);
    expect(events.map(({ data }) => data.title)).toEqual(texts);
  });

  it('EVT-02 a command whose events have arrived does not complain about what came after', async () => {
    const [server, [first, second]] = [await startNats(), await twoClones()];
    await forgeJson(second, ['note', 'add', 'x'], { env: server.env });
    // The events of others are never sent.
    const env = await relayTo(server, (sent) => (sent.includes('CONSUMER') ? null : sent));
    const { exitCode, stderr } = await runForge(first, ['note', 'add', 'y'], { env });
    expect([exitCode, stderr, waiting(first)]).toEqual([0, '', 0]);
  });

  it.each([
    ['another protocol', '220 smtp ready\r\n'],
    ['half an INFO', 'INFO {"server_id":\r\n'],
    ['an INFO, then rubbish', 'INFO {"max_payload":100000,"version":"2.9.10"}\r\nPONG\r\nrubbish\r\n'],
    ['endless bytes', 'x'.repeat(100_000)],
  ])('EVT-02 B-72 a lying server: %s', async (_, greeting) => {
    const [liar, project] = [await startSilent(greeting), await makeForge()];
    const { exitCode, stdout, stderr } = await runForge(project, 'note add x --json', { env: liar.env });
    expect([exitCode, stderr, JSON.parse(stdout)]).toMatchObject([0, '', { text: 'x' }]);
    expect(waiting(project)).toBe(1);
  });

  it('B-74 B-77 a password in the repository is refused, and never shown', async () => {
    const project = await makeForge();
    const error = await forgeError(project, 'config set events.url nats://ada:hunter2secret@host:4222');
    expect([2, 5]).toContain(error.exitCode);
    project.write(
      CONFIG,
      project.read(CONFIG).replace('[events]\n', '[events]\nurl = "nats://ada:hunter2secret@h"\n'),
    );
    const read = await forgeError(project, ['events', 'list']);
    expect(read).toMatchObject({ exitCode: 4, message: expect.stringContaining('NATS_PASSWORD') });
    expect(JSON.stringify([error, read])).not.toContain('hunter2');
  });

  it('EVT-01 a full stream refuses, and the events wait', async () => {
    const [server, project] = [await startNats(), await makeForge()];
    const manager = await (await import('@nats-io/jetstream')).jetstreamManager(await client(server));
    await manager.streams.add({
      ...{ name: 'FORGE_MEMORY', subjects: ['sx9.forge.memory.>'], max_msgs: 1, discard: 'new' as never },
    });
    await forgeJson(project, ['note', 'add', 'one'], { env: server.env });
    const { exitCode, stderr } = await runForge(project, ['note', 'add', 'two'], { env: server.env });
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('maximum messages exceeded')]);
    expect(waiting(project)).toBe(1);
    await manager.streams.update('FORGE_MEMORY', { max_msgs: 10 });
    await forgeJson(project, ['events', 'flush'], { env: server.env });
    expect(await types(project, server)).toEqual(['learning', 'learning']);
  });

  it('EVT-01 a dry run writes and sends nothing; a damaged file does not stop the others', async () => {
    const [server, project] = [await startNats(), await makeForge()];
    await forgeJson(project, ['note', 'add', 'x', '--dry-run'], { env: server.env });
    expect(existsSync(project.path(OUTBOX))).toBe(false);
    project.write(`${OUTBOX}/000000000000001-aaaaaaaa-0000.json`, '{"half');
    await forgeJson(project, ['note', 'add', 'x'], { env: server.env });
    expect([waiting(project), await types(project, server)]).toEqual([0, ['learning']]);
  });
});
