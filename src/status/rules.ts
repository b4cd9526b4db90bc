import { oneLine, plural } from '../core/text.js';
import type { FeatureStatus } from '../feature/rules.js';
import { describeSpan, MINUTE, newestPast, WEEK } from './age.js';
import { green, neutral, type Remark, red, yellow } from './component.js';
import type { Problem } from './symptom.js';

/** What could not be read is red, whatever it is: the message says where, the hint what to type. */
export const damaged = ({ message, hint }: Problem, fix?: string): Remark[] => [
  red(message.replace(/\.$/, ''), hint ?? fix),
];

const LEARN = 'forge learn "TEXT" --as success';

/** Of knowledge.json: when each of its entries was learned. Stale after more than seven days. */
export function judgeKnowledge(learnedAt: readonly string[], now: Date): Remark[] {
  if (learnedAt.length === 0) return [green('knowledge.json is valid; nothing was learned yet')];
  const known = plural(learnedAt.length, 'learning');
  const times = learnedAt.map((at) => Date.parse(at)).filter((at) => !Number.isNaN(at));
  const newest = newestPast(times, now);
  if (newest === null) {
    const why = times.length > 0 ? 'lies in the future' : 'has no date';
    return [yellow(`knowledge.json: ${known}, and each ${why}: how old they are cannot be told`, LEARN)];
  }
  const age = Math.max(0, now.getTime() - newest);
  if (age > WEEK)
    return [yellow(`knowledge.json is stale: the newest of ${known} is ${describeSpan(age)} old`, LEARN)];
  return [green(`knowledge.json is valid: ${known}, the newest ${describeSpan(age)} old`)];
}

interface ShortTermFacts {
  /** Null: no session is running. */
  session: string | null;
  /** Minutes since 1970 of each entry of progress.txt; null: there is no such file. */
  entries: readonly number[] | null;
}

/** An entry says its minute and no second, so it is an hour old at the earliest when sixty whole minutes lie between. */
export function judgeProgress({ session, entries }: ShortTermFacts, now: Date): Remark[] {
  if (session === null) return [neutral('no session is running')];
  const fix = 'forge log "what you just did"';
  if (entries === null) return [red('progress.txt is missing', fix)];
  const newest = newestPast(
    entries.map((minutes) => minutes * MINUTE),
    now,
  );
  if (newest === null) {
    const why = entries.length > 0 ? 'lies in the future' : 'has a time';
    const which = entries.length > 0 ? 'each entry' : 'no entry';
    return [yellow(`progress.txt: ${which} ${why}: how current it is cannot be told`, fix)];
  }
  const minutes = Math.max(0, Math.floor(now.getTime() / MINUTE) - newest / MINUTE);
  const age = describeSpan(minutes * MINUTE);
  if (minutes > 60) return [yellow(`progress.txt is stale: last entry ${age} ago`, fix)];
  return [green(`progress.txt is current: last entry ${minutes === 0 ? 'just now' : `${age} ago`}`)];
}

interface FeatureFacts {
  counts: Readonly<Record<FeatureStatus, number>>;
  /** Marked passing without the evidence, and counted as in progress. */
  claims: readonly string[];
  /** Their tests pass, and were never seen to fail; counted as in progress. */
  unproven?: readonly string[];
  /** A person said so, without a run: `LOGIN: passing (by hand: …)`. */
  byHand?: readonly string[];
  /** What to type about the next of them. */
  next: string;
}

/** Of those that were begun: above 80 % is green, below 50 % red; both of these are yellow. Exact, in whole numbers. */
export function judgeFeatures(facts: FeatureFacts): Remark[] {
  const { counts, claims, unproven = [], byHand = [], next } = facts;
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (total === 0) return [neutral('there are no features yet')];
  const { passing, not_implemented: waiting } = counts;
  const begun = total - waiting;
  if (begun === 0) return [neutral(`${plural(total, 'feature')}, none started`)];
  if (counts.in_progress === begun && claims.length + unproven.length === 0)
    return [neutral(`${plural(begun, 'feature')} in progress, none verified yet`)];
  const percent = Math.floor((passing * 100) / begun);
  const of = waiting === 0 ? plural(total, 'feature') : `${begun} started`;
  const rest = waiting === 0 ? '' : `, ${waiting} not started`;
  const reason = `${passing} of ${of} ${passing === 1 || begun === 1 ? 'passes' : 'pass'} (${percent} %)${rest}`;
  const remarks =
    passing * 100 > begun * 80
      ? [green(reason)]
      : [passing * 100 >= begun * 50 ? yellow(reason, next) : red(reason, next)];
  const doubt = (ids: readonly string[], why: string, command: string): Remark[] => {
    const [first] = ids;
    const named = `${ids.slice(0, 3).join(', ')}${ids.length > 3 ? ` and ${ids.length - 3} more` : ''}`;
    const id = first?.split(':')[0];
    return first === undefined ? [] : [yellow(`${named}${why}`, `forge ${command} ${id}`)];
  };
  return [
    ...remarks,
    ...doubt(claims, ': marked passing, but not by a run of the tests as they are', 'done'),
    ...doubt(unproven, ': the tests pass, and were never seen to fail', 'feature confirm'),
    ...doubt(byHand, '', 'done'),
  ];
}

