/** How HEAD stands to the commit of a checkpoint; `missing` where the commit, `unborn` where HEAD has none. */
export type Relation = 'descendant' | 'behind' | 'diverged' | 'unrelated' | 'missing' | 'unborn';

/** What lies between a checkpoint and the working tree; `.forge/` is left out of all numbers but commits. */
export interface Divergence {
  /** Made since. */
  commits: number;
  /** Of the checkpoint, that HEAD has not. */
  behind: number;
  /** Tracked files that differ. */
  files: number;
  /** Lines; null where git has not got a file of the checkpoint, as in a partial clone. */
  insertions: number | null;
  deletions: number | null;
  /** Files of the checkpoint that are gone. */
  deleted_files: number;
  untracked: number;
  /** Ignored files where the checkpoint has one of its own. */
  in_the_way: string[];
  /** Features that passed at the checkpoint, and of which no evidence says so now. */
  features_lost: string[];
  ledger: 'intact' | 'corrupted' | 'halted';
  branch: Relation;
  /** What git is in the middle of. */
  operation: string | null;
}

/** `[recover]` of config.toml: up to these numbers it is worth going on. */
export interface Limits {
  files: number;
  commits: number;
  deleted_files: number;
}

export type Decision = 'continue' | 'rollback' | 'alert';

/** One row of the table that decides. */
export interface Rule {
  rule: string;
  value: string | number;
  /** What holds: a number at most, or this very word. */
  limit: string | number;
  holds: boolean;
  /** What follows where it does not hold. */
  otherwise: Exclude<Decision, 'continue'>;
}

export interface Facts {
  divergence: Divergence;
  /** `ok`, or why there is none to go back to. */
  checkpoint: string;
  isShallow: boolean;
}

const word = (rule: string, value: string, limit: string): Rule => ({
  rule,
  value,
  limit,
  holds: value === limit,
  otherwise: 'alert',
});

const most = (rule: string, value: number, limit: number): Rule => ({
  rule,
  value,
  limit,
  holds: value <= limit,
  otherwise: 'rollback',
});

/** RFC-9060 §5.3 as a table: first what has to be known at all, then how far the work has gone astray. */
export function judgeDivergence({ divergence, checkpoint, isShallow }: Facts, limits: Limits): Rule[] {
  const { branch, operation, ledger, files, untracked, commits } = divergence;
  const known = [word('checkpoint', checkpoint, 'ok')];
  // Without one there is nothing to compare with.
  if (checkpoint === 'ok') {
    const place = isShallow && branch !== 'descendant' ? `${branch}, in a shallow clone` : branch;
    known.push(word('branch', place, 'descendant'));
  }
  known.push(word('operation', operation ?? 'none', 'none'), word('ledger', ledger, 'intact'));
  if (checkpoint !== 'ok' || ['missing', 'unborn'].includes(branch)) return known;
  return [
    ...known,
    most('features_lost', divergence.features_lost.length, 0),
    most('deleted_files', divergence.deleted_files, limits.deleted_files),
    most('files', files + untracked, limits.files),
    most('commits', commits, limits.commits),
  ];
}

/** Of the row `checkpoint`: none was ever made. */
export const NEVER = 'none';

/** Then there is neither anything to judge by nor to go back to: no reason to stop the work. */
export const lacksCheckpoint = (rules: readonly Rule[]): boolean =>
  rules.some(({ rule, value }) => rule === 'checkpoint' && value === NEVER);

/** What is not known is for a human; what is known decides. */
export function decide(rules: readonly Rule[]): Decision {
  const broken = rules.filter(({ holds }) => !holds);
  if (broken.some(({ otherwise }) => otherwise === 'alert')) return 'alert';
  return broken.length > 0 ? 'rollback' : 'continue';
}

/** The rules that do not hold, in words. */
export const describeBroken = (rules: readonly Rule[]): string[] =>
  rules
    .filter(({ holds }) => !holds)
    .map(({ rule, value, limit }) =>
      typeof limit === 'number' ? `${rule}: ${value}, at most ${limit}` : `${rule}: ${value}, not ${limit}`,
    );
