import { type Call, command, type Group, type OptionSpec } from '../cli/spec.js';
import type { Style } from '../cli/style.js';
import { escapeControls, harmless, jsonLine, oneLine, plural } from '../core/text.js';
import type { CycleResult, CycleWatch, LoopOptions, Stage } from '../index.js';
import { countCycles } from './loop-state.js';
import { describeKept, exitOf, failuresIn, isInterrupted, type LoopResult, loopExit } from './rules.js';

const TIMEOUT: OptionSpec = {
  flags: '--timeout <s>',
  help: 'time limit for the command, in seconds (default: 1800)',
  number: [1, 604_800],
};

function watchCycle(call: Call): CycleWatch & { end(): void } {
  const view = call.view(makeCycleView);
  return { ...view, ...call.stops(view.note) };
}

async function run(call: Call, ...command: string[]): Promise<CycleResult> {
  const { timeout, task } = call.options as { timeout?: number; task?: string };
  const watch = watchCycle(call);
  try {
    return await call.forge().cycle({ command, timeout_seconds: timeout, task }, watch);
  } finally {
    watch.end();
  }
}

function renderCycle(value: CycleResult, style: Style): string {
  const { cycle, task, classification, exit_code, report, memory_error, stages } = value;
  if (!classification || !report) return `A cycle on task ${oneLine(task, 100)} would be run.`;
  const paint = exitOf(value) === 0 ? style.good : style.bad;
  const { note = '' } = stages.find(({ name }) => name === 'execution') ?? {};
  const known = exit_code === null ? `no exit code${note === '' ? '' : ` (${note})`}` : `exit ${exit_code}`;
  const ended = isInterrupted(stages) ? `${known}, interrupted from outside` : known;
  const changed = report.files_changed === null ? [] : [`${plural(report.files_changed, 'file')} changed`];
  const passing = `${report.features_passing}/${report.features} features passing`;
  return [
    `${style.strong(cycle === null ? 'Cycle' : `Cycle ${cycle}`)} ${paint(classification)}: ${oneLine(task, 100)}`,
    `  ${[ended, passing, ...changed, `${(report.duration_ms / 1000).toFixed(1)} s`].join(', ')}`,
    `  memory ${report.memory_write_performed ? 'written' : 'NOT written'}, ${report.memory_integrity_status}`,
    ...report.governance_violations.map((text) => style.bad(`  violation: ${oneLine(text, 300)}`)),
    ...[...new Set(failuresIn(report.evidence))].map((text) => style.bad(`  ${text}`)),
    ...report.regression_flags.map((id) => style.bad(`  regression: ${oneLine(id, 100)}`)),
    ...report.tests_changed.map((name) => style.warn(`  changed test: ${oneLine(name, 200)}`)),
    ...(describeKept(report) === '' ? [] : [style.good(`  made: ${describeKept(report)}`)]),
    ...report.promoted.map(({ pattern }) => style.good(`  promoted: ${oneLine(pattern, 300)}`)),
    ...report.contested.map(({ pattern }) => style.warn(`  contested: ${oneLine(pattern, 300)}`)),
    ...(memory_error
      ? [
          style.bad(`  ${oneLine(memory_error.message, 500)}`),
          `  → ${memory_error.hint ?? 'the next cycle records it'}`,
        ]
      : []),
  ].join('\n');
}

export const group: Group = [
  command<CycleResult>({
    name: 'cycle',
    args: ['<command...>'],
    summary: 'Run a command as one governed cycle: briefed, judged by its tests and recorded',
    example: 'forge cycle -- npm test',
    options: [
      TIMEOUT,
      {
        flags: '--task <id>',
        help: 'the task, instead of the one in focus or the next one',
        values: { live: ['feature', 'issue'] },
      },
    ],
    writes: true,
    runs: true,
    run,
    render: renderCycle,
    exit: exitOf,
  }),
];

const YEAR = 31_536_000;

const LOOP_OPTIONS: readonly OptionSpec[] = [
  { flags: '--max-cycles <n>', help: 'stop after N cycles', number: [1, 1_000_000] },
  { flags: '--max-time <s>', help: 'start no cycle after this many seconds', number: [1, YEAR] },
  { flags: '--sleep <s>', help: 'seconds between two cycles (default: 0)', number: [0, 604_800] },
  {
    flags: '--max-failures <n>',
    help: 'stop after N cycles in a row that failed or in which no feature began to pass (default: 3)',
    number: [1, 1_000_000],
  },
  { flags: '--resume', help: 'continue with the counts of the previous loop' },
  TIMEOUT,
];

async function runLoop(call: Call, ...command: string[]): Promise<LoopResult> {
  const { maxCycles, maxTime, sleep, maxFailures, timeout, resume } = call.options as Record<string, never>;
  const options: LoopOptions = {
    ...{ command, max_cycles: maxCycles, max_time_seconds: maxTime, sleep_seconds: sleep },
    ...{ max_failures: maxFailures, timeout_seconds: timeout, resume },
  };
  const watch = watchCycle(call);
  const onCycle = (result: CycleResult): void => {
    call.print(call.flags.json ? jsonLine(result) : `${renderCycle(harmless(result), call.style)}\n`);
    for (const warning of result.warnings) call.say(`! ${harmless(warning)}`);
  };
  try {
    return await call.forge().loop(options, { ...watch, onCycle });
  } finally {
    watch.end();
  }
}

export const loopGroup: Group = [
  command<LoopResult>({
    name: 'loop',
    args: ['<command...>'],
    summary: 'Repeat governed cycles; with --json one line each, and a last one with the reason for the end',
    example: 'forge loop --max-cycles 1 -- npm test',
    options: LOOP_OPTIONS,
    writes: true,
    runs: true,
    run: runLoop,
    render: (loop, style) => `${style.strong(countCycles(loop))}: ${loop.reason}.`,
    exit: loopExit,
  }),
];

/** Longer lines are split, so that output without line ends is shown. */
const MAX_LINE = 4096;

/** What a person sees while a cycle runs: a line for each stage, and the output of its commands. */
function makeCycleView(write: ((text: string) => void) | null, style: Style) {
  let open = '';
  const print = (text: string): void => write?.(text);
  const flush = (): void => {
    if (open !== '') print(`  | ${escapeControls(open)}\n`);
    open = '';
  };
  return {
    onStageEnd: (stage: Stage): void => {
      flush();
      print(stageLine(stage, style));
    },
    onOutput: (text: string): void => {
      const lines = `${open}${text}`.split(/\r?\n/);
      open = lines.pop() ?? '';
      for (const line of lines) print(`  | ${escapeControls(line)}\n`);
      if (open.length > MAX_LINE) flush();
    },
    note: (line: string): void => {
      flush();
      print(`${line}\n`);
    },
    end: flush,
  };
}

function stageLine({ name, status, duration_ms, note }: Stage, style: Style): string {
  const paint = { ok: style.good, failed: style.bad, skipped: style.dim }[status];
  const seconds = duration_ms < 1000 ? `${duration_ms} ms` : `${(duration_ms / 1000).toFixed(1)} s`;
  const time = (status === 'skipped' ? '' : seconds).padStart(8);
  const words = [name.padEnd(11), paint(status.padEnd(7)), time, note ? ` ${oneLine(note, 300)}` : ''];
  return `${words.join(' ').trimEnd()}\n`;
}
