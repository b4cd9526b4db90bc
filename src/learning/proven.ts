import type { LedgerRecord } from '../ledger/rules/record.js';
import type { Identified } from './evidence.js';

/** A piece of long-term knowledge as its records leave it (docs/governance.md). */
export interface Proven {
  knowledge_id: string;
  pattern: string;
  scope: string;
  kind: 'knowledge' | 'correction';
  /** The first record of it: that one counts, the others confirm. */
  record: string;
  created_at: string;
  evidence_cycles: number[];
  /** `unproven`: its evidence is not here, so nobody can tell. */
  status: 'valid' | 'contested' | 'invalid' | 'unproven';
  /** No record of it that can be built on is here. */
  isDoubtful: boolean;
  /** The `contested` records that nothing settles. */
  contested: string[];
  /** The `invalidated` records that nothing settles. */
  invalidated: string[];
  /** Evaluations whose contradiction was looked at before. */
  answered: Set<string>;
}

/** What the knowledge ledger says, by knowledge id; records sorted by (n, id). What is doubtful settles nothing. */
export function readProven(
  records: readonly Identified[],
  doubtful: ReadonlySet<string> = new Set(),
): Map<string, Proven> {
  const proven = new Map<string, Proven>();
  const settled = new Set<string>();
  const sound = records.filter(({ id }) => !doubtful.has(id));
  for (const { record } of sound)
    if (SETTLING.has(record.kind)) for (const id of textsOf(record.settles)) settled.add(id);
  for (const { id, record } of sound) if (TEACHING.has(record.kind)) addProven(proven, id, record, false);
  for (const { id, record } of records)
    if (doubtful.has(id) && TEACHING.has(record.kind)) addProven(proven, id, record, true);
  for (const { id, record } of sound) applyTo(proven, id, record, settled);
  for (const entry of proven.values()) entry.status = statusOf(entry);
  return proven;
}

const TEACHING: ReadonlySet<string> = new Set(['knowledge', 'correction']);
const SETTLING: ReadonlySet<string> = new Set(['correction', 'reinstated']);

function addProven(proven: Map<string, Proven>, id: string, record: LedgerRecord, isDoubtful: boolean): void {
  const { knowledge_id, pattern, scope, created_at, evidence_cycles, kind } = record;
  if (typeof knowledge_id !== 'string' || typeof pattern !== 'string' || typeof scope !== 'string') return;
  const known = proven.get(knowledge_id);
  if (known) return;
  proven.set(knowledge_id, {
    knowledge_id,
    pattern,
    scope,
    kind: kind as Proven['kind'],
    record: id,
    created_at: typeof created_at === 'string' ? created_at : '',
    evidence_cycles: Array.isArray(evidence_cycles) ? evidence_cycles.filter(Number.isInteger) : [],
    status: 'valid',
    isDoubtful,
    contested: [],
    invalidated: [],
    answered: new Set(),
  });
}

function applyTo(
  proven: ReadonlyMap<string, Proven>,
  id: string,
  record: LedgerRecord,
  settled: ReadonlySet<string>,
): void {
  if (record.kind === 'consolidation') {
    const answered: unknown[] = Array.isArray(record.answered) ? record.answered : [];
    for (const entry of answered as (Record<string, unknown> | null)[])
      for (const evaluation of textsOf(entry?.contradicts))
        proven.get(String(entry?.knowledge_id))?.answered.add(evaluation);
    return;
  }
  const entry = proven.get(String(record.knowledge_id));
  if (!entry) return;
  for (const evaluation of textsOf(record.contradicts)) entry.answered.add(evaluation);
  if (settled.has(id)) return;
  if (record.kind === 'contested') entry.contested.push(id);
  if (record.kind === 'invalidated') entry.invalidated.push(id);
}

function statusOf({ contested, invalidated, isDoubtful }: Proven): Proven['status'] {
  if (invalidated.length > 0) return 'invalid';
  if (isDoubtful) return 'unproven';
  return contested.length > 0 ? 'contested' : 'valid';
}

export const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

/** The words of knowledge by its id. */
export const namesOf = (knowledge: readonly Identified[]): Map<string, string> =>
  new Map(
    knowledge
      .filter(({ record }) => typeof record.pattern === 'string')
      .map(({ record }) => [String(record.knowledge_id), String(record.pattern)]),
  );
