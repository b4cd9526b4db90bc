import { command } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { oneLine, plural } from '../core/text.js';
import type { Promoted } from '../index.js';
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
    ...(more > 0 ? [style.dim(`  … ${more} more: forge memory promote "…" shows one, --json all`)] : []),
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
