import { type Call, command, type Group } from '../cli/spec.js';
import type { Style } from '../cli/style.js';
import { usage } from '../core/error.js';
import { oneLine } from '../core/text.js';
import type { Learning, Note, Observed } from '../index.js';
import { describeObserved } from '../project/observe.js';
import { describeLearning } from './rules.js';

type Learned = { learning: Learning; duplicate: boolean } | Note | Observed;

const KINDS = {
  success: 'what worked',
  failure: 'what did not work',
  invariant: 'what always holds',
  note: 'anything else worth keeping',
} as const;
type Kind = keyof typeof KINDS;
const NAMES = Object.keys(KINDS) as Kind[];

async function askKind(): Promise<Kind> {
  const { choose } = await import('../cli/prompt.js');
  const lines = NAMES.map((name) => `${name.padEnd(9)}  ${KINDS[name]}`);
  const chosen = await choose('What is it?', lines, lines[0] as string);
  return NAMES[lines.indexOf(chosen)] as Kind;
}

async function kindOf({ options, interactive }: Call, text: string): Promise<Kind> {
  const { as } = options as { as?: string };
  const known = NAMES.find((name) => name === as);
  if (known) return known;
  if (as === undefined && interactive) return askKind();
  const found = as === undefined ? 'Say what it is' : `--as: found ${JSON.stringify(oneLine(as, 40))}`;
  throw usage('learn.kind', `${found}: ${NAMES.join(' | ')}.`, {
    field: 'as',
    hint: `forge learn "${/^[^"$`\\\n]{1,100}$/.test(text) ? text : 'TEXT'}" --as success`,
  });
}

async function learn(call: Call, argument: string): Promise<Learned> {
  const text = await call.text(argument);
  const kind = await kindOf(call, text);
  const { context = 'any task', resolution = '' } = call.options as { context?: string; resolution?: string };
  const { knowledge, note } = call.forge();
  if (kind === 'note') return note.add({ text });
  if (kind === 'invariant') return knowledge.add({ kind, text });
  const about = await call.text(context);
  if (kind === 'success') return knowledge.add({ kind, context: about, approach: text });
  return knowledge.add({ kind, context: about, issue: text, resolution: await call.text(resolution) });
}

function render(learned: Learned, style: Style): string {
  if ('observed' in learned) return describeObserved(learned.observed);
  if (!('learning' in learned))
    return `${style.good('✓')} note ${learned.id.slice(0, 12)}  ${oneLine(learned.text, 200)}`;
  const { learning, duplicate } = learned;
  return `${style.good('✓')} ${learning.kind} ${learning.id}  ${oneLine(describeLearning(learning), 400)}${duplicate ? '  (known already)' : ''}`;
}

export const group: Group = {
  commands: [
    command<Learned>({
      name: 'learn',
      args: ['<text>'],
      summary: 'Keep a lesson. Later briefings show it. Asks for its kind, or takes --as',
      example: 'forge learn "Port 0 lets two test runs share a machine" --as success',
      options: [
        {
          flags: '--as <kind>',
          help: NAMES.map((name) => `${name}: ${KINDS[name]}`).join('; '),
          values: { words: NAMES },
        },
        { flags: '--context <text>', help: 'when it holds (success and failure)' },
        { flags: '--resolution <text>', help: 'what helped (failure)' },
      ],
      writes: true,
      run: (call, text) => learn(call, text as string),
      render,
    }),
  ],
};
