import { usage } from '../core/error.js';
import { oneLine } from '../core/text.js';
import { type Identified, type Memory, readMemory } from '../ledger/memory.js';
import type { Context } from '../project/project.js';
import type { CycleInput } from './evaluation.js';
import { ENOUGH, type Proven } from './proven.js';
import { type Weighed, weighEvidence, weighing } from './rules.js';

/** A lesson that sessions and cycles report and that is not knowledge yet. */
export interface PatternCandidate {
  /** `C-317204`, the same in every clone. */
  id: string;
  pattern: string;
  scope: string;
  /** In how many cycles it was seen since it was last contradicted. */
  seen: number;
}

/** In the briefing and at session end. */
const MAX_SHOWN = 5;

/** Six digits from the knowledge id. People may type fewer. */
export const candidateId = (knowledge_id: string): string =>
  `C-${String(Number.parseInt(knowledge_id.slice(0, 12), 16) % 1e9)
    .padStart(9, '0')
    .slice(0, 6)}`;

/** Older records are left out, so that a session starts as fast after years as after weeks. */
const RECENT = 5000;

/** The evaluations among the newest records. Only files with some of these are read. */
export function recentEvaluations(memory: Memory): Identified[] {
  const after = memory.graph.maxN() - RECENT;
  const isRecent = ({ ns }: { ns: readonly number[] }): boolean => (ns.at(-1) ?? 0) > after;
  return memory.records('evaluation', isRecent).filter(({ record }) => record.n > after);
}

/** Execution records are checked only at promotion. */
const weighRecent = (memory: Memory): Weighed[] => [
  ...weighEvidence(recentEvaluations(memory), { ...weighing(memory), has: () => true }).values(),
];

/** The candidates that need more evidence: those seen most often first, then the newest. */
export function openCandidates(memory: Memory, known: ReadonlyMap<string, Proven>): PatternCandidate[] {
  const isOpen = ({ knowledge_id, cycles, evidence }: Weighed): boolean =>
    cycles.size > 0 &&
    evidence.length < ENOUGH &&
    (known.get(knowledge_id)?.status ?? 'unproven') === 'unproven';
  return weighRecent(memory)
    .filter(isOpen)
    .reverse()
    .sort((a, b) => b.cycles.size - a.cycles.size)
    .slice(0, MAX_SHOWN)
    .map(({ knowledge_id, pattern, scope, cycles }) => ({
      ...{ id: candidateId(knowledge_id), pattern, scope, seen: cycles.size },
    }));
}

type Confirmed = NonNullable<CycleInput['patterns']>[number];

/** The patterns of these candidates, by id or the start of one. Exit 2 if none or several match. */
export function resolveCandidates(context: Context, ids: readonly string[]): Confirmed[] {
  if (ids.length === 0) return [];
  const memory = readMemory(context);
  const recent = weighRecent(memory);
  return ids.map((id) => {
    const digits = /^(?:C-)?(\d{3,6})$/i.exec(id.trim())?.[1];
    const isMeant = ({ knowledge_id }: Weighed): boolean =>
      digits !== undefined && candidateId(knowledge_id).startsWith(`C-${digits}`);
    const found = recent.filter(isMeant);
    if (found.length === 0)
      found.push(
        ...[...weighEvidence(memory.records('evaluation'), weighing(memory)).values()].filter(isMeant),
      );
    const [only] = found;
    if (only && found.length === 1) return { pattern: only.pattern, scope: only.scope as Confirmed['scope'] };
    throw refuseId(id, found);
  });
}

function refuseId(id: string, found: readonly Weighed[]): Error {
  const shown = JSON.stringify(oneLine(id, 40));
  const hint = 'forge memory promote   # lists the candidates';
  if (found.length === 0) return usage('candidate.unknown', `There is no candidate ${shown}.`, { hint });
  const matches = found.map(({ knowledge_id }) => candidateId(knowledge_id)).join(', ');
  const message = `${shown} is ambiguous: ${found.length} candidates match (${matches}).`;
  return usage('candidate.ambiguous', message, { hint });
}
