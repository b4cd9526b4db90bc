// Figures of the ledger: rates against the same work done bare, in the same minute.
import { spawn } from 'node:child_process';
import { appendFileSync, closeSync, mkdirSync, mkdtempSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { median, rounds, run, summary } from './measure.mjs';
import { makeSmall } from './repositories.mjs';

const CHILD = fileURLToPath(new URL('ledger-child.mjs', import.meta.url));
const ROUNDS = rounds(5);
const MEGABYTES_100 = 100 * 1024 * 1024;

/** The inner parts as one module in the scratch folder. */
async function bundleKit(scratch) {
  const outfile = join(scratch, 'kit.mjs');
  const entry = fileURLToPath(new URL('kit.ts', import.meta.url));
  const banner = {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  };
  await build({
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    mainFields: ['module', 'main'],
    format: 'esm',
    minify: true,
    outfile,
    banner,
  });
  return pathToFileURL(outfile).href;
}

let kit;
export const loadKit = async (scratch) => {
  kit ??= await bundleKit(scratch);
  return kit;
};

export function child(scratch, place, what, ...args) {
  return new Promise((done, fail) => {
    loadKit(scratch).then((url) => {
      const started = spawn(process.execPath, [CHILD, url, what, place.cwd, ...args.map(String)], {
        env: place.env,
      });
      let out = '';
      let err = '';
      started.stdout.on('data', (chunk) => {
        out += chunk;
      });
      started.stderr.on('data', (chunk) => {
        err += chunk;
      });
      started.on('close', (code) =>
        code === 0 ? done(JSON.parse(out)) : fail(new Error(`${what}: ${err}`)),
      );
    }, fail);
  });
}

const rows = new Map();

/** A repository whose execution ledger has 100 MB of records of so many bytes, verified once. */
async function makeLedger(scratch, env, bytes) {
  const known = rows.get(bytes);
  if (known) return known;
  const folder = mkdtempSync(join(scratch, `ledger-${bytes}-`));
  const place = makeSmall(folder, env);
  const { planLines, recordId } = await import(await loadKit(scratch));
  const file = join(place.cwd, '.forge', 'memory', 'execution.jsonl');
  const genesis = run(['head', '-1', file], place).trim();
  let tip = { ledger: JSON.parse(genesis).ledger, heads: [recordId(genesis)], maxN: 1 };
  const text = 'x'.repeat(Math.max(0, bytes - LINKS));
  const fd = openSync(file, 'a');
  let last = null;
  for (let size = 0; size < MEGABYTES_100; ) {
    const plan = planLines(
      'execution',
      tip,
      last,
      Array.from({ length: 1000 }, () => ({ kind: 'cycle', text })),
    );
    const lines = plan.lines.map(({ line }) => `${line}\n`).join('');
    size += writeSync(fd, lines);
    tip = plan.tip;
    last = plan.lines.at(-1).id;
  }
  closeSync(fd);
  run(['git', 'add', '-A'], place);
  run(['git', 'commit', '-qm', 'ledger'], place);
  // Git reads a file again that is as old as its index.
  run(['sleep', '1'], place);
  run(['git', 'update-index', '-q', '--refresh'], place);
  // The journal holds nothing that a commit has.
  await child(scratch, place, 'remember');
  rows.set(bytes, place);
  return place;
}

/** What a record has besides its text. */
const LINKS = 160;

/** How fast a full verification is, as a part of the bare loop's rate. */
const verification =
  (bytes) =>
  async (_figure, { env }, scratch) => {
    const place = await makeLedger(scratch, env, bytes);
    const ratios = [];
    const times = [];
    for (let round = 0; round < ROUNDS; round++) {
      const bare = await child(scratch, place, 'bare');
      const full = await child(scratch, place, 'full');
      ratios.push(bare.ms / full.ms);
      times.push(full.ms);
    }
    return { ...summary(ratios), ms: median(times) };
  };

/** Milliseconds; the limit is one too. */
const startUp = async (_figure, { env }, scratch) => {
  const place = await makeLedger(scratch, env, 1024);
  const times = [];
  for (let round = 0; round < ROUNDS; round++) times.push((await child(scratch, place, 'start')).ms);
  return { ...summary(times), ms: median(times) };
};

/** MiB over an empty Node. */
const peakMemory = async (_figure, { env }, scratch) => {
  const place = await makeLedger(scratch, env, 1024);
  const over = [];
  for (let round = 0; round < ROUNDS; round++) {
    const none = run([process.execPath, '-p', 'process.resourceUsage().maxRSS'], place);
    const full = await child(scratch, place, 'full');
    over.push((full.peak_kib - Number(none)) / 1024);
  }
  return summary(over);
};

/** Eight processes at once; the rate of appends as a part of the bare rate. */
const appends =
  (sync) =>
  async (_figure, { env }, scratch) => {
    const place = makeSmall(mkdtempSync(join(scratch, 'appends-')), env);
    const [writers, count] = sync ? [8, 100] : [8, 2000];
    const wall = async (what) => {
      const start = performance.now();
      await Promise.all(
        Array.from({ length: writers }, () => child(scratch, place, what, count, sync ? 'sync' : 'no')),
      );
      return performance.now() - start;
    };
    await child(scratch, place, 'append', 1, 'no');
    const ratios = [];
    const times = [];
    for (let round = 0; round < 3; round++) {
      const bare = await wall('bare-append');
      const ours = await wall('append');
      ratios.push(bare / ours);
      times.push(ours);
    }
    return { ...summary(ratios), ms: median(times) };
  };

const COMMITS = 5000;

/** 5,000 commits, each with a record, against the same `git log` that nobody reads. */
const history = async (_figure, { env }, scratch) => {
  const place = makeSmall(mkdtempSync(join(scratch, 'history-')), env);
  run(['git', 'fast-import', '--quiet', '--force'], { ...place, input: historyStream() });
  run(['git', 'reset', '-q', '--hard', 'bench'], place);
  const log = ['git', 'log', '-m', '-p', '-U0', '--no-renames', '--format=%H', 'HEAD', '--', '.forge/memory'];
  const ratios = [];
  const times = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    run(['sh', '-c', `${log.join(' ')} >/dev/null`], place);
    const bare = performance.now() - start;
    const { ms } = await child(scratch, place, 'history');
    ratios.push(ms / bare);
    times.push(ms);
  }
  return { ...summary(ratios), ms: median(times) };
};

