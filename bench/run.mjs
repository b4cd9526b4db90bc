// npm run bench -- [--json] [--clean-env] [NAME…]: the figures that the README quotes. See bench/README.md.
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt } from '../scripts/built.mjs';
import { COMMIT_FIGURES } from './commits.mjs';
import { consolidation, weighing } from './consolidation.mjs';
import { GIT_HOOK_FIGURES } from './git-hooks.mjs';
import { HOOKS } from './hooks.mjs';
import { appends, batch, history, peakMemory, startUp, verification } from './ledger.mjs';
import { MCP } from './mcp.mjs';
import { canMeasureMemory, memoryRatio, run, wallRatios } from './measure.mjs';
import {
  forge,
  gitCallOf,
  gitCallsOf,
  makeEnvironment,
  makeFeatures,
  makeLarge,
  makeSmall,
} from './repositories.mjs';

const START = forge('session', 'start', '--json');
const START_LIMIT = 1.6;

/** One row a figure: what is run, where, and what it may take at most, in units of `node -e 0`. */
const FIGURES = [
  { name: 'forge --version', where: 'small', argv: forge('--version'), limit: 1.25 },
  { name: 'focus show', where: 'small', argv: forge('focus', 'show'), limit: 1.7 },
  { name: 'next', where: 'small', argv: forge('next'), limit: 1.7 },
  { name: 'session start --json, small repository', where: 'small', measure: measureStart },
  { name: 'session start --json, HEAD moved', where: 'small', measure: measureStart, moved: true },
  { name: 'session start --json, 50,000 commits', where: 'large', measure: measureStart, moved: true },
  { name: 'session start --json, peak memory', where: 'small', measure: measureMemory },
  { name: 'status --short', where: 'small', argv: forge('status', '--short'), limit: 1.5 },
  { name: 'status --json', where: 'small', measure: measureStatus },
  {
    name: 'progress add',
    where: 'small',
    argv: forge('progress', 'add', 'one line'),
    limit: 1.7,
    session: true,
  },
  {
    name: 'memory record',
    where: 'small',
    argv: forge('memory', 'record', '--task', 'FORGE-001', '--exit-code', '0', '--classification', 'SUCCESS'),
    limit: 1.8,
  },
  {
    name: 'cycle -- true',
    where: 'small',
    argv: forge('cycle', '--quiet', '--task', 'X-1', '--', 'true'),
    limit: 3.5,
  },
  { name: 'recover --plan, 50,000 commits', where: 'large', measure: measureRecover },
  { name: 'kfr patch', where: 'small', limit: 1.8, measure: measurePatch },
  { name: 'feature list, 1,000 features', where: 'features', argv: forge('feature', 'list'), limit: 1.8 },
  { name: 'next, 1,000 features', where: 'features', argv: forge('next'), limit: 1.8 },
];

/** The ledger's figures, each in a unit of its own; `least`: a rate that must be reached, as a part of the bare one. */
const LEDGER = [
  { name: 'verify 100 MB of 1-KB records', unit: 'of bare loop', least: 0.65, measure: verification(1024) },
  { name: 'verify 100 MB of 200-byte records', unit: 'of bare loop', least: 0.5, measure: verification(200) },
  { name: 'start-up verify, unchanged 100 MB', unit: 'ms', limit: 20, measure: startUp },
  { name: 'verify 100 MB, peak memory', unit: 'MiB over Node', limit: 60, measure: peakMemory },
  { name: 'history rule, 5,000 commits', unit: 'bare git log', limit: 2, measure: history },
  { name: '8 × 2,000 appends', unit: 'of bare rate', least: 0.7, measure: appends(false) },
  { name: '8 × 100 appends with fsync', unit: 'of bare rate', least: 0.8, measure: appends(true) },
  { name: 'record of 10,000 lines of JSONL', unit: 'ms', measure: batch },
  { name: 'consolidate, 1,000 cycles', limit: 2, measure: consolidation },
  { name: 'weigh 100,000 evaluations', unit: 'JSON.parse', limit: 2.5, measure: weighing },
].map((figure) => ({ ...figure, where: 'none' }));

function measureCommand({ argv, limit, session }, place) {
  const running = session && isRunning(place);
  if (session && !running) run(START, place);
  const [ratio] = wallRatios([argv], place);
  if (session && !running) discard(place);
  return { ...ratio, limit };
}

/**
 * Every measured start is a fresh one. `moved`: HEAD is another than at the last session's end, so that git is asked; what
 * that takes is measured beside it and added to the limit.
 */
function measureStart({ moved }, place, scratch) {
  // The first start of all verifies memory; what is measured is every later one.
  run(START, place);
  const prepare = () => {
    discard(place);
    if (moved) rmSync(join(place.cwd, '.git', 'forge', 'commits.json'));
  };
  prepare();
  if (!moved) {
    const [start] = wallRatios([START], place, prepare);
    return { ...start, limit: START_LIMIT };
  }
  const git = gitCallOf(START, scratch, place);
  const [gitAlone, start] = wallRatios([git, START], place, prepare);
  discard(place);
  return { ...start, limit: START_LIMIT + gitAlone.median, git_alone: gitAlone.median };
}

/** What the first look asks git is remembered; what every later one asks is measured beside it and added. */
function measureStatus(_figure, place, scratch) {
  const status = forge('status', '--json');
  run(status, place);
  const git = gitCallOf(status, scratch, place);
  const [gitAlone, ratio] = wallRatios([git, status], place);
  return { ...ratio, limit: 1.7 + gitAlone.median, git_alone: gitAlone.median };
}

