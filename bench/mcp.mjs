// Figures of the MCP server: how soon it answers, what a call takes with much memory behind it, and beside it the
// public server that keeps memory in one JSON file.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { child, loadKit } from './ledger.mjs';
import { EMPTY_NODE, median, run } from './measure.mjs';
import { forge, makeSmall } from './repositories.mjs';

const RECORDS = 100_000;
const ROUNDS = 15;
const CALLS = 200;
/** What a fresh server compiles on the way is not what a day of work waits for. */
const WARM_UP = 30;

const CLIENT = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1' },
};

/** A server as a client sees it: requests go out as lines, answers come back by their id. */
function connect(argv, { cwd, env }) {
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
    close: () =>
      new Promise((done) => {
        server.once('exit', done);
        server.stdin.end();
      }),
  };
}

const timed = async (work) => {
  const start = performance.now();
  await work();
  return performance.now() - start;
};

const summary = (numbers) => ({
  median: median(numbers),
  min: Math.min(...numbers),
  max: Math.max(...numbers),
});

/** From spawn to the answer to `initialize`, against an empty Node from spawn to its end. */
export const opening = async (_figure, place) => {
  const [ratios, times] = [[], []];
  for (let round = -2; round < ROUNDS; round++) {
    const base = await timed(async () => run(EMPTY_NODE, place));
    const server = connect(forge('mcp'), place);
    const took = await timed(() => server.open());
    await server.close();
    if (round < 0) continue;
    ratios.push(took / base);
    times.push(took);
  }
  return { ...summary(ratios), ms: median(times) };
};

/** A repository with so many records of execution, verified once, and a session that runs. */
async function makeFull(scratch, env) {
  const place = makeSmall(mkdtempSync(join(scratch, 'mcp-')), env);
  const { planLines, recordId } = await import(await loadKit(scratch));
  const file = join(place.cwd, '.forge', 'memory', 'execution.jsonl');
  const genesis = run(['head', '-1', file], place).trim();
  const tip = { ledger: JSON.parse(genesis).ledger, heads: [recordId(genesis)], maxN: 1 };
  const stamp = { at: '2026-03-01T10:00:00.000Z', session: null, actor: 'supervisor', kind: 'cycle' };
  const bodies = Array.from({ length: RECORDS }, (_, i) => ({
    ...stamp,
    cycle: i + 1,
    task_id: `T-${i % 50}`,
    exit_code: 0,
  }));
  const { lines } = planLines('execution', tip, null, bodies);
  writeFileSync(file, `${[genesis, ...lines.map(({ line }) => line)].join('\n')}\n`);
  run(['git', 'add', '-A'], place);
  run(['git', 'commit', '-qm', 'much memory'], place);
  run(['sleep', '1'], place);
  run(['git', 'update-index', '-q', '--refresh'], place);
  await child(scratch, place, 'remember');
  run(forge('session', 'start'), place);
  return place;
}

let full;
const fullPlace = (scratch, env) => {
  full ??= makeFull(scratch, env);
  return full;
};

/** The calls of a day, each with words of its own. */
const DAILY = {
  session_working_memory_update: (i) => ({
    operations: [{ op: 'replace', kind: 'Goal', text: `goal ${i}` }],
  }),
  progress_add: (i) => ({ text: `step ${i}` }),
  note_add: (i) => ({ text: `note ${i}` }),
  briefing: () => ({}),
};

/** Milliseconds of one tool's calls in a running server; `share` of them take no longer than what is told. */
export const calls =
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
  const times = [];
  for (let i = -WARM_UP; i < CALLS; i++) {
    const took = await timed(() => server.call(name, DAILY[name](i + WARM_UP)));
    if (i >= 0) times.push(took);
  }
  await server.close();
  times.sort((a, b) => a - b);
  measured.set(name, times);
  return times;
}

/** How many of 1,000 calls at once are answered. */
export const atOnce = async (_figure, { env }, scratch) => {
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

const PUBLIC = '@modelcontextprotocol/server-memory';

/** Installed beside the measurements, where that can be done. */
function installPublic(scratch, place) {
  const folder = join(scratch, 'public');
  const main = join(folder, 'node_modules', PUBLIC, 'dist', 'index.js');
  if (existsSync(main)) return main;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  try {
    run(['npm', 'install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', PUBLIC], {
      ...place,
      cwd: folder,
    });
  } catch {
    return null;
  }
  return main;
}

const entity = (i) => ({
  name: `entity-${i}`,
  entityType: 'note',
  observations: [`observation ${i} that an agent wrote down`],
});

/** Milliseconds of a call of the public memory server that has so many entries already. */
export const publicServer =
  (entries, tool) =>
  async (_figure, { env }, scratch) => {
    const main = installPublic(scratch, { env });
    if (main === null) return { skipped: `${PUBLIC} cannot be installed here` };
    const file = join(scratch, `public-${entries}-${tool}.jsonl`);
    const lines = Array.from({ length: entries }, (_, i) => JSON.stringify({ type: 'entity', ...entity(i) }));
    writeFileSync(file, lines.join('\n'));
    const server = connect([process.execPath, main], {
      cwd: scratch,
      env: { ...env, MEMORY_FILE_PATH: file },
    });
    await server.open();
    const given = {
      create_entities: (i) => ({ entities: [entity(`new-${i}`)] }),
      search_nodes: (i) => ({ query: `entity-${i} ` }),
    }[tool];
    const times = [];
    for (let i = -WARM_UP; i < CALLS; i++) {
      const took = await timed(() => server.call(tool, given(i + WARM_UP)));
      if (i >= 0) times.push(took);
    }
    await server.close();
    return { ...summary(times), ms: median(times) };
  };

export const MCP = [
  { name: 'mcp: spawn to initialize', where: 'small', limit: 2.4, measure: opening },
  ...Object.keys(DAILY).flatMap((name) => [
    { name: `mcp: ${name}, p50`, unit: 'ms', limit: 3, measure: calls(name, 0.5) },
    { name: `mcp: ${name}, p99`, unit: 'ms', limit: 15, measure: calls(name, 0.99) },
  ]),
  { name: 'mcp: 1,000 calls at once', unit: 'answers', least: 1000, measure: atOnce },
  ...[100, 10_000].flatMap((entries) =>
    ['create_entities', 'search_nodes'].map((tool) => ({
      name: `server-memory: ${tool}, ${entries.toLocaleString('en')} entries`,
      unit: 'ms',
      measure: publicServer(entries, tool),
    })),
  ),
].map((figure) => ({ where: 'none', ...figure }));
