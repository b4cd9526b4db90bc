import * as z from 'zod/mini';
import { type EntryList, encodeFields } from '../core/entries.js';
import { knowledgeFile, learnedFolder } from '../core/paths.js';
import type { Format } from '../core/schema.js';
import { compareText, oneLine, sha256 } from '../core/text.js';

const text = z.string();
const SUCCESS = { context: text, approach: text };
const FAILURE = { context: text, issue: text, resolution: text };
const INVARIANT = { text };
const [success, failure, invariant] = [z.literal('success'), z.literal('failure'), z.literal('invariant')];

/** RFC-9060 §3.1, `long-term/knowledge.json`: what agents believe they learned. A view of `learned.d`. */
const Knowledge = z.looseObject({
  schema_version: text,
  patterns: z.looseObject({
    successful: z.array(z.looseObject({ ...SUCCESS, learned_at: text })),
    failed: z.array(z.looseObject({ ...FAILURE, learned_at: text })),
  }),
  invariants: z.array(text),
});
type Knowledge = z.infer<typeof Knowledge>;

export const KNOWLEDGE: Format<Knowledge> = { name: 'knowledge', version: '1.0', schema: Knowledge };

export const NewLearning = z.discriminatedUnion('kind', [
  z.strictObject({ kind: success, ...SUCCESS }),
  z.strictObject({ kind: failure, ...FAILURE }),
  z.strictObject({ kind: invariant, ...INVARIANT }),
]);
export type NewLearning = z.infer<typeof NewLearning>;

const at = { learned_at: z.optional(text) };
const StoredLearning = z.discriminatedUnion('kind', [
  z.looseObject({ kind: success, ...SUCCESS, ...at }),
  z.looseObject({ kind: failure, ...FAILURE, ...at }),
  z.looseObject({ kind: invariant, ...INVARIANT, ...at }),
]);
/** `long-term/learned.d/<hash>.json`. Never changed once written. */
export type StoredLearning = z.infer<typeof StoredLearning>;

/** The context of a learning without a task. */
export const ANY_TASK = 'any task';

/** One learned thing, as commands list it. */
export type Learning = NewLearning & { id: string; learned_at?: string; by?: 'agent' };

const partsOf = (learning: NewLearning): string[] => {
  if (learning.kind === 'success') return [learning.context, learning.approach];
  if (learning.kind === 'failure') return [learning.context, learning.issue, learning.resolution];
  return [learning.text];
};

/** Case, white space and a final full stop do not make another piece of knowledge. */
const normalise = (words: string): string =>
  words.normalize('NFC').toLowerCase().replace(/\s+/g, ' ').trim().replace(/ ?\.$/, '');

/** The id of a learning: the same content has the same one on every machine. */
const idOf = (learning: NewLearning): string =>
  sha256([learning.kind, ...partsOf(learning).map(normalise)].join('\u0000')).slice(0, 10);

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
  const added = { ...entry, learned_at: now, id: idOf(entry) };
  const twin = listLearnings(stored).find(({ id }) => id === added.id);
  if (twin) return { stored: [...stored], learning: twin, duplicate: true };
  return { stored: [...stored, { ...entry, learned_at: now }], learning: added, duplicate: false };
}

/** Without the entries of that id. */
export const forget = (stored: readonly StoredLearning[], id: string): StoredLearning[] =>
  stored.filter((entry) => idOf(entry) !== id);

