import { isRecordId, type LedgerRecord } from './ledger.js';
import { knowledgeId } from './pattern.js';

/** A record beside its id. */
export interface Identified {
  id: string;
  record: LedgerRecord;
}

/** Why an observation is no evidence, or there is not enough of it: LTM's conditions by the names of its fields. */
export type Condition =
  | 'observed'
  | 'classification'
  | 'environment_valid'
  | 'governance_violations'
  | 'execution'
  | 'contradicted'
  | 'invalidated'
  | 'fields';

/** One cycle that showed a pattern. */
export interface Observation {
  /** The evaluation record. */
  evaluation: string;
  execution: string;
  cycle: number;
  at: string;
}

/** All that the evaluations say of one pattern. */
export interface Weighed {
  knowledge_id: string;
  /** As it was first written. */
  pattern: string;
  scope: string;
  /** Cycles that qualify, since the last contradiction, in order; and their execution records. */
  evidence: Observation[];
  counted: Set<string>;
  /** Cycles that showed it at all, since then. */
  observed: Set<string>;
  /** What kept observations since then from being evidence. */
  unmet: Set<Condition>;
  /** Evaluations that contradict it, all of them, in order. */
  against: string[];
}

/** What weighing needs of an evaluation record. A long ledger's records are too much to be held whole. */
export function keepEvidence(record: LedgerRecord): LedgerRecord {
  // One shape for all, written out: this runs for every record.
  return {
    v: 1,
    tier: record.tier,
    n: record.n,
    prev: record.prev,
    seen: record.seen.length === 0 ? NO_IDS : record.seen,
    kind: record.kind,
    at: record.at ?? '',
    cycle: record.cycle,
    execution: record.execution,
    classification: record.classification,
    environment_valid: record.environment_valid,
    governance_violations: record.governance_violations,
    patterns: record.patterns,
  };
}

const NO_IDS: string[] = [];

/** LTM, "Knowledge Promotion Mechanism". */
export const ENOUGH = 3;
const TEACHING: ReadonlySet<unknown> = new Set(['SUCCESS', 'PARTIAL_SUCCESS']);

/**
 * Weighs evaluations that are sorted by (n, id). `hasRun` tells whether an execution record is known. A contradiction
 * makes the count begin again. Pure: the same records give the same answer on every machine.
 */
export function weighEvidence(
  evaluations: Iterable<Identified>,
  hasRun: (execution: string) => boolean = () => true,
): Map<string, Weighed> {
  const byText = new Map<string, Weighed>();
  const weighed = new Map<string, Weighed>();
  for (const evaluation of evaluations) {
    const { kind, patterns } = evaluation.record;
    if (kind !== 'cycle' || !Array.isArray(patterns) || patterns.length === 0) continue;
    const said = new Map<Weighed, boolean>();
    for (const { pattern, scope, holds } of patterns as Record<string, unknown>[]) {
      if (typeof pattern !== 'string' || typeof scope !== 'string') continue;
      const entry = entryFor(pattern, scope, byText, weighed);
      // The same cycle saying both contradicts it.
      said.set(entry, holds !== false && said.get(entry) !== false);
    }
    for (const [entry, holds] of said) {
      if (holds) support(entry, evaluation, hasRun);
      else contradict(entry, evaluation);
    }
  }
  return weighed;
}

function entryFor(
  pattern: string,
  scope: string,
  byText: Map<string, Weighed>,
  weighed: Map<string, Weighed>,
): Weighed {
  const text = `${scope}\u0000${pattern}`;
  const known = byText.get(text);
  if (known) return known;
  const knowledge_id = knowledgeId(scope, pattern);
  const entry = weighed.get(knowledge_id) ?? {
    knowledge_id,
    pattern,
    scope,
    evidence: [],
    counted: new Set<string>(),
    observed: new Set<string>(),
    unmet: new Set<Condition>(),
    against: [],
  };
  weighed.set(knowledge_id, entry);
  byText.set(text, entry);
  return entry;
}

function support(entry: Weighed, { id, record }: Identified, hasRun: (execution: string) => boolean): void {
  const execution = isRecordId(record.execution) ? record.execution : '';
  const unmet = unmetBy(record, execution !== '' && hasRun(execution));
  for (const condition of unmet) entry.unmet.add(condition);
  entry.observed.add(execution === '' ? id : execution);
  if (unmet.length > 0 || entry.counted.has(execution)) return;
  entry.counted.add(execution);
  const { cycle, at = '' } = record;
  entry.evidence.push({ evaluation: id, execution, cycle: typeof cycle === 'number' ? cycle : 0, at });
}

function unmetBy(record: LedgerRecord, wasRun: boolean): Condition[] {
  const { classification, environment_valid, governance_violations } = record;
  const unmet: Condition[] = [];
  if (!TEACHING.has(classification)) unmet.push('classification');
  if (environment_valid !== true) unmet.push('environment_valid');
  if (!Array.isArray(governance_violations) || governance_violations.length > 0)
    unmet.push('governance_violations');
  if (!wasRun) unmet.push('execution');
  return unmet;
}

/** Whether an evaluation record is evidence for a piece of knowledge, its cycle taken for granted. */
export function isEvidenceFor(record: LedgerRecord, knowledge_id: string): boolean {
  if (record.kind !== 'cycle' || unmetBy(record, true).length > 0 || !Array.isArray(record.patterns))
    return false;
  const said = (record.patterns as Record<string, unknown>[]).filter(
    ({ pattern, scope }) => knowledgeId(String(scope), String(pattern)) === knowledge_id,
  );
  return said.length > 0 && said.every(({ holds }) => holds !== false);
}

/** A broken environment contradicts nothing. */
function contradict(entry: Weighed, { id, record }: Identified): void {
  if (record.environment_valid === false) return;
  entry.against.push(id);
  entry.evidence = [];
  entry.counted = new Set();
  entry.observed = new Set();
  entry.unmet = new Set(['contradicted']);
}

/** Which conditions a pattern fails; empty when it has earned its promotion (LTM-06). */
export function failedConditions({ evidence, observed, unmet }: Weighed): Condition[] {
  if (evidence.length >= ENOUGH) return [];
  const failed = observed.size < ENOUGH ? new Set<Condition>(['observed', ...unmet]) : unmet;
  return CONDITIONS.filter((condition) => failed.has(condition));
}

const CONDITIONS: readonly Condition[] = [
  'observed',
  'classification',
  'environment_valid',
  'governance_violations',
  'execution',
  'contradicted',
];