function historyStream() {
  const parts = [];
  const data = (text) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  for (let n = 1; n <= COMMITS; n++) {
    const at = `Bench <bench@example.com> ${1_600_000_000 + n * 60} +0000`;
    const record = `${JSON.stringify({ v: 1, tier: 'execution', n, prev: null, text: 'x'.repeat(800) })}\n`;
    const path = `.forge/memory/execution.d/solo-${String(n).padStart(8, '0')}.jsonl`;
    parts.push(
      `commit refs/heads/bench\ncommitter ${at}\n${data(`Commit ${n}`)}M 100644 inline ${path}\n${data(record)}`,
    );
  }
  return parts.join('');
}

/** All or nothing, one fsync a ledger; milliseconds for 10,000 cycles by one command. */
const batch = async (_figure, { env }, scratch) => {
  const place = makeSmall(mkdtempSync(join(scratch, 'batch-')), env);
  const file = join(place.cwd, 'cycles.jsonl');
  mkdirSync(place.cwd, { recursive: true });
  for (let i = 0; i < 10_000; i++)
    appendFileSync(file, `${JSON.stringify({ task_id: `T-${i}`, exit_code: 0 })}\n`);
  const forge = [process.execPath, fileURLToPath(new URL('../bin/forge.js', import.meta.url))];
  const times = [];
  for (let round = 0; round < 3; round++) {
    const start = performance.now();
    run([...forge, 'memory', 'record', file], place);
    times.push(performance.now() - start);
  }
  return { ...summary(times), ms: median(times) };
};

/** The ledger's figures, each in a unit of its own; `least`: a rate that must be reached, as a part of the bare one. */
export const LEDGER = [
  { name: 'verify 100 MB of 1-KB records', unit: 'of bare loop', least: 0.65, measure: verification(1024) },
  { name: 'verify 100 MB of 200-byte records', unit: 'of bare loop', least: 0.5, measure: verification(200) },
  { name: 'start-up verify, unchanged 100 MB', unit: 'ms', limit: 20, measure: startUp },
  { name: 'verify 100 MB, peak memory', unit: 'MiB over Node', limit: 60, measure: peakMemory },
  { name: 'history rule, 5,000 commits', unit: 'bare git log', limit: 2, measure: history },
  { name: '8 × 2,000 appends', unit: 'of bare rate', least: 0.7, measure: appends(false) },
  { name: '8 × 100 appends with fsync', unit: 'of bare rate', least: 0.8, measure: appends(true) },
  { name: 'record of 10,000 lines of JSONL', unit: 'ms', measure: batch },
].map((figure) => ({ ...figure, where: 'none' }));
