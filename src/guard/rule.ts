import type { Search } from '../core/pattern.js';

/** What kind of thing a rule finds. The class decides what a hit means, not the rule (docs/guard.md). */
export type GuardClass =
  | 'secret'
  | 'card'
  | 'iban'
  | 'national-id'
  | 'email'
  | 'phone'
  | 'ip'
  | 'proprietary'
  | 'invisible';

/** What a program may write instead (`--redact`). Leaving out any other class is no decision for a program. */
const PLACEHOLDERS: Partial<Record<GuardClass, string>> = { email: '<email>', phone: '<phone>', ip: '<ip>' };

export const placeholderOf = (name: GuardClass): string | null => PLACEHOLDERS[name] ?? null;

const GRAVE: readonly GuardClass[] = ['secret', 'card', 'iban', 'national-id'];

/** Refused in any text, stored or not: no message or log may repeat it. */
export const isGrave = (name: GuardClass): boolean => GRAVE.includes(name);

/** One rule. Its pattern is tried near its anchors only: the keywords, and the matches of `anchor`. */
export interface Rule {
  /** What a finding and the audit ledger name: `github-pat`. Never changes once released. */
  id: string;
  class: GuardClass;
  /** For a person: "GitHub personal access token". */
  what: string;
  /** The page (or RFC) in which the vendor documents the format. */
  source: string;
  /** Lower case, two characters or more. */
  keywords: readonly string[];
  /** For what has no keyword: a short pattern with flag `g`. Rules that share the object share the search. */
  anchor?: RegExp;
  /** How many characters before an anchor a match may begin, and how many behind it the text ends for the pattern. */
  reach?: readonly [before: number, behind: number];
  /**
   * With flag `y` a match begins where an anchor begins; with `g` it is searched within `reach`, or without one in the
   * whole text. Every repetition is bounded, so that it takes linear time. A group named `secret` is the part that must
   * not be kept; without one it is the whole match.
   */
  pattern: RegExp | Search;
  /** A checksum, entropy, a placeholder: false if the match is not a hit. */
  accept?: (secret: string, match: RegExpExecArray) => boolean;
  /** Recognized only by the text beside it: not searched where separate words were joined. */
  isLoose?: boolean;
}

/** What was found, and where: offsets in UTF-16 units of the given text, `end` exclusive. */
export interface Hit {
  rule: string;
  class: GuardClass;
  what: string;
  start: number;
  end: number;
  /** Known by its own form, not only by the text beside it. */
  isCertain: boolean;
}

/** A rule that compiles its pattern on first use: most texts need few of them, and a start must be quick. */
export function lazyRule(rule: Omit<Rule, 'pattern'>, make: () => Rule['pattern']): Rule {
  let pattern: Rule['pattern'] | undefined;
  return {
    ...rule,
    get pattern() {
      pattern ??= make();
      return pattern;
    },
  };
}
