import type { KeywordIndex } from './keywords.js';

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

/** One line of the rule table. */
export interface Rule {
  /** What a finding and the audit ledger name: `github-pat`. Never changes once released. */
  id: string;
  class: GuardClass;
  /** For a person: "GitHub personal access token". */
  what: string;
  /** The page (or RFC) in which the vendor documents the format. */
  source: string;
  /** Lower case. Text that has none of them is not looked at; an empty list: always looked at. */
  keywords: readonly string[];
  /**
   * Without keywords: what a text must have to be looked at, without flag `g`. Rules that share the object share the
   * look.
   */
  requires?: RegExp;
  /**
   * Flags `g`, and `i` or `u` where needed. Every repetition is bounded, so that it takes linear time. A group named
   * `secret` is the part that must not be kept; without one it is the whole match.
   */
  pattern: RegExp;
  /** A checksum, entropy, what is no placeholder: false where the match is none after all. */
  accept?: (secret: string, match: RegExpExecArray) => boolean;
  /** Recognised by what stands beside it only: not sought where words that are apart were joined. */
  isLoose?: boolean;
}

/** Rules that are made together, when one of them is first needed: a start must be quick, and most texts need none. */
export type RuleGroup = () => readonly Rule[];

/** Rules in their order, made when asked for, and the index that tells which to ask for. */
export interface RuleTable {
  index: KeywordIndex;
  /** What tells whether a rule is wanted, without making it. */
  kindAt(rank: number): Kind;
  ruleAt(rank: number): Rule;
}

export type Kind = Pick<Rule, 'class' | 'isLoose'>;

export type Rules = readonly Rule[] | RuleTable;

/** What was found, and where: offsets in UTF-16 units of the text that was given, `end` exclusive. */
export interface Hit {
  rule: string;
  class: GuardClass;
  what: string;
  start: number;
  end: number;
}
