import { refused, usage } from '../core/error.js';
import { oneLine } from '../core/text.js';
import { closeInvestigations } from '../learning/investigation.js';
import type { Context } from '../project/project.js';
import { type RecordRef, storeAudit, storeRecords } from './append.js';
import { foldAll, whyNotFold } from './fold.js';
import { requireDecision } from './human.js';
import { requireMemory } from './integrity.js';
import { TIERS, type Tier } from './rules/record.js';
import { writeArchive } from './store/archive.js';
import { dropReset, planReset } from './store/reset.js';

export interface Reset {
  tier: Tier;
  /** Records sealed now, or by a reset that was interrupted. */
  count: number;
  /** Null when there was nothing to seal. */
  archive: string | null;
  audit: RecordRef | null;
}

/**
 * LTM-14: a human begins a tier anew. All its records but the genesis go into an archive, which stays part of the
 * ledger and is not read any more. Audit record, archive, the record that seals it, and only then the lines go from the
 * fixed file: whoever is interrupted runs it again.
 */
export async function resetTier(
  context: Context,
  { tier: name, reason }: { tier: string | undefined; reason?: string },
): Promise<Reset> {
  const decision = requireDecision(context, 'Resetting a ledger', reason);
  const tier = checkTier(name);
  const why = await whyNotFold(context);
  if (why)
    throw refused('reset.branch', `Nothing was reset: ${why}.`, {
      hint: 'Reset on the default branch, after the merge.',
    });
  const { around, tiers } = await requireMemory(context);
  const heads = tiers.find((report) => report.tier === 'evaluation')?.heads ?? [];
  return context.disk.withLock(() => {
    const { disk } = context;
    foldAll(context);
    const plan = planReset(disk, tier);
    if (!plan) {
      const count = dropReset(disk, tier);
      closeInvestigations(context);
      return { tier, count, archive: null, audit: null };
    }
    const { manifest, bytes } = plan;
    const { archive, count } = manifest;
    const override = { kind: 'override', action: 'reset', of: tier, archive, count, ...decision };
    const audit = storeAudit(context, around, override);
    writeArchive(disk, bytes);
    // What was weighed before is not weighed again.
    const covers = tier === 'knowledge' ? { covers: heads } : {};
    storeRecords(context, around, tier, [{ kind: 'reset', ...manifest, ...covers, ...decision }]);
    foldAll(context);
    dropReset(disk, tier);
    closeInvestigations(context);
    return { tier, count, archive, audit };
  });
}

function checkTier(name: string | undefined): Tier {
  const tier = TIERS.find((known) => known === name);
  if (tier === 'audit')
    throw refused('reset.audit', 'The audit ledger cannot be reset: it says who did what to memory.', {
      hint: 'forge memory log --tier audit',
    });
  if (tier) return tier;
  const allowed = TIERS.filter((known) => known !== 'audit').join(' | ');
  throw usage(
    'tier.unknown',
    `Tier: found ${JSON.stringify(oneLine(name ?? '', 40))}, allowed: ${allowed}.`,
    { field: 'tier', hint: 'forge memory override reset notes --reason "…"' },
  );
}
