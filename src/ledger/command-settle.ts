import { REASON, reasonOf } from '../cli/reason.js';
import { command } from '../cli/spec.js';
import { plural } from '../core/text.js';
import type { Mended, SettledLedgers } from '../index.js';

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
