// Figures of the ledger and of consolidation, with 100,000 cycles, 10,000 files or 1,000 commits behind them.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, rounds, run, summary, wallTimes } from './measure.mjs';
import { cycleBodies, loadKit, makeCycles, makeFull, planFiles } from './records.mjs';
import { forge, makeSmall } from './repositories.mjs';

const CHILD = fileURLToPath(new URL('ledger-child.mjs', import.meta.url));
const ROUNDS = rounds(5);
const CYCLES = 100_000;

async function child(scratch, place, what) {
  return JSON.parse(run([process.execPath, CHILD, await loadKit(scratch), what, place.cwd], place));
}

/** Append and verify in one process, as the end of a session does. */
const sessionEnd = async (_figure, { env }, scratch) => {
  const place = await makeCycles(scratch, env, CYCLES);
  const times = [];
  for (let round = 0; round < ROUNDS; round++) times.push(await child(scratch, place, 'end'));
  const cpu = times.map(({ cpu_ms }) => cpu_ms / 1000);
  return { ...summary(cpu), ms: median(times.map(({ ms }) => ms)) };
};

/** How often `what` takes the time of `bare`, or the inverse. */
const against =
  (bare, what, ratio) =>
  async (_figure, { env }, scratch) => {
    const place = await makeCycles(scratch, env, CYCLES);
    const ratios = [];
    const times = [];
    for (let round = 0; round < ROUNDS; round++) {
      const least = await child(scratch, place, bare);
      const ours = await child(scratch, place, what);
      ratios.push(ratio(least.ms, ours.ms));
      times.push(ours.ms);
    }
    return { ...summary(ratios), ms: median(times) };
  };

/** A consolidation that is due. It writes nothing, so that it is due again in the next round. */
const consolidation =
  (count) =>
  async (_figure, { env }, scratch) => {
    const place = await makeCycles(scratch, env, count);
    return wallTimes([forge('memory', 'consolidate', '--dry-run', '--json')], place)[0];
  };

const RECORD = forge('memory', 'record', '--task', 'X-1', '--exit-code', '0', '--classification', 'SUCCESS');

/** The same command in a repository with 1,000 cycles and in one with 100,000, in turn. */
const record = async (_figure, { env }, scratch) => {
  const few = await makeFull(scratch, env, cycleBodies(1000));
  const many = await makeFull(scratch, env, cycleBodies(CYCLES));
  const [short, long] = wallTimes(
    [few, many].map((place) => ({ argv: RECORD, place })),
    few,
  );
  const over = (a, b) => a / b;
  return {
    median: over(long.median, short.median),
    min: over(long.min, short.max),
    max: over(long.max, short.min),
    ms: long.median,
  };
};

const START = forge('session', 'start', '--json');

/** Milliseconds that 10,000 files of 10 records add to a start. */
const manyFiles = async (_figure, { env }, scratch) => {
  const few = await makeFull(scratch, env, cycleBodies(5), 10);
  const many = await makeFull(scratch, env, cycleBodies(50_000), 10);
  const prepare = () => {
    for (const place of [few, many]) run(forge('session', 'discard'), place);
  };
  for (const place of [few, many]) run(START, place);
  const [short, long] = wallTimes(
    [few, many].map((place) => ({ argv: START, place })),
    few,
    prepare,
  );
  prepare();
  return {
    median: long.median - short.median,
    min: long.min - short.max,
    max: long.max - short.min,
    ms: long.median,
  };
};

const COMMITS = 1000;

let remembered;
/** A repository in which each of 1,000 commits brings two cycles in a file of its own, as loose objects. */
function makeRemembered(scratch, env) {
  remembered ??= (async () => {
    const place = makeSmall(mkdtempSync(join(scratch, 'commits-')), env);
    const { files } = await planFiles(scratch, place, cycleBodies(2 * COMMITS), 4);
    const before = looseBytes(place);
    const input = commitStream(files);
    run(['git', '-c', 'fastimport.unpackLimit=1000000', 'fast-import', '--quiet'], { ...place, input });
    return { place, megabytes: (looseBytes(place) - before) / 1e6 };
  })();
  return remembered;
}

function looseBytes({ cwd }) {
  const objects = join(cwd, '.git', 'objects');
  const folders = readdirSync(objects).filter((name) => name.length === 2);
  const files = folders.flatMap((name) => readdirSync(join(objects, name)).map((file) => join(name, file)));
  return files.reduce((sum, file) => sum + statSync(join(objects, file)).size, 0);
}

function commitStream(files) {
  const data = (text) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const commits = files.map(({ name, bytes }, i) => {
    const at = `Bench <bench@example.com> ${1_700_000_000 + i * 60} +0000`;
    const from = i === 0 ? 'from refs/heads/main^0\n' : '';
    const file = `M 100644 inline .forge/memory/ledger/${name}\n${data(bytes.toString('utf8'))}`;
    return `commit refs/heads/main\ncommitter ${at}\n${data(`Session ${i}`)}${from}${file}`;
  });
  return commits.join('');
}

const looseObjects = async (_figure, { env }, scratch) => {
  const { megabytes } = await makeRemembered(scratch, env);
  return { median: megabytes, min: megabytes, max: megabytes };
};

/** The whole command in a fresh clone, each time another one. */
const firstVerify = async (_figure, { env }, scratch) => {
  const { place } = await makeRemembered(scratch, env);
  const cwd = join(scratch, 'clone');
  const clone = () => {
    rmSync(cwd, { recursive: true, force: true });
    run(['git', 'clone', '-q', '--no-local', place.cwd, cwd], place);
  };
  return wallTimes([forge('memory', 'verify')], { cwd, env }, clone)[0];
};

const AT = `${CYCLES.toLocaleString('en')} cycles`;

/** `least`: a rate that must be reached, as a part of the bare one. */
export const LEDGER = [
  { name: `session end (append, verify), ${AT}`, unit: 's of CPU', limit: 0.5, measure: sessionEnd },
  {
    name: `verify without a cache, ${AT}`,
    unit: 'of bare loop',
    least: 0.6,
    measure: against('bare', 'verify', (bare, ours) => bare / ours),
  },
  { name: `memory record, ${AT}`, unit: 'of 1,000 cycles', limit: 1.25, measure: record },
  { name: 'session start, 10,000 files of records', unit: 'ms more', limit: 50, measure: manyFiles },
  { name: '1,000 commits of memory, loose objects', unit: 'MB', limit: 30, measure: looseObjects },
  { name: 'first verify of such a clone', unit: 'ms', limit: 1000, measure: firstVerify },
  { name: 'consolidate, 1,000 cycles', unit: 'ms', limit: 100, measure: consolidation(1000) },
  { name: `consolidate, ${AT}`, unit: 'ms', measure: consolidation(CYCLES) },
  {
    name: `weigh ${AT}`,
    unit: 'JSON.parse',
    limit: 2.5,
    measure: against('parse', 'weigh', (bare, ours) => ours / bare),
  },
].map((figure) => ({ ...figure, where: 'none' }));
