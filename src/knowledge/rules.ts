import * as z from 'zod/mini';
import type { Disk } from '../core/disk.js';
import { type EntryList, encodeFields, readEntries, takeInById } from '../core/entries.js';
import { knowledgeFile, learnedFolder } from '../core/paths.js';
import type { Format } from '../core/schema.js';
import { compareText, oneLine, sha256, wordsOf } from '../core/text.js';
import type { Open, PatternCandidate } from '../learning/knowledge.js';
import { normalizePattern } from '../learning/proven.js';

const text = z.string();
/** The texts of each kind, in the order that its id is made of. */
const TEXTS = {
  success: { context: text, approach: text },
  failure: { context: text, issue: text, resolution: text },
  invariant: { text },
};
const [success, failure, invariant] = [z.literal('success'), z.literal('failure'), z.literal('invariant')];

/** RFC-9060 §3.1, `long-term/knowledge.json`: what agents believe they learned. A view of `learned.d`. */
const Knowledge = z.looseObject({
  schema_version: text,
  patterns: z.looseObject({
    successful: z.array(z.looseObject({ ...TEXTS.success, learned_at: z.optional(text) })),
    failed: z.array(z.looseObject({ ...TEXTS.failure, learned_at: z.optional(text) })),
  }),
  invariants: z.array(text),
});
type Knowledge = z.infer<typeof Knowledge>;

export const KNOWLEDGE: Format<Knowledge> = { name: 'knowledge', version: '1.0', schema: Knowledge };

export const NewLearning = z.discriminatedUnion('kind', [
  z.strictObject({ kind: success, ...TEXTS.success }),
  z.strictObject({ kind: failure, ...TEXTS.failure }),
  z.strictObject({ kind: invariant, ...TEXTS.invariant }),
]);
export type NewLearning = z.infer<typeof NewLearning>;

/** `session`: the one that was running. */
const at = { learned_at: z.optional(text), session: z.optional(text) };
const StoredLearning = z.discriminatedUnion('kind', [
  z.looseObject({ kind: success, ...TEXTS.success, ...at }),
  z.looseObject({ kind: failure, ...TEXTS.failure, ...at }),
  z.looseObject({ kind: invariant, ...TEXTS.invariant, ...at }),
]);
/** `long-term/learned.d/<hash>.json`. Never changed once written. */
type StoredLearning = z.infer<typeof StoredLearning>;

/** The context of a learning without a task. */
export const ANY_TASK = 'any task';

/** One learned thing, as commands list it. */
export type Learning = NewLearning & { id: string; learned_at?: string; by?: 'agent'; session?: string };

export const textsOf = (learning: NewLearning): string[] =>
  Object.keys(TEXTS[learning.kind]).map((field) => learning[field as keyof NewLearning]);

/** The id of a learning: the same content has the same one on every machine, in any case and without a final full stop. */
export const idOf = (learning: NewLearning): string =>
  sha256([learning.kind, ...textsOf(learning).map((text) => wordsOf(text, '.'))].join('\u0000')).slice(0, 10);

export function describeLearning(learning: NewLearning): string {
  if (learning.kind === 'invariant') return learning.text;
  const { kind, context } = learning;
  const about = context === ANY_TASK ? '' : `${context}${kind === 'success' ? ' →' : ':'} `;
  if (kind === 'success') return `${about}${learning.approach}`;
  return `${about}${learning.issue}${learning.resolution === '' ? '' : ` → ${learning.resolution}`}`;
}

/** The learnings of all files by id: two branches may have stored the same one. */
export function knownLearnings(stored: readonly StoredLearning[]): Map<string, Learning> {
  const known = new Map<string, Learning>();
  for (const entry of stored) {
    const id = idOf(entry);
    if (!known.has(id)) known.set(id, { ...entry, id } as Learning);
  }
  return known;
}

/** The ids by which it is known already: its own, and that of the same for any task. */
export const idsOf = (learning: NewLearning): string[] => [
  idOf(learning),
  ...('context' in learning ? [idOf({ ...learning, context: ANY_TASK })] : []),
];

/** A lesson is read at every start, so it is short. Bytes. */
export const MAX_LESSON = 4096;

/** In the briefing, at session end and on the page. */
export const MAX_CANDIDATES = 5;

/** Without lessons that somebody removed from what was learned. */
export function keptOpen(open: readonly Open[], learnings: readonly NewLearning[]): PatternCandidate[] {
  const approaches = learnings.flatMap((entry) => (entry.kind === 'success' ? [entry.approach] : []));
  const kept = new Set(approaches.map(normalizePattern));
  return open
    .filter(({ isLesson, pattern }) => !isLesson || kept.has(normalizePattern(pattern)))
    .map(({ isLesson: _, ...candidate }) => candidate);
}

