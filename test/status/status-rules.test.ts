import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FileState } from '../../src/git/status.js';
import { addEntry, entryTimes, startProgress } from '../../src/session/rules.js';
import {
  COLORS,
  type GitFacts,
  isOrphan,
  judgeFeatures,
  judgeGit,
  judgeKnowledge,
  judgeProgress,
  type Remark,
  toComponent,
  worstOf,
} from '../../src/status/rules.js';

const NOW = new Date('2026-03-10T12:00:30.000Z');
const ago = (ms: number): string => new Date(NOW.getTime() - ms).toISOString();
const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];
const colorOf = (remarks: readonly Remark[]): string => worstOf(remarks.map(({ color }) => color));
const told = (remarks: readonly Remark[]): string => remarks.map(({ reason }) => reason).join('; ');

describe('VIS-01 long-term memory', () => {
  it.each([
    ['nothing learned yet', [], 'green'],
    ['just now', [ago(0)], 'green'],
    ['exactly seven days', [ago(7 * DAY)], 'green'],
    ['a millisecond more', [ago(7 * DAY + 1)], 'yellow'],
    ['the newest counts, wherever it stands', [ago(HOUR), ago(90 * DAY)], 'green'],
    ['an entry of a clock that is ahead is not believed', [ago(-DAY), ago(8 * DAY)], 'yellow'],
    ['nor is it when it is the only one', [ago(-DAY)], 'yellow'],
    ['a second ahead is new', [ago(-SECOND)], 'green'],
    ['no date that can be read', ['yesterday', ''], 'yellow'],
  ])('VIS-01 %s', (_title, learned, color) => {
    const remarks = judgeKnowledge(learned, NOW);
    expect([colorOf(remarks), told(remarks)]).toEqual([color, expect.stringMatching(/^knowledge\.json/)]);
    expect(remarks.every(({ fix }) => color === 'green' || fix?.startsWith('forge '))).toBe(true);
  });
});

describe('VIS-01 short-term memory', () => {
  const minutes = (ms: number): number => Math.floor((NOW.getTime() - ms) / MINUTE);
  it.each([
    ['no file', null, 'red'],
    ['no time in it', [], 'yellow'],
    ['this minute', [minutes(0)], 'green'],
    ['an hour, by the minute', [minutes(60 * MINUTE)], 'green'],
    ['61 minutes', [minutes(61 * MINUTE)], 'yellow'],
    ['the newest counts', [minutes(3 * HOUR), minutes(MINUTE)], 'green'],
    ['a time in the future is not believed', [minutes(2 * HOUR), minutes(-DAY)], 'yellow'],
    ['nor is it alone', [minutes(-DAY)], 'yellow'],
  ])('VIS-01 B-67 with a session: %s', (_title, entries, color) => {
    expect(colorOf(judgeProgress(entries, NOW))).toBe(color);
  });

  it('VIS-01 SES-04 the minute of every entry is known from the file alone, for sessions of any length', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 5 * 24 * 60 }), { maxLength: 20 });
    fc.assert(
      fc.property(gaps, (steps) => {
        let at = NOW.getTime();
        let file = startProgress(NOW, 'main', 0);
        const times = [at, at];
        for (const step of steps) {
          at += step * MINUTE;
          times.push(at);
          file = addEntry(file, new Date(at), 'a line\n[23:59] that poses as another\n=== 1999-01-01 ===');
        }
        expect(entryTimes(file)).toEqual(times.map((ms) => Math.floor(ms / MINUTE)));
      }),
    );
  });

  it('SES-04 an entry without a day, or with an invalid time, has no time', () => {
    expect(entryTimes('[10:00] no day\n')).toEqual([]);
    expect(entryTimes('')).toEqual([]);
    expect(entryTimes('=== FORGE Session 2026-99-99 ===\n[10:00] a\n')).toEqual([]);
    expect(entryTimes('=== FORGE Session 2026-03-09 ===\n[77:00] b\n[00:05] c\n')).toHaveLength(1);
  });
});

