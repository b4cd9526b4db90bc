import { plural } from '../core/text.js';
import { green, type Remark, red, yellow } from './component.js';

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
  /** The default branch's upstream, and how far this is from it; null: there is none. */
  upstream: { name: string; ahead: number; behind: number } | null;
  /** The newest checkpoint to go back to that HEAD leads to. */
  checkpoint: string | null;
  /** A rollback, or its undoing, waits to be completed. */
  isRecovering: boolean;
}

export const NO_GIT: Remark[] = [
  yellow('there is no git repository: no commits, no checkpoints', 'git init   (then: forge init)'),
];

const COMMIT = 'forge commit -a -m "…" --why "…"   (new files: git add first)';
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
