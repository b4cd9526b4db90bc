import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import type { Format } from '../core/schema.js';

/** RFC-9060 §3.1, `long-term/knowledge.json`: what agents believe they learned. Ids are not stored, they follow from content. */
const Success = z.looseObject({ context: z.string(), approach: z.string(), learned_at: z.string() });
const Failure = z.looseObject({
  context: z.string(),
  issue: z.string(),
  resolution: z.string(),
  learned_at: z.string(),
});

export const Knowledge = z.looseObject({
  schema_version: z.string(),
  patterns: z.looseObject({ successful: z.array(Success), failed: z.array(Failure) }),
  invariants: z.array(z.string()),
});
export type Knowledge = z.infer<typeof Knowledge>;

export const KNOWLEDGE: Format<Knowledge> = { name: 'knowledge', version: '1.0', schema: Knowledge };

/** One learned thing, as commands list it. */
export type Learning =
  | { kind: 'success'; id: string; context: string; approach: string; learned_at: string }
  | { kind: 'failure'; id: string; context: string; issue: string; resolution: string; learned_at: string }
  | { kind: 'invariant'; id: string; text: string };

export type NewLearning =
  | { kind: 'success'; context: string; approach: string }
  | { kind: 'failure'; context: string; issue: string; resolution: string }
  | { kind: 'invariant'; text: string };

/** Case, white space and a final full stop do not make another piece of knowledge. */
const normalise = (text: string): string =>
  text.normalize('NFC').toLowerCase().replace(/\s+/g, ' ').trim().replace(/ ?\.$/, '');

/** Same content, same id on every machine: 10 hex digits of SHA-256. */
function learningId(kind: string, parts: readonly string[]): string {
  const text = [kind, ...parts.map(normalise)].join('\u0000');
  return createHash('sha256').update(text).digest('hex').slice(0, 10);
}

const partsOf = (learning: NewLearning): string[] => {
  if (learning.kind === 'success') return [learning.context, learning.approach];
  if (learning.kind === 'failure') return [learning.context, learning.issue, learning.resolution];
  return [learning.text];
};

/** What tells one piece of knowledge from another: the same for the same content, however it is written. */
export const keyOfLearning = (learning: NewLearning): string => learningId(learning.kind, partsOf(learning));

/** All of it, in the file's order, without ids (which cost a hash each). */
export function readLearnings(knowledge: Knowledge): NewLearning[] {
  const { successful, failed } = knowledge.patterns;
  return [
    ...successful.map(({ context, approach, learned_at }) => ({
      kind: 'success' as const,
      context,
      approach,
      learned_at,
    })),
    ...failed.map(({ context, issue, resolution, learned_at }) => ({
      kind: 'failure' as const,
      context,
      issue,
      resolution,
      learned_at,
    })),
    ...knowledge.invariants.map((text) => ({ kind: 'invariant' as const, text })),
  ];
}

/** All of it with its ids. */
export function listLearnings(knowledge: Knowledge): Learning[] {
  return readLearnings(knowledge).map(
    (learning) => ({ ...learning, id: learningId(learning.kind, partsOf(learning)) }) as Learning,
  );
}

export interface Learned {
  knowledge: Knowledge;
  learning: Learning;
  /** True when it stood there already; then nothing changed. */
  duplicate: boolean;
}

/** Adds one, unless it is there. */
export function learn(knowledge: Knowledge, entry: NewLearning, now: string): Learned {
  const id = learningId(entry.kind, partsOf(entry));
  const twin = listLearnings(knowledge).find((learning) => learning.id === id);
  if (twin) return { knowledge, learning: twin, duplicate: true };
  const after = structuredClone(knowledge);
  if (entry.kind === 'success')
    after.patterns.successful.push({ context: entry.context, approach: entry.approach, learned_at: now });
  else if (entry.kind === 'failure')
    after.patterns.failed.push({
      context: entry.context,
      issue: entry.issue,
      resolution: entry.resolution,
      learned_at: now,
    });
  else after.invariants.push(entry.text);
  const learning = listLearnings(after).find((candidate) => candidate.id === id) as Learning;
  return { knowledge: after, learning, duplicate: false };
}

/** Without the entries of that id. */
export function forget(knowledge: Knowledge, id: string): Knowledge {
  const after = structuredClone(knowledge);
  const keeps = (learning: NewLearning): boolean => learningId(learning.kind, partsOf(learning)) !== id;
  after.patterns.successful = after.patterns.successful.filter((entry) =>
    keeps({ ...entry, kind: 'success' }),
  );
  after.patterns.failed = after.patterns.failed.filter((entry) => keeps({ ...entry, kind: 'failure' }));
  after.invariants = after.invariants.filter((text) => keeps({ kind: 'invariant', text }));
  return after;
}

/** Every word of the query somewhere in the entry, case aside. */
export function searchLearnings(learnings: readonly Learning[], query: string): Learning[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return learnings.filter((learning) => {
    const text = partsOf(learning).join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
