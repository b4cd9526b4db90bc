import type { Search } from '../core/pattern.js';

/** What a rule finds. The class, not the rule, decides what a hit means (docs/guard.md). */
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

/** What `--redact` writes instead. A person has to decide about the other classes. */
export const placeholderOf = (name: GuardClass): string | null =>
  name === 'email' || name === 'phone' || name === 'ip' ? `<${name}>` : null;

/** Refused in any text, stored or not: no message or log may repeat it. */
export const isGrave = (name: GuardClass): boolean =>
  name === 'secret' || name === 'card' || name === 'iban' || name === 'national-id';

/** The pattern is tried only near the rule's anchors: its keywords, and the matches of `anchor`. */
export interface Rule {
  /** The name in findings and in the audit tier: `github-pat`. Never changes after a release. */
  id: string;
  class: GuardClass;
  /** For a person: "GitHub personal access token". */
  what: string;
  /** The page or RFC that documents the format. */
  source: string;
  /** Lower case, at least two characters. */
  keywords: readonly string[];
  /** For values without a keyword: a short pattern with flag `g`. Rules that share the object share the search. */
  anchor?: RegExp;
  /** How far before an anchor a match may begin, and how far after it the searched text ends. */
  reach?: readonly [before: number, after: number];
  /**
   * With flag `y` a match begins at an anchor; with `g` it is searched within `reach`.
   * Every repetition is bounded. The group `secret` is the part to protect, by default the whole match.
   */
  pattern: RegExp | Search;
  /** False if the match is not a hit: a wrong checksum, low entropy, a placeholder. */
  accept?: (secret: string, match: RegExpExecArray) => boolean;
  /** Recognized only by its context. Not searched where separate words were joined. */
  isLoose?: boolean;
}

/** Offsets in UTF-16 units of the given text, `end` exclusive. */
export interface Hit {
  rule: string;
  class: GuardClass;
  what: string;
  start: number;
  end: number;
  /** Recognized by its own form, not only by its context. */
  isCertain: boolean;
}

/** A rule that compiles its pattern on first use: most texts need few of them. */
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

/** The rules of a table: one per line, in columns, below the page that documents it. `#` starts a comment line. */
export function readTable<T>(table: string, read: (source: string, columns: string[]) => T): T[] {
  let source = '';
  const rules: T[] = [];
  for (const line of table.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    if (line.startsWith('https://')) source = line;
    else rules.push(read(source, line.split(/ {2,}/)));
  }
  return rules;
}
