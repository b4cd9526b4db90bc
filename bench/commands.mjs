// Figures of commands, each as a whole process. The limit is what a person waits for on an idle machine, beyond git's own time.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { canMeasureMemory, memoryRatio, run, wallTimes } from './measure.mjs';
import { forge, gitCallsOf } from './repositories.mjs';

const START = forge('session', 'start', '--json');
/** Milliseconds. */
const LIMIT = 100;

const command = (name, argv, more = {}) => ({ name, where: 'small', unit: 'ms', argv, ...more });

export const COMMANDS = [
  command('forge --version', forge('--version')),
  command('focus show', forge('focus', 'show')),
  command('next', forge('next')),
  command('session start --json, small repository', null, { measure: measureStart }),
  command('session start --json, 50,000 commits', null, {
    where: 'large',
    measure: measureStart,
  }),
  {
    name: 'session start --json, peak memory',
    where: 'small',
    unit: 'empty Node',
    measure: measureMemory,
  },
  command('status --short', forge('status', '--short'), { asksGit: true }),
  command('status --json', forge('status', '--json'), { asksGit: true }),
  command('progress add', forge('progress', 'add', 'one line'), { session: true }),
  command(
    'memory record',
    forge('memory', 'record', '--task', 'FORGE-001', '--exit-code', '0', '--classification', 'SUCCESS'),
  ),
  command('cycle -- true', forge('cycle', '--quiet', '--task', 'X-1', '--', 'true'), { asksGit: true }),
  command('recover --plan, 50,000 commits', null, { where: 'large', measure: measureRecover }),
  command('kfr patch', null, { measure: measurePatch }),
  command('feature list, 1,000 features', forge('feature', 'list'), { where: 'features' }),
  command('next, 1,000 features', forge('next'), { where: 'features' }),
];

export function measureCommand({ argv, session, asksGit }, place, scratch) {
  const running = session && isRunning(place);
  if (session && !running) run(START, place);
  const git = asksGit ? [gitCallsOf(argv, scratch, place)] : [];
  const times = wallTimes([argv, ...git], place);
  if (session && !running) discard(place);
  return withGit(times);
}

/** The second of two times is that of git's calls alone; they are added to the limit. */
export function withGit([time, git], limit = LIMIT) {
  if (git === undefined) return { ...time, limit };
  return { ...time, limit: limit + git.median, git_alone: git.median };
}

/** Every measured start is a fresh one. The time of its git calls is measured beside it and added to the limit. */
function measureStart(_figure, place, scratch) {
  // The first start of all verifies memory; what is measured is every later one.
  run(START, place);
  const prepare = () => discard(place);
  prepare();
  const git = gitCallsOf(START, scratch, place);
  const times = wallTimes([START, git], place, prepare);
  discard(place);
  return withGit(times);
}

/** A checkpoint a thousand commits back. */
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
    return withGit(wallTimes([plan, calls], place));
  } finally {
    run(['git', 'tag', '-d', tag], place);
  }
}

/** A goal in place of the one before, in each round another one: what is there already is refused. */
function measurePatch(_figure, place) {
  if (!isRunning(place)) run(START, place);
  let round = 0;
  const file = join(place.cwd, '..', 'patch.json');
  const next = () =>
    writeFileSync(
      file,
      JSON.stringify({ operations: [{ op: 'replace', kind: 'Goal', text: `goal ${++round}` }] }),
    );
  const times = wallTimes([forge('kfr', 'patch', file)], place, next);
  discard(place);
  return withGit(times);
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
