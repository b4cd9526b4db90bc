import { isOwnSubject, parseMessage } from '../commit/message.js';
import { DAY, describeSpan, MINUTE } from '../core/clock.js';
import { firstNames, oneLine, plural } from '../core/text.js';
import type { FeatureStatus } from '../feature/rules.js';
import type { FileState, TreeStatus } from '../git/status.js';

/** RFC-9060 §8.1: five components, each with a color. Neutral is something that was not started. */
export const COLORS = ['neutral', 'green', 'yellow', 'red'] as const;
export type Color = (typeof COLORS)[number];

export interface Component {
  name: 'long-term' | 'short-term' | 'features' | 'git' | 'linear';
  color: Color;
  /** Worst first; never empty. */
  reasons: string[];
  /** Commands that improve it. */
  fix: string[];
}

export interface Status {
  components: Component[];
  worst: Color;
  /** The id of the running session's task. */
  task: string | null;
}

/** One observation about a component. */
export interface Remark {
  color: Color;
  reason: string;
  fix?: string | undefined;
}

export const neutral = (reason: string, fix?: string): Remark => ({ color: 'neutral', reason, fix });
const green = (reason: string): Remark => ({ color: 'green', reason });
export const yellow = (reason: string, fix?: string): Remark => ({ color: 'yellow', reason, fix });
export const red = (reason: string, fix?: string): Remark => ({ color: 'red', reason, fix });

export const worstOf = (colors: readonly Color[]): Color =>
  COLORS[Math.max(0, ...colors.map((color) => COLORS.indexOf(color)))] as Color;

/** A component has the color of its worst remark. Good news is only shown where there is nothing else. */
export function toComponent(name: Component['name'], remarks: readonly Remark[]): Component {
  const color = worstOf(remarks.map((remark) => remark.color));
  const shown = remarks
    .filter((remark) => remark.color === color || remark.color === 'yellow' || remark.color === 'red')
    .sort((a, b) => COLORS.indexOf(b.color) - COLORS.indexOf(a.color));
  const fix = new Set(shown.flatMap((remark) => remark.fix ?? []));
  return { name, color, reasons: shown.map(({ reason }) => reason), fix: [...fix] };
}

const WEEK = 7 * DAY;

/** How long ago the newest time was, in ms; null if all are in the future. Another machine's clock may be a little ahead. */
function ageOfNewest(times: readonly number[], now: Date): number | null {
  const past = times.filter((at) => at <= now.getTime() + MINUTE);
  if (past.length === 0) return null;
  return Math.max(0, now.getTime() - past.reduce((newest, at) => Math.max(newest, at)));
}

/** `learnedAt`: one time per entry of knowledge.json. Stale after more than seven days. */
export function judgeKnowledge(learnedAt: readonly string[], now: Date): Remark[] {
  if (learnedAt.length === 0) return [green('knowledge.json is valid and empty')];
  const count = plural(learnedAt.length, 'learning');
  const fix = 'forge learn "TEXT" --as success';
  const age = ageOfNewest(learnedAt.map(Date.parse), now);
  if (age === null)
    return [yellow(`knowledge.json: ${count}, none with a date in the past: their age is unknown`, fix)];
  if (age > WEEK)
    return [yellow(`knowledge.json is stale: the newest of ${count} is ${describeSpan(age)} old`, fix)];
  return [green(`knowledge.json is valid: ${count}, the newest ${describeSpan(age)} old`)];
}

/**
 * `entries`: the minute of each entry of progress.txt since 1970; null if the file is missing. Entries have no seconds, so
 * one is stale when more than sixty whole minutes have passed.
 */
