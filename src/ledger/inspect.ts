import { shown } from '../core/paths.js';
import { rootCommit } from '../git/memory.js';
import type { Context } from '../project/project.js';
import { surroundings } from './append.js';
import { type Cut, isTrusted, takeCut } from './cut.js';
import type { Look } from './facts.js';
import { type Judgement, judgeMemory } from './judge.js';
import { type LookOptions, lookAtMemory } from './look.js';
import type { Finding } from './rules/finding.js';
import { TIERS, type Tier } from './rules/record.js';
import { MOVES, wasMoved } from './store/files.js';
import type { Around } from './store/ledger.js';

export interface TierReport {
  tier: Tier;
  records: number;
  bytes: number;
  heads: string[];
  containers: string[];
}

/** A look and what it means; `look` is null when the last verification still holds. */
export interface Inspection extends Judgement {
  around: Around;
  cut: Cut;
  look: Look | null;
  /** No damage, and nothing that a writing command has to wait for. */
  unproven: Finding[];
}

const NOTHING: Judgement = { findings: [], restorable: [], strangers: [], notes: [] };

/**
 * Looks at all of memory, or trusts the last verification when nothing was touched since and `fresh` is not asked
 * for. What somebody may have been in the middle of is looked at twice before it is reported.
 */
export async function inspectMemory(
  context: Context,
  fresh: boolean,
  options: LookOptions = {},
): Promise<Inspection> {
  const around = await surroundings(context);
  const cut = takeCut(context, around);
  if (!fresh && isTrusted(cut)) return { ...NOTHING, ...remembered(cut), around, cut, look: null };
  const first = await inspectMoving(context, cut, options);
  if (first.findings.length === 0) return first;
  return inspectMoving(context, takeCut(context, await surroundings(context)), options);
}

const remembered = ({ state: { verdict } }: Cut): Pick<Inspection, 'notes' | 'unproven'> => ({
  notes: verdict?.notes ?? [],
  unproven: verdict?.unproven ?? [],
});

/** Reading takes no lock: what another process folds meanwhile is looked for where it went. */
async function inspectMoving(context: Context, cut: Cut, options: LookOptions): Promise<Inspection> {
  for (let tries = 1, latest = cut; ; tries++)
    try {
      return await inspectOnce(context, latest, options);
    } catch (error) {
      if (!wasMoved(error) || tries === MOVES) throw error;
      latest = takeCut(context, await surroundings(context));
    }
}

async function inspectOnce(context: Context, cut: Cut, options: LookOptions): Promise<Inspection> {
  const look = await lookAtMemory(context, cut, options);
  const several = TIERS.some((tier) => look.scans[tier].result.ledgers.size > 1);
  const root = several && context.git ? await rootCommit(context.git) : null;
  return { ...judgeMemory(context, look, root), around: cut.around, cut, look, unproven: look.unproven };
}

export function reportTiers({ layout }: Context, { cut, look }: Inspection): TierReport[] {
  return TIERS.map((tier) => {
    const containers = cut.tiers[tier];
    const known = look ? look.scans[tier].result : (cut.state.tiers[tier] ?? { records: 0, heads: [] });
    return {
      tier,
      records: known.records,
      bytes: containers.reduce((sum, { size }) => sum + size, 0),
      heads: known.heads,
      containers: containers.map(({ path }) => shown(layout, path)),
    };
  });
}
