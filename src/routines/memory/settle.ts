import { usage } from '../../domain/error.js';
import type { Tier } from '../../domain/ledger/ledger.js';
import { oneLine } from '../../domain/text.js';
import type { Context } from '../context.js';
import { requireDecision } from '../supervisor/human.js';
import { inspectMemory } from './inspect.js';
import { settleMemory } from './integrity.js';
import { type RecordRef, storeAudit, storeRecords } from './ledger.js';

/** A foreign ledger's records belong here from now on (adopt), or are not shown any more (drop). */
export async function settleLedger(
  context: Context,
  { id, how, reason }: { id: string; how: 'adopt' | 'drop'; reason?: string },
): Promise<{ audit: RecordRef; ledger: string; tiers: Tier[] }> {
  if (!/^[0-9a-f]{6,64}$/.test(id))
    throw usage('ledger.id', 'A ledger is named by its id, or the first 6 or more of its 64 hex digits.', {
      hint: 'forge memory verify',
    });
  const decision = requireDecision(
    context,
    how === 'adopt' ? 'Adopting a ledger' : 'Dropping a ledger',
    reason,
  );
  const { look, around, findings } = await inspectMemory(context, true);
  const foreign = findings.filter(
    ({ code, message }) => code === 'foreign_ledger' && message.includes(`(${id}`),
  );
  const ledgers = new Set(foreign.map(({ message }) => /\(([0-9a-f]{64})\)/.exec(message)?.[1] ?? ''));
  const [ledger] = ledgers;
  if (!look || ledger === undefined || ledgers.size > 1) throw unknownLedger(id, ledgers.size > 1);
  const tiers = foreign.map(({ tier }) => tier);
  for (const tier of tiers)
    storeRecords(context, around, tier, [{ kind: how, subject: ledger, ...decision }], { despite: true });
  const audit = storeAudit(
    context,
    around,
    { kind: how === 'adopt' ? 'adopted' : 'dropped', subject: ledger, tiers, ...decision },
    { despite: true },
  );
  await settleMemory(context, 'all', true);
  return { audit, ledger, tiers };
}

function unknownLedger(id: string, several = false): Error {
  const what = several ? 'means several foreign ledgers; give more digits' : 'names no foreign ledger here';
  return usage('ledger.unknown', `${JSON.stringify(oneLine(id, 80))} ${what}.`, {
    hint: 'forge memory verify',
  });
}
