import { createHash } from 'node:crypto';
import type { Body, Draft, Identified, Memory } from '../ledger/memory.js';
import { isRecordId, type LedgerRecord } from '../ledger/record.js';
import { SCOPES } from './evaluation.js';
import { ENOUGH, knowledgeId, listOf, normalisePattern, type Proven, readProven, textsOf } from './proven.js';

/** LTM-08: consolidation is due when so many cycles are not covered by an earlier one. */
export const WINDOW = 10;
/** Of more evidence than this, the newest is named. */
const MAX_EVIDENCE = 100;

/** Why observations are not evidence, or not enough of it: LTM's conditions by the names of its fields. */
const CONDITIONS = ['classification', 'environment_valid', 'governance_violations', 'execution'] as const;
type Unmet = (typeof CONDITIONS)[number];
type Condition = Unmet | 'observed' | 'contradicted' | 'invalidated' | 'fields';

/** What the evaluations say about one pattern. */
export interface Weighed {
  knowledge_id: string;
  /** As it was first written. */
  pattern: string;
  scope: string;
  /** One evaluation of each cycle that qualifies, since the last contradiction. */
  evidence: Identified[];
  /** Cycles that showed it since then, and whether each is among the evidence. */
  cycles: Map<string, boolean>;
  /** What kept observations since then from being evidence. */
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

/** Weighs evaluations in order of (n, id), by knowledge id. The same records give the same answer on every machine. */
export function weighEvidence(
  evaluations: readonly Identified[],
  { has, isCovered = () => false }: WeighOptions,
): Map<string, Weighed> {
  const weighed = new Map<string, Weighed>();
  const byText = new Map<string, Weighed>();
  for (const evaluation of evaluations) {
    const { id, record } = evaluation;
    if (record.kind !== 'cycle' || isCovered(id)) continue;
    const claims = new Map<Weighed, boolean>();
    for (const { pattern, scope, holds } of listOf(record.patterns)) {
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

/** What of a ledger is weighed: all since its knowledge was last reset. */
export function weighing(memory: Memory): WeighOptions {
  const resets = memory.resets('knowledge');
  const before: ReadonlySet<string> = resets.length === 0 ? new Set() : memory.graph.ancestorsOf(resets);
  return { has: (id) => memory.graph.hasAnywhere(id), isCovered: (id) => before.has(id) };
}

function entryFor(weighed: Map<string, Weighed>, scope: string, pattern: string): Weighed {
  const knowledge_id = knowledgeId(scope, pattern);
  const known = weighed.get(knowledge_id);
  if (known) return known;
  const lists = { evidence: [], cycles: new Map(), unmet: new Set<Unmet>(), against: [] };
  const entry: Weighed = { knowledge_id, pattern, scope, ...lists };
  weighed.set(knowledge_id, entry);
  return entry;
}

function support(entry: Weighed, evaluation: Identified, has: (id: string) => boolean): void {
  const { id, record } = evaluation;
  const cycle = cycleOf(evaluation);
  const unmet = unmetBy(record);
  if (cycle === id || !has(cycle)) unmet.push('execution');
  for (const condition of unmet) entry.unmet.add(condition);
  const isCounted = entry.cycles.get(cycle) === true;
  if (unmet.length === 0 && !isCounted) entry.evidence.push(evaluation);
  entry.cycles.set(cycle, isCounted || unmet.length === 0);
}

/** Its execution record; an evaluation that names none stands for a cycle of its own. */
const cycleOf = ({ id, record }: Identified): string =>
  isRecordId(record.execution) ? record.execution : id;

/** The conditions of LTM-06 that an evaluation fails by itself. */
function unmetBy({ classification, environment_valid, governance_violations }: LedgerRecord): Unmet[] {
  const unmet: Unmet[] = [];
  if (classification !== 'SUCCESS' && classification !== 'PARTIAL_SUCCESS') unmet.push('classification');
  if (environment_valid !== true) unmet.push('environment_valid');
  if (!Array.isArray(governance_violations) || governance_violations.length > 0)
    unmet.push('governance_violations');
  return unmet;
}

/** What was observed before counts no more. */
function contradict(entry: Weighed, id: string): void {
  entry.against.push(id);
  entry.evidence = [];
  entry.cycles.clear();
  entry.unmet.clear();
}

/** Which conditions a pattern fails; empty when it has earned its promotion (LTM-06). */
function failedConditions({ evidence, cycles, unmet, against }: Weighed): Condition[] {
  if (evidence.length >= ENOUGH) return [];
  return [
    ...(cycles.size < ENOUGH ? (['observed'] as const) : []),
    ...CONDITIONS.filter((condition) => unmet.has(condition)),
    ...(against.length > 0 ? (['contradicted'] as const) : []),
  ];
}

interface Rejected {
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

interface Reinstated {
  knowledge_id: string;
  pattern: string;
  scope: string;
  evidence: string[];
  settles: string[];
}

/** What a promotion writes: exactly LTM's fields, and the ids of its evidence. */
interface Promotion {
  knowledge_id: string;
  pattern: string;
  evidence_cycles: number[];
  confidence: 'high';
  scope: string;
  /** Of the newest evidence, so that two machines agree. */
  created_at: string;
  evidence: string[];
}

/** What one consolidation does, and why it leaves the rest. */
export interface Plan {
  promoted: Promotion[];
  contested: Contested[];
  reinstated: Reinstated[];
  rejected: Rejected[];
  /** Contradictions that promotions knew of: they are not news later. */
  answered: { knowledge_id: string; contradicts: string[] }[];
  /** In how many cycles of its evidence forge ran tests that passed, by the id of promoted knowledge. */
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
  const { knowledge_id, against } = weighed;
  const failed = failedConditions(weighed);
  const promotion = promote(weighed);
  if (failed.length === 0 && !isComplete(promotion)) failed.push('fields');
  if (failed.length > 0) {
    plan.rejected.push(reject(weighed, failed));
    return;
  }
  plan.promoted.push(promotion);
  plan.tested[knowledge_id] = newest(weighed.evidence).filter(wasTested).length;
  if (against.length > 0) plan.answered.push({ knowledge_id, contradicts: against });
}

/** New contradictions contest it. Evidence that came with them waits for a later consolidation. */
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

/** forge ran tests in this cycle that passed. Anybody can type the rest of an evaluation. */
const wasTested = ({ record }: Identified): boolean =>
  listOf(record.evidence).some(({ exit_code }) => exit_code === 0);

const reject = ({ pattern, scope, cycles, evidence }: Weighed, failed: Condition[]): Rejected => ({
  pattern,
  scope,
  failed,
  observed: cycles.size,
  qualified: evidence.length,
});

const newest = (evidence: readonly Identified[]): readonly Identified[] => evidence.slice(-MAX_EVIDENCE);

/** LTM, "Knowledge Record Format": a field that is missing or empty rejects the promotion. */
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
    // Without a verdict it only carries what was observed.
    if (kind === 'cycle' && classification !== null && !isCovered(evaluation.id))
      cycles.add(cycleOf(evaluation));
    if (cycles.size === WINDOW) break;
  }
  return cycles.size;
}

/** Heads that earlier consolidations have weighed. */
export const coveredHeads = (knowledge: readonly Identified[]): string[] =>
  knowledge.flatMap(({ record }) => (record.kind === 'consolidation' ? textsOf(record.covers) : []));

/** Two machines with the same records can compare it. */
export const digestPlan = (plan: Plan): string =>
  createHash('sha256').update(JSON.stringify(plan)).digest('hex');

interface Coverage {
  /** Heads of the graph. */
  covers: readonly string[];
  /** How many evaluated cycles these reach, and the number of the last. */
  cycles: number;
  last_cycle: number;
}

/** The records of one consolidation, for one write. */
export function recordsOf(plan: Plan, coverage: Coverage): Draft[] {
  const of = (kind: string, fields: object): Body => ({ tier: 'knowledge', kind, ...fields });
  const ids = (entries: readonly { knowledge_id: string }[]): string[] =>
    entries.map(({ knowledge_id }) => knowledge_id);
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
