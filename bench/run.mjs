// npm run bench -- [--json] [--clean-env] [NAME…]: the figures that the README quotes. See bench/README.md.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt } from '../scripts/built.mjs';
import { canMeasureMemory, memoryRatio, run, wallRatios } from './measure.mjs';
import { forge, gitCallOf, makeFeatures, makeLarge, makeSmall, makeEnvironment } from './repositories.mjs';

const START = forge('session', 'start', '--json');
const START_LIMIT = 1.6;

/** One row a figure: what is run, where, and what it may take at most, in units of `node -e 0`. */
const FIGURES = [
  { name: 'forge --version', where: 'small', argv: forge('--version'), limit: 1.25 },
  { name: 'focus show', where: 'small', argv: forge('focus', 'show'), limit: 1.7 },
  { name: 'next', where: 'small', argv: forge('next'), limit: 1.7 },
  { name: 'session start --json, small repository', where: 'small', measure: measureStart },
  { name: 'session start --json, 50,000 commits', where: 'large', measure: measureStart },
  { name: 'session start --json, peak memory', where: 'small', measure: measureMemory },
  {
    name: 'progress add',
    where: 'small',
    argv: forge('progress', 'add', 'one line'),
    limit: 1.7,
    session: true,
  },
  { name: 'feature list, 1,000 features', where: 'features', argv: forge('feature', 'list'), limit: 1.8 },
  { name: 'next, 1,000 features', where: 'features', argv: forge('next'), limit: 1.8 },
];

function measureCommand({ argv, limit, session }, place) {
  const running = session && isRunning(place);
  if (session && !running) run(START, place);
  const [ratio] = wallRatios([argv], place);
  if (session && !running) discard(place);
  return { ...ratio, limit };
}

/** Every measured start is a fresh one; what git takes for its part is measured beside it and added to the limit. */
function measureStart(_figure, place, scratch) {
  const git = gitCallOf(START, scratch, place);
  const [gitAlone, start] = wallRatios([git, START], place, () => discard(place));
  discard(place);
  return { ...start, limit: START_LIMIT + gitAlone.median, git_alone: gitAlone.median };
}

function measureMemory(_figure, place) {
  if (!canMeasureMemory()) return { skipped: '/usr/bin/time -f %M is not there' };
  const ratio = memoryRatio(START, place, () => discard(place));
  discard(place);
  return { ...ratio, limit: 1.6 };
}

const isRunning = (place) => JSON.parse(run(forge('session', 'status', '--json'), place)).active !== null;

function discard(place) {
  if (isRunning(place)) run(forge('session', 'discard'), place);
}

function measureAll(wanted, ownEnv) {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'forge-bench-')));
  const env = makeEnvironment(scratch, ownEnv);
  const makers = {
    small: () => makeSmall(scratch, env),
    features: () => makeFeatures(scratch, env),
    large: () => makeLarge(env),
  };
  const places = {};
  try {
    return wanted.map((figure) => {
      places[figure.where] ??= makers[figure.where]();
      console.error(`… ${figure.name}`);
      const measure = figure.measure ?? measureCommand;
      const row = measure(figure, places[figure.where], scratch);
      return { name: figure.name, ...row, ok: row.skipped !== undefined || row.median <= row.limit };
    });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function printTable(rows) {
  const two = (number) => number.toFixed(2);
  const cells = rows.map((row) => {
    if (row.skipped) return [row.name, '-', '-', '-', '-', `skipped: ${row.skipped}`];
    const limit = row.git_alone === undefined ? two(row.limit) : `${START_LIMIT} + ${two(row.git_alone)} git`;
    const ms = row.ms === undefined ? '' : `${row.ms.toFixed(0)} ms`;
    return [row.name, two(row.median), limit, `${two(row.min)}–${two(row.max)}`, ms, row.ok ? 'ok' : 'over'];
  });
  const table = [['figure', 'ratio', 'limit', 'range', 'median', ''], ...cells];
  const widths = table[0].map((_, i) => Math.max(...table.map((row) => row[i].length)));
  const line = (row) => row.map((cell, i) => cell.padEnd(widths[i])).join('  ');
  for (const row of table) console.log(line(row).trimEnd());
}

function machine(ownEnv) {
  const memory = Math.round(totalmem() / 2 ** 30);
  const cpu = cpus()[0]?.model.trim() || 'unknown';
  return [
    new Date().toISOString().slice(0, 10),
    `Node ${process.versions.node}`,
    `${process.platform} ${process.arch}`,
    `${availableParallelism()} cores (${cpu})`,
    `${memory} GiB`,
    ownEnv ? 'own environment' : 'clean environment',
  ].join(', ');
}

const USAGE = `Usage: npm run bench -- [--json] [--clean-env] [NAME…]
Figures:
${FIGURES.map(({ name }) => `  ${name}`).join('\n')}`;

function main(args) {
  const flags = args.filter((arg) => arg.startsWith('--'));
  const names = args.filter((arg) => !arg.startsWith('--'));
  const wanted = FIGURES.filter(
    ({ name }) => names.length === 0 || names.some((word) => name.includes(word)),
  );
  if (wanted.length === 0 || flags.some((flag) => !['--json', '--clean-env'].includes(flag))) {
    console.error(USAGE);
    process.exitCode = 2;
    return;
  }
  const ownEnv = !flags.includes('--clean-env');
  ensureBuilt();
  const [load] = loadavg();
  if (load > 0.7) console.error(`The machine is busy (load ${load.toFixed(1)}): the figures will be rough.`);
  const rows = measureAll(wanted, ownEnv);
  if (flags.includes('--json'))
    console.log(JSON.stringify({ machine: machine(ownEnv), unit: 'node -e 0', rows }));
  else {
    console.log(`${machine(ownEnv)}\nratio: to what "node -e 0" takes in the same run\n`);
    printTable(rows);
  }
  if (rows.some(({ ok }) => !ok)) process.exitCode = 1;
}

main(process.argv.slice(2));
