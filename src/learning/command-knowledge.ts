import { REASON, reasonOf } from '../cli/options.js';
import { type Call, command } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { usage } from '../core/error.js';
import { oneLine, plural } from '../core/text.js';
import type { Overridden, Promoted, Reset } from '../index.js';
import { describeEvidence } from './proven.js';

const CONDITIONS: Record<string, (seen: { observed: number; qualified: number }) => string> = {
  observed: ({ observed }) => `seen in ${plural(observed, 'cycle')}, 3 are needed`,
  classification: () => 'a cycle was not SUCCESS or PARTIAL_SUCCESS',
  environment_valid: () => "a cycle's environment was not valid",
  governance_violations: () => 'a cycle broke a rule',
  execution: () => 'a cycle has no execution record',
  contradicted: () => 'it was contradicted; the count began again',
  invalidated: () => 'a human declared it invalid',
  fields: () => 'a field of its record would be empty',
};

function renderWhen({ due, due_in, ran, waits }: Promoted, style: Style): string {
  if (ran) return style.good(`consolidated; the next one is due in ${plural(due_in, 'cycle')}`);
  if (waits !== undefined) return style.warn(`consolidation is due, but waits: ${waits}`);
  return due
    ? `consolidation is due: ${style.command('forge memory consolidate')}`
    : `consolidation is due in ${plural(due_in, 'cycle')}; until then nothing is promoted`;
}

const SHOWN = 40;

type Row = [what: string, about: { pattern: string; scope: string }, why: string];

/** What becomes of each pattern, and why. */
function changes({ ran, promoted, contested, reinstated, rejected }: Promoted, style: Style): Row[] {
  const will = ran ? '' : 'to be ';
  return [
    ...promoted.map((entry): Row => {
      const how = describeEvidence({ kind: 'knowledge', ...entry });
      return [style.good(`${will}promoted`), entry, `${how} (${entry.evidence_cycles.join(', ')})`];
    }),
    ...contested.map((entry): Row => {
      const against = plural(entry.contradicts.length, 'evaluation');
      return [style.warn(`${will}contested`), entry, `contradicted by ${against}`];
    }),
    ...reinstated.map((entry): Row => {
      return [style.good(`${will}reinstated`), entry, plural(entry.evidence.length, 'clean cycle')];
    }),
    ...rejected.map((entry): Row => {
      const failed = entry.failed.map((condition) => CONDITIONS[condition]?.(entry) ?? condition);
      return [style.dim('not yet'), entry, `${failed.join('; ')} (${entry.candidate})`];
    }),
  ];
}

const STATUS = { valid: 'good', contested: 'warn', invalid: 'bad', unproven: 'warn' } as const;

function knownRow(entry: Promoted['known'][number], style: Style): Row {
  const { status, knowledge_id } = entry;
  const how = status === 'unproven' ? 'its evidence is not here' : describeEvidence(entry);
  const what = style[STATUS[status]](status === 'valid' ? 'known' : status);
  return [what, entry, `${how}, ${style.dim(knowledge_id.slice(0, 12))}`];
}

const table = (rows: readonly Row[]): string[] =>
  rows.length === 0
    ? []
    : [
        columns(
          rows.map(([what, { pattern, scope }, why]) => [what, scope, oneLine(pattern, 80), why]),
          '  ',
        ),
      ];

function render(result: Promoted, style: Style): string {
  const { promoted, contested, reinstated, known } = result;
  const changed = new Set([...promoted, ...contested, ...reinstated].map(({ knowledge_id }) => knowledge_id));
  const rest = known.filter(({ knowledge_id }) => !changed.has(knowledge_id));
  const doubted = rest.filter(({ status }) => status === 'contested');
  const others = rest.filter(({ status }) => status !== 'contested');
  const rows = [...changes(result, style), ...others.map((entry) => knownRow(entry, style))];
  const more = rows.length - SHOWN;
  return [
    renderWhen(result, style),
    ...table(rows.slice(0, SHOWN)),
    ...(more > 0 ? [style.dim(`  … ${more} more: forge memory promote "TEXT" shows one, --json all`)] : []),
    ...(doubted.length > 0 ? [style.strong('Contested: do not rely on these')] : []),
    ...table(doubted.slice(0, SHOWN).map((entry) => knownRow(entry, style))),
  ].join('\n');
}

export const promoting = [
  command<Promoted>({
    name: 'promote',
    args: ['[pattern]'],
    summary:
      'Show what may be learned, and which condition each pattern fails; run a consolidation that is due',
    example: 'forge memory promote "retry the install once"',
    writes: true,
    run: (call, pattern) => call.forge().memory.promote(pattern === undefined ? {} : { pattern }),
    render,
    // LTM-06: a pattern that was asked for and fails its conditions is a finding.
    exit: ({ asked, rejected }) => (asked !== undefined && rejected.length > 0 ? 1 : 0),
  }),
  command<Promoted>({
    name: 'consolidate',
    summary:
      'Promote what has earned it, contest what was contradicted; every 10 evaluated cycles, never in between',
    example: 'forge memory consolidate',
    writes: true,
    run: (call) => call.forge().memory.consolidate(),
    render,
  }),
];

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
    hint: `forge memory override ${action}${example} --reason "TEXT"`,
  });
}

function renderOverride(result: Result, style: Style): string {
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
    render: renderOverride,
  }),
];
