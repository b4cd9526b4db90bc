import type { ProvedCheck } from '../checkpoint/run.js';

/** The relation of HEAD to a checkpoint's commit. `missing`: the commit is not here. `unborn`: HEAD has no commit. */
export type Relation = 'descendant' | 'behind' | 'diverged' | 'missing' | 'unborn';

/** The differences between a checkpoint and the working tree, outside `.forge/`. Sizes are informational. */
export interface Divergence {
  /** Commits on this branch since. Merged ones, merges and commits of `.forge/` alone are not counted. */
  commits: number;
  /** Tracked files that differ, and the first of them. */
  files: number;
  changed_files: string[];
  insertions: number;
  deletions: number;
  untracked: number;
  /** The first of them, which a rollback moves into the backup. */
  untracked_files: string[];
  /** Files that differ from HEAD, including untracked ones. */
  uncommitted: number;
  /** Features that the checkpoint proved and whose tests fail now. */
  features_lost: string[];
  ledger: 'intact' | 'corrupted' | 'halted';
  branch: Relation;
  operation: string | null;
}

export type Decision = 'continue' | 'rollback' | 'alert';

/** One row of the table that decides. */
export interface Rule {
  rule: string;
  value: string | number;
  /** The limit: at most this number, or exactly this word. */
  limit: string | number;
  holds: boolean;
  /** The decision if it does not hold. */
  otherwise: Exclude<Decision, 'continue'>;
}

export interface Facts {
  divergence: Divergence;
  /** `ok`, or why there is no checkpoint to return to. */
  checkpoint: string;
  isShallow: boolean;
  /** Empty if nothing could be run. */
  checks: readonly ProvedCheck[];
  /** HEAD has the checkpoint's files, so the breakage is not committed. */
  isHeadSame: boolean;
}

const row = (
  rule: string,
  value: string | number,
  limit: string | number,
  otherwise: Rule['otherwise'] = 'alert',
): Rule => ({
  ...{ rule, value, limit },
  holds: typeof limit === 'number' ? Number(value) <= limit : value === limit,
  otherwise,
});

/** Conditions that must be known before anything is run. */
export function judgePlace(facts: Omit<Facts, 'checks' | 'isHeadSame'>): Rule[] {
  const { checkpoint, isShallow } = facts;
  const { branch, operation, ledger } = facts.divergence;
  const place = isShallow && branch !== 'descendant' ? `${branch}, in a shallow clone` : branch;
  return [
    row('checkpoint', checkpoint, 'ok'),
    // Without a checkpoint there is nothing to compare with.
    ...(checkpoint === 'ok' ? [row('branch', place, 'descendant')] : []),
    row('operation', operation ?? 'none', 'none'),
    row('ledger', ledger, 'intact'),
  ];
}

/** GIT-06: decides by what broke. A single cause that only uncommitted work can have broken is fixed, not rolled back. */
export function judgeDivergence(facts: Facts): Rule[] {
  const place = judgePlace(facts);
  if (place.some(({ holds }) => !holds)) return place;
  const { checks, divergence, isHeadSame } = facts;
  const failed = checks.filter(({ state }) => state === 'failed');
  // One command that fails for several features is one cause. A command of the whole project fails with a feature's test.
  const causesOf = (kind: ProvedCheck['kind']): number =>
    new Set(failed.flatMap((check) => (check.kind === kind ? [check.command ?? check.name] : []))).size;
  const causes = Math.max(causesOf('feature'), causesOf('command'));
  const { files, untracked, uncommitted } = divergence;
  const isFixable =
    uncommitted > 0 && (isHeadSame || failed.every(({ passedAtHead }) => passedAtHead === true));
  if (checks.length === 0) return [...place, row('checks', 'none', 'some')];
  const rules = [
    ...place,
    row('not_tested', checks.filter(({ state }) => state === 'not_run').length, 0),
    row('failing', causes, isFixable ? 1 : 0, 'rollback'),
  ];
  // The same files passed then, so the cause is outside git and a rollback cannot remove it.
  if (failed.length > 0 && files + untracked === 0) rules.push(row('changes', 'none', 'some'));
  return rules;
}

/** A person wants to roll back although nothing is broken. Unknowns still have to be settled first. */
export const ASKED = row('asked_for', 'rollback', 'continue', 'rollback');

/** The value of the row `checkpoint` if there was never one. */
export const NEVER = 'none';

/** Unknowns are left to a human. Known failures decide. */
export function decide(rules: readonly Rule[]): Decision {
  const broken = rules.filter(({ holds }) => !holds);
  if (broken.some(({ otherwise }) => otherwise === 'alert')) return 'alert';
  return broken.length > 0 ? 'rollback' : 'continue';
}
