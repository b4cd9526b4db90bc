import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { forgeJson, runBinary, startBinary } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { ask, type Reply, servePage } from '../support/page.js';
import { follow, makePlainProject } from '../support/project.js';

const codeOf = ({ body }: Reply): string => (JSON.parse(body) as { error: { code: string } }).error.code;

/** Sends bytes as they stand, and returns what comes back until the server closes. */
function sendRaw(port: number, text: string): Promise<string> {
  return new Promise((done, fail) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (chunk) => {
      answer += chunk.toString();
    });
    socket.on('close', () => done(answer));
    socket.on('error', fail);
  });
}

const pathOf = (address: string): string => `/${new URL(address).search}`;

describe('the page’s server', () => {
  it('B-95 refuses a name that resolves to this machine, and listens on the loopback only', async () => {
    const server = await servePage(await makeForge());
    const authorization = `Bearer ${server.token}`;
    const others = ['evil.com', `evil.com:${server.port}`, '127.0.0.1', '127.0.0.1:1'];
    for (const host of [...others, `0.0.0.0:${server.port}`]) {
      const reply = await ask(server, '/api/overview', { headers: { host, authorization } });
      expect([host, reply.status, codeOf(reply)]).toEqual([host, 403, 'ui.host']);
      expect((await ask(server, pathOf(server.url), { headers: { host } })).status).toBe(403);
    }
    for (const host of [`localhost:${server.port}`, `127.0.0.1:${server.port}`])
      expect((await ask(server, '/api/kfr', { headers: { host, authorization } })).status).toBe(200);
    expect(new URL(server.url).hostname).toBe('127.0.0.1');
  });

  it('B-96 refuses other sites and other methods; the token never opens a changing request', async () => {
    const server = await servePage(await makeForge());
    const authorization = `Bearer ${server.token}`;
    const headers: Record<string, string>[] = [
      { origin: 'https://evil.com' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site', 'sec-fetch-dest': 'document' },
    ];
    for (const header of headers) {
      const reply = await ask(server, '/api/features', { headers: { authorization, ...header } });
      expect([header, reply.status, codeOf(reply)]).toEqual([header, 403, 'ui.origin']);
    }
    const inFrame = { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'iframe' };
    expect((await ask(server, '/', { headers: inFrame })).status).toBe(403);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const reply = await ask(server, '/api/features', { method, headers: { authorization } });
      expect([method, reply.status, reply.headers.allow]).toEqual([method, 405, 'GET, HEAD']);
    }
  });

  it('B-102 takes the token of the address once, for a cookie that no script and no other site gets', async () => {
    const server = await servePage(await makeForge());
    const path = pathOf(server.url);
    expect((await ask(server, '/')).status).toBe(403);
    expect((await ask(server, '/?token=guess')).status).toBe(403);
    const first = await ask(server, path);
    expect(first.status).toBe(200);
    const cookie = String(first.headers['set-cookie']);
    expect(cookie).toMatch(/^forge_\d+=[\w-]{32}; HttpOnly; SameSite=Strict; Path=\/$/);
    expect(first.headers['referrer-policy']).toBe('no-referrer');
    expect(first.body).not.toContain(path.split('=')[1]);
    // The address is useless to someone who finds it later in a history or a log.
    const second = await ask(server, path);
    expect(second.status).toBe(403);
    expect(second.headers['set-cookie']).toBeUndefined();
    expect(second.body).toContain('forge ui');
    const own = { headers: { cookie: cookie.split(';')[0] ?? '' } };
    expect((await ask(server, '/', own)).status).toBe(200);
    expect((await ask(server, '/api/overview', own)).status).toBe(200);
    expect((await ask(server, '/api/overview')).status).toBe(403);
    for (const guess of ['guess', path.split('=')[1]]) {
      const other = { headers: { authorization: `Bearer ${guess}` } };
      expect(codeOf(await ask(server, '/api/overview', other))).toBe('ui.token');
    }
  });

  it('B-97 sends a policy that allows no inline script and no other place', async () => {
    const server = await servePage(await makeForge());
    for (const path of ['/', '/page.js', '/api/overview', '/nothing']) {
      const { headers } = await ask(server, path);
      const policy = headers['content-security-policy'];
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['cache-control']).toBe('no-store');
    }
  });

  it('B-98 serves fixed routes, and no file', async () => {
    const project = await makeForge();
    const server = await servePage(project);
    const headers = { authorization: `Bearer ${server.token}` };
    const paths = `/..%2f..%2fetc/passwd /../../etc/passwd /%2e%2e/%2e%2e/etc/passwd /.forge/config.toml
      //evil.com /page.js/..%2f.. /..%5c..%5cetc /%00 /page.js%00 /api/../.forge/config.toml
      /api/tree/config.toml /dist/ui/page.js /api/features/..%2f..%2fconfig /api/records/%2e%2e`;
    for (const path of paths.split(/\s+/)) {
      const { status, body } = await ask(server, path, { headers });
      expect([path, status === 404 || status === 400]).toEqual([path, true]);
      expect(body).not.toContain('root:');
      expect(body).not.toContain('schema_version');
    }
    for (const line of ['GET http://evil.com/api/overview HTTP/1.1', 'GET /%zz HTTP/1.1', 'nonsense']) {
      const request = `${line}\r\nHost: evil.com\r\nConnection: close\r\n\r\n`;
      expect(await sendRaw(server.port, request)).toMatch(/^HTTP\/1\.1 4\d\d/);
    }
  });

  it('B-99 reads no body, and lets a limited number of pages listen', async () => {
    const server = await servePage(await makeForge());
    const authorization = `Bearer ${server.token}`;
    const host = `Host: 127.0.0.1:${server.port}\r\n`;
    const large = `GET /api/overview HTTP/1.1\r\n${host}Content-Length: ${1024 ** 3}\r\n\r\nxxx`;
    expect(await sendRaw(server.port, large)).toMatch(/^HTTP\/1\.1 413/);
    const head = `${host}Authorization: ${authorization}\r\n`;
    const streams = Array.from({ length: 40 }, () => connect(server.port, '127.0.0.1'));
    const answers = streams.map(
      (socket) =>
        new Promise<string>((done) => {
          socket.on('error', () => done(''));
          socket.once('data', (chunk) => done(chunk.toString()));
          socket.write(`GET /api/events HTTP/1.1\r\n${head}\r\n`);
        }),
    );
    const firstLines = (await Promise.all(answers)).map((text) => text.slice(0, 12));
    expect(firstLines.filter((line) => line === 'HTTP/1.1 200')).toHaveLength(32);
    expect(firstLines.filter((line) => line === 'HTTP/1.1 503')).toHaveLength(8);
    // Pages that are closed make room for others.
    for (const socket of streams) socket.destroy();
    const again = async () =>
      (await sendRaw(server.port, `HEAD /api/kfr HTTP/1.1\r\n${head}Connection: close\r\n\r\n`)).slice(0, 12);
    expect(await again()).toBe('HTTP/1.1 200');
  });

  it('B-101 says that a port is taken: exit 6; killed, it leaves nothing behind', async () => {
    const project = await makeForge();
    const server = await servePage(project);
    const { exitCode, stderr } = runBinary(project.dir, ['ui', '--port', String(server.port)]);
    expect(exitCode).toBe(6);
    expect(stderr).toBe(
      `forge: Port ${server.port} on 127.0.0.1 cannot be used: another program listens there.\n  → forge ui   # without --port it takes a free one\n`,
    );
    const started = startBinary(project.dir, ['ui', '--json']);
    const line = await new Promise<string>((done) =>
      started.stdout?.once('data', (chunk) => done(chunk.toString())),
    );
    const { port, token, root } = JSON.parse(line) as { port: number; token: string; root: string };
    expect(root).toBe(project.dir);
    const headers = { authorization: `Bearer ${token}` };
    expect((await ask({ port }, '/api/kfr', { headers })).status).toBe(200);
    expect(project.has('.forge/local/lock')).toBe(false);
    started.kill('SIGKILL');
    await new Promise((done) => started.once('exit', done));
    await forgeJson(project, ['feature', 'add', 'A', 'Works']);
    expect(project.git('status', '--porcelain', '--', ':!.forge/memory')).toBe('');
  });

  it('VIS-02 ends on Ctrl-C, with one address on stdout', async () => {
    const project = await makeForge();
    const started = startBinary(project.dir, ['ui']);
    const said = follow(started);
    await expect.poll(() => said.stderr).toContain('Ctrl-C ends it');
    started.kill('SIGINT');
    expect((await said.ended).exitCode).toBe(130);
    expect(said.stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{32}\n$/);
  });

  it('VIS-02 needs a .forge/, and a port that is one', async () => {
    const nothing = runBinary(makePlainProject().dir, ['ui']);
    expect([nothing.exitCode, nothing.stdout]).toEqual([2, '']);
    expect(nothing.stderr).toContain('forge init');
    const project = await makeForge();
    for (const port of ['0', '65536', 'x', '-1', '1e3'])
      expect([port, runBinary(project.dir, ['ui', `--port=${port}`]).exitCode]).toEqual([port, 2]);
  });
});
