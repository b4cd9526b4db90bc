import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { nkeys } from '@nats-io/transport-node';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { DAY, playDay, types, waiting } from '../support/event-days.js';
import { forgeError, forgeJson, runForge, startBinary } from '../support/forge.js';
import { CONFIG, makeForge } from '../support/forge-project.js';
import { kills as rounds } from '../support/kills.js';
import {
  client,
  hasNats,
  listed,
  type NatsServer,
  OUTBOX,
  relayTo,
  startNats,
  startSilent,
  twoClones,
} from '../support/nats-server.js';
import { makeFolder, type Project, projectAt } from '../support/project.js';

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
    const subjects = ['acme.memory.session.start', 'acme.memory.learning'];
    expect(messages.map(([subject]) => subject)).toEqual(subjects);
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
    const config = project.read(CONFIG);
    project.write(CONFIG, config.replace('[events]\n', '[events]\nurl = "nats://ada:hunter2secret@h"\n'));
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

const PASSWORD = 'correct-horse-battery';

const flush = (project: Project, server: NatsServer, env: NodeJS.ProcessEnv) =>
  forgeJson<{ sent: number }>(project, ['events', 'flush'], { env: { ...server.env, ...env } });

const refusal = (project: Project, server: NatsServer, env: NodeJS.ProcessEnv) =>
  forgeError(project, ['events', 'flush'], { env: { ...server.env, ...env } });