export function judgeProgress(entries: readonly number[] | null, now: Date): Remark[] {
  const fix = 'forge log "what you just did"';
  if (entries === null) return [red('progress.txt is missing', fix)];
  const span = ageOfNewest(
    entries.map((minute) => minute * MINUTE),
    now,
  );
  if (span === null)
    return [yellow('progress.txt: no entry has a time in the past: its age is unknown', fix)];
  const minutes = Math.floor(span / MINUTE);
  const age = minutes === 0 ? 'just now' : `${describeSpan(minutes * MINUTE)} ago`;
  if (minutes > 60) return [yellow(`progress.txt is stale: last entry ${age}`, fix)];
  return [green(`progress.txt is current: last entry ${age}`)];
}

interface FeatureFacts {
  counts: Readonly<Record<FeatureStatus, number>>;
  failing?: readonly string[];
  /** Ids marked passing without evidence, which count as in progress. */
  claims: readonly string[];
  /** Ids whose tests pass and never failed, which count as in progress. */
  unproven?: readonly string[];
  /** `LOGIN: passing (by hand: …)` */
  byHand?: readonly string[];
  next: string;
}

/** Of the started features more than 80 % pass: green; less than 50 %: red. Compared in whole numbers. */
export function judgeFeatures(facts: FeatureFacts): Remark[] {
  const { counts, claims, failing = [], unproven = [], byHand = [], next } = facts;
  const { passing, not_implemented: waiting, blocked } = counts;
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const started = total - waiting - blocked;
  if (total === 0) return [neutral('there are no features yet')];
  if (started === 0) return [neutral(`${plural(total, 'feature')}, none started`)];
  const unfailed = doubt(unproven, ': the tests pass, and were never seen to fail', 'feature confirm');
  if (counts.in_progress === started && claims.length === 0)
    return [neutral(`${plural(started, 'feature')} in progress, none verified yet`), ...unfailed];
  const percent = Math.floor((passing * 100) / started);
  const of = started === total ? plural(total, 'feature') : `${started} started`;
  const rest = `${waiting === 0 ? '' : `, ${waiting} not started`}${blocked === 0 ? '' : `, ${blocked} blocked`}`;
  const verb = passing === 1 || started === 1 ? 'passes' : 'pass';
  const fails = failing.length === 0 ? '' : `; failing: ${firstNames(failing, 3)}`;
  const reason = `${passing} of ${of} ${verb} (${percent} %)${rest}${fails}`;
  const fix = failing[0] === undefined ? next : `forge done ${failing[0]}`;
  const isGreen = passing * 100 > started * 80;
  const isYellow = passing * 100 >= started * 50;
  return [
    isGreen ? green(reason) : isYellow ? yellow(reason, fix) : red(reason, fix),
    ...doubt(claims, ': marked passing, but not by a run of the current tests', 'done'),
    ...unfailed,
    ...doubt(byHand, '', 'done'),
  ];
}

function doubt(ids: readonly string[], why: string, command: string): Remark[] {
  const [first] = ids;
  if (first === undefined) return [];
  return [yellow(`${firstNames(ids, 3)}${why}`, `forge ${command} ${first.split(':')[0]}`)];
}

/** A commit that names no issue, `known` here or not. Merges, reverts, fixups and commits of forge's own do not need one. */
export function isOrphan(
  { subject, parents, message }: { subject: string; parents: number; message: string },
  { known, isIssue }: { known: ReadonlySet<string>; isIssue(id: string): boolean },
): boolean {
  if (parents > 1 || /^(Merge|Revert|Reapply|fixup!|squash!|amend!) /.test(subject)) return false;
  const { id, backtrace } = parseMessage(message);
  const ids = [id, ...backtrace.linear.split(/[^\w.-]+/)];
  // A team may have another form: `APP-7: title`, `title (APP-7)`.
  const isNamed = subject.split(/[^\w.-]+/).some((word) => known.has(word));
  return !isOwnSubject(subject) && !isNamed && !ids.some((each) => known.has(each) || isIssue(each));
}

interface LinearFacts {
  /** Why the last sync with Linear failed. */
  syncError: string | null;
  active: number;
  /** The last commits without an issue, newest first: hash and subject. */
  orphans: readonly string[];
  commits: number;
}

