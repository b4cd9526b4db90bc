import { createHash } from 'node:crypto';
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
  /** The evaluations that show it since it was last contradicted. */
  seen: { evaluation: Identified; cycle: string; unmet: readonly Unmet[] }[];
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
    const cycle = cycleOf(evaluation);
    const unmet = unmetBy(record, cycle !== id && has(cycle));
    for (const [entry, holds] of claims)
      if (holds) entry.seen.push({ evaluation, cycle, unmet });
      else if (record.environment_valid !== false) {
        entry.against.push(id);
        entry.seen = [];
      }
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
  const entry = weighed.get(knowledge_id) ?? { knowledge_id, pattern, scope, seen: [], against: [] };
  weighed.set(knowledge_id, entry);
  return entry;
}

/** The execution record. An evaluation without one counts as a separate cycle. */
const cycleOf = ({ id, record }: Identified): string =>
  isRecordId(record.execution) ? record.execution : id;

/** The conditions of LTM-06 that an evaluation does not meet. */
function unmetBy(record: LedgerRecord, isExecuted: boolean): Unmet[] {
  const { classification, environment_valid, governance_violations: broken } = record;
  const met: Record<Unmet, boolean> = {
    classification: classification === 'SUCCESS' || classification === 'PARTIAL_SUCCESS',
    environment_valid: environment_valid === true,
    governance_violations: Array.isArray(broken) && broken.length === 0,
    execution: isExecuted,
  };
  return CONDITIONS.filter((condition) => !met[condition]);
}

/** One evaluation of each cycle that meets all conditions. */
export function evidenceOf({ seen }: Weighed): Identified[] {
  const byCycle = new Map<string, Identified>();
  for (const { cycle, evaluation, unmet } of seen)
    if (unmet.length === 0 && !byCycle.has(cycle)) byCycle.set(cycle, evaluation);
  return [...byCycle.values()];
}

/** How many cycles show it. */
export const countCycles = ({ seen }: Weighed): number => new Set(seen.map(({ cycle }) => cycle)).size;

/** The conditions that a pattern fails; none if it has earned its promotion (LTM-06). */
function failedConditions(weighed: Weighed): Condition[] {
  if (evidenceOf(weighed).length >= ENOUGH) return [];
  return [
    ...(countCycles(weighed) < ENOUGH ? (['observed'] as const) : []),
    ...CONDITIONS.filter((condition) => weighed.seen.some(({ unmet }) => unmet.includes(condition))),
    ...(weighed.against.length > 0 ? (['contradicted'] as const) : []),
  ];
}

export interface Known {
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
  const { knowledge_id, pattern, scope, against } = weighed;
  const evidence = newestOf(weighed);
  const created_at = evidence.at(-1)?.record.at ?? '';
  const failed = failedConditions(weighed);
  // LTM, "Knowledge Record Format": a missing or empty field rejects the promotion.
  const isComplete =
    normalisePattern(pattern) !== '' && (SCOPES as readonly string[]).includes(scope) && created_at !== '';
  if (failed.length === 0 && !isComplete) failed.push('fields');
  if (failed.length > 0) {
    plan.rejected.push(reject(weighed, failed));
    return;
  }
  plan.promoted.push({
    ...{ knowledge_id, pattern },
    evidence_cycles: evidence.map(({ record: { cycle } }) => (typeof cycle === 'number' ? cycle : 0)),
    ...{ confidence: 'high', scope, created_at, evidence: evidence.map(({ id }) => id) },
  });
  // Forge ran tests that passed in these cycles. Anybody can type the rest of an evaluation.
  plan.tested[knowledge_id] = evidence.filter(({ record }) =>
    objectsIn(record.evidence).some(({ exit_code }) => exit_code === 0),
  ).length;
  if (against.length > 0) plan.answered.push({ knowledge_id, contradicts: against });
}

/** New contradictions contest it. Evidence from the same window waits for a later consolidation. */
function planKnown(plan: Plan, weighed: Weighed, { answered, contested, ...known }: Proven): void {
  const { knowledge_id, pattern, scope } = known;
  const contradicts = weighed.against.filter((id) => !answered.has(id));
  const failed = failedConditions(weighed);
  if (contradicts.length > 0) plan.contested.push({ knowledge_id, pattern, scope, contradicts });
  else if (contested.length > 0 && failed.length > 0) plan.rejected.push(reject(weighed, failed));
  else if (contested.length > 0) {
    const evidence = newestOf(weighed).map(({ id }) => id);
    plan.reinstated.push({ knowledge_id, pattern, scope, evidence, settles: contested });
  }
}

const newestOf = (weighed: Weighed): Identified[] => evidenceOf(weighed).slice(-MAX_EVIDENCE);

const reject = (weighed: Weighed, failed: Condition[]): Rejected => {
  const { knowledge_id, pattern, scope } = weighed;
  const counts = { observed: countCycles(weighed), qualified: evidenceOf(weighed).length };
  return { knowledge_id, pattern, scope, failed, ...counts };
};

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
export const digestPlan = (plan: Plan): string =>
  createHash('sha256').update(JSON.stringify(plan)).digest('hex');

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
