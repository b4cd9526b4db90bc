import { MAX_TEXT_BYTES, wordsOf } from '../text.js';
import type { Kind } from './kfr.js';

/** White space that says nothing is gone; a plan keeps its lines. */
export function normaliseEntry(kind: Kind, text: string): string {
  const lines = text
    .normalize('NFC')
    .split(/[\n\r\u2028\u2029]+/)
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '');
  return lines.join(kind === 'Plan' ? '\n' : ' ');
}

/** Two texts with the same key say the same: case, width, white space and a final mark do not count. */
export const duplicateKey = (text: string): string => wordsOf(text, '.!?;');

export interface ContentRule {
  name: string;
  says: string;
}

/** AGN-024 §6 and AGN-025 §11: what never belongs in a KFR, as far as its form tells. Looked at before it is normalised. */
export function forbiddenContent(kind: Kind, text: string): ContentRule | null {
  const head = text.slice(0, MAX_TEXT_BYTES);
  return FORBIDDEN.find(({ test }) => test(kind, head)) ?? null;
}

/** What reads like something that does not belong there: the author is told, and decides. */
export function doubtfulContent(text: string): ContentRule | null {
  return DOUBTFUL.find(({ pattern }) => pattern.test(text)) ?? null;
}

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
    pattern: /\b(?:instead of|rather than|we (?:considered|rejected|decided against)|alternatively)\b/i,
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
