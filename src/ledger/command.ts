import { REASON, reasonOf } from '../cli/reason.js';
import { command, type Group } from '../cli/spec.js';
import { plural } from '../core/text.js';
import type { Compacted, Mended, Redaction, SettledLedgers } from '../index.js';
import { overriding } from '../learning/command-override.js';
import { promoting } from '../learning/command-promote.js';
import { recording } from '../learning/command-record.js';
import { reporting } from '../learning/command-report.js';
import { looking } from './command-look.js';

interface Folded {
  folded: { tier: string; records: number; segments: number }[];
}

export const keeping = [
  command<Folded>({
    name: 'fold',
    summary: 'Move the segments into the fixed files; on the default branch only',
    example: 'forge memory fold',
    writes: true,
    run: (call) => call.forge().memory.fold(),
    render: ({ folded }) =>
      folded.length === 0
        ? 'Nothing to fold.'
        : folded
            .map(
              ({ tier, records, segments }) =>
                `${tier}: ${plural(records, 'record')} from ${plural(segments, 'segment')}`,
            )
            .join('\n'),
  }),
  command<Compacted>({
    name: 'compact',
    summary: 'Seal all but the last 1,000 cycles into an archive that stays verifiable',
    example: 'forge memory compact',
    writes: true,
    run: (call) => call.forge().memory.compact(),
    render: ({ archived, archive }) =>
      archive === null
        ? 'Nothing is old enough to be sealed.'
        : `${plural(archived, 'record')} sealed in .forge/memory/archive/${archive}.jsonl`,
  }),
];

const short = (id: string): string => id.slice(0, 12);

function render({ redacted, files, remnants, history, replacements }: Redaction): string {
  const lines = redacted.map(({ id, tier, n, audit }) =>
    audit
      ? `redacted ${short(id)}… (${tier}, number ${n})  audit ${short(audit.id)}`
      : `${short(id)}… (${tier}, number ${n}) was redacted before; nothing here has its content`,
  );
  return [
    ...lines,
    ...files.map((file) => `  taken out of ${file}`),
    ...describeRemnants(remnants),
    ...describeHistory(history, replacements),
  ].join('\n');
}

const SHOWN = 20;

/** Where the same text stands once more: what copied it, or says the same. */
function describeRemnants(remnants: Redaction['remnants']): string[] {
  if (remnants.length === 0) return [];
  const left = remnants.length - SHOWN;
  return [
    'The same text still stands in:',
    ...remnants
      .slice(0, SHOWN)
      .map(({ id, tier, n, fields, file, why, hint }) =>
        id === null
          ? `  ${file}: take it out by hand`
          : `  ${short(id)}… (${tier}, number ${n}: ${fields.join(', ')})  ${why === null ? hint : `cannot be redacted: ${why}`}`,
      ),
    ...(left > 0 ? [`  and ${left} more: --json has them all`] : []),
  ];
}

/** What a person has to do themselves: forge does not rewrite history. */
function describeHistory(history: Redaction['history'], replacements: readonly string[]): string[] {
  if (!history) return [];
  const { held, complete } = history;
  const more = complete ? [] : ['History was not searched to its end; there may be more.'];
  if (held.length === 0) return complete ? ['No commit has the content.'] : more;
  return [
    'Git history still has the content:',
    ...held.map(
      ({ path, commits, first }) =>
        `  ${path}: ${plural(commits, 'commit')} wrote it, the first ${short(first)}`,
    ),
    ...more,
    'To purge it (first revoke or change what it was: whoever has a clone has it):',
    '  1. commit .forge/, on every branch that has the record',
    '  2. put into a file outside of the repository:',
    ...replacements,
    '  3. git filter-repo --replace-text FILE --force',
    '  4. git reflog expire --expire=now --all && git gc --prune=now',
    '  5. git push --force --all && git push --force --tags',
    'Every clone, fork and cache of a hosting service keeps its copy, and so does the reflog until step 4: clone anew.',
  ];
}

export const redacting = [
  command<Redaction>({
    name: 'redact',
    args: ['<ids...>'],
    values: { ids: { live: ['record'] } },
    summary: 'Take the content of records out for good; id and links stay (a human, with a reason)',
    example: 'forge memory redact 3fa9c1d20b7e --reason "a token was recorded; it is revoked"',
    options: [REASON],
    writes: true,
    run: (call, ...ids) =>
      call.forge().memory.redact({
        ids: ids as string[],
        ...reasonOf(call),
      }),
    render,
  }),
];

function renderMended({ restored, repairs, audit, halted }: Mended): string {
  const lines = [
    ...restored.map(({ tier, records }) => `${plural(records, `${tier} record`)} put back`),
    ...repairs.map(
      ({ tier, bytes, lost, voided }) =>
        `${tier}: ${plural(bytes, 'unreadable place')} vouched for, ${lost} named as lost, ${voided} declared void`,
    ),
    ...(audit ? [`audit ${audit.id.slice(0, 12)}`] : []),
  ];
  if (lines.length === 0) lines.push('Nothing was missing.');
  if (!halted) return [...lines, 'Memory is intact.'].join('\n');
  return [
    ...lines,
    'Memory is intact, and halted until a human says so: forge memory override acknowledge --reason "…"',
  ].join('\n');
}

const describe = ({ ledger, tiers, audit }: SettledLedgers['settled'][number]): string =>
  `settled ${ledger.slice(0, 12)}… (${tiers.join(', ')})  audit ${audit.id.slice(0, 12)}`;

const settle = (how: 'adopt' | 'drop', summary: string) =>
  command<SettledLedgers>({
    name: how,
    args: ['<ledgers...>'],
    summary,
    example: `forge memory ${how} 3fa9c1d20b7e --reason "both sides ran init before the first commit"`,
    options: [REASON],
    writes: true,
    run: (call, ...ids) => call.forge().memory.settleLedgers({ ids, how, ...reasonOf(call) }),
    render: ({ settled }) => settled.map(describe).join('\n'),
  });

export const settling = [
  command<Mended>({
    name: 'restore',
    summary: 'Put back what is missing but at hand; what was edited by hand only for a human, with a reason',
    example: 'forge memory restore',
    options: [REASON],
    writes: true,
    run: (call) => call.forge().memory.restore(reasonOf(call)),
    render: renderMended,
  }),
  command<Mended>({
    name: 'repair',
    summary: 'Settle damage for good, by appending only (a human, with a reason)',
    example: 'forge memory repair --reason "the disk filled up on Monday"',
    options: [REASON],
    writes: true,
    run: (call) => call.forge().memory.repair(reasonOf(call)),
    render: renderMended,
  }),
  settle('adopt', "Take foreign ledgers' records in (a human, with a reason)"),
  settle('drop', "Show foreign ledgers' records no more (a human, with a reason)"),
];

export const group: Group = {
  commands: [
    ...recording,
    ...promoting,
    ...reporting,
    ...looking,
    ...keeping,
    ...settling,
    ...redacting,
    ...overriding,
  ],
};
