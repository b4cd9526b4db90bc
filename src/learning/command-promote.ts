import { command } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { oneLine, plural } from '../core/text.js';
import type { Promoted } from '../index.js';

const CONDITIONS: Record<string, (seen: { observed: number; qualified: number }) => string> = {
  observed: ({ observed }) => `seen in ${plural(observed, 'cycle')}, 3 are needed`,
  classification: () => 'a cycle was no SUCCESS or PARTIAL_SUCCESS',
  environment_valid: () => "a cycle's environment was not valid",
  governance_violations: () => 'a cycle broke a rule',
  execution: () => 'a cycle has no execution record',
  contradicted: () => 'it was contradicted; the count began again',
  invalidated: () => 'a human declared it invalid',
  fields: () => 'a field of its record would be empty',
};

const STATUS = { valid: 'good', contested: 'warn', invalid: 'bad', unproven: 'warn' } as const;

const ORIGIN = {
  knowledge: 'proven',
  correction: 'by a human',
  unproven: 'its evidence is not here',
} as const;

function renderWhen({ due, due_in, ran, waits }: Promoted, style: Style): string {
  if (ran) return style.good(`consolidated; the next one is due in ${plural(due_in, 'cycle')}`);
  if (waits !== undefined) return style.warn(`consolidation is due, but waits: ${waits}`);
  return due
    ? `consolidation is due: ${style.command('forge memory consolidate')}`
    : `consolidation is due in ${plural(due_in, 'cycle')}; until then nothing is promoted`;
}

const SHOWN = 40;

/** Every line says what becomes of one pattern, and why. */
function render(result: Promoted, style: Style): string {
  const { ran, promoted, contested, reinstated, rejected, known } = result;
  const will = ran ? '' : 'to be ';
  const changed = new Set([...promoted, ...contested, ...reinstated].map(({ knowledge_id }) => knowledge_id));
  const rows = [
    ...promoted.map((entry) => [
      style.good(`${will}promoted`),
      entry,
      `cycles ${entry.evidence_cycles.join(', ')}`,
    ]),
    ...contested.map((entry) => [
      style.warn(`${will}contested`),
      entry,
      `contradicted by ${plural(entry.contradicts.length, 'evaluation')}`,
    ]),
    ...reinstated.map((entry) => [
      style.good(`${will}reinstated`),
      entry,
      plural(entry.evidence.length, 'clean cycle'),
    ]),
    ...rejected.map((entry) => [
      style.dim('not yet'),
      entry,
      entry.failed.map((condition) => CONDITIONS[condition]?.(entry) ?? condition).join('; '),
    ]),
    ...known
      .filter(({ knowledge_id }) => !changed.has(knowledge_id))
      .map((entry) => [
        style[STATUS[entry.status]](entry.status === 'valid' ? 'known' : entry.status),
        entry,
        `${ORIGIN[entry.status === 'unproven' ? 'unproven' : entry.kind]}, ${style.dim(entry.knowledge_id.slice(0, 12))}`,
      ]),
  ] as [string, { pattern: string; scope: string }, string][];
  const lines = rows
    .slice(0, SHOWN)
    .map(([what, { pattern, scope }, why]) => [what, scope, oneLine(pattern, 80), why]);
  const more = rows.length - lines.length;
  return [
    renderWhen(result, style),
    ...(lines.length > 0 ? [columns(lines, '  ')] : []),
    ...(more > 0 ? [style.dim(`  … ${more} more: forge memory promote "…" shows one, --json all`)] : []),
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
