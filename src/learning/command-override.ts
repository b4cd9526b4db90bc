import { REASON, reasonOf } from '../cli/options.js';
import { type Call, command } from '../cli/spec.js';
import type { Style } from '../cli/style.js';
import { usage } from '../core/error.js';
import { oneLine, plural } from '../core/text.js';
import type { Overridden, Reset } from '../index.js';

interface Acknowledged {
  audit: { id: string; n: number };
  reasons: string[];
}
type Result = Overridden | Acknowledged | Reset;

const SUBJECTS: Record<string, string | null | undefined> = {
  append: 'TEXT',
  invalidate: 'ID',
  freeze: null,
  unfreeze: null,
  reset: undefined,
  acknowledge: null,
};
const ACTIONS = Object.keys(SUBJECTS);

async function override(call: Call, action: string, subject = ''): Promise<Result> {
  const { memory } = call.forge();
  const reason = reasonOf(call);
  const { scope } = call.options as { scope?: 'execution' };
  checkSubject(action, subject);
  switch (action) {
    case 'append':
      return memory.correct({ pattern: subject, ...(scope === undefined ? {} : { scope }), ...reason });
    case 'invalidate':
      return memory.invalidate({ knowledge: subject, ...reason });
    case 'reset':
      return memory.reset({ tier: subject === '' ? undefined : subject, ...reason });
    case 'acknowledge':
      return memory.acknowledge(reason);
    default:
      return memory.freeze({ end: action === 'unfreeze', ...reason });
  }
}

/** Each action needs a subject, takes none, or (reset) judges it itself. */
function checkSubject(action: string, subject: string): void {
  if (!ACTIONS.includes(action))
    throw usage(
      'override.unknown',
      `Action: found ${JSON.stringify(oneLine(action, 40))}, allowed: ${ACTIONS.join(' | ')}.`,
      { field: 'action' },
    );
  const what = SUBJECTS[action];
  if (what === undefined || (what === null) === (subject === '')) return;
  const [problem, example] =
    what === null
      ? ['takes no subject; leave the last word out.', '']
      : [`needs a subject: ${what}.`, ' "…"'];
  throw usage('override.subject', `override ${action} ${problem}`, {
    hint: `forge memory override ${action}${example} --reason "…"`,
  });
}

function render(result: Result, style: Style): string {
  if ('tier' in result) return describeReset(result);
  const audit = style.dim(`audit ${result.audit.id.slice(0, 12)}`);
  if ('reasons' in result)
    return `acknowledged: ${result.reasons.map((reason) => oneLine(reason, 200)).join('; ')}\n${audit}; work goes on`;
  const { action, pattern = '', knowledge_id = '' } = result;
  const about = `${style.dim(knowledge_id.slice(0, 12))}  ${oneLine(pattern, 120)}`;
  const said = {
    append: `known from now on, by a human: ${about}`,
    invalidate: `invalid from now on: ${about}`,
    freeze: 'consolidation is frozen; recording goes on',
    unfreeze: 'consolidation goes on with the next cycle that makes it due',
  }[action];
  return `${said}\n${audit}`;
}

const describeReset = ({ tier, count, audit }: Reset): string =>
  `${tier}: ${plural(count, 'record')} from before now ${count === 1 ? 'is' : 'are'} left out; the ledger keeps them\naudit ${audit.id.slice(0, 12)}`;

export const overriding = [
  command<Result>({
    name: 'override',
    args: ['<action>', '[subject]'],
    values: { action: { words: ACTIONS } },
    summary:
      'Say what a human decided: append, invalidate, freeze, unfreeze, reset TIER, acknowledge a halt or a size',
    example: 'forge memory override invalidate 3fa9c1d2 --reason "the API changed in June"',
    options: [
      REASON,
      {
        flags: '--scope <word>',
        help: 'of what is appended: execution (default), environment, governance or optimization',
        values: { words: ['execution', 'environment', 'governance', 'optimization'] },
      },
    ],
    writes: true,
    run: override,
    render,
  }),
];
