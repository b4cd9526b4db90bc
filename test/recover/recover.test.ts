import { describe, expect, it } from 'vitest';
import { type Divergence, decide, describeBroken, judgeDivergence } from '../../src/recover/rules.js';

const LIMITS = { files: 20, commits: 10, deleted_files: 5 };
const NONE: Divergence = {
  commits: 0,
  behind: 0,
  files: 0,
  insertions: 0,
  deletions: 0,
  deleted_files: 0,
  untracked: 0,
  in_the_way: [],
  features_lost: [],
  ledger: 'intact',
  branch: 'descendant',
  operation: null,
};

const judge = (change: Partial<Divergence>, checkpoint = 'ok', isShallow = false) =>
  judgeDivergence({ divergence: { ...NONE, ...change }, checkpoint, isShallow }, LIMITS);

describe('the table that decides', () => {
  it.each<[Partial<Divergence>, string, string]>([
    [{}, 'continue', ''],
    [{ files: 20, commits: 10, deleted_files: 5 }, 'continue', ''],
    [{ files: 15, untracked: 6 }, 'rollback', 'files: 21, at most 20'],
    [{ commits: 11 }, 'rollback', 'commits: 11, at most 10'],
    [{ deleted_files: 6 }, 'rollback', 'deleted_files: 6, at most 5'],
    [{ features_lost: ['A'] }, 'rollback', 'features_lost: 1, at most 0'],
    [{ in_the_way: ['x'], insertions: 9999, deletions: 9999 }, 'continue', ''],
    [{ branch: 'diverged' }, 'alert', 'branch: diverged, not descendant'],
    [{ branch: 'behind', features_lost: ['A'] }, 'alert', 'branch: behind, not descendant'],
    [{ branch: 'missing' }, 'alert', 'branch: missing, not descendant'],
    [{ operation: 'a merge' }, 'alert', 'operation: a merge, not none'],
    [{ ledger: 'corrupted' }, 'alert', 'ledger: corrupted, not intact'],
  ])('GIT-06 %j: %s', (change, decision, said) => {
    const rules = judge(change);
    expect([decide(rules), describeBroken(rules)[0] ?? '']).toEqual([decision, said]);
  });

  it('GIT-06 without a checkpoint nothing is compared, and what is known is said all the same', () => {
    const rules = judge({ branch: 'missing', ledger: 'halted' }, 'none');
    expect(decide(rules)).toBe('alert');
    expect(rules.map(({ rule }) => rule)).toEqual(['checkpoint', 'operation', 'ledger']);
  });

  it('GIT-06 a shallow clone is named where it may be why', () => {
    expect(judge({ branch: 'unrelated' }, 'ok', true)[1]?.value).toBe('unrelated, in a shallow clone');
    expect(decide(judge({}, 'ok', true))).toBe('continue');
  });
});
