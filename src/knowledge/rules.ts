import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { type EntryList, encodeFields } from '../core/entries.js';
import { knowledgeFile, learnedFolder } from '../core/paths.js';
import type { Format } from '../core/schema.js';
import { compareText, oneLine } from '../core/text.js';

/** RFC-9060 §3.1, `long-term/knowledge.json`: what agents believe they learned. A view of `learned.d`. */
const Success = z.looseObject({ context: z.string(), approach: z.string(), learned_at: z.string() });
const Failure = z.looseObject({
  context: z.string(),
  issue: z.string(),
  resolution: z.string(),
  learned_at: z.string(),
});

const Knowledge = z.looseObject({
  schema_version: z.string(),
  patterns: z.looseObject({ successful: z.array(Success), failed: z.array(Failure) }),
  invariants: z.array(z.string()),
});
type Knowledge = z.infer<typeof Knowledge>;

export const KNOWLEDGE: Format<Knowledge> = { name: 'knowledge', version: '1.0', schema: Knowledge };

const At = { learned_at: z.optional(z.string()) };
const StoredLearning = z.discriminatedUnion('kind', [
  z.looseObject({ kind: z.literal('success'), context: z.string(), approach: z.string(), ...At }),
  z.looseObject({
    kind: z.literal('failure'),
    context: z.string(),
    issue: z.string(),
    resolution: z.string(),
    ...At,
  }),
  z.looseObject({ kind: z.literal('invariant'), text: z.string(), ...At }),
]);
/** `long-term/learned.d/<hash>.json`. Never changed once written. */
export type StoredLearning = z.infer<typeof StoredLearning>;

/** One learned thing, as commands list it. */
export type Learning = { by?: 'agent' } & (
  | { kind: 'success'; id: string; context: string; approach: string; learned_at: string }
  | { kind: 'failure'; id: string; context: string; issue: string; resolution: string; learned_at: string }
  | { kind: 'invariant'; id: string; text: string }
);

export type NewLearning =
  | { kind: 'success'; context: string; approach: string }
  | { kind: 'failure'; context: string; issue: string; resolution: string }
  | { kind: 'invariant'; text: string };

/** Case, white space and a final full stop do not make another piece of knowledge. */
const normalise = (text: string): string =>
  text.normalize('NFC').toLowerCase().replace(/\s+/g, ' ').trim().replace(/ ?\.$/, '');

const partsOf = (learning: NewLearning): string[] => {
  if (learning.kind === 'success') return [learning.context, learning.approach];
  if (learning.kind === 'failure') return [learning.context, learning.issue, learning.resolution];
  return [learning.text];
};

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The id of a learning: the same content has the same one on every machine. */
const idOf = (learning: NewLearning): string =>
  digest([learning.kind, ...partsOf(learning).map(normalise)].join('\u0000')).slice(0, 10);

/** In one line, for people. */
export function describeLearning(learning: NewLearning): string {
  if (learning.kind === 'invariant') return learning.text;
  if (learning.kind === 'success') return `${learning.context} → ${learning.approach}`;
  return `${learning.context}: ${learning.issue}${learning.resolution === '' ? '' : ` → ${learning.resolution}`}`;
}

/** The learnings of all files, each once: two branches may have stored the same one. */
export function listLearnings(stored: readonly StoredLearning[]): Learning[] {
  const known = new Map<string, Learning>();
  for (const entry of stored) {
    const id = idOf(entry);
    if (!known.has(id)) known.set(id, { ...entry, id } as Learning);
  }
  return [...known.values()];
}

/** Adds one, unless it is there. */
export function learn(
  stored: readonly StoredLearning[],
  entry: NewLearning,
  now: string,
): { stored: StoredLearning[]; learning: Learning; duplicate: boolean } {
  const id = idOf(entry);
  const twin = listLearnings(stored).find((learning) => learning.id === id);
  if (twin) return { stored: [...stored], learning: twin, duplicate: true };
  const added = { ...entry, learned_at: now };
  return { stored: [...stored, added], learning: { ...added, id } as Learning, duplicate: false };
}

