// Figures of commands, each as a whole process, in units of `node -e 0`.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { canMeasureMemory, memoryRatio, run, wallRatios } from './measure.mjs';
import { forge, gitCallOf, gitCallsOf } from './repositories.mjs';

const START = forge('session', 'start', '--json');
const START_LIMIT = 1.6;

/** One row a figure: what is run, where, and what it may take at most, in units of `node -e 0`. */
export const COMMANDS = [
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

export function measureCommand({ argv, limit, session }, place) {
  const running = session && isRunning(place);
  if (session && !running) run(START, place);
  const [ratio] = wallRatios([argv], place);
  if (session && !running) discard(place);
  return { ...ratio, limit };
}

/** What the first look asks git is remembered; what every later one asks is measured beside it and added. */
function measureStatus(_figure, place, scratch) {
  const status = forge('status', '--json');
  run(status, place);
  const git = gitCallOf(status, scratch, place);
  const [gitAlone, ratio] = wallRatios([git, status], place);
  return { ...ratio, limit: 1.7 + gitAlone.median, git_alone: gitAlone.median };
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
