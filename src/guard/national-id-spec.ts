import { lazyRule, NINE_DIGITS } from './lazy-rule.js';
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
  /** What a text must have, where that is not what most others have. */
  requires?: RegExp;
  /** Letters may stand for its digits. */
  hasLetters?: true;
  /** Given the number in upper case without spaces, dots and dashes. */
  valid: (id: string, match: RegExpExecArray) => boolean;
}

/** All digits made letters there is next to none. */
const MIXED = /[A-Z]\d|\d[A-Z]/i;

/**
 * What each number has that may hold a letter: six digits behind a letter or before one or a sign; or 13 digits. The
 * dates and counts in nearly every text have none of it.
 */
const LETTERED = /[A-Z][ -]?\d\d([ -]?)\d\d\1\d\d|\d(?:[ .]?\d){5}(?:(?: ?\d){7}|[-+]\d|[ -]?[A-Z])/;

export function nationalIdRule(spec: NationalId): Rule {
  const { words, formatted, shape, valid, requires, hasLetters = false, ...rule } = spec;
  const named = words ? mentions(words) : () => true;
  return lazyRule(
    {
      ...rule,
      class: 'national-id',
      keywords: words && !formatted ? keywordsOf(words) : [],
      requires: requires ?? (hasLetters ? MIXED : /[A-Z]/.test(shape) ? LETTERED : NINE_DIGITS),
      accept: (secret, match) => (formatted?.test(secret) || named(match)) && valid(bare(secret), match),
    },
    () => new RegExp(`${BEGIN}${shape}${END}`, 'g'),
  );
}