/** Every word of the query somewhere in the entry, case aside. */
export function searchLearnings(learnings: readonly Learning[], query: string): Learning[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return learnings.filter((learning) => {
    const all = partsOf(learning).join(' ').toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

const LEARNED: Format<StoredLearning> = {
  name: 'learned',
  version: '1.0',
  schema: StoredLearning,
  prepare: ({ schema_version: _, ...fields }) => fields,
};

function toView(stored: readonly StoredLearning[], standing: Knowledge | null): Knowledge {
  const once = listLearnings(stored);
  const of = (wanted: string): object[] =>
    once
      .filter(({ kind }) => kind === wanted)
      .map(({ id: _, kind: _kind, by, ...fields }) => ({
        ...fields,
        learned_at: fields.learned_at ?? '',
        // RFC-9060 has no field for forge's own mark.
        ...(by === undefined || by === 'agent' ? {} : { by }),
      }));
  return {
    ...(standing ?? { schema_version: KNOWLEDGE.version }),
    patterns: { ...standing?.patterns, successful: of('success'), failed: of('failure') },
    invariants: once.flatMap((learning) => (learning.kind === 'invariant' ? [learning.text] : [])),
  } as Knowledge;
}

function fromView({ patterns, invariants }: Knowledge): StoredLearning[] {
  const of = (kind: string, entries: readonly { learned_at: string }[]): object[] =>
    entries.map(({ learned_at, ...rest }) => ({
      ...rest,
      ...(learned_at === '' ? {} : { learned_at }),
      kind,
    }));
  return [
    ...of('success', patterns.successful),
    ...of('failure', patterns.failed),
    ...invariants.map((words) => ({ kind: 'invariant', text: words })),
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
  nameOf: (entry) => sha256(JSON.stringify(entry)).slice(0, 16),
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

/** One rule of `architecture.md`, which people write. Nested items are on separate lines, after `  - `. */
export interface Invariant {
  text: string;
  /** 1-based. */
  line: number;
}

/** An invariant is a sentence: the rest of a longer line is ignored. Characters. */
const MAX_LINE = 2000;
const MAX_SHOWN = 400;
/** For one invariant, with its nested items. */
const MAX_PARTS = 20;

const FENCE = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const ITEM = /^[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+(?:\[[ xX]\][ \t]+)?(.*))?$/;

/** The list items of sections "Invariants". Reads any text. Knows headings with `#`, lists, code fences and comments. */
export function parseInvariants(text: string): Invariant[] {
  const items: { line: number; indent: number; parts: string[] }[] = [];
  let fence: string | null = null;
  /** Level of the section "Invariants" that is being read. */
  let within: number | null = null;
  let item: (typeof items)[number] | null = null;
  let isAfterBlank = true;
  for (const [i, whole] of withoutComments(text.replace(/\r\n?/g, '\n')).split('\n').entries()) {
    const line = whole.slice(0, MAX_LINE);
    const marks = FENCE.exec(line)?.[1];
    if (fence !== null || marks !== undefined) {
      if (fence === null) fence = marks ?? null;
      else if (marks?.startsWith(fence) && line.trim() === marks) fence = null;
      continue;
    }
    const [heading, found, indent] = [HEADING.exec(line), ITEM.exec(line), indentOf(line)];
    if (heading) {
      const level = heading[1]?.length ?? 1;
      item = null;
      if (within === null || level <= within) within = isInvariants(heading[2] ?? '') ? level : null;
    } else if (RULE.test(line)) item = null;
    else if (found && item && indent > item.indent + 1)
      item.parts.push(`${'  '.repeat(Math.floor((indent - item.indent) / 2))}- ${found[1] ?? ''}`);
    else if (found && (item || indent < 4)) {
      item = { line: i + 1, indent, parts: [found[1] ?? ''] };
      if (within !== null) items.push(item);
    } else if (item && isAfterBlank && indent === 0 && line.trim() !== '') item = null;
    else if (item) continuePart(item.parts, line.trim());
    isAfterBlank = line.trim() === '';
  }
  const shown = (part: string): string => {
    const [blanks = ''] = /^ */.exec(part) ?? [];
    return blanks + oneLine(part, MAX_SHOWN);
  };
  return items
    .map(({ line, parts }) => ({ line, text: parts.slice(0, MAX_PARTS).map(shown).join('\n') }))
    .filter((invariant) => invariant.text !== '');
}

function continuePart(parts: string[], text: string): void {
  const last = parts.pop() ?? '';
  parts.push(text === '' || last.length > MAX_LINE ? last : `${last} ${text}`);
}

/** Keeps line numbers. An unclosed comment is text. */
function withoutComments(text: string): string {
  const [before = '', ...rest] = text.split('<!--');
  const kept = rest.map((part) => {
    const end = part.indexOf('-->');
    if (end < 0) return `<!--${part}`;
    return '\n'.repeat(part.slice(0, end).split('\n').length - 1) + part.slice(end + 3);
  });
  return before + kept.join('');
}

const indentOf = (line: string): number => /^[ \t]*/.exec(line)?.[0].replaceAll('\t', '    ').length ?? 0;

/** "Invariants", "3. System invariants (never break)", "Invariants of the store"; not "Why invariants matter". */
function isInvariants(title: string): boolean {
  const plain = title.normalize('NFKC').toLowerCase();
  const words = plain.replace(/\(.*\)/, '').match(/\p{L}+/gu) ?? [];
  if (words.length > 5) return false;
  return words[0] === 'invariants' || /^invariants?$/.test(words.at(-1) ?? '');
}