/** A certificate authority, and a certificate of it for `name`. */
function makeCertificates(name: string, days = '2'): Record<'ca' | 'cert' | 'key', string> {
  const folder = makeFolder();
  const openssl = (line: string): void =>
    void execFileSync('openssl', line.split(' '), { cwd: folder, stdio: 'ignore' });
  projectAt(folder).write('ext', `subjectAltName = ${name}\n`);
  openssl('req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=ca -keyout ca.key -out ca.pem');
  openssl('req -newkey rsa:2048 -nodes -subj /CN=server -keyout key.pem -out csr.pem');
  const sign = 'x509 -req -in csr.pem -CA ca.pem -CAkey ca.key -CAcreateserial -extfile ext -out cert.pem';
  openssl(`${sign} -days ${days}`);
  return { ca: join(folder, 'ca.pem'), cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
}

const tls = ({ ca, cert, key }: ReturnType<typeof makeCertificates>, rest = ''): string =>
  `tls { cert_file: "${cert}", key_file: "${key}", ca_file: "${ca}"${rest} }`;

describe.skipIf(!hasNats)('credentials for NATS', () => {
  it('EVT-01 user and password, token, NKey and a context file come from the environment', async () => {
    const project = await makeForge();
    const userServer = await startNats({ rest: `authorization { user: ada, password: "${PASSWORD}" }` });
    expect(await refusal(project, userServer, {})).toMatchObject({
      ...{ exitCode: 6, message: expect.stringContaining('refused the credentials') },
      hint: expect.stringContaining('export NATS_USER='),
    });
    const user = { NATS_USER: 'ada', NATS_PASSWORD: PASSWORD };
    expect(await flush(project, userServer, user)).toMatchObject({ sent: 0 });
    const url = `nats://ada:${PASSWORD}@127.0.0.1:${userServer.port}`;
    expect(await flush(project, userServer, { NATS_URL: url })).toMatchObject({ sent: 0 });

    const config = makeFolder();
    const context = { url: userServer.url, user: 'ada', password: PASSWORD };
    projectAt(config).write('nats/context/team.json', JSON.stringify(context));
    const named = { NATS_URL: '', NATS_CONTEXT: 'team', XDG_CONFIG_HOME: config };
    expect(await flush(project, userServer, named)).toMatchObject({ sent: 0 });
    for (const NATS_CONTEXT of ['../team', 'none'])
      expect((await refusal(project, userServer, { ...named, NATS_CONTEXT })).exitCode).toBe(2);

    const tokenServer = await startNats({ rest: `authorization { token: "${PASSWORD}" }` });
    expect(await flush(project, tokenServer, { NATS_TOKEN: PASSWORD })).toMatchObject({ sent: 0 });

    const pair = nkeys.createUser();
    const seed = new TextDecoder().decode(pair.getSeed());
    const rest = `authorization { users: [ { nkey: ${pair.getPublicKey()} } ] }`;
    const nkeyServer = await startNats({ rest });
    expect(await flush(project, nkeyServer, { NATS_NKEY: seed })).toMatchObject({ sent: 0 });
    projectAt(config).write('seed', `${seed}\n`);
    expect(await flush(project, nkeyServer, { NATS_NKEY: join(config, 'seed') })).toMatchObject({ sent: 0 });
    expect((await refusal(project, nkeyServer, { NATS_NKEY: join(config, 'none') })).exitCode).toBe(2);
  });

  it('B-77 a refused password is in no message', async () => {
    const rest = 'authorization { user: ada, password: other }';
    const [server, project] = [await startNats({ rest }), await makeForge()];
    const url = `nats://ada:${PASSWORD}@127.0.0.1:${server.port}`;
    const error = await refusal(project, server, { NATS_URL: url });
    expect([error.exitCode, JSON.stringify(error)]).toEqual([6, expect.not.stringContaining(PASSWORD)]);
    const bad = await refusal(project, server, { NATS_URL: `nats://ada:${PASSWORD}@` });
    expect([bad.exitCode, JSON.stringify(bad)]).toEqual([2, expect.not.stringContaining(PASSWORD)]);
  });

  it('EVT-01 missing permissions are named, and the events wait', async () => {
    const rest =
      'authorization { users: [ { user: ada, password: pw1, permissions: { publish: ["$JS.API.STREAM.INFO.>"], subscribe: ["_INBOX.>"] } } ] }';
    const [server, project] = [await startNats({ rest }), await makeForge()];
    const env = { ...server.env, NATS_USER: 'ada', NATS_PASSWORD: 'pw1' };
    await forgeJson(project, ['note', 'add', 'x'], { env });
    expect(await refusal(project, server, env)).toMatchObject({
      ...{ exitCode: 6, message: expect.stringMatching(/may not do this|does not answer/) },
    });
    // Without JetStream the server refuses a message after it was written to the socket.
    const denied =
      'authorization { users: [ { user: ada, password: pw1, permissions: { publish: { deny: ["sx9.>"] } } } ] }';
    const core = await startNats({ jetstream: false, rest: denied });
    expect(await refusal(project, core, { NATS_USER: 'ada', NATS_PASSWORD: 'pw1' })).toMatchObject({
      ...{ exitCode: 6, message: expect.stringContaining('may not do this') },
    });
    expect(await flush(project, await startNats(), {})).toMatchObject({ sent: 1 });
  });

  it('B-73 TLS: the certificate is checked, and a client certificate is shown when it is asked for', async () => {
    const project = await makeForge();
    const good = makeCertificates('IP:127.0.0.1');
    const server = await startNats({ rest: tls(good, ', verify: true') });
    const own = { NATS_CA: good.ca, NATS_CERT: good.cert, NATS_KEY: good.key };
    expect(await flush(project, server, own)).toMatchObject({ sent: 0 });
    expect(await refusal(project, server, { NATS_CA: good.ca })).toMatchObject({ exitCode: 6 });
    const plain = await startNats({ rest: tls(good) });
    expect(await flush(project, plain, { NATS_CA: good.ca })).toMatchObject({ sent: 0 });
    expect(await refusal(project, plain, {})).toMatchObject({
      exitCode: 6,
      message: expect.stringMatching(/certificate/),
      hint: expect.stringContaining('export NATS_CA=FILE'),
    });
    const wrong = await startNats({ rest: tls(makeCertificates('DNS:other.example')) });
    expect(await refusal(project, wrong, { NATS_CA: good.ca })).toMatchObject({ exitCode: 6 });
    const expired = makeCertificates('IP:127.0.0.1', '-1');
    const old = await startNats({ rest: tls(expired) });
    expect(await refusal(project, old, { NATS_CA: expired.ca })).toMatchObject({
      ...{ exitCode: 6, message: expect.stringMatching(/expired/) },
    });
    // A server without TLS where TLS is asked for.
    const open = await startNats();
    const url = open.url.replace('nats:', 'tls:');
    expect(await refusal(project, open, { NATS_URL: url })).toMatchObject({
      ...{ exitCode: 6, message: expect.stringContaining(url) },
    });
  });
});

const exitOf = (child: ReturnType<typeof startBinary>): Promise<number | null> =>
  new Promise((done) => child.on('close', done));

describe.skipIf(!hasNats)('kills of the server and of commands', () => {
  it('EVT-01 what a command acknowledged is in the stream once, and nothing is there that did not happen', async () => {
    const [server, project] = [await startNats(), await makeForge()];
    await forgeJson(project, ['start'], { env: server.env });
    const kept: string[] = [];
    for (let i = 0; i < rounds(15, 100); i++) {
      const child = startBinary(project.dir, ['note', 'add', `note ${i}`], server.env);
      const end = exitOf(child);
      const kind = i % 3;
      // At any moment: before, in the middle of and after the command's work and its sending.
      await new Promise((done) => setTimeout(done, Math.random() * 350));
      if (kind === 0) child.kill('SIGKILL');
      if (kind === 1) {
        await server.kill();
        await server.start();
      }
      if ((await end) === 0) kept.push(`note ${i}`);
    }
    expect(kept.length).toBeGreaterThan(0);
    await forgeJson(project, ['events', 'flush'], { env: server.env });
    const { events } = await listed(project, server, '--type', 'learning');
    const titles = events.map(({ data }) => data.title as string);
    expect(titles.filter((title) => kept.includes(title))).toEqual(kept);
    expect(new Set(titles).size).toBe(titles.length);
    const { notes } = await forgeJson<{ notes: { text: string }[] }>(project, ['note', 'list']);
    const texts = new Set(notes.map(({ text }) => text));
    expect(titles.filter((title) => !texts.has(title))).toEqual([]);
    // Not only the reader has dropped second copies: the stream has none.
    const { jetstreamManager } = await import('@nats-io/jetstream');
    const { state } = await (await jetstreamManager(await client(server))).streams.info('FORGE_MEMORY');
    expect(state.messages).toBe(titles.length + 1);
  });

  it('EVT-03 claims of killed commands are held or free, never held by two', async () => {
    const [server, project] = [await startNats(), await makeForge()];
    await forgeJson(project, ['feature', 'add', '--no-run', 'F-1', 'One', '--test', 'true']);
    for (let i = 0; i < rounds(6, 40); i++) {
      const child = startBinary(project.dir, [i % 2 === 0 ? 'claim' : 'release', 'F-1'], server.env);
      const end = exitOf(child);
      await new Promise((done) => setTimeout(done, Math.random() * 300));
      child.kill('SIGKILL');
      await end;
      // The same worktree can always go on.
      expect(await forgeJson(project, 'claim F-1', { env: server.env })).toMatchObject({ held_by: 'server' });
    }
  });
});
