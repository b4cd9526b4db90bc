import { objectsIn } from '../core/json.js';
import type { Body, Draft, Identified, Memory } from '../ledger/memory.js';
import { isRecordId, type LedgerRecord, textsIn } from '../ledger/record.js';
import { SCOPES } from './evaluation.js';
import { ENOUGH, knowledgeId, normalizePattern, type Proven, readProven } from './proven.js';

/** LTM-08: consolidation is due when an earlier one does not cover this many cycles. */
export const WINDOW = 10;
/** The newest evidence is named, at most this much. */
const MAX_EVIDENCE = 100;

/**
 * Why observations do not count as evidence: LTM's conditions, by the names of its fields, and `verdict` for a session in
 * which no test of a feature ran.
 */
const CONDITIONS = [
  'verdict',
  'classification',
  'environment_valid',
  'governance_violations',
  'execution',
] as const;
type Unmet = (typeof CONDITIONS)[number];
type Condition = Unmet | 'observed' | 'contradicted' | 'invalidated' | 'fields';

/** What the evaluations say about one pattern. */
interface Weighed {
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
  const isOpen = classification === null;
  const met: Record<Unmet, boolean> = {
    verdict: !isOpen,
    classification: isOpen || classification === 'SUCCESS' || classification === 'PARTIAL_SUCCESS',
    environment_valid: isOpen || environment_valid === true,
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

/** The key of the cycle that a session's end records. Only digits and hyphens, so the guard does not take it for a secret. */
export const endKey = (session: string): string => session.replace('session-', '');

/** Only ends of sessions reported it. */
export const isLesson = ({ seen }: Weighed): boolean =>
  seen.every(({ evaluation: { record } }) => record.key === endKey(String(record.session)));

export const countCycles = ({ seen }: Weighed): number => new Set(seen.map(({ cycle }) => cycle)).size;

/** The conditions that a pattern fails; none if it has earned its promotion (LTM-06). */
function failedConditions(weighed: Weighed, evidence: readonly Identified[]): Condition[] {
  if (evidence.length >= ENOUGH) return [];
  return [
    ...(countCycles(weighed) < ENOUGH ? (['observed'] as const) : []),
    ...CONDITIONS.filter((condition) => weighed.seen.some(({ unmet }) => unmet.includes(condition))),
    ...(weighed.against.length > 0 ? (['contradicted'] as const) : []),
  ];
}

/** What one consolidation does, and why it rejects the rest. */
export type Plan = ReturnType<typeof planConsolidation>;
export type Known = Pick<Weighed, 'knowledge_id' | 'pattern' | 'scope'>;

/** LTM-06 to LTM-09 as one pure function: the same records, in order of (n, id), give the same plan. */
export function planConsolidation({
  evaluations,
  knowledge,
  ...options
}: WeighOptions & Record<'evaluations' | 'knowledge', readonly Identified[]>) {
  const proven = readProven(knowledge, options.has);
  const all = [...weighEvidence(evaluations, options).values()];
  const verdicts = all.map((weighed) => judge(weighed, proven.get(weighed.knowledge_id)));
  const promotions = verdicts.flatMap(({ promotion }) => promotion ?? []);
  return {
    promoted: promotions.map(({ promoted }) => promoted),
    contested: verdicts.flatMap(({ contested }) => contested ?? []),
    reinstated: verdicts.flatMap(({ reinstated }) => reinstated ?? []),
    rejected: verdicts.flatMap(({ rejected }) => rejected ?? []),
    /** Contradictions that were known at the promotion. They are not news later. */
    answered: promotions.flatMap(({ promoted: { knowledge_id }, against: contradicts }) =>
      contradicts.length > 0 ? [{ knowledge_id, contradicts }] : [],
    ),
    /** By the id of promoted knowledge: the number of its cycles in which forge ran tests that passed. */
    tested: Object.fromEntries(promotions.map(({ promoted, tested }) => [promoted.knowledge_id, tested])),
  };
}

/** New contradictions contest what is known. Evidence from the same window waits for a later consolidation. */
function judge(weighed: Weighed, known?: Proven) {
  const all = evidenceOf(weighed);
  const evidence = all.slice(-MAX_EVIDENCE);
  const reject = (failed: Condition[]) => {
    const { knowledge_id, pattern, scope } = weighed;
    /** Cycles that showed it, and those that count, since it was last contradicted. */
    const counts = { observed: countCycles(weighed), qualified: all.length };
    return { knowledge_id, pattern, scope, failed, ...counts };
  };
  if (known?.status === 'invalid') return { rejected: reject(['invalidated']) };
  const failed = failedConditions(weighed, all);
  if (!known) {
    const promotion = promote(weighed, evidence);
    const { pattern, scope, created_at } = promotion.promoted;
    // LTM, "Knowledge Record Format": a missing or empty field rejects the promotion.
    const isComplete = normalizePattern(pattern) !== '' && isScope(scope) && created_at !== '';
    if (failed.length === 0 && !isComplete) failed.push('fields');
    return failed.length > 0 ? { rejected: reject(failed) } : { promotion };
  }
  const { knowledge_id, pattern, scope, answered, contested: settles } = known;
  const contradicts = weighed.against.filter((id) => !answered.has(id));
  if (contradicts.length > 0) return { contested: { knowledge_id, pattern, scope, contradicts } };
  if (settles.length === 0) return {};
  if (failed.length > 0) return { rejected: reject(failed) };
  return { reinstated: { knowledge_id, pattern, scope, evidence: evidence.map(({ id }) => id), settles } };
}

/** `promoted`: exactly LTM's fields, and the ids of the evidence. */
function promote({ knowledge_id, pattern, scope, against }: Weighed, evidence: readonly Identified[]) {
  const promoted = {
    ...{ knowledge_id, pattern },
    evidence_cycles: evidence.map(({ record: { cycle } }) => (typeof cycle === 'number' ? cycle : 0)),
    ...{ confidence: 'high', scope },
    // The time of the newest evidence, so that two machines agree.
    created_at: evidence.at(-1)?.record.at ?? '',
    evidence: evidence.map(({ id }) => id),
  };
  // Forge ran tests that passed in these cycles. Anybody can type the rest of an evaluation.
  const wasTested = ({ record }: Identified): boolean =>
    objectsIn(record.evidence).some(({ exit_code }) => exit_code === 0);
  return { promoted, tested: evidence.filter(wasTested).length, against };
}

const isScope = (scope: string): boolean => (SCOPES as readonly string[]).includes(scope);

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

/**
 * The records of one consolidation, for one write. `covers`: heads of the graph, with the number of evaluated cycles that
 * they reach, and of the last one.
 */
export function recordsOf(
  plan: Plan,
  coverage: { covers: readonly string[]; cycles: number; last_cycle: number },
): Draft[] {
  const of = (kind: string, fields: object): Body => ({ tier: 'knowledge', kind, ...fields });
  const ids = (entries: readonly Known[]): string[] => entries.map(({ knowledge_id }) => knowledge_id);
  return [
    ...plan.promoted.map((promotion) => of('knowledge', promotion)),
    ...plan.contested.map(({ knowledge_id, contradicts }) => of('contested', { knowledge_id, contradicts })),
    ...plan.reinstated.map(({ pattern: _, scope: _scope, ...fields }) => of('reinstated', fields)),
    (known) =>
      of('consolidation', {
        ...coverage,
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
