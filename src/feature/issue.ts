import * as z from 'zod/mini';
import type { Format } from '../core/schema.js';
import { oneLine, plural } from '../core/text.js';

/** Where an issue is worked on: its branch, and the full hashes of the commits that name it, oldest first. */
const GitRefs = z.looseObject({
  branch: z.optional(z.nullable(z.string())),
  commits: z.optional(z.array(z.string())),
});

/** RFC-9060 §5.1: an issue as a memory unit. What forge reads of it here; the rest is kept as it stands. */
export const Unit = z.looseObject({
  linear_id: z.string(),
  title: z.string(),
  type: z.optional(z.string()),
  state: z.optional(z.nullable(z.string())),
  priority: z.optional(z.nullable(z.number())),
  labels: z.optional(z.array(z.string())),
  created_at: z.optional(z.string()),
  git_refs: z.optional(z.nullable(GitRefs)),
});
export type Unit = z.infer<typeof Unit>;

/** `linear/history/<id>.json` */
export const UNIT: Format<Unit> = { name: 'unit', version: '1.0', schema: Unit };

export const ActiveIssues = z.looseObject({ schema_version: z.optional(z.string()), issues: z.array(Unit) });
export type ActiveIssues = z.infer<typeof ActiveIssues>;

export const ACTIVE_ISSUES: Format<ActiveIssues> = { name: 'active', version: '1.0', schema: ActiveIssues };

/** The unit that asks somebody to look into contested knowledge (LTM-09). The same knowledge, the same id. */
export function investigationOf(
  { knowledge_id, pattern, scope }: { knowledge_id: string; pattern: string; scope: string },
  contradicts: readonly string[],
  at: string,
): Unit {
  return {
    linear_id: investigationId(knowledge_id),
    title: `Investigate: is this still true? ${oneLine(pattern, 120)}`,
    type: 'investigation',
    state: 'unstarted',
    labels: ['investigation', 'memory'],
    memory_trace: { created_from: `contested knowledge ${knowledge_id.slice(0, 12)}`, knowledge_id },
    description: `${plural(contradicts.length, 'evaluation contradicts', 'evaluations contradict')} what was learned (scope ${scope}): ${oneLine(pattern, 400)}`,
    acceptance_criteria: [
      'Three clean cycles in a row observe the pattern again, or a human says: forge memory override invalidate',
    ],
    created_at: at,
    updated_at: at,
  };
}

/** The knowledge that a unit of forge's asks to look into; null for every other unit. */
export function investigatedBy({ type, linear_id, memory_trace }: Unit): string | null {
  if (type !== 'investigation' || typeof memory_trace !== 'object' || memory_trace === null) return null;
  const { knowledge_id } = memory_trace as { knowledge_id?: unknown };
  return typeof knowledge_id === 'string' && investigationId(knowledge_id) === linear_id
    ? knowledge_id
    : null;
}

export const investigationId = (knowledge_id: string): string =>
  `INVESTIGATE-${knowledge_id.slice(0, 8).toUpperCase()}`;
