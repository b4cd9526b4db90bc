import { usage } from '../core/error.js';
import { oneLine } from '../core/text.js';
import { type Identified, type Memory, readMemory } from '../ledger/memory.js';
import type { Context } from '../project/project.js';
import type { CycleInput } from './evaluation.js';
import { ENOUGH, type Proven } from './proven.js';
import { type Weighed, weighEvidence, weighing } from './rules.js';

/** A lesson that sessions and cycles report and that is no knowledge yet. */
export interface PatternCandidate {
  /** `C-317`: in every clone that has the same records. */
  id: string;
  pattern: string;
  scope: string;
  /** In how many cycles it was seen since it was last contradicted. */
  seen: number;
}

/** In the briefing and at session end. */
const SHOWN = 5;
const MIN_DIGITS = 3;
const DIGITS = 9;

/**
 * Nine digits from the knowledge id. A candidate's id is their shortest prefix, of at least three digits, that no other
 * pattern has.
 */
const digitsOf = ({ knowledge_id }: { knowledge_id: string }): string =>
  String(Number.parseInt(knowledge_id.slice(0, 12), 16) % 10 ** DIGITS).padStart(DIGITS, '0');

/** The id of each pattern, by its knowledge id. */
export function nameCandidates(patterns: Iterable<{ knowledge_id: string }>): Map<string, string> {
  const digits = new Map([...patterns].map((entry) => [entry.knowledge_id, digitsOf(entry)]));
  const lengths = Array.from({ length: DIGITS - MIN_DIGITS + 1 }, (_, i) => MIN_DIGITS + i);
  const counts = new Map<string, number>();
  for (const word of digits.values())
    for (const length of lengths)
      counts.set(word.slice(0, length), (counts.get(word.slice(0, length)) ?? 0) + 1);
  const shortest = (word: string): number =>
    lengths.find((length) => counts.get(word.slice(0, length)) === 1) ?? DIGITS;
  return new Map([...digits].map(([id, word]) => [id, `C-${word.slice(0, shortest(word))}`]));
}

/** Every pattern of the ledger, in the order in which they were first seen. */
export const weighAll = (memory: Memory): Weighed[] => [
  ...weighEvidence(memory.records('evaluation'), weighing(memory)).values(),
];

/** Older records are left out, so that a session starts as fast after years as after weeks. */
const RECENT = 5000;

/** Evaluations among the newest records. Only files that have some of these are read. */
export function recentEvaluations(memory: Memory): Identified[] {
  const after = memory.graph.maxN() - RECENT;
  const isRecent = ({ ns }: { ns: readonly number[] }): boolean => (ns.at(-1) ?? 0) > after;
  return memory.records('evaluation', isRecent).filter(({ record }) => record.n > after);
}

/** Execution records are checked only at promotion. */
const weighRecent = (memory: Memory): Weighed[] => [
  ...weighEvidence(recentEvaluations(memory), { ...weighing(memory), has: () => true }).values(),
];

/** The candidates that need more evidence: those seen most often first, of these the newest. */
export function openCandidates(memory: Memory, known: ReadonlyMap<string, Proven>): PatternCandidate[] {
  const weighed = weighRecent(memory);
  const names = nameCandidates(weighed);
  const isOpen = ({ knowledge_id, cycles, evidence }: Weighed): boolean =>
    cycles.size > 0 &&
    evidence.length < ENOUGH &&
    (known.get(knowledge_id)?.status ?? 'unproven') === 'unproven';
  return weighed
    .filter(isOpen)
    .reverse()
    .sort((a, b) => b.cycles.size - a.cycles.size)
    .slice(0, SHOWN)
    .map(({ knowledge_id, pattern, scope, cycles }) => ({
      ...{ id: names.get(knowledge_id) as string, pattern, scope, seen: cycles.size },
    }));
}

type Confirmed = NonNullable<CycleInput['patterns']>[number];

/** The patterns that these ids name. Exit 2 for an id that names none or several. */
export function resolveCandidates(context: Context, ids: readonly string[]): Confirmed[] {
  if (ids.length === 0) return [];
  const memory = readMemory(context);
  const recent = weighRecent(memory);
  return ids.map((id) => {
    const digits = /^(?:C-)?(\d{1,9})$/i.exec(id.trim())?.[1];
    const isMeant = (entry: Weighed): boolean => digits !== undefined && digitsOf(entry).startsWith(digits);
    const found = recent.filter(isMeant);
    if (found.length === 0) found.push(...weighAll(memory).filter(isMeant));
    const [only] = found;
    if (only && found.length === 1) return { pattern: only.pattern, scope: only.scope as Confirmed['scope'] };
    throw refuseId(id, found);
  });
}

function refuseId(id: string, found: readonly Weighed[]): Error {
  const names = nameCandidates(found);
  const shown = JSON.stringify(oneLine(id, 40));
  const hint = 'forge memory promote   # lists the candidates';
  if (found.length === 0) return usage('candidate.unknown', `There is no candidate ${shown}.`, { hint });
  const meant = found.map(({ knowledge_id }) => names.get(knowledge_id)).join(', ');
  return usage('candidate.ambiguous', `${shown} is ambiguous: ${found.length} candidates match (${meant}).`, {
    hint,
  });
}
