import { sha256 } from '../core/text.js';
import type { Body, Draft, Identified, Memory } from '../ledger/memory.js';
import { isRecordId, type LedgerRecord, textsIn } from '../ledger/record.js';
import { SCOPES } from './evaluation.js';
import { ENOUGH, knowledgeId, normalisePattern, objectsIn, type Proven, readProven } from './proven.js';

/** LTM-08: consolidation is due when an earlier one does not cover this many cycles. */
export const WINDOW = 10;
/** The newest evidence is named, at most this much. */
const MAX_EVIDENCE = 100;

/** LTM's conditions, by the names of its fields: why observations do not count as evidence. */
const CONDITIONS = ['classification', 'environment_valid', 'governance_violations', 'execution'] as const;
type Unmet = (typeof CONDITIONS)[number];
type Condition = Unmet | 'observed' | 'contradicted' | 'invalidated' | 'fields';

/** What the evaluations say about one pattern. */
export interface Weighed {
  knowledge_id: string;
  /** As it was first written. */
  pattern: string;
  scope: string;
  /** One evaluation of each qualifying cycle since the last contradiction. */
  evidence: Identified[];
  /** The cycles that showed it since then, and whether each is among the evidence. */
  cycles: Map<string, boolean>;
  /** The conditions that observations since then did not meet. */
  unmet: Set<Unmet>;
  /** All evaluations that contradict it. */
  against: string[];
}

interface WeighOptions {
  /** Whether a record is here. */
  has: (id: string) => boolean;
  /** Evaluations before a reset of the knowledge are not weighed again. */
  isCovered?: (id: string) => boolean;
}

/** Weighs evaluations in order of (n, id), by knowledge id. The same records give the same result on every machine. */
export function weighEvidence(
  evaluations: readonly Identified[],
  { has, isCovered = () => false }: WeighOptions,
): Map<string, Weighed> {
  const weighed = new Map<string, Weighed>();
  // Normalizing a pattern is slow, and most are repeated.
  const byText = new Map<string, Weighed>();
  for (const evaluation of evaluations) {
    const { id, record } = evaluation;
    if (record.kind !== 'cycle' || isCovered(id)) continue;
    const claims = new Map<Weighed, boolean>();
    for (const { pattern, scope, holds } of objectsIn(record.patterns)) {
      if (typeof pattern !== 'string' || typeof scope !== 'string') continue;
      const text = `${scope}\u0000${pattern}`;
      const entry = byText.get(text) ?? entryFor(weighed, scope, pattern);
      byText.set(text, entry);
      // A cycle that claims both contradicts the pattern.
      claims.set(entry, holds !== false && claims.get(entry) !== false);
    }
    for (const [entry, holds] of claims)
      if (holds) support(entry, evaluation, has);
      else if (record.environment_valid !== false) contradict(entry, id);
  }
  return weighed;
}

/** Weighs everything since the knowledge was last reset. */
export function weighing(memory: Memory): WeighOptions {
  const before: ReadonlySet<string> = memory.graph.ancestorsOf(memory.resets('knowledge'));
  return { has: (id) => memory.graph.has(id), isCovered: (id) => before.has(id) };
}

function entryFor(weighed: Map<string, Weighed>, scope: string, pattern: string): Weighed {
  const knowledge_id = knowledgeId(scope, pattern);
  const lists = { evidence: [], cycles: new Map(), unmet: new Set<Unmet>(), against: [] };
  const entry: Weighed = weighed.get(knowledge_id) ?? { knowledge_id, pattern, scope, ...lists };
  weighed.set(knowledge_id, entry);
  return entry;
}

function support(entry: Weighed, evaluation: Identified, has: (id: string) => boolean): void {
  const cycle = cycleOf(evaluation);
  const unmet = unmetBy(evaluation.record);
  if (cycle === evaluation.id || !has(cycle)) unmet.push('execution');
  for (const condition of unmet) entry.unmet.add(condition);
  const isCounted = entry.cycles.get(cycle) === true;
  if (unmet.length === 0 && !isCounted) entry.evidence.push(evaluation);
  entry.cycles.set(cycle, isCounted || unmet.length === 0);
}

