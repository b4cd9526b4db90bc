import { type Call, command, type Group, type OptionSpec } from '../cli/spec.js';
import { usage } from '../core/error.js';
import type { Briefing, BriefingInput } from '../index.js';

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

/** The workflow for an agent that has only a shell. A test types each line. */
const PRIME = `forge keeps the memory of this project in .forge/ (forge init makes it). Never edit .forge/memory yourself.

    forge start                    the task, what the last session left, what is known
    forge start F-1                the same, for that feature
    forge log "TEXT"               after each step
    forge progress next "TEXT"     what comes next, should you be interrupted
    forge kfr patch --goal "TEXT"  what must stay correct for the next few turns; see forge help kfr
    forge kfr patch --add "OpenQuestion:QUESTION"
    forge kfr patch --resolve kfr-2="ANSWER"    an open question keeps the session from its end
    forge learn "TEXT" --as success    also: failure, invariant, note
    forge feature add F-1 "TEXT" --test "COMMAND"   before the work: it runs once and must fail
    forge done F-1                 runs that test; the only way to "passing"
    git add -A && forge commit -m "TEXT" --why "TEXT"
    forge end --next "TEXT"        when the task is done

Add --json for programs. When a command is refused, the line after the arrow shows what to type.`;

export const primeGroup: Group = {
  commands: [
    command<{ lines: string[] }>({
      name: 'prime',
      summary: 'Print the work with forge in 15 lines, for an agent that has only a shell',
      example: 'forge prime',
      run: async () => ({ lines: PRIME.split('\n') }),
      render: ({ lines }) => lines.join('\n'),
    }),
  ],
};