/** Without the entries of that id. */
export const forget = (stored: readonly StoredLearning[], id: string): StoredLearning[] =>
  stored.filter((entry) => idOf(entry) !== id);

/** Every word of the query somewhere in the entry, case aside. */
export function searchLearnings(learnings: readonly Learning[], query: string): Learning[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return learnings.filter((learning) => {
    const text = partsOf(learning).join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

const LEARNED: Format<StoredLearning> = {
  name: 'learned',
  version: '1.0',
  schema: StoredLearning,
  prepare: ({ schema_version: _, ...fields }) => fields,
};

function toView(stored: readonly StoredLearning[], standing: Knowledge | null): Knowledge {
  const once = listLearnings(stored).map(({ id: _, ...learning }) => withoutMark(learning as StoredLearning));
  const of = (wanted: string): object[] =>
    once.flatMap(({ kind, ...rest }) =>
      kind === wanted ? [{ ...rest, learned_at: 'learned_at' in rest ? rest.learned_at : '' }] : [],
    );
  return {
    ...(standing ?? { schema_version: KNOWLEDGE.version }),
    patterns: { ...standing?.patterns, successful: of('success'), failed: of('failure') },
    invariants: once.flatMap((learning) => (learning.kind === 'invariant' ? [learning.text as string] : [])),
  } as Knowledge;
}

/** RFC-9060 has no field for who learned it. */
function withoutMark({ by, ...learning }: StoredLearning): StoredLearning {
  return (by === undefined || by === 'agent' ? learning : { ...learning, by }) as StoredLearning;
}

function fromView({ patterns, invariants }: Knowledge): StoredLearning[] {
  const dated = <T extends { learned_at: string }>({ learned_at, ...rest }: T) =>
    learned_at === '' ? rest : { ...rest, learned_at };
  return [
    ...patterns.successful.map((entry) => ({ ...dated(entry), kind: 'success' })),
    ...patterns.failed.map((entry) => ({ ...dated(entry), kind: 'failure' })),
    ...invariants.map((text) => ({ kind: 'invariant', text })),
  ] as StoredLearning[];
}

function takeIn(
  stored: readonly StoredLearning[],
  base: Knowledge,
  edited: Knowledge,
): { entries: StoredLearning[]; changes: string[] } {
  const [was, now] = [fromView(base), fromView(edited)];
  const ids = (entries: readonly StoredLearning[]): Set<string> => new Set(entries.map(idOf));
  const [wasIds, nowIds, known] = [ids(was), ids(now), ids(stored)];
  const added = now.filter((entry) => !wasIds.has(idOf(entry)) && !known.has(idOf(entry)));
  const gone = stored.filter((entry) => wasIds.has(idOf(entry)) && !nowIds.has(idOf(entry)));
  const named = (verb: string, entries: readonly StoredLearning[]): string[] =>
    entries.map((entry) => `${verb} "${oneLine(partsOf(entry).at(-1) ?? '', 60)}"`);
  return {
    entries: [...stored.filter((entry) => !gone.includes(entry)), ...added],
    changes: [...named('added', added), ...named('removed', gone)],
  };
}

export const LEARNED_LIST: EntryList<StoredLearning, Knowledge> = {
  folder: learnedFolder,
  entry: LEARNED,
  nameOf: (entry) => digest(JSON.stringify(entry)).slice(0, 16),
  arrange: (stored) =>
    [...stored].sort(
      (a, b) => compareText(a.learned_at ?? '', b.learned_at ?? '') || compareText(idOf(a), idOf(b)),
    ),
  encode: (entry) => encodeFields(JSON.stringify(entry), { schema_version: LEARNED.version, ...entry }),
  view: KNOWLEDGE,
  viewFile: knowledgeFile,
  toView,
  takeIn,
};