/** What shows that Linear is used here, and by which a commit is tied to it. */
interface IssueRules {
  /** Issues that are here, or were, and features that carry one. */
  known: ReadonlySet<string>;
  /** What looks like one. */
  isIssue(id: string): boolean;
}

/** A commit that names no issue. Git's own and those of a session's end are nobody's work. */
export function isOrphan(
  { subject, parents }: { subject: string; parents: number },
  { known, isIssue }: IssueRules,
): boolean {
  if (parents > 1 || /^(Merge|Revert|Reapply|fixup!|squash!|amend!) /.test(subject)) return false;
  const [, id, rest = ''] = /^\[([A-Za-z0-9][A-Za-z0-9._-]*)\] (.*)$/.exec(subject) ?? [];
  if (id === undefined) return true;
  return !known.has(id) && !isIssue(id) && !rest.startsWith('Session end');
}

interface LinearFacts {
  /** Whether an issue of Linear ever was here. */
  isUsed: boolean;
  active: number;
  /** Of the last commits those that name no issue, newest first: hash and subject. */
  orphans: readonly string[];
  /** How many commits were looked at. */
  commits: number;
}

export function judgeLinear({ isUsed, active, orphans, commits }: LinearFacts): Remark[] {
  if (!isUsed) return [neutral('not set up')];
  const [first] = orphans;
  if (first === undefined)
    return [
      green(`${plural(active, 'active issue')}; each of the last ${plural(commits, 'commit')} names one`),
    ];
  const more = orphans.length > 1 ? ` and ${orphans.length - 1} more` : '';
  const which = `${oneLine(first, 80)}${more}`;
  const text = `of the last ${plural(commits, 'commit')}, ${orphans.length} ${orphans.length === 1 ? 'names' : 'name'} no issue: ${which}`;
  return [yellow(text, 'forge focus set --issue ID   # forge commit names it from now on')];
}

/** What git tells of this worktree; `.forge/` is left out of what changed. */
export interface GitFacts {
  /** Null: a detached HEAD. */
  branch: string | null;
  /** No commit yet. */
  isUnborn: boolean;
  /** A merge, a rebase …; null: none is in progress. */
  operation: string | null;
  changed: number;
  untracked: number;
  unmerged: number;
  /** The default branch's upstream and the distance to it; null without an upstream. */
  upstream: { name: string; ahead: number; behind: number } | null;
  /** The newest checkpoint to go back to that HEAD leads to. */
  checkpoint: string | null;
  /** A rollback, or its undoing, waits to be completed. */
  isRecovering: boolean;
}

export const NO_GIT: Remark[] = [
  yellow('there is no git repository: no commits, no checkpoints', 'git init   (then: forge init)'),
];

const COMMIT = 'git add -A && forge commit -m "TEXT" --why "TEXT"';
/** `-a` would commit the markers. */
const RESOLVE = 'git mergetool   (or edit them; then: git add)';

/** Diverged is red, whatever else; uncommitted changes, or no checkpoint, are yellow. */
export function judgeGit(facts: GitFacts): Remark[] {
  const { branch, operation, upstream, checkpoint, isRecovering } = facts;
  const remarks: Remark[] = [];
  if (isRecovering) remarks.push(red('a rollback, or its undoing, waits to be completed', 'forge recover'));
  if (upstream && upstream.ahead > 0 && upstream.behind > 0)
    remarks.push(
      red(
        `diverged from ${upstream.name}: ${plural(upstream.ahead, 'commit')} ahead, ${upstream.behind} behind`,
        `git rebase ${upstream.name}   (or: git merge ${upstream.name})`,
      ),
    );
  if (operation) remarks.push(yellow(`${operation} is in progress`, 'git status'));
  const changes = describeChanges(facts);
  if (facts.isUnborn) remarks.push(yellow('there is no commit yet', 'git add -A && git commit'));
  else if (changes !== '')
    remarks.push(yellow(`uncommitted: ${changes}`, facts.unmerged > 0 ? RESOLVE : COMMIT));
  if (!facts.isUnborn && checkpoint === null)
    remarks.push(yellow('no checkpoint to go back to', 'forge checkpoint create'));
  if (remarks.length > 0) return remarks;
  const where = branch === null ? ', on a detached HEAD' : '';
  return [green(`clean${where}; ${checkpoint} is there to go back to`)];
}

const describeChanges = ({ changed, untracked, unmerged }: GitFacts): string =>
  [
    ...(unmerged > 0 ? [`${plural(unmerged, 'conflict')}`] : []),
    ...(changed > 0 ? [plural(changed, 'changed file')] : []),
    ...(untracked > 0 ? [plural(untracked, 'new file')] : []),
  ].join(', ');
