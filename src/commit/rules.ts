import { compilePattern, type Matcher } from '../core/pattern.js';
import { oneLine } from '../core/text.js';
import { type CommitStyle, FIXUP, SECTIONS } from './message.js';

/** Rules that a repository may turn off (`[commit] rules_off`). */
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
/** The last six cannot be turned off. */
export type RuleName =
  | (typeof RULES)[number]
  | 'skill'
  | 'encoding'
  | 'nul'
  | 'invisible'
  | 'size'
  | 'secret';

/** GIT-08: whose commits must follow the protocol. `mine`: those made in this clone, by its user and agents. */
export const WHO = ['mine', 'agents', 'all'] as const;
export type Who = (typeof WHO)[number];

/** `[commit]` in config.toml. */
export const DEFAULT_SETTINGS = {
  who: 'mine' as Who,
  id_pattern: '[A-Z][A-Z0-9]*-\\d+',
  subject_length: 72,
  sections: SECTIONS as readonly string[],
  rules_off: [] as readonly string[],
  exempt: [] as readonly string[],
  style: 'protocol' as CommitStyle,
};
export type CommitSettings = typeof DEFAULT_SETTINGS;

/** The settings with compiled patterns. */
export type CommitRules = ReturnType<typeof makeRules> & {
  /** SKL-06: what the active skill asks of the subject. */
  skill?: { name: string; pattern: string; matches: Matcher };
};

/** The id of work without an issue or a feature. */
export const NO_ISSUE = 'FORGE';

/** Repository patterns are matched with this many characters at most: RE2 in JavaScript is slow. */
const MAX_MATCHED = 500;

/** `readFeatures` gives the feature ids, which are valid ids too. It is called only for an id that is not an issue's. */
export function makeRules(
  settings: CommitSettings = DEFAULT_SETTINGS,
  readFeatures: () => readonly string[] = () => [],
) {
  const matchesIssue = compilePattern(settings.id_pattern);
  const isIssue: Matcher = (id) => id.length <= MAX_MATCHED && matchesIssue(id);
  let features: readonly string[] | undefined;
  const isFeature: Matcher = (id) => {
    features ??= readFeatures();
    return features.includes(id);
  };
  const exempt = settings.exempt.map(compilePattern);
  return {
    isIssue,
    isId: (id: string) => id === NO_ISSUE || isIssue(id) || isFeature(id),
    isExempt: (subject: string) => exempt.some((matches) => matches(subject)),
    subjectLength: settings.subject_length,
    sections: new Set(settings.sections),
    off: new Set([...settings.rules_off, ...(settings.style === 'conventional' ? ['subject'] : [])]),
  };
}

/** A rule that a message breaks, and where. */
export interface Problem {
  rule: RuleName;
  /** 1-based, in the raw text. */
  line: number;
  message: string;
  /** The text to write there. */
  fix: string;
}

/** Keeps leading spaces, which some fixes are about. */
export const fixLines = (fix: string): string[] =>
  Array.from(fix.trimEnd().split('\n'), (line) => `${/^ */.exec(line)?.[0]}${oneLine(line)}`);

export type Operation = 'merge' | 'cherry-pick' | 'revert' | 'rebase';
/** Why a message need not follow the protocol. */
export type Exemption = Operation | 'fixup' | 'version' | 'pull-request' | 'bot' | 'pattern';

/** The author and committer of a stored commit. */
export interface People {
  author: string;
  authorEmail: string;
  committerEmail: string;
  /** Committer time in seconds. */
  at: number;
}

/** What is known about a message besides its text. By default it is a file that git stores as it is. */
export interface MessageState {
  /** The prefix of comment lines. */
  comment?: string | undefined;
  /** Git will drop comment lines. */
  strips?: boolean;
  /** The git operation in progress. Git wrote that message, or it was checked before. */
  operation?: Operation | undefined;
  stored?: boolean | undefined;
  parents?: number | undefined;
  /** Only for a stored commit. */
  people?: People | undefined;
  /** The hash of the parent commit; null for none. */
  parent?: string | null | undefined;
  /** The hash that the message gives as its parent, if it is not a commit here. */
  unknownParent?: string | undefined;
}

