import { createHash } from 'node:crypto';
import type { RecordBody } from '../ledger/rules/segment.js';
import { SCOPES } from './evaluation.js';
import type { EvaluationTable } from './evaluation-table.js';
import {
  type Condition,
  ENOUGH,
  failedConditions,
  type Identified,
  type Weighed,
  type WeighOptions,
  weighEvidence,
} from './evidence.js';
import { normalisePattern } from './pattern.js';
import { type Proven, readProven, textsOf } from './proven.js';

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

interface PlanInput extends WeighOptions {
  evaluations: EvaluationTable;
  /** Sorted by (n, id). */
  knowledge: readonly Identified[];
  /** Records of it whose evidence is not here. */
  doubtful?: ReadonlySet<string> | undefined;
}

interface Planned {
  plan: Plan;
  /** Rows of evaluations that the plan names as evidence. */
  believed: number[];
}

/** LTM-06 to LTM-09 as one pure function: the same ledgers, whatever their lines' order, give the same plan. */
export function planConsolidation({ evaluations, knowledge, doubtful, ...options }: PlanInput): Planned {
  const proven = readProven(knowledge, doubtful);
  const planner = new Planner(evaluations);
  const { plan, believed } = planner;
  for (const weighed of weighEvidence(evaluations, options).values()) {
    const known = proven.get(weighed.knowledge_id);
    if (!known || known.status === 'unproven') planner.addNew(weighed);
    else if (known.status === 'invalid') plan.rejected.push(reject(weighed, ['invalidated']));
    else planner.addKnown(weighed, known);
  }
  return { plan, believed };
}

class Planner {
  readonly plan: Plan = { promoted: [], contested: [], reinstated: [], rejected: [], answered: [] };
  readonly believed: number[] = [];

  constructor(private readonly table: EvaluationTable) {}

  addNew(weighed: Weighed): void {
    const { plan } = this;
    const failed = failedConditions(weighed);
    const promotion = this.promote(weighed);
    if (failed.length === 0 && !isComplete(promotion)) failed.push('fields');
    if (failed.length > 0) {
      plan.rejected.push(reject(weighed, failed));
      return;
    }
    const { knowledge_id, against } = weighed;
    plan.promoted.push(promotion);
    this.believed.push(...newest(weighed.evidence));
    if (against.length > 0) plan.answered.push({ knowledge_id, contradicts: this.idsOf(against) });
  }

  /** News against it contests it, whatever else came with them; the way back is for a later consolidation. */
  addKnown(weighed: Weighed, known: Proven): void {
    const { plan } = this;
    const { knowledge_id, pattern, scope } = known;
    const contradicts = this.idsOf(weighed.against).filter((id) => !known.answered.has(id));
    if (contradicts.length > 0) plan.contested.push({ knowledge_id, pattern, scope, contradicts });
    else if (known.contested.length > 0 && weighed.evidence.length >= ENOUGH) {
      const named = newest(weighed.evidence);
      const evidence = this.idsOf(named);
      plan.reinstated.push({ knowledge_id, pattern, scope, evidence, settles: known.contested });
      this.believed.push(...named);
    } else if (known.contested.length > 0) plan.rejected.push(reject(weighed, failedConditions(weighed)));
  }

  private promote({ knowledge_id, pattern, scope, evidence }: Weighed): Promotion {
    const named = newest(evidence);
    return {
      knowledge_id,
      pattern,
      evidence_cycles: named.map((row) => this.table.cycle[row] as number),
      confidence: 'high',
      scope,
      created_at: this.table.at.get(named.at(-1) ?? -1),
      evidence: this.idsOf(named),
    };
  }

  private idsOf(rows: readonly number[]): string[] {
    return rows.map((row) => this.table.ids.get(row));
  }
}

const reject = ({ pattern, scope, observed, evidence }: Weighed, failed: Condition[]): Rejected => ({
  pattern,
  scope,
  failed,
  observed,
  qualified: evidence.length,
});

const newest = (rows: readonly number[]): readonly number[] => rows.slice(-MAX_EVIDENCE);

/** LTM, "Knowledge Record Format": a field that is missing or empty rejects the promotion. */
const isComplete = ({ pattern, scope, created_at, evidence_cycles }: Promotion): boolean =>
  normalisePattern(pattern) !== '' &&
  (SCOPES as readonly string[]).includes(scope) &&
  created_at !== '' &&
  evidence_cycles.length >= ENOUGH;

/** How many cycles these evaluation heads do not cover; all that is wanted to be known is whether they are enough. */
export function countUncovered(evaluations: EvaluationTable, heads: readonly string[]): number {
  const marks = evaluations.ancestorsOf(heads);
  const cycles = new Set<number>();
  for (const row of evaluations.cycles()) {
    if (marks[row] === 0) cycles.add(evaluations.name[row] as number);
    if (cycles.size === WINDOW) break;
  }
  return cycles.size;
}

/** The plan's digest: two machines with the same ledgers can compare it. */
export const digestPlan = (plan: Plan): string =>
  createHash('sha256').update(JSON.stringify(plan)).digest('hex');

/** What a consolidation covers. */
interface Coverage {
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
