import * as z from 'zod/mini';
import { refused, usage } from '../core/error.js';
import { describeIssue, fieldName } from '../core/schema.js';
import { checkText, MAX_TEXT_BYTES, oneLine, wordsOf } from '../core/text.js';
import { KINDS, type Kind, readKind } from './rules.js';

const text = z.string();
const entry = { kind: text, text, requires_resolution: z.optional(z.boolean()) };
const Checked = z.discriminatedUnion('op', [
  z.strictObject({ op: z.literal('replace'), ...entry }),
  z.strictObject({ op: z.literal('add'), ...entry }),
  z.strictObject({ op: z.literal('remove'), id: text }),
  z.strictObject({ op: z.literal('resolve'), id: text, resolution: text }),
  z.strictObject({ op: z.literal('dismiss'), id: text, reason: text }),
  z.strictObject({ op: z.literal('park'), id: text, reason: text }),
]);
export type CheckedOperation = z.infer<typeof Checked>;
export type OperationName = CheckedOperation['op'];
export const OPERATIONS = ['replace', 'add', 'remove', 'resolve', 'dismiss', 'park'] as const;

/** More than any working memory needs: a patch is one step of an agent. */
export const MAX_OPERATIONS = 100;

/** One operation as given. Its shape is checked here, so that each error has its place. */
export type Operation = Readonly<Record<string, unknown>>;

/** The operation, if it has all required fields and no unknown ones. A usage error is one of form, not of a rule. */
export function checkShape(operation: Operation): CheckedOperation {
  const { success, data, error } = Checked.safeParse(operation);
  if (success) return data;
  const issue = error.issues[0] as z.core.$ZodIssue;
  const field = fieldName(issue.path);
  const choices = field === 'op' ? OPERATIONS : KINDS;
  const problem =
    field === 'op' || field === 'kind'
      ? `${operation[field] === undefined ? 'missing' : `found ${shownValue(operation[field])}`}, allowed: ${choices.join(', ')}`
      : describeIssue(issue, operation);
  throw usage('malformed', `${field || 'operation'}: ${oneLine(problem, 300)}.`);
}

/** How messages name an operation: `add Constraint "Use port 0"`, `resolve kfr-2`, or by its place, from 1. */
export function nameOf(operation: Operation | null, index: number): string {
  const { op, kind, id, text } = operation ?? {};
  if (typeof op !== 'string') return `operation ${index + 1}`;
  const words = [op, kind ?? id].filter((word) => typeof word === 'string');
  const quoted = typeof text === 'string' ? [JSON.stringify(oneLine(text, 40))] : [];
  return [...words.map((word) => oneLine(word, 40)), ...quoted].join(' ');
}

const shownValue = (value: unknown): string => oneLine(JSON.stringify(value) ?? '?', 60);

export function kindOf(spelling: string): Kind {
  const kind = readKind(spelling);
  if (kind) return kind;
  throw refused('unknown_kind', `Unknown kind ${shownValue(spelling)}. Use ${KINDS.join(', ')}.`);
}

export const checkWords = (field: string, words: string): string =>
  checkText(words.replace(/\s+/g, ' ').trim(), { what: `The ${field}`, maxBytes: 2000 });

/** Removes meaningless white space. A plan keeps its lines. */
export function normalizeEntry(kind: Kind, text: string): string {
  const lines = text.normalize('NFC').split(/[\n\r\u2028\u2029]/);
  const folded = lines.map((line) => line.replace(/\s+/g, ' ').trim()).filter((line) => line !== '');
  return folded.join(kind === 'Plan' ? '\n' : ' ');
}

/** Texts with equal keys are duplicates: case, width, white space and a final punctuation mark are ignored. */
export const duplicateKey = (text: string): string => wordsOf(text, '.!?;');

interface ContentRule {
  name: string;
  says: string;
}

/** AGN-024 §6 and AGN-025 §11: content that does not belong in a KFR, judged by its form, before normalization. */
export function forbiddenContent(kind: Kind, text: string): ContentRule | undefined {
  const head = text.slice(0, MAX_TEXT_BYTES);
  return FORBIDDEN.find(({ test }) => test(kind, head));
}

/** Text that probably does not belong there. The author gets a warning and decides. */
export const doubtfulContent = (text: string): ContentRule | undefined =>
  DOUBTFUL.find(({ pattern }) => pattern.test(text));

const ITEM = /^[ \t]{0,8}(?:[-*+•]|\d{1,3}[.)])[ \t]/gm;

const FORBIDDEN: readonly (ContentRule & { test: (kind: Kind, text: string) => boolean })[] = [
  {
    name: 'code_block',
    says: 'a code block is no fact; name the file, or state the rule that the code must keep',
    test: (_, text) => /```|~~~/.test(text),
  },
  {
    name: 'check_box',
    says: 'check boxes are task tracking; keep tasks as features or in the focus',
    test: (_, text) => /(?:^|[\s\-*+])\[[ xX✓✔]\](?=\s|$)|[☐☑☒]/.test(text),
  },
  {
    name: 'todo',
    says: 'a to-do is task tracking; state it as the Plan, or keep it as a feature',
    test: (kind, text) => kind !== 'Plan' && /^\s*(?:to-?do|fixme|task list)\b\s*[:\-–]/i.test(text),
  },
  {
    name: 'list',
    says: 'entries are atomic: a list belongs in the Plan, or in one entry for each item',
    test: (kind, text) => kind !== 'Plan' && (text.match(ITEM)?.length ?? 0) > 1,
  },
];

const DOUBTFUL: readonly (ContentRule & { pattern: RegExp })[] = [
  {
    name: 'rationale',
    says: 'reads like rationale; keep the rule, and the reasons in a note',
    pattern: /\b(?:because|the reason (?:is|was|for)|rationale|since we|so that we)\b/i,
  },
  {
    name: 'rejected_alternative',
    says: 'reads like a rejected alternative; keep only what holds now',
    pattern:
      /\b(?:instead of|rather than|we (?:considered|rejected|decided against)|rejected (?:alternatives?|options?)|alternatively)\b/i,
  },
  {
    name: 'example',
    says: 'reads like an example; keep the rule alone',
    pattern: /\b(?:for example|for instance|e\.g\.|such as)/i,
  },
  {
    name: 'history',
    says: 'reads like history; keep only what is active now',
    pattern: /\b(?:previously|formerly|used to|earlier we|yesterday|last (?:week|session|time)|no longer)\b/i,
  },
  {
    name: 'narrative',
    says: 'reads like a narrative; state what must be right',
    pattern: /\b(?:(?:I|we) (?:then|first|tried|found|noticed|discovered|started)|after that)\b/i,
  },
];
