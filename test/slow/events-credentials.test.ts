import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { nkeys } from '@nats-io/transport-node';
import { describe, expect, it } from 'vitest';
import { forgeError, forgeJson } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { hasNats, type NatsServer, startNats } from '../support/nats-server.js';
import { makeFolder, type Project, projectAt } from '../support/project.js';

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
    expect(await refusal(project, userServer, { ...named, NATS_CONTEXT: '../team' })).toMatchObject({
      exitCode: 2,
    });
    expect(await refusal(project, userServer, { ...named, NATS_CONTEXT: 'none' })).toMatchObject({
      exitCode: 2,
    });

    const tokenServer = await startNats({ rest: `authorization { token: "${PASSWORD}" }` });
    expect(await flush(project, tokenServer, { NATS_TOKEN: PASSWORD })).toMatchObject({ sent: 0 });

    const pair = nkeys.createUser();
    const seed = new TextDecoder().decode(pair.getSeed());
    const nkeyServer = await startNats({
      rest: `authorization { users: [ { nkey: ${pair.getPublicKey()} } ] }`,
    });
    expect(await flush(project, nkeyServer, { NATS_NKEY: seed })).toMatchObject({ sent: 0 });
    projectAt(config).write('seed', `${seed}\n`);
    expect(await flush(project, nkeyServer, { NATS_NKEY: join(config, 'seed') })).toMatchObject({ sent: 0 });
    expect(await refusal(project, nkeyServer, { NATS_NKEY: join(config, 'none') })).toMatchObject({
      exitCode: 2,
    });
  });

  it('B-77 a refused password is in no message', async () => {
    const [server, project] = [
      await startNats({ rest: 'authorization { user: ada, password: other }' }),
      await makeForge(),
    ];
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
