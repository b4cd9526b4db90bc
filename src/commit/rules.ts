import { compilePattern, type Matcher } from '../core/pattern.js';

export const SECTIONS = ['What', 'Why', 'Memory', 'Backtrace'] as const;
export type SectionName = (typeof SECTIONS)[number];

/** What a repository may leave out (`[commit] rules_off`). */
export const RULES = [
  'subject',
  'id',
  'description',
  'subject-length',
  'blank-line',
  'sections',
  'headings',
  'what',
  'why',
  'memory',
  'backtrace',
] as const;
/** The last four hold whatever the settings say. */
export type RuleName = (typeof RULES)[number] | 'encoding' | 'nul' | 'invisible' | 'secret';

/** GIT-08: whose commits follow the protocol. `mine`: those made in this clone, by its user and agents. */
export const WHO = ['mine', 'agents', 'all'] as const;
export type Who = (typeof WHO)[number];

/** `[commit]` in config.toml. */
export interface CommitSettings {
  who: Who;
  id_pattern: string;
  subject_length: number;
  sections: readonly string[];
  rules_off: readonly string[];
  exempt: readonly string[];
}

export const DEFAULT_SETTINGS: CommitSettings = {
  who: 'mine',
  id_pattern: '[A-Z][A-Z0-9]*-\\d+',
  subject_length: 72,
  sections: SECTIONS,
  rules_off: [],
  exempt: [],
};

/** The same, ready to be asked. */
export interface CommitRules {
  isIssue: Matcher;
  isId: Matcher;
  isExempt: Matcher;
  subjectLength: number;
  sections: ReadonlySet<string>;
  off: ReadonlySet<string>;
}

/** The id of work that has neither issue nor feature. */
export const NO_ISSUE = 'FORGE';

/** Characters of a subject that patterns are matched with. */
const MAX_MATCHED = 500;

/** `features`: the ids of the feature list, which may stand for an issue's. */
export function makeRules(
  settings: CommitSettings = DEFAULT_SETTINGS,
  features: Iterable<string> = [],
): CommitRules {
  const matchesIssue = compilePattern(settings.id_pattern);
  const isIssue: Matcher = (id) => id.length <= MAX_MATCHED && matchesIssue(id);
  const known = new Set(features).add(NO_ISSUE);
  const exempt = settings.exempt.map(compilePattern);
  return {
    isIssue,
    isId: (id) => known.has(id) || isIssue(id),
    isExempt: (subject) => exempt.some((matches) => matches(subject.slice(0, MAX_MATCHED))),
    subjectLength: settings.subject_length,
    sections: new Set(settings.sections),
    off: new Set(settings.rules_off),
  };
}

/** Where a message breaks a rule. */
export interface Problem {
  rule: RuleName;
  /** In the raw text, 1-based. */
  line: number;
  message: string;
  /** What to write there instead. */
  fix: string;
}
