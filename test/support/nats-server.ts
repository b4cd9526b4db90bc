import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { connect as connectNats, type NatsConnection } from '@nats-io/transport-node';
import { expect, onTestFinished } from 'vitest';
import type { EventList } from '../../src/index.js';
import { cloneOf } from './ci.js';
import { forgeJson, runForge } from './forge.js';
import { makeForge } from './forge-project.js';
import { makeFolder, type Project } from './project.js';
import { hasTool } from './tools.js';

/** Debian's nats-server, which `.ci/run` installs. */
export const hasNats = hasTool('nats-server', ['--version']);

export interface NatsServer {
  port: number;
  url: string;
  env: Record<string, string>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** On the same port, with the same files. */
  start(): Promise<void>;
  /** SIGSTOP and SIGCONT. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((done) => void server.close(() => done()));
  return port;
}

const answers = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', () => done(true)).once('error', () => done(false));
    socket.once('data', () => socket.destroy());
  });

/** A server on loopback. `rest` is configuration; JetStream is on unless it is `off`. */
export async function startNats({ rest = '', jetstream = true } = {}): Promise<NatsServer> {
  const folder = makeFolder('forge-nats-');
  const port = await freePort();
  const file = join(folder, 'nats.conf');
  const kept = jetstream ? `jetstream { store_dir: ${JSON.stringify(folder)} }\n` : '';
  writeFileSync(file, `listen: 127.0.0.1:${port}\n${kept}${rest}\n`);
  let process: ChildProcess | undefined;
  const kill = async (): Promise<void> => {
    if (!process || process.exitCode !== null || process.signalCode !== null) return;
    const gone = new Promise((done) => process?.once('exit', done));
    process.kill('SIGKILL');
    await gone;
  };
  const start = async (): Promise<void> => {
    process = spawn('nats-server', ['-c', file], { stdio: 'ignore' });
    await expect.poll(() => answers(port), { timeout: 60_000 }).toBe(true);
  };
  await start();
  onTestFinished(kill);
  const url = `nats://127.0.0.1:${port}`;
  return {
    ...{ port, url, kill, start, env: { NATS_URL: url } },
    signal: (name) => void process?.kill(name),
  };
}

/** A server that says `greeting` and nothing more. */
export async function startSilent(greeting = ''): Promise<{ url: string; env: Record<string, string> }> {
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined);
    if (greeting) socket.write(greeting);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const url = `nats://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, env: { NATS_URL: url } };
}

/** The library's own client, as somebody else's program. */
export async function client({ port }: Pick<NatsServer, 'port'>): Promise<NatsConnection> {
  const connection = await connectNats({ servers: `127.0.0.1:${port}` });
  onTestFinished(() => connection.close().catch(() => undefined));
  return connection;
}

/** The same server behind a relay, where `change` sees what a client sends. Null sends nothing. */
export async function relayTo(
  server: Pick<NatsServer, 'port'>,
  change: (sent: string) => string | null,
): Promise<Record<string, string>> {
  const relay = createServer((socket) => {
    const there = connect(server.port, '127.0.0.1');
    for (const each of [socket, there]) each.on('error', () => undefined);
    there.pipe(socket);
    socket.on('data', (chunk) => {
      const sent = change(chunk.toString('latin1'));
      if (sent !== null) there.write(Buffer.from(sent, 'latin1'));
    });
    socket.once('close', () => there.destroy());
  });
  await new Promise<void>((done) => relay.listen(0, '127.0.0.1', done));
  onTestFinished(() => void relay.close());
  return { NATS_URL: `nats://127.0.0.1:${(relay.address() as AddressInfo).port}` };
}

/** A project with a remote, and a second clone of it with a place of its own. */
export async function twoClones(): Promise<[Project, Project]> {
  const first = await makeForge();
  const second = cloneOf(first);
  await runForge(second, ['trust', '--yes'], { terminal: true });
  return [first, second];
}

export type Listed = EventList;

export const listed = (project: Project, server: NatsServer, ...args: string[]): Promise<Listed> =>
  forgeJson<Listed>(project, ['events', 'list', '--limit', '100000', ...args], { env: server.env });

/** Files that wait in the outbox. */
export const OUTBOX = '.git/forge/outbox';

/** Three servers that share streams. `server` has all three addresses. */
export async function startCluster(): Promise<NatsServer[]> {
  const routes = await Promise.all([freePort(), freePort(), freePort()]);
  const peers = routes.map((port) => `nats://127.0.0.1:${port}`).join(', ');
  const servers = await Promise.all(
    routes.map((port, i) =>
      startNats({
        rest: `server_name: n${i}\ncluster { name: forge, listen: "127.0.0.1:${port}", routes: [ ${peers} ] }`,
      }),
    ),
  );
  const urls = servers.map(({ url }) => url);
  for (const server of servers) server.env.NATS_URL = urls.join(',');
  await settled(urls);
  return servers;
}

/** Until JetStream has a leader among those that run. */
async function settled(servers: string[]): Promise<void> {
  const { jetstreamManager } = await import('@nats-io/jetstream');
  const probe = async (): Promise<boolean> => {
    const connection = await connectNats({ servers, timeout: 1000, reconnect: false });
    try {
      const manager = await jetstreamManager(connection, { timeout: 1000 });
      await manager.streams.add({ name: 'PROBE', subjects: ['probe'], num_replicas: servers.length });
      return await manager.streams.delete('PROBE');
    } finally {
      await connection.close();
    }
  };
  await expect.poll(() => probe().catch(() => false), { timeout: 60_000, interval: 300 }).toBe(true);
}
