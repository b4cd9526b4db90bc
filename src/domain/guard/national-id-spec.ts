import { lazyRule, NINE_DIGITS, SIX_DIGITS } from './lazy-rule.js';
import type { Rule } from './rule.js';
import { BEGIN, bare, END, keywordsOf, mentions } from './surroundings.js';

/** A national id as its authority describes it. */
export interface NationalId {
  id: string;
  what: string;
  /** The authority's page. */
  source: string;
  /** How the number is written, from its first to its last character. */
  shape: string;
  /** Lower case. Short before the number one of these must stand, unless it is written in its own unlikely form. */
  words?: readonly string[];
  /** The form that needs no word; without words every form is. */
  formatted?: RegExp;
  /** Letters may stand for its digits. */
  hasLetters?: true;
  /** Given the number in upper case without spaces, dots and dashes. */
  valid: (id: string, match: RegExpExecArray) => boolean;
}

/** All digits made letters there is next to none. */
const MIXED = /[A-Z]\d|\d[A-Z]/i;

export function nationalIdRule(spec: NationalId): Rule {
  const { words, formatted, shape, valid, hasLetters = false, ...rule } = spec;
  const named = words ? mentions(words) : () => true;
  return lazyRule(
    {
      ...rule,
      class: 'national-id',
      keywords: words && !formatted ? keywordsOf(words) : [],
      requires: hasLetters ? MIXED : /[A-Z]/.test(shape) ? SIX_DIGITS : NINE_DIGITS,
      accept: (secret, match) => (formatted?.test(secret) || named(match)) && valid(bare(secret), match),
    },
    () => new RegExp(`${BEGIN}${shape}${END}`, 'g'),
  );
}