describe('VIS-01 features', () => {
  const counts = (passing: number, others: number) => ({
    not_implemented: 0,
    in_progress: 0,
    failing: others,
    passing,
    blocked: 0,
  });
  const judge = (passing: number, total: number): Remark[] =>
    judgeFeatures({ counts: counts(passing, total - passing), claims: [], next: 'forge next' });

  it.each([
    [0, 0, 'neutral', 'there are no features yet'],
    [4, 5, 'yellow', '4 of 5 features pass (80 %)'],
    [8001, 10_000, 'green', '8001 of 10000 features pass (80 %)'],
    [1, 2, 'yellow', '1 of 2 features passes (50 %)'],
    [1, 1, 'green', '1 of 1 feature passes (100 %)'],
    [0, 1, 'red', '0 of 1 feature passes (0 %)'],
  ])('VIS-01 %i of %i: %s', (passing, total, color, reason) => {
    const remarks = judge(passing, total);
    expect([colorOf(remarks), told(remarks)]).toEqual([color, reason]);
    expect(remarks[0]?.fix).toBe(['neutral', 'green'].includes(color) ? undefined : 'forge next');
  });

  it.each([
    [[], 'neutral', '2 features in progress, none verified yet'],
    [['F-1'], 'yellow', 'F-1: the tests pass, and were never seen to fail'],
  ])('VIS-01 FEA-05 is not red while all work is in progress (unproven: %j)', (unproven, color, reason) => {
    const all = { ...counts(0, 0), in_progress: 2 };
    const remarks = judgeFeatures({ counts: all, claims: [], unproven, next: 'forge next' });
    expect(colorOf(remarks)).toBe(color);
    expect(remarks.map((remark) => remark.reason).join()).toContain(reason);
  });

  it.each([
    [0, 0, 3, 0, 'neutral', '3 features, none started'],
    [1, 0, 9, 0, 'green', '1 of 1 started passes (100 %), 9 not started'],
    [4, 1, 5, 0, 'yellow', '4 of 5 started pass (80 %), 5 not started'],
    [0, 1, 1, 0, 'red', '0 of 1 started passes (0 %), 1 not started'],
    [3, 0, 6, 1, 'green', '3 of 3 started pass (100 %), 6 not started, 1 blocked'],
  ])('VIS-01 %i of %i more begun, %i not, %i blocked', (passing, others, waiting, blocked, color, reason) => {
    const all = { ...counts(passing, others), not_implemented: waiting, blocked };
    const remarks = judgeFeatures({ counts: all, claims: [], next: 'forge next' });
    expect([colorOf(remarks), told(remarks)]).toEqual([color, reason]);
  });

  it('VIS-01 the borders are exact for any number of features', () => {
    const pair = fc
      .integer({ min: 1, max: 100_000 })
      .chain((total) => fc.tuple(fc.integer({ min: 0, max: total }), fc.constant(total)));
    fc.assert(
      fc.property(pair, ([passing, total]) => {
        // In whole numbers, by another way than the rule's.
        const color = 5 * passing > 4 * total ? 'green' : 2 * passing >= total ? 'yellow' : 'red';
        expect(colorOf(judge(passing, total))).toBe(color);
      }),
    );
  });

  it('VIS-01 a feature that only claims to pass is named, and prevents green', () => {
    const claims = ['A', 'B', 'C', 'D'];
    const remarks = judgeFeatures({ counts: counts(96, 4), claims, next: 'forge next' });
    expect(remarks.at(-1)).toEqual({
      color: 'yellow',
      reason: 'A, B, C and 1 more: marked passing, but not by a run of the current tests',
      fix: 'forge done A',
    });
  });
});

