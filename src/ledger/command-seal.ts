import { PASSPHRASE_STDIN, withPassphrase } from '../cli/passphrase.js';
import { reasonOf } from '../cli/reason.js';
import { command } from '../cli/spec.js';
import type { Style } from '../cli/style.js';
import { plural } from '../core/text.js';
import { type Sealed, type SealReport, type Signatures, TIERS } from '../index.js';

const total = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

function renderSealed({ seal, key, ledgers }: Sealed): string {
  if (!seal) return 'Nothing has come since the last seal.';
  const records = total(TIERS.map((tier) => ledgers[tier].records));
  return `key ${key} sealed ${plural(records, 'record')}  ${seal.id.slice(0, 12)}`;
}

/** More seals than this are not shown one by one: each covers those before it. */
const SHOWN = 5;

/** Who vouched for what, for people: the last seals, and what came since. */
export function renderSignatures({ seals, unsealed }: Signatures, style: Style): string[] {
  const since = TIERS.filter((tier) => unsealed[tier] > 0);
  const open = total(TIERS.map((tier) => unsealed[tier]));
  const rest = since.map((tier) => `${tier} ${unsealed[tier]}`).join(', ');
  const counting = seals.filter(({ valid, known }) => valid && known).length;
  return [
    ...(seals.length > SHOWN ? [style.dim(`· ${plural(seals.length - SHOWN, 'earlier seal')}`)] : []),
    ...seals.slice(-SHOWN).map((seal) => renderSeal(seal, style)),
    open === 0
      ? 'every record is sealed'
      : `${plural(open, 'record')} ${counting > 0 ? 'since ' : ''}${open === 1 ? 'is' : 'are'} unsealed (${rest})`,
  ];
}

function renderSeal({ id, key, at, records, ledgers, problem }: SealReport, style: Style): string {
  if (problem !== undefined) return `${style.bad('✗')} seal ${id.slice(0, 12)}… by key ${key}: ${problem}`;
  const upTo = Object.entries(ledgers).map(([tier, { n }]) => `${tier} ${n}`);
  const numbers = upTo.length > 0 ? ` up to number ${upTo.join(', ')}` : '';
  return `${style.good('✓')} key ${key} sealed ${plural(records, 'record')}${numbers} on ${at.slice(0, 16).replace('T', ' ')}`;
}

export const sealing = [
  command<Sealed>({
    name: 'seal',
    summary: "Sign the ledgers as they stand, with the supervisor's key",
    example: 'forge memory seal',
    options: [
      { flags: '--reason <text>', help: 'why; needed where earlier seals are gone' },
      PASSPHRASE_STDIN,
    ],
    writes: true,
    run: (call) =>
      withPassphrase(call, (given) =>
        call.forge().memory.seal({
          ...given,
          ...reasonOf(call),
        }),
      ),
    render: renderSealed,
  }),
];
