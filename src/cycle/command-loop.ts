import { type Call, command, type Group, type OptionSpec } from '../cli/spec.js';
import { harmless, type Style } from '../cli/style.js';
import { jsonLine, plural } from '../core/text.js';
import type { CycleResult, LoopOptions } from '../index.js';
import { commandOf, renderCycle, TIMEOUT, watchCycle } from './command.js';
import { type LoopResult, loopExit } from './loop-rules.js';

const YEAR = 31_536_000;

const OPTIONS: readonly OptionSpec[] = [
  { flags: '--max-cycles <n>', help: 'end after so many cycles', number: [1, 1_000_000] },
  { flags: '--max-time <s>', help: 'begin no cycle after so many seconds', number: [1, YEAR] },
  { flags: '--sleep <s>', help: 'seconds between two cycles (default: 0)', number: [0, 604_800] },
  {
    flags: '--max-failures <n>',
    help: 'end after so many failed cycles in a row (default: 3)',
    number: [1, 1_000_000],
  },
  {
    flags: '--cost-hook <command>',
    help: 'gets each report as JSON on stdin; ends the loop unless it exits with 0',
  },
  { flags: '--resume', help: 'go on with the counts of the loop before' },
  TIMEOUT,
];

type Flags = Partial<Record<'maxCycles' | 'maxTime' | 'sleep' | 'maxFailures' | 'timeout', number>> & {
  costHook?: string;
  resume?: boolean;
};

function optionsOf(call: Call, words: readonly string[]): LoopOptions {
  const { maxCycles, maxTime, sleep, maxFailures, timeout, costHook, resume } = call.options as Flags;
  const given = {
    max_cycles: maxCycles,
    max_time_seconds: maxTime,
    sleep_seconds: sleep,
    max_failures: maxFailures,
    timeout_seconds: timeout,
    cost_hook: costHook,
    resume,
  };
  const known = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...commandOf(words, 'loop'), ...Object.fromEntries(known) };
}

async function run(call: Call, ...words: string[]): Promise<LoopResult> {
  const watch = watchCycle(call);
  const onCycle = (result: CycleResult): void => {
    call.print(call.flags.json ? jsonLine(result) : `${renderCycle(harmless(result), call.style)}\n`);
    for (const warning of result.warnings) call.say(`! ${harmless(warning)}`);
  };
  try {
    return await call.forge().loop(optionsOf(call, words), { ...watch, onCycle });
  } finally {
    watch.end();
  }
}

function render({ cycles, reason, by_classification }: LoopResult, style: Style): string {
  const counts = Object.entries(by_classification).map(([name, count]) => `${count} ${name}`);
  return `${style.strong(plural(cycles, 'cycle'))}${counts.length > 0 ? ` (${counts.join(', ')})` : ''}: ${reason}.`;
}

export const group: Group = {
  commands: [
    command<LoopResult>({
      name: 'loop',
      args: ['[command...]'],
      summary:
        'Repeat governed cycles: a line of JSON each with --json, and a last one that says why it ended',
      example: 'forge loop --max-cycles 1 -- npm test',
      options: OPTIONS,
      writes: true,
      runs: true,
      run,
      render,
      exit: loopExit,
    }),
  ],
};
