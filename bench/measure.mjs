// Measures whole processes: milliseconds, or ratios to `node -e 0` of the same round where the machine's speed must not count.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const NODE = process.execPath;
export const EMPTY_NODE = [NODE, '-e', '0'];

/** Few rounds, to see that everything runs: what they tell is not worth keeping. */
export const QUICK = process.argv.includes('--quick');
export const rounds = (full) => (QUICK ? Math.min(3, full) : full);

const PAIRS = rounds(15);
const WARM_UPS = 2;
const MEMORY_RUNS = rounds(5);

/** Somebody wants to stop all of it: Ctrl-C reaches the program that is measured as well. */
export class Interrupted extends Error {}

/** Runs argv to its end and returns stdout; throws when it fails: a failing command is quick for the wrong reason. */
export function run(argv, { cwd, env, input = '' }) {
  const [program, ...args] = argv;
  const { status, signal, error, stdout, stderr } = spawnSync(program, args, {
    cwd,
    env,
    input,
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  });
  if (signal === 'SIGINT' || signal === 'SIGTERM') throw new Interrupted('interrupted');
  // Who does not read what is given on stdin is none the worse for it.
  if ((error && error.code !== 'EPIPE') || status !== 0)
    throw new Error(`${argv.join(' ')} failed (${error?.message ?? `exit ${status}`}): ${stderr}`);
  return stdout;
}

/** Milliseconds of a process from its start to its end. */
export function wallMs(argv, place) {
  const start = performance.now();
  run(argv, place);
  return performance.now() - start;
}

export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export const summary = (numbers) => ({
  median: median(numbers),
  min: Math.min(...numbers),
  max: Math.max(...numbers),
});

function argvOf(command) {
  const argv = command.argv ?? command;
  return typeof argv === 'function' ? argv() : argv;
}

/**
 * Milliseconds of each of `commands`, in turn. A command is an argv, a function that makes one each time, or `{ argv, place }`
 * where it runs elsewhere. `between` runs unmeasured before every round.
 */
export function wallTimes(commands, place, between = () => {}) {
  const times = commands.map(() => []);
  for (let round = -WARM_UPS; round < PAIRS; round++) {
    between();
    for (const [i, command] of commands.entries()) {
      const took = wallMs(argvOf(command), command.place ?? place);
      if (round >= 0) times[i].push(took);
    }
  }
  return times.map(summary);
}

/**
 * Rounds of `node -e 0` and each of `commands`, one after the other: the ratios of each to the node of its own round,
 * and its median time. A command is an argv, a function that makes one each
 * time, or `{ argv, place }` where it runs elsewhere. `between` runs unmeasured before
 * every round.
 */
export function wallRatios(commands, place, between = () => {}) {
  const ratios = commands.map(() => []);
  const times = commands.map(() => []);
  for (let round = -WARM_UPS; round < PAIRS; round++) {
    between();
    const base = wallMs(EMPTY_NODE, place);
    for (const [i, command] of commands.entries()) {
      const took = wallMs(argvOf(command), command.place ?? place);
      if (round < 0) continue;
      ratios[i].push(took / base);
      times[i].push(took);
    }
  }
  return commands.map((_, i) => ({ ...summary(ratios[i]), ms: median(times[i]) }));
}

const TIME = '/usr/bin/time';

/** True where GNU time says how much memory a process took at most. */
export function canMeasureMemory() {
  return existsSync(TIME) && spawnSync(TIME, ['-f', '%M', 'true']).status === 0;
}

/** Peak resident memory of a command in KiB. */
export function peakKib(argv, { cwd, env }) {
  const { status, stderr } = spawnSync(TIME, ['-f', '%M', ...argv], { cwd, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${argv.join(' ')} failed: ${stderr}`);
  return Number(stderr.trim().split('\n').at(-1));
}

/** Peak resident memory of a command as a multiple of what an empty Node takes. */
export function memoryRatio(argv, place, between = () => {}) {
  const ratios = [];
  for (let round = 0; round < MEMORY_RUNS; round++) {
    between();
    ratios.push(peakKib(argv, place) / peakKib(EMPTY_NODE, place));
  }
  return summary(ratios);
}
