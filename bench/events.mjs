// Figures of events and claims, with the real client and Debian's nats-server on loopback. The simulation of many agents is
// measureClaims: each agent has a connection of its own.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, connect as dial } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { connect } from '@nats-io/transport-node';
import { QUICK, rounds, summary, wallTimes } from './measure.mjs';
import { loadKit } from './records.mjs';
import { forge, makeSmall } from './repositories.mjs';

const AGENTS = QUICK ? 20 : 200;
const TASKS = AGENTS * 10;
const EVENTS = QUICK ? 1000 : 10_000;
/** Publishes in flight: as many as `forge events flush` has. */
const IN_FLIGHT = 64;

export const EVENT_FIGURES = [
  { name: 'note add, a NATS server on loopback', where: 'none', unit: 'ms', measure: measureLive },
  { name: 'note add, a server that hangs', where: 'none', unit: 'ms', measure: measureHanging },
  {
    name: `claims of ${AGENTS} agents, ${TASKS} tasks`,
    where: 'none',
    unit: 'of KV creates',
    least: 0.5,
    measure: measureClaims,
  },
  {
    name: `events flush, ${EVENTS} events`,
    where: 'none',
    unit: 'of bare publishes',
    least: 0.5,
    measure: measureFlush,
  },
  { name: 'an event in the stream', where: 'none', unit: 'bytes', measure: measureSize },
];

const NO_SERVER = { skipped: 'nats-server is not installed' };
const hasServer = () => spawnSync('nats-server', ['--version']).status === 0;

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** A server with JetStream, and its address. */
async function withServer(scratch, work) {
  const [port, store] = [await freePort(), mkdtempSync(join(scratch, 'nats-'))];
  const server = spawn('nats-server', ['-a', '127.0.0.1', '-p', port, '-js', '-sd', store], {
    stdio: 'ignore',
  });
  try {
    for (let ready = false; !ready; ) {
      await setTimeout(20);
      const socket = dial(port, '127.0.0.1');
      ready = await Promise.race([
        once(socket, 'data').then(() => true),
        once(socket, 'error').then(() => false),
      ]).catch(() => false);
      socket.destroy();
    }
    return await work(`nats://127.0.0.1:${port}`);
  } finally {
    server.kill('SIGKILL');
    rmSync(store, { recursive: true, force: true, maxRetries: 3 });
  }
}

function makePlace(scratch, env) {
  return makeSmall(mkdtempSync(join(scratch, 'events-')), env);
}

/** The command without events, and its limit: so many ms more. */
function compare(place, url, more) {
  // A note that stands already is not added again.
  let count = 0;
  const note = () => forge('note', 'add', `Redis needs a restart after migration ${++count}`);
  const on = { ...place, env: { ...place.env, NATS_URL: url } };
  const [alone, time] = wallTimes([note, { argv: note, place: on }], place);
  return { ...time, limit: alone.median + more };
}

function measureLive(_figure, { env }, scratch) {
  return hasServer() ? withServer(scratch, (url) => compare(makePlace(scratch, env), url, 100)) : NO_SERVER;
}

async function measureHanging(_figure, { env }, scratch) {
  // The commands block this process, so another one has to accept the connections.
  const code =
    "require('node:net').createServer().listen(0,'127.0.0.1',function(){console.log(this.address().port)})";
  const silent = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const [line] = await once(silent.stdout, 'data');
    return compare(makePlace(scratch, env), `nats://127.0.0.1:${Number(line)}`, 350);
  } finally {
    silent.kill();
  }
}

function contextOf(kit, { cwd, env }, url) {
  const world = kit.systemWorld({ ...env, NATS_URL: url }, false);
  return kit.openContext(cwd, world, false);
}

const claimOf = (agent, task) => ({
  ...{ schema_version: '1.0', task, state: 'held', place: `agent-${agent}`, host: `host-${agent % 5}` },
  ...{ session: `2026-01-01-session-${agent}`, branch: 'main', seconds: 120 },
  since: '2026-01-01T00:00:00.000Z',
});

/** As forge does: a request that a busy server was too slow for is sent again. */
async function persist(work) {
  for (let tries = 0; ; tries++)
    try {
      return await work();
    } catch (error) {
      if (error.message !== 'timeout' || tries === 5) throw error;
    }
}

