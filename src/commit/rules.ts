import { compileExpression, type Matcher } from './expression.js';

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
/** The last three hold whatever the settings say. */
export type RuleName = (typeof RULES)[number] | 'encoding' | 'nul' | 'secret';

/** `[commit]` in config.toml. */
export interface CommitSettings {
  id_pattern: string;
  subject_length: number;
  sections: readonly string[];
  rules_off: readonly string[];
  exempt: readonly string[];
}

export const DEFAULT_SETTINGS: CommitSettings = {
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

/** How much of a subject patterns are asked about. */
const MAX_ASKED = 500;

/** The default, which nobody else wrote, as the engine has it. */
const USUAL = new RegExp(`^${DEFAULT_SETTINGS.id_pattern}$`);
const isUsual = (id: string): boolean => USUAL.test(id);

/** `features`: the ids of the feature list, which may stand for an issue's. */
export function makeRules(
  settings: CommitSettings = DEFAULT_SETTINGS,
  features: Iterable<string> = [],
): CommitRules {
  const isIssue =
    settings.id_pattern === DEFAULT_SETTINGS.id_pattern ? isUsual : compileExpression(settings.id_pattern);
  const known = new Set(features).add(NO_ISSUE);
  const exempt = settings.exempt.map(compileExpression);
  return {
    isIssue,
    isId: (id) => known.has(id) || isIssue(id),
    isExempt: (subject) => exempt.some((matches) => matches(subject.slice(0, MAX_ASKED))),
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