export function judgeLinear({ active, orphans, syncError, commits }: LinearFacts): Remark[] {
  if (syncError !== null)
    return [red(`the last sync failed: ${oneLine(syncError, 200)}`, 'forge linear sync')];
  const issues = plural(active, 'active issue');
  if (commits === 0) return [green(issues)];
  const last = commits === 1 ? 'the last commit' : `the last ${commits} commits`;
  const [first] = orphans;
  if (first === undefined) return [green(`${issues}; ${commits === 1 ? last : `each of ${last}`} names one`)];
  const which = commits === 1 ? last : `of ${last}, ${orphans.length}`;
  const named = firstNames([oneLine(first, 80), ...orphans.slice(1)], 1);
  const fix = 'forge focus set --issue ID   # forge commit names it from now on';
  return [yellow(`${which} ${orphans.length === 1 ? 'names' : 'name'} no issue: ${named}`, fix)];
}

/** What git reports about this worktree. `.forge/` does not count as changed. */
export interface GitFacts extends Pick<TreeStatus, 'head' | 'branch' | 'files'> {
  operation: string | null;
  /** The default branch's upstream, and the distance to it. */
  upstream: { name: string; ahead: number; behind: number } | null;
  /** The checkpoint that HEAD's files come from and that can be restored. */
  checkpoint: string | null;
  /** Without a checkpoint it could be lost: a feature passes and a session has ended, or there was a checkpoint. */
  hasWork: boolean;
  isRecovering: boolean;
  /** A feature that passed with changes that are gone. */
  lost: string | null;
}

const COMMIT = 'git add -A && forge commit -m "TEXT" --why "TEXT"';
/** It says how to finish an operation and resolve conflicts. A commit now could hold conflict markers. */
const FINISH = 'git status';

const CHANGES: readonly [FileState['kind'], string][] = [
  ['unmerged', 'conflict'],
  ['changed', 'changed file'],
  ['untracked', 'new file'],
];

export function judgeGit(facts: GitFacts): Remark[] {
  const { head, branch, files, operation, upstream, checkpoint, lost } = facts;
  const countOf = (kind: FileState['kind']): number => files.filter((file) => file.kind === kind).length;
  const remarks: Remark[] = [];
  if (facts.isRecovering) remarks.push(red('a rollback or an undo was interrupted', 'forge recover'));
  // A merge or rebase in progress may be what settles it.
  if (!operation && upstream && upstream.ahead > 0 && upstream.behind > 0) {
    const { name, ahead, behind } = upstream;
    const ways = `git merge ${name}   # or, if nobody else has your commits: git rebase ${name}`;
    remarks.push(red(`diverged from ${name}: ${plural(ahead, 'commit')} ahead, ${behind} behind`, ways));
  }
  if (operation) remarks.push(yellow(`${operation} is in progress`, FINISH));
  const changes = CHANGES.flatMap(([kind, name]) => (countOf(kind) > 0 ? plural(countOf(kind), name) : []));
  const fix = operation || countOf('unmerged') > 0 ? FINISH : COMMIT;
  if (head === null) remarks.push(neutral('there is no commit yet', 'git add -A && git commit'));
  else if (changes.length > 0) remarks.push(yellow(`uncommitted: ${changes.join(', ')}`, fix));
  if (lost !== null) remarks.push(yellow(`${lost} passed with changes that are gone`, `forge done ${lost}`));
  if (head !== null && !operation && checkpoint === null && facts.hasWork)
    remarks.push(yellow('no checkpoint to go back to', 'forge checkpoint create'));
  if (remarks.length > 0) return remarks;
  const clean = `clean outside .forge/${branch === null ? ', on a detached HEAD' : ''}`;
  if (checkpoint === null) return [neutral(`${clean}; no checkpoint yet`)];
  return [green(`${clean}; last checkpoint: ${checkpoint}`)];
}
