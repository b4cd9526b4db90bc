import { type Call, command, type Group, type OptionSpec } from '../cli/spec.js';
import { usage } from '../core/error.js';
import type { Briefing, BriefingInput } from '../index.js';
import { workflow } from './workflow.js';

export const BRIEFING_OPTIONS: readonly OptionSpec[] = [
  { flags: '--budget <tokens>', help: 'the most tokens of the briefing', number: [50, 100_000] },
  {
    flags: '--format <format>',
    help: 'text, markdown or json',
    values: { words: ['text', 'markdown', 'json'] },
  },
];

/** `--format json` is `--json`. */
export function briefingInput({ options, flags }: Call): BriefingInput {
  const { budget, format } = options as { budget?: number; format?: string };
  if (format !== undefined && !['text', 'markdown', 'json'].includes(format))
    throw usage(
      'format.unknown',
      `--format: found ${JSON.stringify(format)}, allowed: text | markdown | json.`,
      { field: 'format' },
    );
  if (format === 'json') flags.json = true;
  return {
    ...(budget === undefined ? {} : { budget }),
    ...(format === 'text' || format === 'markdown' ? { format } : {}),
  };
}

export const group: Group = {
  commands: [
    command<Briefing>({
      name: 'briefing',
      summary: 'Show where the work stands, cut to a token budget; changes nothing',
      example: 'forge briefing --budget 1000 --format markdown',
      options: BRIEFING_OPTIONS,
      run: (call) => call.forge().briefing(briefingInput(call)),
      render: (briefing) => briefing.text,
    }),
  ],
};

export const primeGroup: Group = {
  commands: [
    command<{ lines: string[] }>({
      name: 'prime',
      summary: 'Print what an agent does with forge, in five lines; for one that has only a shell',
      example: 'forge prime',
      run: async () => ({
        lines: workflow({}, 'Begin with `forge session start`, which says where the work stands'),
      }),
      render: ({ lines }) => `${lines.join('\n')}\n`,
    }),
  ],
};
