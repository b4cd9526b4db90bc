import { createHash } from 'node:crypto';
import { SCOPES } from './cycle.js';
import {
  type Condition,
  ENOUGH,
  failedConditions,
  type Identified,
  type Observation,
  type Weighed,
  weighEvidence,
} from './evidence.js';
import { normalisePattern } from './pattern.js';
import { type Proven, readProven, textsOf } from './proven.js';
import type { RecordBody } from './segment.js';

/** LTM-08: consolidation runs when so many cycles are not covered by an earlier one. */
export const WINDOW = 10;
/** Of more evidence than this, the newest is named. */
const MAX_EVIDENCE = 100;

export interface Rejected {
  pattern: string;
  scope: string;
  failed: Condition[];
  /** Cycles that showed it, and those that count, since it was last contradicted. */
  observed: number;
  qualified: number;
}

export interface Contested {
  knowledge_id: string;
  pattern: string;
  scope: string;
  contradicts: string[];
}

export interface Reinstated {
  knowledge_id: string;
  pattern: string;
  scope: string;
  evidence: string[];
  settles: string[];
}

/** What a promotion writes: exactly LTM's fields, and the ids of its evidence. */
export interface Promotion {
  knowledge_id: string;
  pattern: string;
  evidence_cycles: number[];
  confidence: 'high';
  scope: string;
  /** Of the newest evidence: no clock has a say in it. */
  created_at: string;
  evidence: string[];
}

/** What one consolidation does, and why it leaves the rest. */
export interface Plan {
  promoted: Promotion[];
  contested: Contested[];
  reinstated: Reinstated[];
  rejected: Rejected[];
  /** Contradictions that promotions knew of: they are no news later. */
  answered: { knowledge_id: string; contradicts: string[] }[];
}

export interface PlanInput {
  /** Sorted by (n, id), as are the others. */
  evaluations: readonly Identified[];
  knowledge: readonly Identified[];
  hasRun?: ((execution: string) => boolean) | undefined;
}

/** LTM-06 to LTM-09 as one pure function: the same ledgers, whatever their lines' order, give the same plan. */
export function planConsolidation({ evaluations, knowledge, hasRun }: PlanInput): Plan {
  const proven = readProven(knowledge);
  const plan: Plan = { promoted: [], contested: [], reinstated: [], rejected: [], answered: [] };
  for (const weighed of weighEvidence(evaluations, hasRun).values()) {
    const known = proven.get(weighed.knowledge_id);
    if (!known) planNew(plan, weighed);
    else if (known.status === 'invalid') plan.rejected.push(reject(weighed, ['invalidated']));
    else planKnown(plan, weighed, known);
  }
  return plan;
}

function planNew(plan: Plan, weighed: Weighed): void {
  const failed = failedConditions(weighed);
  const promotion = promote(weighed);
  if (failed.length === 0 && !isComplete(promotion)) failed.push('fields');
  if (failed.length > 0) {
    plan.rejected.push(reject(weighed, failed));
    return;
  }
  const { knowledge_id, against } = weighed;
  plan.promoted.push(promotion);
  if (against.length > 0) plan.answered.push({ knowledge_id, contradicts: against });
}

/** News against it contests it, whatever else came with them; the way back is for a later consolidation. */
function planKnown(plan: Plan, weighed: Weighed, known: Proven): void {
  const { knowledge_id, pattern, scope } = known;
  const contradicts = weighed.against.filter((id) => !known.answered.has(id));
  if (contradicts.length > 0) plan.contested.push({ knowledge_id, pattern, scope, contradicts });
  else if (known.contested.length > 0 && weighed.evidence.length >= ENOUGH)
    plan.reinstated.push({
      knowledge_id,
      pattern,
      scope,
      evidence: newest(weighed.evidence).map(({ evaluation }) => evaluation),
      settles: known.contested,
    });
  else if (known.contested.length > 0) plan.rejected.push(reject(weighed, failedConditions(weighed)));
}

const reject = ({ pattern, scope, observed, evidence }: Weighed, failed: Condition[]): Rejected => ({
  pattern,
  scope,
  failed,
  observed: observed.size,
  qualified: evidence.length,
});

const newest = (evidence: readonly Observation[]): readonly Observation[] => evidence.slice(-MAX_EVIDENCE);

function promote({ knowledge_id, pattern, scope, evidence }: Weighed): Promotion {
  const named = newest(evidence);
  return {
    knowledge_id,
    pattern,
    evidence_cycles: named.map(({ cycle }) => cycle),
    confidence: 'high',
    scope,
    created_at: named.at(-1)?.at ?? '',
    evidence: named.map(({ evaluation }) => evaluation),
  };
}

/** LTM, "Knowledge Record Format": a field that is missing or empty rejects the promotion. */
const isComplete = ({ pattern, scope, created_at, evidence_cycles }: Promotion): boolean =>
  normalisePattern(pattern) !== '' &&
  (SCOPES as readonly string[]).includes(scope) &&
  created_at !== '' &&
  evidence_cycles.length >= ENOUGH;

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

/** The records of one consolidation, in one batch: all of it or nothing.  */
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
