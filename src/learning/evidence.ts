import type { LedgerRecord } from '../ledger/rules/record.js';
import type { PatternText } from './evaluation-claims.js';
import { CYCLE, type EvaluationTable, UNMET, unmetBy } from './evaluation-table.js';
import { knowledgeId } from './pattern.js';

/** A record beside its id. */
export interface Identified {
  id: string;
  record: LedgerRecord;
}

/** Why an observation is no evidence, or there is not enough of it: LTM's conditions by the names of its fields. */
export type Condition = 'observed' | keyof typeof UNMET | 'contradicted' | 'invalidated' | 'fields';

/** All that the evaluations say of one pattern. Rows are those of the table. */
export interface Weighed {
  knowledge_id: string;
  /** As it was first written. */
  pattern: string;
  scope: string;
  /** Rows of cycles that qualify, since the last contradiction, in order: one of each cycle. */
  evidence: number[];
  /** How many cycles showed it at all, since then. */
  observed: number;
  /** Those of them that have other rows too, and whether one is among the evidence. */
  shared: Map<number, boolean>;
  /** What kept observations since then from being evidence: bits of UNMET. */
  unmet: number;
  wasContradicted: boolean;
  /** Rows that contradict it, all of them, in order. */
  against: number[];
  /** The row that speaks of it last, and whether it holds there. */
  said: { row: number; holds: boolean; isWeighed: boolean };
}

/** LTM, "Knowledge Promotion Mechanism". */
export const ENOUGH = 3;

export interface WeighOptions {
  /** Rows that were weighed for good before. */
  settled?: Uint8Array | undefined;
  /** Whether an execution record is known, by its place in the names of the table; by default all are. */
  hasRun?: ((execution: number) => boolean) | undefined;
}

/** Weighs every evaluation, by knowledge id. Pure: the same records give the same answer on every machine. */
export function weighEvidence(table: EvaluationTable, options: WeighOptions = {}): Map<string, Weighed> {
  const weighed = new Map<string, Weighed>();
  const { claims } = table;
  const byText: (Weighed | undefined)[] = [];
  for (const row of table.cycles()) {
    if (options.settled?.[row] === 1) continue;
    const [start, end] = [claims.startOf(row), claims.startOf(row + 1)];
    for (let claim = start; claim < end; claim++) {
      const text = claims.textOf(claim);
      byText[text] ??= entryFor(table, text, weighed);
      hear((byText[text] as Weighed).said, row, claims.holds(claim));
    }
    for (let claim = start; claim < end; claim++) {
      const entry = byText[claims.textOf(claim)] as Weighed;
      // What a row says twice is weighed once.
      if (entry.said.isWeighed) continue;
      entry.said.isWeighed = true;
      if (entry.said.holds) support(entry, table, row, options.hasRun);
      else if (!table.isBroken[row]) contradict(entry, row);
    }
  }
  return weighed;
}

/** The same cycle saying both contradicts it. */
function hear(said: Weighed['said'], row: number, holds: boolean): void {
  said.holds = holds && (said.row !== row || said.holds);
  said.row = row;
  said.isWeighed = false;
}

function entryFor({ claims }: EvaluationTable, text: number, weighed: Map<string, Weighed>): Weighed {
  const { scope, pattern } = claims.texts[text] as PatternText;
  const knowledge_id = knowledgeId(scope, pattern);
  const known = weighed.get(knowledge_id);
  if (known) return known;
  const entry: Weighed = {
    knowledge_id,
    pattern,
    scope,
    evidence: [],
    observed: 0,
    shared: new Map(),
    unmet: 0,
    wasContradicted: false,
    against: [],
    said: { row: -1, holds: false, isWeighed: false },
  };
  weighed.set(knowledge_id, entry);
  return entry;
}

function support(entry: Weighed, table: EvaluationTable, row: number, hasRun: WeighOptions['hasRun']): void {
  const cycle = table.name[row] as number;
  const unmet = (table.unmet[row] as number) | (!hasRun || hasRun(cycle) ? 0 : UNMET.execution);
  const isShared = table.names.has(cycle, CYCLE.again);
  const isCounted = isShared ? entry.shared.get(cycle) : undefined;
  if (isCounted === undefined) entry.observed++;
  if (isShared && isCounted !== true) entry.shared.set(cycle, unmet === 0);
  entry.unmet |= unmet;
  if (unmet === 0 && !isCounted) entry.evidence.push(row);
}

/** What was observed before counts no more. */
function contradict(entry: Weighed, row: number): void {
  entry.against.push(row);
  entry.evidence = [];
  entry.observed = 0;
  entry.shared = new Map();
  entry.unmet = 0;
  entry.wasContradicted = true;
}

/** Whether an evaluation record is evidence for a piece of knowledge, its cycle taken for granted. */
export function isEvidenceFor(record: LedgerRecord, knowledge_id: string): boolean {
  if (record.kind !== 'cycle' || unmetBy(record) !== 0 || !Array.isArray(record.patterns)) return false;
  const said = (record.patterns as (Record<string, unknown> | null)[]).filter(
    (entry) => knowledgeId(String(entry?.scope), String(entry?.pattern)) === knowledge_id,
  );
  return said.length > 0 && said.every((entry) => entry?.holds !== false);
}

/** Which conditions a pattern fails; empty when it has earned its promotion (LTM-06). */
export function failedConditions({ evidence, observed, unmet, wasContradicted }: Weighed): Condition[] {
  if (evidence.length >= ENOUGH) return [];
  const failed: Condition[] = observed < ENOUGH ? ['observed'] : [];
  for (const [condition, bit] of Object.entries(UNMET))
    if ((unmet & bit) !== 0) failed.push(condition as keyof typeof UNMET);
  if (wasContradicted) failed.push('contradicted');
  return failed;
}