const REVERT = /^(?:Revert|Reapply) "/;
/** As git, GitLab and GitHub write it. */
const REVERTED =
  /^(?:This reverts (?:commit [0-9a-f]{7,64}\b|merge request \S{0,200}!\d)|Reverts (?:[\w.-]{1,100}\/[\w.-]{1,100})?#\d)/;
/** `v1.2.3`, `chore(release): 1.2.3`, `Bump version to 1.2.3`, `Version Packages`: by npm, lerna, cargo, changesets. */
const VERSION =
  /^(?:(?:chore|build|ci)(?:\([\w-]{1,40}\))?: ?)?(?:(?:(?:release|version|publish|bump(?: version)?(?: to)?)[ :]{1,2}(?:[\w@/.-]{1,100}(?:@| v| version ))?|[\w@/.-]{1,100}@)?v?\d{1,9}\.\d{1,9}\.\d{1,9}(?:[-+][\w.+-]{1,60})?|(?:version|release) packages|publish)$/i;
/** The suffix that hosting services append to the subject of a squashed pull request. */
export const REQUEST_NUMBER = / \([#!]\d+\)$/;

export const isRevert = (subject: string): boolean => REVERT.test(subject);

/** Text never identifies a merge, because anyone can write it. A revert must name the commit. */
export function exemptionOf(
  [first = '', ...rest]: readonly string[],
  { operation, parents = 1, people }: MessageState,
  rules: CommitRules,
): Exemption | null {
  const subject = first.slice(0, MAX_MATCHED);
  if (operation) return operation;
  if (parents > 1) return 'merge';
  if (FIXUP.test(subject)) return 'fixup';
  if (isRevert(subject) && rest.some((line) => REVERTED.test(line))) return 'revert';
  if (VERSION.test(subject)) return 'version';
  if (people && isBot(people)) return 'bot';
  // Hosting services append the number when they squash, and run no hook then.
  if (people && REQUEST_NUMBER.test(subject)) return 'pull-request';
  return rules.isExempt(subject) ? 'pattern' : null;
}

/** Addresses with which agents commit, or that name them in a trailer. */
const AGENT_EMAIL =
  /^(?:noreply@(?:anthropic|openai)\.com|.*@(?:opencode\.ai|aider\.chat)|cursoragent@cursor\.com|codex@openai\.com|(?:\d{1,12}\+)?(?:claude|copilot|copilot-swe-agent|codex|gemini-code-assist|gemini-cli|devin-ai-integration|cursor)(?:\[bot\])?@users\.noreply\.github\.com)$/i;
const AGENT_TRAILER = /^(?:Co-authored-by|Assisted-by|Generated-by): [^<]{0,200}<([^<>]{1,200})>$/i;
const BOT_NAME =
  /\[bot\]$|^(?:renovate|dependabot|greenkeeper|snyk|semantic-release|github-actions)(?:[ -]?bot)?$/i;
const BOT_EMAIL = /\[bot\]@users\.noreply\.github\.com$|^bot@renovateapp\.com$/i;

/** Dependabot, Renovate and the like. An agent is not a bot: it can follow the protocol. */
const isBot = ({ author, authorEmail }: People): boolean =>
  !AGENT_EMAIL.test(authorEmail) && (BOT_NAME.test(author) || BOT_EMAIL.test(authorEmail));

/** What a commit shows of its origin: its author used the protocol, or it is an agent's. */
export type Mark = 'protocol' | 'agent' | null;

const OWN_SECTION = /^ {0,3}##[ \t]+(?:Memory|Backtrace)$/;
const ANY_SECTION = /^ {0,3}##[ \t]+(?:What|Why|Memory|Backtrace)$/;

/** `## What` and `## Why` without an id may come from a template of the project. */
export function markOf(lines: readonly string[], rules: CommitRules, author = ''): Mark {
  const [subject = ''] = lines;
  const id = /^(?:(?:fixup|squash|amend)! )?\[([^[\] ]{1,100})\] /.exec(subject)?.[1];
  const hasId = id !== undefined && rules.isId(id);
  if (hasId && FIXUP.test(subject)) return 'protocol';
  if (lines.some((line) => (hasId ? ANY_SECTION : OWN_SECTION).test(line))) return 'protocol';
  const emails = [author, ...lines.map((line) => AGENT_TRAILER.exec(line)?.[1] ?? '')];
  return emails.some((email) => AGENT_EMAIL.test(email)) ? 'agent' : null;
}

/**
 * GIT-08: a push must answer for this commit. `owner`: the user of this clone, and when its hooks were installed, in seconds.
 * Commits from before the hooks never count.
 */
export function isBound(
  who: Who,
  { people, mark }: { people: People; mark: Mark },
  owner: { email: string; since: number },
): boolean {
  const isOwner = (email: string): boolean => email.toLowerCase() === owner.email.toLowerCase();
  if (people.at < owner.since) return false;
  if (who === 'all') return true;
  if (!isOwner(people.committerEmail)) return false;
  return mark !== null || (who === 'mine' && isOwner(people.authorEmail));
}
