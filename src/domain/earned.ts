import { ENOUGH, isEvidenceFor } from './evidence.js';
import type { LedgerRecord } from './ledger.js';
import type { Place, Problem } from './ledger-problem.js';
import { knowledgeId } from './pattern.js';
import { textsOf } from './proven.js';

interface Promotion {
  id: string;
  knowledge_id: string;
  evidence: string[];
  place: Place;
  /** Why it was not earned, once that is clear. */
  flaw: string | null;
}

/**
 * Whether knowledge was earned: every promotion names evaluations, and those that are here show the pattern in clean
 * cycles. Promotions have to be added before evaluations. What was redacted or is elsewhere is not held against it.
 */
export class EarnedPromotions {
  private readonly promotions: Promotion[] = [];
  private readonly byEvidence = new Map<string, Promotion[]>();

  addPromotion(record: LedgerRecord, id: string, place: Place): void {
    if (record.kind !== 'knowledge') return;
    const evidence = textsOf(record.evidence);
    const knowledge_id = String(record.knowledge_id);
    const isNamed = knowledge_id === knowledgeId(String(record.scope), String(record.pattern));
    const isEnough = new Set(evidence).size >= ENOUGH;
    const flaw = !isNamed
      ? 'its knowledge_id is not that of its pattern'
      : isEnough
        ? null
        : `it names ${evidence.length} evaluations as evidence; ${ENOUGH} are needed`;
    const promotion = { id, knowledge_id, evidence, place, flaw };
    this.promotions.push(promotion);
    for (const evaluation of evidence)
      this.byEvidence.set(evaluation, [...(this.byEvidence.get(evaluation) ?? []), promotion]);
  }

  addEvaluation(record: LedgerRecord, id: string): void {
    for (const promotion of this.byEvidence.get(id) ?? [])
      if (!isEvidenceFor(record, promotion.knowledge_id))
        promotion.flaw ??= `the evaluation ${id.slice(0, 12)}… that it names is no evidence for it`;
  }

  /** Promotions that were not earned; `isVoid` tells those that a human has settled. */
  problems(isVoid: (id: string) => boolean): (Problem & { id: string })[] {
    return this.promotions
      .filter(({ id, flaw }) => flaw !== null && !isVoid(id))
      .map(({ id, flaw, place }) => ({
        id,
        code: 'unearned',
        message: `this knowledge was not earned: ${flaw}`,
        ...place,
        last_good: null,
      }));
  }
}
