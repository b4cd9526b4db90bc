import { objectsIn } from '../core/json.js';
import { oneLine, plural, sha256, wordsOf } from '../core/text.js';
import type { Identified } from '../ledger/memory.js';
import { textsIn } from '../ledger/record.js';

/** LTM, "Knowledge Promotion Mechanism": the number of distinct cycles. */
export const ENOUGH = 3;

/** Patterns that differ only in case, width, white space and a final mark are the same. */
export const normalizePattern = (text: string): string => wordsOf(text, '.!;');

/** The id of a piece of knowledge: the same on every machine that learns it (LTM-07). */
export const knowledgeId = (scope: string, pattern: string): string =>
  sha256(`forge\u0000knowledge\u0000${scope}\u0000${normalizePattern(pattern)}`);

/** A piece of knowledge as its records describe it (docs/learning.md). */
export interface Proven {
  knowledge_id: string;
  pattern: string;
  scope: string;
  /** `correction`: only a human said so. */
  kind: 'knowledge' | 'correction';
  /** The first record of it. The others confirm it. */
  record: string;
  created_at: string;
  evidence_cycles: number[];
  /** How many of these cycles forge tested, and how many were only reported. */
  tested: number;
  reported: number;
  status: 'valid' | 'contested' | 'invalid';
  /** Unsettled `contested` records. */
  contested: string[];
  /** Unsettled `invalidated` records. */
  invalidated: string[];
  /** Evaluations whose contradiction an earlier consolidation, or a human, has seen. */
  answered: Set<string>;
}

/** "tested in 3 cycles", "reported 10 times" or "by a human". */
export function describeEvidence(known: Pick<Proven, 'kind' | 'tested' | 'reported'>): string {
  const { kind, tested, reported } = known;
  if (kind === 'correction') return 'by a human';
  const parts = [
    ...(tested > 0 ? [`tested in ${plural(tested, 'cycle')}`] : []),
    ...(reported > 0 ? [`reported ${plural(reported, 'time')}`] : []),
  ];
  return parts.join(', ');
}

/** "C-317204: tests need -x, seen 2 times". One that was seen often enough says what it waits for. */
export function describeCandidate(candidate: { id: string; pattern: string; seen: number; clean: number }) {
  const { id, pattern, seen, clean } = candidate;
  const line = `${id}: ${oneLine(pattern, 200)}, seen ${plural(seen, 'time')}`;
  if (clean >= ENOUGH) return `${line}, to be promoted`;
  return seen < ENOUGH ? line : `${line}, ${clean} with passed feature tests (${ENOUGH} are needed)`;
}

/** Knowledge by its id, from its records in order of (n, id). A record whose evidence is not here (`has`) does not count. */
export function readProven(
  records: readonly Identified[],
  has: (id: string) => boolean,
): Map<string, Proven> {
  const proven = new Map<string, Proven>();
  const sound = records.filter((entry) => isSupported(entry, has));
  const tested = new Map(records.flatMap(({ record }) => Object.entries(record.tested ?? {})));
  for (const entry of sound) addProven(proven, entry, tested);
  const settling = sound.filter(({ record }) => ['correction', 'reinstated'].includes(record.kind));
  const settled = new Set(settling.flatMap(({ record }) => textsIn(record.settles)));
  for (const entry of sound) applyTo(proven, entry, settled);
  for (const entry of proven.values()) {
    if (entry.contested.length > 0) entry.status = 'contested';
    if (entry.invalidated.length > 0) entry.status = 'invalid';
  }
  return proven;
}

function isSupported({ record }: Identified, has: (id: string) => boolean): boolean {
  if (record.kind === 'knowledge' || record.kind === 'reinstated')
    return new Set(textsIn(record.evidence).filter(has)).size >= ENOUGH;
  return (record.kind !== 'correction' && record.kind !== 'invalidated') || has(String(record.audit));
}

function addProven(
  proven: Map<string, Proven>,
  { id, record }: Identified,
  counts: ReadonlyMap<string, unknown>,
): void {
  const { knowledge_id, pattern, scope, created_at, evidence_cycles, kind } = record;
  // A candidate that a human invalidated has no other record.
  if (!['knowledge', 'correction', 'invalidated'].includes(kind) || typeof pattern !== 'string') return;
  if (typeof knowledge_id !== 'string' || proven.has(knowledge_id)) return;
  const evidence = textsIn(record.evidence).length;
  const tested = Math.min(Number(counts.get(id) ?? 0), evidence);
  proven.set(knowledge_id, {
    ...{ knowledge_id, pattern, scope: String(scope), record: id },
    kind: kind === 'knowledge' ? kind : 'correction',
    created_at: typeof created_at === 'string' ? created_at : '',
    evidence_cycles: Array.isArray(evidence_cycles) ? evidence_cycles.filter(Number.isInteger) : [],
    ...{ tested, reported: evidence - tested, status: 'valid' },
    ...{ contested: [], invalidated: [], answered: new Set() },
  });
}

function applyTo(
  proven: ReadonlyMap<string, Proven>,
  { id, record }: Identified,
  settled: ReadonlySet<string>,
): void {
  const answers = record.kind === 'consolidation' ? objectsIn(record.answered) : [record];
  for (const { knowledge_id, contradicts } of answers)
    for (const evaluation of textsIn(contradicts)) proven.get(String(knowledge_id))?.answered.add(evaluation);
  const entry = proven.get(String(record.knowledge_id));
  if (!entry || settled.has(id)) return;
  if (record.kind === 'contested') entry.contested.push(id);
  if (record.kind === 'invalidated') entry.invalidated.push(id);
}
