import { type Call, command, given, REASON, reasonOf } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { oneLine, oneOf, plural } from '../core/text.js';
import type { Forge, Overridden, Promoted, Reset } from '../index.js';
import { knownRow, SCOPE } from './command-cycles.js';
import { describeEvidence } from './proven.js';

const CONDITIONS: Record<string, string> = {
  verdict: 'a cycle has no verdict, because no test of a feature ran',
  classification: 'a cycle was not SUCCESS or PARTIAL_SUCCESS',
  environment_valid:
    "a cycle's environment was not valid, or the cycle does not say that it was (environment_valid: true)",
  governance_violations: 'a cycle broke a rule',
  execution: 'a cycle has no execution record',
  contradicted: 'it was contradicted, so the count restarted',
  invalidated: 'a human declared it invalid',
  fields: 'a field of its record would be empty',
};

function renderWhen({ due, due_in, ran, waits }: Promoted, style: Style): string {
  if (ran) return style.good(`consolidated; the next one is due in ${plural(due_in, 'cycle')}`);
  if (waits !== undefined) return style.warn(`consolidation is due, but waits: ${waits}`);
  return due
    ? `consolidation is due: ${style.command('forge memory consolidate')}`
    : `consolidation is due in ${plural(due_in, 'cycle')}; until then nothing is promoted`;
}

function renderChanges(
  { ran, promoted, contested, reinstated, rejected }: Promoted,
  style: Style,
): string[][] {
  const will = ran ? '' : 'to be ';
  const row = (what: string, { scope, pattern }: { scope: string; pattern: string }, why: string) => [
    ...[what, scope, oneLine(pattern, 80), why],
  ];
  return [
    ...promoted.map((entry) => {
      const how = describeEvidence({ kind: 'knowledge', ...entry });
      return row(style.good(`${will}promoted`), entry, `${how} (${entry.evidence_cycles.join(', ')})`);
    }),
    ...contested.map((entry) => {
      const against = plural(entry.contradicts.length, 'evaluation');
      return row(style.warn(`${will}contested`), entry, `contradicted by ${against}`);
    }),
    ...reinstated.map((entry) =>
      row(style.good(`${will}reinstated`), entry, plural(entry.evidence.length, 'clean cycle')),
    ),
    ...rejected.map((entry) => {
      const observed = `seen in ${plural(entry.observed, 'cycle')}, 3 are needed`;
      const failed = entry.failed.map((name) => CONDITIONS[name] ?? observed);
      return row(style.dim('not yet'), entry, `${failed.join('; ')} (${entry.candidate})`);
    }),
  ];
}

function renderPromoted(result: Promoted, style: Style): string {
  const { promoted, contested, reinstated, known } = result;
  const changed = new Set([...promoted, ...contested, ...reinstated].map(({ knowledge_id }) => knowledge_id));
  const rest = known.filter(({ knowledge_id }) => !changed.has(knowledge_id));
  const rowsOf = (isContested: boolean): string[][] =>
    rest
      .filter(({ status }) => (status === 'contested') === isContested)
      .map((entry) => knownRow(entry, style));
  const rows = [...renderChanges(result, style), ...rowsOf(false)];
  const doubted = rowsOf(true);
  return [
    renderWhen(result, style),
    ...(rows.length > 0 ? [columns(rows, '  ')] : []),
    ...(doubted.length > 0 ? [style.strong('Contested: do not rely on these'), columns(doubted, '  ')] : []),
  ].join('\n');
}

export const promoteCommand = command<Promoted>({
  name: 'promote',
  args: ['[pattern]'],
  summary: 'Show what may be learned and which condition each pattern fails; run a consolidation that is due',
  example: 'forge memory promote "retry the install once"',
  writes: true,
  run: (call, pattern) => call.forge().memory.promote(pattern === undefined ? {} : { pattern }),
  render: renderPromoted,
  // LTM-06: a pattern that was asked for and fails its conditions is a finding.
  exit: ({ asked, rejected }) => (asked !== undefined && rejected.length > 0 ? 1 : 0),
});

export const consolidateCommand = command<Promoted>({
  name: 'consolidate',
  summary:
    'Promote proven patterns and contest contradicted ones; every 10 evaluated cycles, never in between',
  example: 'forge memory consolidate',
  writes: true,
  run: (call) => call.forge().memory.consolidate(),
  render: renderPromoted,
});

type Result = Overridden | Reset | Awaited<ReturnType<Forge['memory']['acknowledge']>>;

const ACTIONS = ['append', 'invalidate', 'freeze', 'unfreeze', 'reset', 'acknowledge'] as const;

async function override(call: Call, word: string, subject = ''): Promise<Result> {
  const action = oneOf(ACTIONS, word, 'Action', 'override.unknown');
  const { memory } = call.forge();
  const reason = reasonOf(call);
  switch (action) {
    case 'append':
      return memory.correct({ pattern: subject, ...given<{ scope: 'execution' }>(call, 'scope'), ...reason });
    case 'invalidate':
      return memory.invalidate({ knowledge: subject, ...reason });
    case 'reset':
      return memory.reset({ tier: subject || undefined, ...reason });
    case 'acknowledge':
      return memory.acknowledge(reason);
    case 'freeze':
    case 'unfreeze':
      return memory.freeze({ end: action === 'unfreeze', ...reason });
  }
}

function renderOverride(result: Result, style: Style): string {
  const audit = `audit ${style.dim(result.audit.id.slice(0, 12))}`;
  if ('tier' in result)
    return `${result.tier}: left out ${plural(result.count, 'record')} from before now; the ledger keeps them\n${audit}`;
  if ('reasons' in result)
    return `acknowledged: ${result.reasons.map((reason) => oneLine(reason, 200)).join('; ')}\n${audit}; work continues`;
  const { action, pattern = '', knowledge_id = '' } = result;
  const about = `${style.dim(knowledge_id.slice(0, 12))}  ${oneLine(pattern, 120)}`;
  const done = {
    append: `known from now on, by a human: ${about}`,
    invalidate: `invalid from now on: ${about}`,
    freeze: 'consolidation is frozen; recording continues',
    unfreeze: 'consolidation continues with the next cycle that makes it due',
  }[action];
  return `${done}\n${audit}`;
}

export const overrideCommand = command<Result>({
  name: 'override',
  args: ['<action>', '[subject]'],
  values: { action: { words: ACTIONS } },
  summary:
    'Record a human decision: append, invalidate, freeze, unfreeze, reset TIER, acknowledge a halt or a size',
  example: 'forge memory override invalidate 3fa9c1d2 --reason "the API changed in June"',
  options: [REASON, SCOPE],
  writes: true,
  run: override,
  render: renderOverride,
});
