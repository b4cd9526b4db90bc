import { createHash } from 'node:crypto';
import type { RecordBody } from '../ledger/rules/segment.js';
import type { Identified } from './evidence.js';
import { textsOf } from './proven.js';
import type { Plan } from './rules.js';

/** The plan's digest: two machines with the same ledgers can compare it. */
export const digestPlan = (plan: Plan): string =>
  createHash('sha256').update(JSON.stringify(plan)).digest('hex');

/** What a consolidation covers. */
export interface Coverage {
  /** Evaluation heads. */
  covers: string[];
  /** Cycles that are ancestors of these. */
  cycles: number;
  /** The label of the newest. */
  last_cycle: number;
}

/** The records of one consolidation, in one batch: all of it or nothing. */
export function recordsOf(plan: Plan, { covers, cycles, last_cycle }: Coverage): RecordBody[] {
  const ids = (entries: readonly { knowledge_id: string }[]): string[] =>
    entries.map(({ knowledge_id }) => knowledge_id);
  return [
    ...plan.promoted.map((promotion) => ({ kind: 'knowledge', ...promotion })),
    ...plan.contested.map(({ knowledge_id, contradicts }) => ({
      kind: 'contested',
      knowledge_id,
      contradicts,
    })),
    ...plan.reinstated.map(({ knowledge_id, evidence, settles }) => ({
      kind: 'reinstated',
      knowledge_id,
      evidence,
      settles,
    })),
    {
      kind: 'consolidation',
      covers,
      cycles,
      last_cycle,
      plan_sha256: digestPlan(plan),
      promoted: ids(plan.promoted),
      contested: ids(plan.contested),
      reinstated: ids(plan.reinstated),
      rejected: plan.rejected.length,
      ...(plan.answered.length > 0 ? { answered: plan.answered } : {}),
    },
  ];
}

/** Evaluation heads that were weighed already. */
export const coveredHeads = (knowledge: readonly Identified[]): string[] =>
  knowledge.flatMap(({ record }) =>
    record.kind === 'consolidation' || record.kind === 'reset' ? textsOf(record.covers) : [],
  );
