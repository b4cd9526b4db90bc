import { doneIssueFile } from '../core/paths.js';
import { encodeDocument } from '../core/schema.js';
import { noSuch } from '../core/text.js';
import { changeActive } from '../feature/store.js';
import { investigatedBy, investigationId, investigationOf, UNIT } from '../feature/tasks.js';
import { type Identified, type Memory, readMemory } from '../ledger/memory.js';
import { type Context, timestamp } from '../project/project.js';
import type { CycleInput } from './evaluation.js';
import { type Proven, readProven } from './proven.js';
import { countCycles, evidenceOf, isLesson, type Plan, weighEvidence, weighing } from './rules.js';

/** All knowledge by its id. Works while memory is halted. */
export const readKnowledge = (memory: Memory): Map<string, Proven> =>
  readProven(memory.records('knowledge'), (id) => memory.graph.has(id));

/** All knowledge as answers list it. */
export const listKnown = (memory: Memory) =>
  [...readKnowledge(memory).values()].map(
    ({ record: _, contested: _contested, invalidated: _invalidated, answered: _answered, ...known }) => known,
  );

/** LTM-09: opens a unit for each contested piece of knowledge that has none. The caller holds the lock. */
export function openInvestigations(context: Context, contested: Plan['contested']): void {
  if (contested.length === 0) return;
  const at = timestamp(context);
  changeActive(context, (issues) => {
    const open = new Set(issues.map(({ linear_id }) => linear_id));
    const fresh = contested.filter(({ knowledge_id }) => !open.has(investigationId(knowledge_id)));
    return [...issues, ...fresh.map((entry) => investigationOf(entry, entry.contradicts, at))];
  });
}

/**
 * Ends investigations of knowledge that is no longer contested: a merge, a reset or an interrupted command may have left
 * them open. Rewrites active.json, and imports a person's edits.
 */
export function closeInvestigations(context: Context): void {
  const { disk, layout } = context;
  changeActive(context, (issues) => {
    // Knowledge is read only if there is an investigation.
    if (issues.every((unit) => investigatedBy(unit) === null)) return issues;
    const proven = readKnowledge(readMemory(context));
    return issues.filter((unit) => {
      const id = investigatedBy(unit);
      if (id === null || proven.get(id)?.status === 'contested') return true;
      const ended = { state: 'done', updated_at: timestamp(context) };
      const done = encodeDocument({ schema_version: UNIT.version, ...unit, ...ended });
      disk.replace(doneIssueFile(layout, unit.linear_id), done);
      return false;
    });
  });
}

/** Enough to show some when most were removed. */
const MAX_OPEN = 100;

/** `C-317204`: six decimal digits made from the knowledge id, the same in every clone. */
export function candidateId(knowledge_id: string): string {
  const number = Number.parseInt(knowledge_id.slice(0, 12), 16) % 1e9;
  return `C-${String(number).padStart(9, '0').slice(0, 6)}`;
}

/** Older records are left out, so that a session starts as fast after years as after weeks. */
const RECENT = 5000;

/** The evaluations among the newest records. Only files with some of these are read. */
export function recentEvaluations(memory: Memory): Identified[] {
  const after = memory.graph.maxN() - RECENT;
  const isRecent = ({ ns }: { ns: readonly number[] }): boolean => (ns.at(-1) ?? 0) > after;
  return memory.records('evaluation', isRecent).filter(({ record }) => record.n > after);
}

/** What is not knowledge yet, also when its evidence suffices for the next promotion: seen most often first, then the newest. */
export function openCandidates(memory: Memory, known = readKnowledge(memory)) {
  // Execution records are checked only at promotion.
  const options = { ...weighing(memory), has: () => true };
  return [...weighEvidence(recentEvaluations(memory), options).values()]
    .filter(({ seen, knowledge_id }) => seen.length > 0 && !known.has(knowledge_id))
    .map((weighed) => ({
      ...{ id: candidateId(weighed.knowledge_id), pattern: weighed.pattern, scope: weighed.scope },
      ...{ seen: countCycles(weighed), clean: evidenceOf(weighed).length, isLesson: isLesson(weighed) },
    }))
    .reverse()
    .sort((a, b) => b.seen - a.seen)
    .slice(0, MAX_OPEN);
}

export type Open = ReturnType<typeof openCandidates>[number];
/** A lesson that sessions and cycles report and that is not knowledge yet. */
export type PatternCandidate = Omit<Open, 'isLesson'>;

type Confirmed = NonNullable<CycleInput['patterns']>[number];

/** The patterns of these candidates, by id. Exit 2 for an unknown one. */
export function resolveCandidates(context: Context, ids: readonly string[]): Confirmed[] {
  if (ids.length === 0) return [];
  const memory = readMemory(context);
  const weighed = [...weighEvidence(memory.records('evaluation'), weighing(memory)).values()];
  return ids.map((id) => {
    const wanted = `C-${id.trim().replace(/^C-/i, '')}`;
    const found = weighed.find(({ knowledge_id }) => candidateId(knowledge_id) === wanted);
    if (found) return { pattern: found.pattern, scope: found.scope as Confirmed['scope'] };
    throw noSuch('candidate', id, 'forge memory promote   # lists the candidates');
  });
}
