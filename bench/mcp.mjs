// Figures of the MCP server: how soon it answers, and what a call takes with much memory behind it.
import { spawn } from 'node:child_process';
import { EMPTY_NODE, median, QUICK, rounds, run, summary, wallMs } from './measure.mjs';
import { makeFull } from './records.mjs';
import { forge } from './repositories.mjs';

const RECORDS = 100_000;
const ROUNDS = rounds(15);
const CALLS = QUICK ? 20 : 200;
/** What a fresh server compiles on the way is not what a day of work waits for. */
const WARM_UP = 30;

const CLIENT = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1' },
};

/** A server as a client sees it: requests go out as lines, answers come back by their id. */
export function connect(argv, { cwd, env }) {
  const [program, ...args] = argv;
  const server = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] });
  const waiting = new Map();
  let rest = '';
  server.stdout.setEncoding('utf8').on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines.filter(Boolean)) {
      const message = JSON.parse(line);
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    }
  });
  let last = 0;
  const send = (message) => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = (method, params) =>
    new Promise((done) => {
      const id = ++last;
      waiting.set(id, done);
      send({ id, method, params });
    });
  return {
    ask,
    open: async () => {
      await ask('initialize', CLIENT);
      send({ method: 'notifications/initialized' });
    },
    call: async (name, given) => {
      const { error, result } = await ask('tools/call', { name, arguments: given });
      if (error || result.isError) throw new Error(`${name}: ${JSON.stringify(error ?? result.content)}`);
      return result;
    },
    read: async (uri) => {
      const { error, result } = await ask('resources/read', { uri });
      if (error) throw new Error(`${uri}: ${JSON.stringify(error)}`);
      return result;
    },
    close: () =>
      new Promise((done) => {
        server.once('exit', done);
        server.stdin.end();
      }),
  };
}

export const timed = async (work) => {
  const start = performance.now();
  await work();
  return performance.now() - start;
};

/** From spawn to the answer to `initialize`, against an empty Node from spawn to its end; the servers take turns. */
export async function openings(servers) {
  const ratios = servers.map(() => []);
  const times = servers.map(() => []);
  for (let round = -2; round < ROUNDS; round++) {
    const base = wallMs(EMPTY_NODE, servers[0].place);
    for (const [i, { argv, place }] of servers.entries()) {
      const server = connect(argv, place);
      const took = await timed(() => server.open());
      await server.close();
      if (round < 0) continue;
      ratios[i].push(took / base);
      times[i].push(took);
    }
  }
  return servers.map((_, i) => ({ ...summary(ratios[i]), ms: median(times[i]), times: summary(times[i]) }));
}

const opening = async (_figure, place) => {
  const [row] = await openings([{ argv: forge('mcp'), place }]);
  return row.times;
};

/** A repository with so many records of execution, verified once, and a session that runs. */
async function makeServed(scratch, env) {
  const bodies = Array.from({ length: RECORDS }, (_, i) => ({
    ...{ tier: 'execution', kind: 'cycle', cycle: i + 1, task_id: `T-${i % 50}`, exit_code: 0 },
  }));
  const place = await makeFull(scratch, env, bodies);
  run(forge('session', 'start'), place);
  return place;
}

let full;
const fullPlace = (scratch, env) => {
  full ??= makeServed(scratch, env);
  return full;
};

/** The calls of a day, each with words of its own. */
const DAILY = {
  session_working_memory_update: (i) => ({
    operations: [{ op: 'replace', kind: 'Goal', text: `goal ${i}` }],
  }),
  progress_add: (i) => ({ text: `step ${i}` }),
  learn: (i) => ({ text: `note ${i}`, kind: 'note' }),
  briefing: () => ({}),
};

/** Milliseconds of one tool's calls in a running server; `share` of them take no longer than what is told. */
const calls =
  (name, share) =>
  async (_figure, { env }, scratch) => {
    const times = await callTimes(name, await fullPlace(scratch, env));
    return {
      median: times[Math.floor(times.length * share)],
      min: times[0],
      max: times.at(-1),
      ms: median(times),
    };
  };

const measured = new Map();

async function callTimes(name, place) {
  const known = measured.get(name);
  if (known) return known;
  const server = connect(forge('mcp'), place);
  await server.open();
  const [times] = await takeTurns([(i) => server.call(name, DAILY[name](i))]);
  await server.close();
  times.sort((a, b) => a - b);
  measured.set(name, times);
  return times;
}

/** Milliseconds of each of many calls, which take turns; a call is told how many went before. */
export async function takeTurns(calls) {
  const times = calls.map(() => []);
  for (let i = 0; i < WARM_UP + CALLS; i++)
    for (const [n, call] of calls.entries()) {
      const took = await timed(() => call(i));
      if (i >= WARM_UP) times[n].push(took);
    }
  return times;
}

/** How many of 1,000 calls at once are answered. */
const atOnce = async (_figure, { env }, scratch) => {
  const server = connect(forge('mcp'), await fullPlace(scratch, env));
  await server.open();
  let answered = 0;
  const ms = await timed(() =>
    Promise.all(
      Array.from({ length: 1000 }, async (_, i) => {
        await server.call('progress_add', { text: `at once ${i}` });
        answered++;
      }),
    ),
  );
  await server.close();
  return { median: answered, min: answered, max: answered, ms };
};

/** Milliseconds at p50 and p99. A write waits for the disk, and the briefing for three git processes. */
const LIMITS = { write: [10, 20], briefing: [15, 30] };

export const MCP = [
  { name: 'mcp: spawn to initialize', where: 'small', unit: 'ms', limit: 100, measure: opening },
  ...Object.keys(DAILY).flatMap((name) => {
    const [half, most] = LIMITS[name] ?? LIMITS.write;
    return [
      { name: `mcp: ${name}, p50`, unit: 'ms', limit: half, measure: calls(name, 0.5) },
      { name: `mcp: ${name}, p99`, unit: 'ms', limit: most, measure: calls(name, 0.99) },
    ];
  }),
  { name: 'mcp: 1,000 calls at once', unit: 'answers', least: 1000, measure: atOnce },
].map((figure) => ({ where: 'none', ...figure }));
