import { usage } from '../core/error.js';
import { oneLine } from '../core/text.js';
import type { Context } from '../project/project.js';
import { type RecordRef, storeRecords } from './append.js';
import { requireDecision } from './human.js';
import { inspectMemory } from './inspect.js';
import { settleMemory } from './integrity.js';
import type { Finding } from './rules/finding.js';
import type { Tier } from './rules/record.js';

export interface SettledLedger {
  ledger: string;
  /** Those that have records of it. */
  tiers: Tier[];
  audit: RecordRef;
}

export interface SettledLedgers {
  /** The last one's. */
  audit: RecordRef;
  settled: SettledLedger[];
}

/** Foreign ledgers' records belong here from now on (adopt), or are not shown any more (drop). All of them, or none. */
export async function settleLedgers(
  context: Context,
  { ids, how, reason }: { ids: readonly string[]; how: 'adopt' | 'drop'; reason?: string },
): Promise<SettledLedgers> {
  const wrong = ids.length === 0 ? '' : ids.find((id) => !/^[0-9a-f]{6,64}$/.test(id));
  if (wrong !== undefined)
    throw usage('ledger.id', 'A ledger is named by its id, or the first 6 or more of its 64 hex digits.', {
      hint: 'forge memory verify',
    });
  const decision = requireDecision(
    context,
    how === 'adopt' ? 'Adopting a ledger' : 'Dropping a ledger',
    reason,
  );
  const { around, findings } = await inspectMemory(context, true);
  const ledgers = [...new Set(ids.map((id) => requireForeign(findings, id)))];
  const settled = ledgers.map((ledger) => ({ ledger, tiers: tiersOf(findings, ledger) }));
  const audits = context.disk.withLock(() => {
    for (const tier of new Set(settled.flatMap(({ tiers }) => tiers))) {
      const here = settled.filter(({ tiers }) => tiers.includes(tier));
      const drafts = here.map(({ ledger }) => ({ kind: how, subject: ledger, ...decision }));
      storeRecords(context, around, tier, drafts, { despite: true });
    }
    const kind = how === 'adopt' ? 'adopted' : 'dropped';
    const drafts = settled.map(({ ledger, tiers }) => ({ kind, subject: ledger, tiers, ...decision }));
    return storeRecords(context, around, 'audit', drafts, { despite: true });
  });
  await settleMemory(context, 'all', true);
  return {
    audit: audits.at(-1) as RecordRef,
    settled: settled.map((one, i) => ({ ...one, audit: audits[i] as RecordRef })),
  };
}

/** The one foreign ledger that the digits mean. */
function requireForeign(findings: readonly Finding[], id: string): string {
  const meant = new Set(findings.flatMap(({ ledger }) => (ledger?.startsWith(id) ? [ledger] : [])));
  const [ledger] = meant;
  if (ledger !== undefined && meant.size === 1) return ledger;
  const what =
    meant.size > 1 ? 'means several foreign ledgers; give more digits' : 'names no foreign ledger here';
  throw usage('ledger.unknown', `${JSON.stringify(oneLine(id, 80))} ${what}; nothing was settled.`, {
    hint: 'forge memory verify',
  });
}

const tiersOf = (findings: readonly Finding[], wanted: string): Tier[] =>
  findings.filter(({ ledger }) => ledger === wanted).map(({ tier }) => tier);
