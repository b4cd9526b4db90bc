import { compilePattern, type Matcher } from '../core/pattern.js';
import { SECTIONS } from './message.js';

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

/** Why a message need not follow the protocol. */
export type Exemption = Operation | 'fixup' | 'version' | 'pull-request' | 'bot' | 'pattern';
export type Operation = 'merge' | 'cherry-pick' | 'revert' | 'rebase';

/** Who made a commit. */
export interface People {
  author: string;
  authorEmail: string;
  committerEmail: string;
  /** When it was committed, in seconds. */
  at: number;
}

/** Facts about a message besides its text. */
export interface Circumstances {
  /** The git operation in progress, by its state file. Git wrote that message, or it was checked before. */
  operation?: Operation | undefined;
  /** It is a commit already. */
  stored?: boolean | undefined;
  /** How many parents a stored commit has. */
  parents?: number | undefined;
  /** Of a stored commit. */
  people?: People | undefined;
  /** The commit that it follows: a hash, or null for none. */
  parent?: string | null | undefined;
  /** A hash that the message names, and that is no commit here. */
  unknownParent?: string | undefined;
}

const FIXUP = /^(fixup|squash|amend)! /;
const REVERT = /^(Revert|Reapply) "/;
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
  lines: readonly string[],
  { operation, parents = 1, people }: Circumstances,
  rules: CommitRules,
): Exemption | null {
  const [subject = ''] = lines;
  const head = subject.slice(0, MAX_MATCHED);
  if (operation) return operation;
  if (parents > 1) return 'merge';
  if (FIXUP.test(subject)) return 'fixup';
  if (isRevert(subject) && lines.some((line) => REVERTED.test(line))) return 'revert';
  if (VERSION.test(head)) return 'version';
  if (people && isBot(people)) return 'bot';
  // Hosting services append it when they squash, and run no hook then.
  if (people && REQUEST_NUMBER.test(head)) return 'pull-request';
  return rules.isExempt(subject) ? 'pattern' : null;
}

/** Addresses with which agents commit, or name themselves in a trailer. */
const AGENT_EMAIL =
  /^(?:noreply@(?:anthropic|openai)\.com|.*@(?:opencode\.ai|aider\.chat)|cursoragent@cursor\.com|codex@openai\.com|(?:\d{1,12}\+)?(?:claude|copilot|copilot-swe-agent|codex|gemini-code-assist|gemini-cli|devin-ai-integration|cursor)(?:\[bot\])?@users\.noreply\.github\.com)$/i;
const AGENT_TRAILER = /^(?:Co-authored-by|Assisted-by|Generated-by): [^<]{0,200}<([^<>]{1,200})>$/i;
const BOT_NAME =
  /\[bot\]$|^(?:renovate|dependabot|greenkeeper|snyk|semantic-release|github-actions)(?:[ -]?bot)?$/i;
const BOT_EMAIL = /\[bot\]@users\.noreply\.github\.com$|^bot@renovateapp\.com$/i;

/** Dependabot, Renovate and the like. An agent is not a bot: it can follow the protocol. */
const isBot = ({ author, authorEmail }: People): boolean =>
  !AGENT_EMAIL.test(authorEmail) && (BOT_NAME.test(author) || BOT_EMAIL.test(authorEmail));

/** What shows that somebody asked for the protocol, or that an agent wrote a commit. */
export type Mark = 'protocol' | 'agent' | null;

const OWN_SECTION = /^ {0,3}##[ \t]+(?:Memory|Backtrace)$/;
const ANY_SECTION = /^ {0,3}##[ \t]+(?:What|Why|Memory|Backtrace)$/;

/** `## What` and `## Why` alone may come from a template of the project. Nobody reads more than 2,000 lines. */
export function markOf(all: readonly string[], rules: CommitRules, author = ''): Mark {
  const lines = all.slice(0, 2000);
  const id = /^(?:(?:fixup|squash|amend)! )?\[([^[\] ]{1,100})\] /.exec(lines[0] ?? '')?.[1];
  const hasId = id !== undefined && rules.isId(id);
  if (lines.some((line) => (hasId ? ANY_SECTION : OWN_SECTION).test(line))) return 'protocol';
  if (hasId && FIXUP.test(lines[0] ?? '')) return 'protocol';
  const emails = [author, ...lines.map((line) => AGENT_TRAILER.exec(line)?.[1] ?? '')];
  return emails.some((email) => AGENT_EMAIL.test(email)) ? 'agent' : null;
}

/** Who pushes from this clone, and since when it has forge's hooks (seconds). */
export interface Owner {
  email: string;
  since: number;
}

/** GIT-08: a commit that is about to be pushed, and that this clone answers for. */
export function isOurs(who: Who, { people, mark }: { people: People; mark: Mark }, owner: Owner): boolean {
  if (who === 'all') return true;
  const isMe = (email: string): boolean => email.toLowerCase() === owner.email.toLowerCase();
  if (!isMe(people.committerEmail) || people.at < owner.since) return false;
  return mark !== null || (who === 'mine' && isMe(people.authorEmail));
}