/** A checkpoint a thousand commits back; the limit is a bare Node and twice what git takes one call after the other. */
function measureRecover(_figure, place, scratch) {
  const tag = 'checkpoint/BENCH-v1';
  const commit = run(['git', 'rev-parse', 'HEAD~1000'], place).trim();
  const manifest = {
    schema_version: '1.0',
    tag,
    commit,
    timestamp: '2026-01-01T00:00:00.000Z',
    verified_by: ['true'],
    features_passing: [],
    linear_issues_closed: [],
    can_rollback_to: true,
  };
  const message = `A state\n\n${JSON.stringify(manifest, null, 2)}\n`;
  const tagging = ['git', 'tag', '-f', '-a', '--cleanup=verbatim', '-F', '-', tag, commit];
  run(tagging, { ...place, input: message });
  // As after a session's start: memory that nobody touched since is not read again.
  run(forge('memory', 'verify'), place);
  try {
    const plan = forge('recover', '--plan', '--json');
    const decided = JSON.parse(run(plan, place));
    if (decided.divergence.commits !== 1000) throw new Error(`recover --plan saw ${run(plan, place)}`);
    const calls = gitCallsOf(plan, scratch, place);
    const [git, median] = wallRatios([calls, plan], place);
    return { ...median, limit: 1 + 2 * git.median, git_alone: git.median };
  } finally {
    run(['git', 'tag', '-d', tag], place);
  }
}

/** A goal in place of the one before, in each round another one: what is there already is refused. */
function measurePatch({ limit }, place) {
  if (!isRunning(place)) run(START, place);
  let round = 0;
  const file = join(place.cwd, '..', 'patch.json');
  const next = () =>
    writeFileSync(
      file,
      JSON.stringify({ operations: [{ op: 'replace', kind: 'Goal', text: `goal ${++round}` }] }),
    );
  const [ratio] = wallRatios([forge('kfr', 'patch', file)], place, next);
  discard(place);
  return { ...ratio, limit };
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

async function measureAll(wanted, ownEnv) {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'forge-bench-')));
  const env = makeEnvironment(scratch, ownEnv);
  const makers = {
    small: () => makeSmall(scratch, env),
    features: () => makeFeatures(scratch, env),
    large: () => makeLarge(env),
    none: () => ({ env }),
  };
  const places = {};
  try {
    const rows = [];
    for (const figure of wanted) {
      places[figure.where] ??= makers[figure.where]();
      console.error(`… ${figure.name}`);
      const measure = figure.measure ?? measureCommand;
      const { name, unit, least, limit } = figure;
      const row = { name, unit, least, limit, ...(await measure(figure, places[figure.where], scratch)) };
      rows.push({ ...row, ok: isGood(row) });
    }
    return rows;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function isGood({ skipped, median, least = 0, limit = Number.POSITIVE_INFINITY }) {
  return skipped !== undefined || (median >= least && median <= limit);
}

function limitOf({ limit, least, git_alone }) {
  if (git_alone !== undefined) return `${(limit - git_alone).toFixed(1)} + ${git_alone.toFixed(2)} git`;
  if (least !== undefined) return `≥ ${least.toFixed(2)}`;
  return limit === undefined ? '' : `≤ ${limit.toFixed(2)}`;
}

function printTable(rows) {
  const two = (number) => number.toFixed(2);
  const cells = rows.map((row) => {
    if (row.skipped) return [row.name, '-', '-', '-', '-', '-', `skipped: ${row.skipped}`];
    const ms = row.ms === undefined ? '' : `${row.ms.toFixed(0)} ms`;
    const range = `${two(row.min)}–${two(row.max)}`;
    return [
      row.name,
      two(row.median),
      row.unit ?? 'node -e 0',
      limitOf(row),
      range,
      ms,
      row.ok ? 'ok' : 'missed',
    ];
  });
  const table = [['figure', 'median', 'unit', 'limit', 'range', 'time', ''], ...cells];
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

const ALL = [...FIGURES, ...COMMIT_FIGURES, ...LEDGER, ...MCP, ...HOOKS, ...GIT_HOOK_FIGURES];

const USAGE = `Usage: npm run bench -- [--json] [--clean-env] [NAME…]
Figures:
${ALL.map(({ name }) => `  ${name}`).join('\n')}`;

async function main(args) {
  const flags = args.filter((arg) => arg.startsWith('--'));
  const names = args.filter((arg) => !arg.startsWith('--'));
  const wanted = ALL.filter(({ name }) => names.length === 0 || names.some((word) => name.includes(word)));
  if (wanted.length === 0 || flags.some((flag) => !['--json', '--clean-env'].includes(flag))) {
    console.error(USAGE);
    process.exitCode = 2;
    return;
  }
  const ownEnv = !flags.includes('--clean-env');
  ensureBuilt();
  const [load] = loadavg();
  if (load > 0.7) console.error(`The machine is busy (load ${load.toFixed(1)}): the figures will be rough.`);
  const rows = await measureAll(wanted, ownEnv);
  if (flags.includes('--json')) console.log(JSON.stringify({ machine: machine(ownEnv), rows }));
  else {
    console.log(`${machine(ownEnv)}\nin units of "node -e 0" in the same run, unless said otherwise\n`);
    printTable(rows);
  }
  if (rows.some(({ ok }) => !ok)) process.exitCode = 1;
}

await main(process.argv.slice(2));