/** Each agent takes its ten tasks, and tries the first of its neighbour, which only one of both can get. */
async function claimAll(kit, context) {
  const servers = await Promise.all(Array.from({ length: AGENTS }, () => kit.openServer(context, 3000)));
  const buckets = [];
  for (const server of servers) buckets.push(await kit.openBucket(context, server, 3000));
  const holders = new Map();
  let refused = 0;
  const take = async (agent, task) => {
    const taken = await persist(() => kit.takeOnServer(buckets[agent], claimOf(agent, `T-${task}`), false));
    if (typeof taken !== 'number') {
      refused++;
      return;
    }
    if (holders.has(task)) throw new Error(`task ${task} has two holders`);
    holders.set(task, agent);
  };
  const start = performance.now();
  await Promise.all(
    servers.map(async (_, agent) => {
      await take(agent, ((agent + 1) % AGENTS) * 10);
      for (let i = 0; i < 10; i++) await take(agent, agent * 10 + i);
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  for (const server of servers) kit.closeServer(server);
  if (holders.size !== TASKS || refused !== AGENTS)
    throw new Error(`${holders.size} tasks have a holder, ${refused} claims were refused`);
  return TASKS / seconds;
}

/** The same number of connections and keys, without forge. */
async function createAll(url) {
  const connections = await Promise.all(Array.from({ length: AGENTS }, () => connect({ servers: url })));
  const kvs = [];
  for (const connection of connections) kvs.push(await new Kvm(jetstream(connection)).create('bare'));
  const start = performance.now();
  await Promise.all(
    kvs.map(async (kv, agent) => {
      for (let i = 0; i < 10; i++)
        await kv.create(`task.T-${agent * 10 + i}`, JSON.stringify(claimOf(agent, `T-${agent * 10 + i}`)));
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  await Promise.all(connections.map((connection) => connection.close()));
  return TASKS / seconds;
}

async function measureClaims(_figure, { env }, scratch) {
  if (!hasServer()) return NO_SERVER;
  const [kit, place] = [await import(await loadKit(scratch)), makePlace(scratch, env)];
  const ratios = [];
  for (let i = 0; i < rounds(5); i++)
    await withServer(scratch, async (url) => {
      const bare = await createAll(url);
      const claims = await claimAll(kit, contextOf(kit, place, url));
      console.error(`  ${claims.toFixed(0)} claims/s, ${bare.toFixed(0)} bare creates/s`);
      ratios.push(claims / bare);
    });
  return summary(ratios);
}

const eventOf = (i) => ({
  schema_version: '1.0',
  id: createHash('sha256').update(String(i)).digest('hex').slice(0, 32),
  ...{ type: 'learning', at: '2026-01-01T00:00:00.000Z', project: 'f'.repeat(64) },
  ...{
    session: `2026-01-01-session-${i % 200}-abcdef`,
    actor: 'agent',
    host: 'build-host-17',
    place: '0123456789abcdef',
  },
  ledger: { n: i, heads: ['a'.repeat(64), 'b'.repeat(64)] },
  data: { kind: 'note', id: 'c'.repeat(64), title: 'Redis needs a restart after the migration' },
});

/** An outbox as many offline sessions leave it. */
function fillOutbox({ cwd }) {
  const folder = join(cwd, '.git', 'forge', 'outbox');
  mkdirSync(folder, { recursive: true });
  for (let i = 0; i < EVENTS; i++) {
    const key = createHash('sha256')
      .update(String(i % 200))
      .digest('hex')
      .slice(0, 8);
    const name = `${String(1e12 + i).padStart(15, '0')}-${key}-0000.json`;
    writeFileSync(join(folder, name), `${JSON.stringify(eventOf(i))}\n`);
  }
}

async function publishAll(url) {
  const connection = await connect({ servers: url });
  await (await jetstreamManager(connection)).streams.add({ name: 'BARE', subjects: ['bare'] });
  const client = jetstream(connection);
  const start = performance.now();
  let next = 0;
  const work = async () => {
    for (let i = next++; i < EVENTS; i = next++) {
      const event = eventOf(i);
      await client.publish('bare', JSON.stringify(event), { msgID: event.id });
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  const seconds = (performance.now() - start) / 1000;
  await connection.close();
  return EVENTS / seconds;
}

async function measureFlush(_figure, { env }, scratch) {
  if (!hasServer()) return NO_SERVER;
  const [kit, place] = [await import(await loadKit(scratch)), makePlace(scratch, env)];
  const ratios = [];
  for (let i = 0; i < rounds(5); i++)
    await withServer(scratch, async (url) => {
      const bare = await publishAll(url);
      fillOutbox(place);
      const context = contextOf(kit, place, url);
      const start = performance.now();
      const { sent, waiting } = await kit.flushEvents(context);
      const rate = (1000 * sent) / (performance.now() - start);
      if (sent !== EVENTS || waiting !== 0) throw new Error(`${sent} events were sent, ${waiting} wait`);
      console.error(`  ${rate.toFixed(0)} events/s, ${bare.toFixed(0)} bare publishes/s`);
      ratios.push(rate / bare);
    });
  return summary(ratios);
}

/** What the server stores for one event, headers included. */
async function measureSize(_figure, { env }, scratch) {
  if (!hasServer()) return NO_SERVER;
  const [kit, place] = [await import(await loadKit(scratch)), makePlace(scratch, env)];
  return withServer(scratch, async (url) => {
    fillOutbox(place);
    await kit.flushEvents(contextOf(kit, place, url));
    const connection = await connect({ servers: url });
    const { state } = await (await jetstreamManager(connection)).streams.info('FORGE_MEMORY');
    await connection.close();
    return summary([state.bytes / state.messages]);
  });
}
