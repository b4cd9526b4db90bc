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

const ACTIONS = ['append', 'invalidate', 'freeze', 'unfreeze', 'reset', 'acknowledge'] as const;

async function override(call: Call, action: string, subject?: string): Promise<Result> {
  const { memory } = call.forge();
  const reason = reasonOf(call);
  switch (action) {
    case 'append':
      return memory.correct({ pattern: named(subject, action, 'TEXT'), ...scopeOf(call), ...reason });
    case 'invalidate':
      return memory.invalidate({ knowledge: named(subject, action, 'ID'), ...reason });
    case 'freeze':
    case 'unfreeze':
      refuseSubject(subject, action);
      return memory.freeze({ end: action === 'unfreeze', ...reason });
    case 'reset':
      return memory.reset({ tier: subject, ...reason });
    case 'acknowledge':
      refuseSubject(subject, action);
      return memory.acknowledge(reason);
    default:
      throw usage(
        'override.unknown',
        `Action: found ${JSON.stringify(oneLine(action, 40))}, allowed: ${ACTIONS.join(' | ')}.`,
        { field: 'action' },
      );
  }
}

const scopeOf = ({ options }: Call): { scope?: 'execution' } =>
  options.scope === undefined ? {} : { scope: options.scope as 'execution' };

function named(subject: string | undefined, action: string, what: string): string {
  if (subject !== undefined) return subject;
  throw usage('override.subject', `override ${action} needs a subject: ${what}.`, {
    hint: `forge memory override ${action} "…" --reason "…"`,
  });
}

function refuseSubject(subject: string | undefined, action: string): void {
  if (subject === undefined) return;
  throw usage('override.subject', `override ${action} takes no subject; leave the last word out.`, {
    hint: `forge memory override ${action} --reason "…"`,
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