/** The execution record. An evaluation without one counts as a separate cycle. */
const cycleOf = ({ id, record }: Identified): string =>
  isRecordId(record.execution) ? record.execution : id;

/** The conditions of LTM-06 that an evaluation does not meet. */
function unmetBy({ classification, environment_valid, governance_violations }: LedgerRecord): Unmet[] {
  const unmet: Unmet[] = [];
  if (classification !== 'SUCCESS' && classification !== 'PARTIAL_SUCCESS') unmet.push('classification');
  if (environment_valid !== true) unmet.push('environment_valid');
  if (!Array.isArray(governance_violations) || governance_violations.length > 0)
    unmet.push('governance_violations');
  return unmet;
}

/** Earlier observations no longer count. */
function contradict(entry: Weighed, id: string): void {
  entry.against.push(id);
  entry.evidence = [];
  entry.cycles.clear();
  entry.unmet.clear();
}

/** The conditions that a pattern fails; none if it has earned its promotion (LTM-06). */
function failedConditions({ evidence, cycles, unmet, against }: Weighed): Condition[] {
  if (evidence.length >= ENOUGH) return [];
  return [
    ...(cycles.size < ENOUGH ? (['observed'] as const) : []),
    ...CONDITIONS.filter((condition) => unmet.has(condition)),
    ...(against.length > 0 ? (['contradicted'] as const) : []),
  ];
}

interface Known {
  knowledge_id: string;
  pattern: string;
  scope: string;
}

interface Rejected extends Known {
  failed: Condition[];
  /** Cycles that showed it, and those that count, since it was last contradicted. */
  observed: number;
  qualified: number;
}

export interface Contested extends Known {
  contradicts: string[];
}

interface Reinstated extends Known {
  evidence: string[];
  settles: string[];
}

/** What a promotion writes: exactly LTM's fields, and the ids of its evidence. */
interface Promotion extends Known {
  evidence_cycles: number[];
  confidence: 'high';
  /** Of the newest evidence, so that two machines agree. */
  created_at: string;
  evidence: string[];
}

/** What one consolidation does, and why it rejects the rest. */
export interface Plan {
  promoted: Promotion[];
  contested: Contested[];
  reinstated: Reinstated[];
  rejected: Rejected[];
  /** Contradictions that were known at the promotion. They are not news later. */
  answered: { knowledge_id: string; contradicts: string[] }[];
  /** By the id of promoted knowledge: the number of its cycles in which forge ran tests that passed. */
  tested: Record<string, number>;
}

interface PlanInput extends WeighOptions {
  /** Both in order of (n, id). */
  evaluations: readonly Identified[];
  knowledge: readonly Identified[];
}

/** LTM-06 to LTM-09 as one pure function: the same records give the same plan. */
export function planConsolidation({ evaluations, knowledge, ...options }: PlanInput): Plan {
  const proven = readProven(knowledge, options.has);
  const plan: Plan = { promoted: [], contested: [], reinstated: [], rejected: [], answered: [], tested: {} };
  for (const weighed of weighEvidence(evaluations, options).values()) {
    const known = proven.get(weighed.knowledge_id);
    if (!known || known.status === 'unproven') planNew(plan, weighed);
    else if (known.status === 'invalid') plan.rejected.push(reject(weighed, ['invalidated']));
    else planKnown(plan, weighed, known);
  }
  return plan;
}

function planNew(plan: Plan, weighed: Weighed): void {
  const { knowledge_id, against, evidence } = weighed;
  const failed = failedConditions(weighed);
  const promotion = promote(weighed);
  if (failed.length === 0 && !isComplete(promotion)) failed.push('fields');
  if (failed.length > 0) {
    plan.rejected.push(reject(weighed, failed));
    return;
  }
  plan.promoted.push(promotion);
  plan.tested[knowledge_id] = newest(evidence).filter(wasTested).length;
  if (against.length > 0) plan.answered.push({ knowledge_id, contradicts: against });
}

