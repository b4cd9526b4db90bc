import { usage } from '../../domain/error.js';
import { oneLine, plural } from '../../domain/text.js';
import type { Mended } from '../../index.js';
import { type Call, command, type OptionSpec } from '../spec.js';

const REASON: OptionSpec = { flags: '--reason <text>', help: 'why; it is kept in the audit ledger' };

const reasonOf = ({ options }: Call): { reason?: string } =>
  options.reason === undefined ? {} : { reason: options.reason as string };

function renderMended({ restored, repairs, audit }: Mended): string {
  const lines = [
    ...restored.map(({ tier, records }) => `${plural(records, `${tier} record`)} put back`),
    ...repairs.map(
      ({ tier, bytes, lost, voided }) =>
        `${tier}: ${plural(bytes, 'unreadable place')} vouched for, ${lost} named as lost, ${voided} declared void`,
    ),
  ];
  if (lines.length === 0) return 'Nothing was missing.';
  return [...lines, ...(audit ? [`audit ${audit.id.slice(0, 12)}`] : []), 'Memory is intact.'].join('\n');
}

type Settled = { audit: { id: string; n: number }; ledger: string; tiers: string[] };

const settle = (how: 'adopt' | 'drop', summary: string) =>
  command<Settled>({
    name: how,
    args: ['<ledger>'],
    summary,
    example: `forge memory ${how} 3fa9c1d20b7e --reason "both sides ran init before the first commit"`,
    options: [REASON],
    writes: true,
    run: (call, id) => call.forge().memory.settleLedger({ id: id as string, how, ...reasonOf(call) }),
    render: ({ ledger, tiers, audit }) =>
      `${how === 'adopt' ? 'adopted' : 'dropped'} ${ledger.slice(0, 12)}… (${tiers.join(', ')})  audit ${audit.id.slice(0, 12)}`,
  });

type Acknowledged = { audit: { id: string; n: number }; reasons: string[] };

async function override(call: Call, action: string): Promise<Acknowledged> {
  if (action !== 'acknowledge')
    throw usage(
      'override.unknown',
      `Action: found ${JSON.stringify(oneLine(action, 40))}, allowed: acknowledge.`,
      { field: 'action' },
    );
  return call.forge().memory.acknowledge(reasonOf(call));
}

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
  settle('adopt', "Take a foreign ledger's records in (a human, with a reason)"),
  settle('drop', "Show a foreign ledger's records no more (a human, with a reason)"),
  command<Acknowledged>({
    name: 'override',
    args: ['<action>'],
    summary: 'Say what a human decided: acknowledge ends a halt once memory is intact again',
    example: 'forge memory override acknowledge --reason "restored from the last commit"',
    options: [REASON],
    writes: true,
    run: override,
    render: ({ reasons, audit }) =>
      `acknowledged: ${reasons.map((reason) => oneLine(reason, 200)).join('; ')}\naudit ${audit.id.slice(0, 12)}; memory takes records again`,
  }),
];
