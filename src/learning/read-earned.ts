import type { Layout } from '../core/paths.js';
import { trustedVerdict } from '../ledger/cut.js';
import { readRecords, untilSettled } from '../ledger/read.js';
import type { Place } from '../ledger/rules/problem.js';
import { type LedgerRecord, TIERS, type Tier } from '../ledger/rules/record.js';
import { type Container, listArchives, listContainers } from '../ledger/store/files.js';
import { findHidden } from '../ledger/store/hidden.js';
import { type Scanned, scanTier } from '../ledger/store/scan.js';
import type { Context } from '../project/project.js';
import { EarnedPromotions, type Judged } from './earned.js';
import type { Identified } from './evidence.js';
import { type Proven, readProven } from './proven.js';

/** Knowledge before what it was learned from. */
export const SCAN_ORDER = [...TIERS].sort((a, b) => Number(b === 'knowledge') - Number(a === 'knowledge'));
export const LOOKED_INTO: ReadonlySet<Tier> = new Set(['knowledge', 'evaluation', 'audit']);

export function addTo(earned: EarnedPromotions, record: LedgerRecord, id: string, place: Place): void {
  if (record.tier === 'knowledge') earned.addClaim(record, id, place);
  else if (record.tier === 'evaluation') earned.addEvaluation(record, id);
  else if (record.tier === 'audit') earned.addAudit(record, id);
}

/** Once all ledgers were read. What a human declared void or reset is no matter. */
export function judgeEarned(
  layout: Layout,
  live: readonly Container[],
  archives: readonly Container[],
  scans: Pick<Record<Tier, Scanned>, 'knowledge' | 'evaluation' | 'execution' | 'audit'>,
  earned: EarnedPromotions,
): Judged {
  const { knowledge, evaluation, execution, audit } = scans;
  const presence = { evaluation: evaluation.graph, execution: execution.graph, audit: audit.graph };
  const isVoid = (id: string): boolean => knowledge.graph.isVoid(id);
  const judged = earned.judge({ ...presence, isSettled: isVoid });
  if (judged.doubtful.length === 0) return judged;
  const { reset } = findHidden(layout, [...live, ...archives]);
  return earned.judge({ ...presence, isSettled: (id) => isVoid(id) || reset.has(id) });
}

/** What long-term knowledge there is, and what of it may be relied on. */
export function readKnowledge(
  context: Context,
  records: readonly Identified[] = readRecords(context, 'knowledge'),
  doubtful?: readonly string[],
): Map<string, Proven> {
  return readProven(records, new Set(doubtful ?? findDoubtful(context, records)));
}

/**
 * Knowledge records that nothing here vouches for: as the last verification remembers them, and where memory was touched
 * since, looked for anew.
 */
export function findDoubtful(context: Context, records: readonly Identified[]): readonly string[] {
  if (records.every(({ record }) => record.knowledge_id === undefined)) return [];
  return trustedVerdict(context)?.doubtful ?? untilSettled(() => lookForDoubtful(context));
}

function lookForDoubtful({ layout }: Context): readonly string[] {
  const earned = new EarnedPromotions();
  const archives = listArchives(layout);
  const scans = Object.fromEntries(
    SCAN_ORDER.filter((tier) => tier !== 'notes').map((tier) => [
      tier,
      scanTier(layout, tier, listContainers(layout, tier), archives, {
        ...(LOOKED_INTO.has(tier)
          ? { onRecord: (record, id, place) => addTo(earned, record, id, place) }
          : {}),
      }),
    ]),
  ) as Record<Tier, Scanned>;
  return judgeEarned(layout, listContainers(layout, 'knowledge'), archives, scans, earned).doubtful;
}