function toView(stored: readonly StoredLearning[], standing: Knowledge | null): Knowledge {
  const once = [...knownLearnings(stored).values()];
  // RFC-9060 has no fields for forge's own marks.
  const of = (wanted: string): object[] =>
    once
      .filter(({ kind }) => kind === wanted)
      .map(({ id: _, kind: _kind, by, session: _session, ...fields }) => ({
        ...{ ...fields, learned_at: fields.learned_at ?? '' },
        ...(by === undefined || by === 'agent' ? {} : { by }),
      }));
  return {
    ...(standing ?? { schema_version: KNOWLEDGE.version }),
    patterns: { ...standing?.patterns, successful: of('success'), failed: of('failure') },
    invariants: once.flatMap((learning) => (learning.kind === 'invariant' ? [learning.text] : [])),
  } as Knowledge;
}

function fromView({ patterns, invariants }: Knowledge): StoredLearning[] {
  const of = (kind: string, entries: readonly { learned_at?: string | undefined }[]): object[] =>
    entries.map(({ learned_at, ...rest }) => ({ ...rest, ...(learned_at && { learned_at }), kind }));
  return [
    ...of('success', patterns.successful),
    ...of('failure', patterns.failed),
    ...invariants.map((words) => ({ kind: 'invariant', text: words })),
  ] as StoredLearning[];
}

export const LEARNED_LIST: EntryList<StoredLearning, Knowledge> = {
  folder: learnedFolder,
  entry: {
    name: 'learned',
    version: '1.0',
    schema: StoredLearning,
    prepare: ({ schema_version: _, ...fields }) => fields,
  },
  nameOf: (entry) => sha256(JSON.stringify(entry)).slice(0, 16),
  arrange: (stored) =>
    [...stored].sort(
      (a, b) => compareText(a.learned_at ?? '', b.learned_at ?? '') || compareText(idOf(a), idOf(b)),
    ),
  encode: (entry) => encodeFields(JSON.stringify(entry), { schema_version: '1.0', ...entry }),
  view: KNOWLEDGE,
  viewFile: knowledgeFile,
  toView,
  takeIn: (stored, base, edited) =>
    takeInById(idOf, [stored, base ? fromView(base) : undefined, fromView(edited)], {
      edit: (entry) => entry,
      remove: (entry) => `forge knowledge remove ${idOf(entry)}`,
      show: (entry) => `"${oneLine(textsOf(entry).at(-1) ?? '', 60)}"`,
    }),
};

/** All of them, with edits of knowledge.json that no command has stored yet. */
export const readLearnings = (disk: Disk): Learning[] => [
  ...knownLearnings(readEntries(disk, LEARNED_LIST).entries).values(),
];

/** An invariant is a sentence: the rest of a longer one is ignored. Characters. */
const [MAX_LINE, MAX_SHOWN] = [2000, 1000];

/** One that is not closed is text. */
const COMMENT = /<!--(?:(?!<!--)[\s\S])*?-->/g;
const FENCED =
  /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,}).*(?:\n.*)*?(?:\n[ \t]*\1[`~]*[ \t]*$|(?![\s\S]))/gm;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
const ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]+(?:\[[ xX]\][ \t]+)?(.*))?$/;

/**
 * The rules of `architecture.md`, which people write: the list items of sections "Invariants", with what is indented below
 * them. Reads any text. Knows headings with `#`, lists, code fences and comments.
 */
export function parseInvariants(text: string): string[] {
  const items: string[] = [];
  /** Level of the section "Invariants" that is being read. */
  let within: number | null = null;
  /** Indentation of the item that is being read. */
  let open: number | null = null;
  let isAfterBlank = true;
  const prose = text.replace(/\r\n?/g, '\n').replace(COMMENT, '').replace(FENCED, '');
  for (const whole of prose.split('\n')) {
    const line = whole.slice(0, MAX_LINE);
    const [heading, found, words] = [HEADING.exec(line), ITEM.exec(line), line.trim()];
    const indent = line.search(/\S|$/) + (line.startsWith('\t') ? 3 : 0);
    const isBelow = open !== null && indent > open + 1;
    if (heading) {
      const level = heading[1]?.length ?? 1;
      if (within === null || level <= within) within = isInvariants(heading[2] ?? '') ? level : null;
      open = null;
    } else if (found && !isBelow) {
      open = within === null ? null : indent;
      if (open !== null) items.push(found[1] ?? '');
    } else if (open !== null && words !== '') {
      if (isBelow || !isAfterBlank) items.push(`${items.pop()} ${words}`);
      else open = null;
    }
    isAfterBlank = words === '';
  }
  return items.map((item) => oneLine(item.slice(0, MAX_LINE), MAX_SHOWN).trim()).filter(Boolean);
}

/** "Invariants", "3. System invariants (never break)", "Invariants of the store"; not "Why invariants matter". */
function isInvariants(title: string): boolean {
  const plain = title.normalize('NFKC').toLowerCase();
  const words = plain.replace(/\(.*\)/, '').match(/\p{L}+/gu) ?? [];
  if (words.length > 5) return false;
  return words[0] === 'invariants' || /^invariants?$/.test(words.at(-1) ?? '');
}