/** New contradictions contest it. Evidence from the same window waits for a later consolidation. */
function planKnown(plan: Plan, weighed: Weighed, { answered, contested, ...known }: Proven): void {
  const { knowledge_id, pattern, scope } = known;
  const contradicts = weighed.against.filter((id) => !answered.has(id));
  if (contradicts.length > 0) plan.contested.push({ knowledge_id, pattern, scope, contradicts });
  else if (contested.length > 0 && weighed.evidence.length >= ENOUGH) {
    const evidence = newest(weighed.evidence).map(({ id }) => id);
    plan.reinstated.push({ knowledge_id, pattern, scope, evidence, settles: contested });
  } else if (contested.length > 0) plan.rejected.push(reject(weighed, failedConditions(weighed)));
}

function promote({ knowledge_id, pattern, scope, evidence }: Weighed): Promotion {
  const named = newest(evidence);
  return {
    knowledge_id,
    pattern,
    evidence_cycles: named.map(({ record: { cycle } }) => (typeof cycle === 'number' ? cycle : 0)),
    confidence: 'high',
    scope,
    created_at: named.at(-1)?.record.at ?? '',
    evidence: named.map(({ id }) => id),
  };
}

/** Forge ran tests that passed in this cycle. Anybody can type the rest of an evaluation. */
const wasTested = ({ record }: Identified): boolean =>
  objectsIn(record.evidence).some(({ exit_code }) => exit_code === 0);

const reject = ({ knowledge_id, pattern, scope, ...weighed }: Weighed, failed: Condition[]): Rejected => ({
  ...{ knowledge_id, pattern, scope, failed },
  ...{ observed: weighed.cycles.size, qualified: weighed.evidence.length },
});

const newest = (evidence: readonly Identified[]): readonly Identified[] => evidence.slice(-MAX_EVIDENCE);

/** LTM, "Knowledge Record Format": a missing or empty field rejects the promotion. */
const isComplete = ({ pattern, scope, created_at }: Promotion): boolean =>
  normalisePattern(pattern) !== '' && (SCOPES as readonly string[]).includes(scope) && created_at !== '';

/** How many cycles with a verdict no consolidation covers, counted up to those that make one due. */
export function countUncovered(
  evaluations: readonly Identified[],
  isCovered: (id: string) => boolean,
): number {
  const cycles = new Set<string>();
  for (const evaluation of evaluations) {
    const { kind, classification } = evaluation.record;
    // Without a verdict it only carries observations.
    if (kind === 'cycle' && classification !== null && !isCovered(evaluation.id))
      cycles.add(cycleOf(evaluation));
    if (cycles.size === WINDOW) break;
  }
  return cycles.size;
}

/** Heads that earlier consolidations have weighed. */
export const coveredHeads = (knowledge: readonly Identified[]): string[] =>
  knowledge.flatMap(({ record }) => (record.kind === 'consolidation' ? textsIn(record.covers) : []));

/** Lets two machines with the same records compare their plans. */
export const digestPlan = (plan: Plan): string => sha256(JSON.stringify(plan));

interface Coverage {
  /** Heads of the graph. */
  covers: readonly string[];
  /** How many evaluated cycles they reach, and the number of the last one. */
  cycles: number;
  last_cycle: number;
}

/** The records of one consolidation, for one write. */
export function recordsOf(plan: Plan, coverage: Coverage): Draft[] {
  const of = (kind: string, fields: object): Body => ({ tier: 'knowledge', kind, ...fields });
  const ids = (entries: readonly Known[]): string[] => entries.map(({ knowledge_id }) => knowledge_id);
  return [
    ...plan.promoted.map((promotion) => of('knowledge', promotion)),
    ...plan.contested.map(({ knowledge_id, contradicts }) => of('contested', { knowledge_id, contradicts })),
    ...plan.reinstated.map(({ pattern: _, scope: _scope, ...fields }) => of('reinstated', fields)),
    (known) =>
      of('consolidation', {
        ...coverage,
        plan_sha256: digestPlan(plan),
        promoted: ids(plan.promoted),
        contested: ids(plan.contested),
        reinstated: ids(plan.reinstated),
        rejected: plan.rejected.length,
        // By record: another clone may have promoted the same knowledge from other evidence.
        tested: Object.fromEntries(
          plan.promoted.map(({ knowledge_id }, i) => [known.ids[i], plan.tested[knowledge_id]]),
        ),
        ...(plan.answered.length > 0 ? { answered: plan.answered } : {}),
      }),
  ];
}