describe('VIS-01 git', () => {
  const clean: GitFacts = {
    head: 'a'.repeat(40),
    branch: 'main',
    files: [],
    operation: null,
    upstream: { name: 'origin/main', ahead: 0, behind: 0 },
    checkpoint: 'checkpoint/A-v1',
    hasWork: false,
    isRecovering: false,
    lost: null,
  };
  const files = (count: number, kind: FileState['kind']) => ({
    files: Array.from({ length: count }, () => ({
      ...{ path: 'a', kind, index: 'M', worktree: '.', isGone: false },
    })),
  });
  const away = (ahead: number, behind: number) => ({ upstream: { name: 'origin/main', ahead, behind } });

  it.each<[string, Partial<GitFacts>, string, RegExp]>([
    ['clean, checkpointed', {}, 'green', /^clean outside \.forge\/; last checkpoint: checkpoint\/A-v1/],
    ['ahead', away(3, 0), 'green', /^clean/],
    ['behind', away(0, 3), 'green', /^clean/],
    ['no upstream', { upstream: null }, 'green', /^clean/],
    ['a changed file', files(1, 'changed'), 'yellow', /^uncommitted: 1 changed file$/],
    ['diverged and dirty', { ...away(1, 1), ...files(1, 'changed') }, 'red', /^diverged.*; uncommitted/],
    ['a detached HEAD', { branch: null }, 'green', /^clean outside \.forge\/, on a detached HEAD/],
    [
      'no commit yet',
      { head: null, checkpoint: null, ...files(1, 'untracked') },
      'neutral',
      /^there is no commit yet$/,
    ],
    [
      'a rebase',
      { operation: 'a rebase', ...files(1, 'unmerged') },
      'yellow',
      /^a rebase is in progress; uncommitted: 1 conf/,
    ],
    ['a rollback cut off', { isRecovering: true }, 'red', /^a rollback/],
  ])('VIS-01 B-39 %s', (_title, change, color, reason) => {
    const remarks = judgeGit({ ...clean, ...change });
    expect([colorOf(remarks), told(remarks)]).toEqual([color, expect.stringMatching(reason)]);
    expect(
      remarks.every(({ color: own, fix }) => own === 'green' || own === 'neutral' || fix !== undefined),
    ).toBe(true);
  });

  it('VIS-01 in a merge or rebase the way on is what git says, never a new commit', () => {
    const without = { checkpoint: null, hasWork: true };
    const remarks = judgeGit({ ...clean, ...without, operation: 'a rebase', ...files(2, 'changed') });
    expect(new Set(remarks.map(({ fix }) => fix))).toEqual(new Set(['git status']));
  });
});

describe('VIS-01 Linear', () => {
  const rules = { known: new Set(['SX9-1', 'login']), isIssue: (id: string) => /^[A-Z]+-\d+$/.test(id) };
  it.each([
    ['[SX9-1] Add the form', 1, false],
    ['[login] Add the form', 1, false],
    ['SX9-1: Add the form', 1, false],
    ['Add the form (SX9-1)', 1, false],
    ['[ABC-7] An issue that is nowhere here', 1, false],
    ['[FORGE] No issue', 1, true],
    ['[FORGE] Session end: 2026-03-01-session-001', 1, false],
    ['Fix it', 1, true],
    ['Merge branch x', 1, false],
    ['Anything', 2, false],
    ['Revert "Fix it"', 1, false],
    ['fixup! Fix it', 1, false],
    ['chore: session end: Wire the login', 1, false],
    ['[ABC-7] Checkpoint checkpoint/ABC-7-v1', 1, false],
    ['feat: wire it\n\n## Backtrace\n- Parent: none\n- Linear: SX9-1 (the form)\n- Session: none', 1, false],
    ['feat: wire it\n\n## Backtrace\n- Parent: none\n- Linear: https://linear.app/x/issue/SX9-1/y', 1, false],
    ['feat: wire it\n\n## Backtrace\n- Parent: none\n- Linear: none\n- Session: none', 1, true],
  ])('VIS-01 %s with %i parent(s): orphan %s', (message, parents, orphan) => {
    const [subject = ''] = message.split('\n');
    expect(isOrphan({ subject, parents, message }, rules)).toBe(orphan);
  });
});

describe('VIS-01 a component', () => {
  it('VIS-01 is as bad as its worst remark; good news is shown only without problems', () => {
    const remark = fc.record({
      color: fc.constantFrom(...COLORS),
      reason: fc.string(),
      fix: fc.constant('x'),
    });
    fc.assert(
      fc.property(fc.array(remark, { minLength: 1 }), (remarks) => {
        const { color, reasons, fix } = toComponent('git', remarks);
        expect(color).toBe(colorOf(remarks));
        expect(reasons).toHaveLength(
          remarks.filter((one) => one.color === color || ['yellow', 'red'].includes(one.color)).length,
        );
        expect(fix).toEqual(['x']);
      }),
    );
  });
});
