import { REQUEST_NUMBER } from './protocol.js';
import type { CommitRules, Who } from './rules.js';

/** Why a message need not follow the protocol. */
export type Exemption =
  | 'merge'
  | 'cherry-pick'
  | 'revert'
  | 'rebase'
  | 'fixup'
  | 'version'
  | 'pull-request'
  | 'bot'
  | 'pattern';

/** Who made a commit. */
export interface People {
  author: string;
  authorEmail: string;
  committerEmail: string;
  /** When it was committed, in seconds. */
  at: number;
}

/** What is known besides the text. */
export interface Circumstances {
  /** The git operation in progress, by its state file. Git wrote that message, or it was checked before. */
  operation?: 'merge' | 'cherry-pick' | 'revert' | 'rebase' | undefined;
  /** How many parents a commit of a range has. */
  parents?: number | undefined;
  /** Of a commit of a range. */
  people?: People | undefined;
}

/** The state files of the git dir, in this order. The first that exists names the operation. */
export const STATE_FILES: readonly (readonly [file: string, operation: Circumstances['operation']])[] = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
];

const FIXUP = /^(fixup|squash|amend)! /;
const REVERT = /^(Revert|Reapply) "/;
/** As git, GitLab and GitHub write it. */
const REVERTED =
  /^(?:This reverts (?:commit [0-9a-f]{7,64}\b|merge request \S{0,200}!\d)|Reverts (?:[\w.-]{1,100}\/[\w.-]{1,100})?#\d)/;
/** `v1.2.3`, `chore(release): 1.2.3`, `Bump version to 1.2.3`, `Version Packages`: by npm, lerna, cargo, changesets. */
const VERSION =
  /^(?:(?:chore|build|ci)(?:\([\w-]{1,40}\))?: ?)?(?:(?:(?:release|version|publish|bump(?: version)?(?: to)?)[ :]{1,2}(?:[\w@/.-]{1,100}(?:@| v| version ))?|[\w@/.-]{1,100}@)?v?\d{1,9}\.\d{1,9}\.\d{1,9}(?:[-+][\w.+-]{1,60})?|(?:version|release) packages|publish)$/i;

export const isRevert = (subject: string): boolean => REVERT.test(subject);

/** A merge is never told by its text, which anyone can write. A revert has to name the commit as well. */
export function exemptionOf(
  lines: readonly string[],
  { operation, parents = 1, people }: Circumstances,
  rules: CommitRules,
): Exemption | null {
  const subject = lines[0] ?? '';
  const head = subject.slice(0, 500);
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
const TRAILER = /^(?:Co-authored-by|Assisted-by|Generated-by): [^<]{0,200}<([^<>]{1,200})>$/i;

/** Dependabot, Renovate and the like. An agent is not a bot: it can follow the protocol. */
const isBot = ({ author, authorEmail }: People): boolean =>
  !AGENT_EMAIL.test(authorEmail) &&
  (/\[bot\]$|^(?:renovate|dependabot|greenkeeper|snyk|semantic-release|github-actions)(?:[ -]?bot)?$/i.test(
    author,
  ) ||
    /\[bot\]@users\.noreply\.github\.com$|^bot@renovateapp\.com$/i.test(authorEmail));

/** Nobody reads a longer message. */
const MAX_LINES = 2000;

/** What shows that somebody asked for the protocol, or that an agent wrote a commit. */
export type Mark = 'protocol' | 'agent' | null;

const OWN_HEADING = /^ {0,3}##[ \t]+(?:Memory|Backtrace)$/;
const HEADING = /^ {0,3}##[ \t]+(?:What|Why|Memory|Backtrace)$/;

/** `## What` and `## Why` alone may come from a template of the project. */
export function markOf(all: readonly string[], rules: CommitRules, author = ''): Mark {
  const lines = all.slice(0, MAX_LINES);
  const id = /^(?:(?:fixup|squash|amend)! )?\[([^[\] ]{1,100})\] /.exec(lines[0] ?? '')?.[1];
  const hasId = id !== undefined && rules.isId(id);
  if (lines.some((line) => (hasId ? HEADING : OWN_HEADING).test(line))) return 'protocol';
  if (hasId && FIXUP.test(lines[0] ?? '')) return 'protocol';
  const isAgent = (email: string): boolean => AGENT_EMAIL.test(email);
  return isAgent(author) || lines.some((line) => isAgent(TRAILER.exec(line)?.[1] ?? '')) ? 'agent' : null;
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
