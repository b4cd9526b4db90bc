import { createHash } from 'node:crypto';
import { oneLine, plural, wordsOf } from '../core/text.js';
import type { Identified } from '../ledger/memory.js';

/** LTM, "Knowledge Promotion Mechanism": distinct cycles. */
export const ENOUGH = 3;

/** Patterns that differ only in case, width, white space and a final mark are the same. */
export const normalisePattern = (text: string): string => wordsOf(text, '.!;');

/** The id of a piece of knowledge: the same on every machine that learns it (LTM-07). */
export function knowledgeId(scope: string, pattern: string): string {
  return createHash('sha256')
    .update(`forge\u0000knowledge\u0000${scope}\u0000${normalisePattern(pattern)}`)
    .digest('hex');
}

/** A piece of long-term knowledge as its records leave it (docs/governance.md). */
export interface Proven {
  knowledge_id: string;
  pattern: string;
  scope: string;
  kind: 'knowledge' | 'correction';
  /** The first record of it. The others confirm it. */
  record: string;
  created_at: string;
  evidence_cycles: number[];
  /** How many of these cycles forge tested, and how many were only reported. */
  tested: number;
  reported: number;
  /** `unproven`: its evidence is not here. */
  status: 'valid' | 'contested' | 'invalid' | 'unproven';
  /** The `contested` records that nothing settles. */
  contested: string[];
  /** The `invalidated` records that nothing settles. */
  invalidated: string[];
  /** Evaluations whose contradiction an earlier consolidation, or a human, has seen. */
  answered: Set<string>;
}

/** How it is known, in words: "tested in 3 cycles", "reported 10 times". */
export function describeEvidence({
  kind,
  tested,
  reported,
}: Pick<Proven, 'kind' | 'tested' | 'reported'>): string {
  if (kind === 'correction') return 'by a human';
  const parts = [
    ...(tested > 0 ? [`tested in ${plural(tested, 'cycle')}`] : []),
    ...(reported > 0 ? [`reported ${plural(reported, 'time')}`] : []),
  ];
  return parts.join(', ');
}

/** "C-317: tests need -x, seen 2 times". */
export const describeCandidate = ({
  id,
  pattern,
  seen,
}: {
  id: string;
  pattern: string;
  seen: number;
}): string => `${id}: ${oneLine(pattern, 200)}, seen ${plural(seen, 'time')}`;

/**
 * What knowledge records, in order of (n, id), say by knowledge id. `has` tells which records are here: a record whose
 * evidence is elsewhere settles nothing.
 */
export function readProven(
  records: readonly Identified[],
  has: (id: string) => boolean,
): Map<string, Proven> {
  const proven = new Map<string, Proven>();
  const sound = records.filter((entry) => isSupported(entry, has));
  const tested = new Map(records.flatMap(({ record }) => Object.entries(record.tested ?? {})));
  for (const entry of sound) addProven(proven, entry, tested, 'valid');
  for (const entry of records) addProven(proven, entry, tested, 'unproven');
  const settling = sound.filter(({ record }) => SETTLING.has(record.kind));
  const settled = new Set(settling.flatMap(({ record }) => textsOf(record.settles)));
  for (const entry of sound) applyTo(proven, entry, settled);
  for (const entry of proven.values()) {
    if (entry.invalidated.length > 0) entry.status = 'invalid';
    else if (entry.contested.length > 0 && entry.status === 'valid') entry.status = 'contested';
  }
  return proven;
}

const TEACHING: ReadonlySet<string> = new Set(['knowledge', 'correction']);
const SETTLING: ReadonlySet<string> = new Set(['correction', 'reinstated']);

function isSupported({ record }: Identified, has: (id: string) => boolean): boolean {
  if (record.kind === 'knowledge' || record.kind === 'reinstated')
    return new Set(textsOf(record.evidence).filter(has)).size >= ENOUGH;
  return (record.kind !== 'correction' && record.kind !== 'invalidated') || has(String(record.audit));
}

function addProven(
  proven: Map<string, Proven>,
  { id, record }: Identified,
  counts: ReadonlyMap<string, unknown>,
  status: Proven['status'],
): void {
  const { knowledge_id, pattern, scope, created_at, evidence_cycles, kind } = record;
  if (!TEACHING.has(kind) || typeof knowledge_id !== 'string' || proven.has(knowledge_id)) return;
  const evidence = textsOf(record.evidence).length;
  const tested = Math.min(Number(counts.get(id) ?? 0), evidence);
  proven.set(knowledge_id, {
    knowledge_id,
    pattern: String(pattern),
    scope: String(scope),
    kind: kind as Proven['kind'],
    record: id,
    created_at: typeof created_at === 'string' ? created_at : '',
    evidence_cycles: Array.isArray(evidence_cycles) ? evidence_cycles.filter(Number.isInteger) : [],
    tested,
    reported: evidence - tested,
    status,
    contested: [],
    invalidated: [],
    answered: new Set(),
  });
}

function applyTo(
  proven: ReadonlyMap<string, Proven>,
  { id, record }: Identified,
  settled: ReadonlySet<string>,
): void {
  const answers = record.kind === 'consolidation' ? listOf(record.answered) : [record];
  for (const { knowledge_id, contradicts } of answers)
    for (const evaluation of textsOf(contradicts)) proven.get(String(knowledge_id))?.answered.add(evaluation);
  const entry = proven.get(String(record.knowledge_id));
  if (!entry || settled.has(id)) return;
  if (record.kind === 'contested') entry.contested.push(id);
  if (record.kind === 'invalidated') entry.invalidated.push(id);
}

export const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

/** The objects of a list that may hold anything. */
export const listOf = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : [];

/** The words of knowledge by its id. */
export const namesOf = (knowledge: readonly Identified[]): Map<string, string> =>
  new Map(
    knowledge
      .filter(({ record }) => typeof record.pattern === 'string')
      .map(({ record }) => [String(record.knowledge_id), String(record.pattern)]),
  );
