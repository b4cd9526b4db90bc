import { describe, expect, it } from 'vitest';
import { type Feature, type Issue, issues, one } from '../support/conflict-samples.js';

const feature = (change: Partial<Feature> = {}): Feature => ({
  id: 'A',
  name: 'a',
  status: 'in_progress',
  tests: ['true'],
  ...change,
});
const passing = (change: Partial<Feature> = {}): Feature =>
  feature({
    status: 'passing',
    verified_at: '2026-01-02T00:00:00.000Z',
    verified_commit: 'abc',
    verified_by: ['true'],
    ...change,
  });

describe('the status of a feature that two branches changed', () => {
  const failing = feature({ status: 'failing' });

  it.each<[string, Feature, Feature, Feature | null, string]>([
    [
      'passes where one side ran its tests, and the other left it',
      passing(),
      feature(),
      feature(),
      'passing',
    ],
    ['the same where it failed before', passing(), failing, failing, 'passing'],
    ['failed on one side', passing(), failing, feature(), 'failing'],
    ['failed since it passed', passing(), failing, passing(), 'failing'],
    ['nobody knows what both had', passing(), feature(), null, 'in_progress'],
    ['failed on one side, nobody knows what both had', passing(), failing, null, 'failing'],
    [
      'its tests were changed on the other side',
      passing(),
      feature({ tests: ['new'] }),
      feature(),
      'in_progress',
    ],
    ['changed on one side alone', feature({ status: 'blocked' }), feature(), feature(), 'blocked'],
    ['two that differ', feature({ status: 'blocked' }), failing, feature(), 'failing'],
    ['passes on both sides', passing(), passing({ verified_commit: 'def' }), feature(), 'passing'],
    ['passes on both sides, without a base', passing(), passing({ verified_commit: 'def' }), null, 'passing'],
  ])('LAY-09 %s', (_, ours, theirs, base, expected) => {
    for (const merged of [one(ours, theirs, base), one(theirs, ours, base)]) {
      expect(merged.status).toBe(expected);
      if (expected !== 'passing') expect(merged.verified_at ?? null).toBeNull();
      if (expected !== 'passing') expect(merged.verified_by).toBeUndefined();
    }
  });

  it('LAY-09 believes no base that stands in markers alone', () => {
    expect(one(passing(), feature(), feature(), false).status).toBe('in_progress');
    expect(one(passing(), failing, failing, false).status).toBe('failing');
  });

  it('LAY-09 keeps the proof of one run together: the last one', () => {
    const older = passing({ verified_at: '2026-01-01T00:00:00.000Z', verified_commit: 'old' });
    expect(one(older, passing())).toEqual(passing());
    expect(one(passing(), older)).toEqual(passing());
    expect(one(passing(), older, passing())).toEqual({ ...older });
  });
});

describe('fields of a record', () => {
  it('LAY-09 are merged one by one: what one side changed, then the rule of the field', () => {
    const base = feature({ priority: 3, name: 'a', linear_issue: null, note: 'x', tests: ['1', '2'] });
    const merged = one(
      { ...base, name: 'ours', priority: 2, tests: ['1', '2', '3'], extra: { a: 1, b: 1 } },
      {
        ...base,
        priority: 1,
        linear_issue: 'L-1',
        note: undefined,
        tests: ['2', '4'],
        extra: { a: 1, c: 2 },
      },
      base,
    );
    expect(merged).toEqual({
      ...feature({ priority: 1, name: 'ours', linear_issue: 'L-1', tests: ['2', '3', '4'] }),
      extra: { a: 1, b: 1, c: 2 },
    });
  });

  it('LAY-09 take the newer one where that is known, else ours; one blocker and several are a list', () => {
    const [early, late] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'];
    const ours = feature({ name: 'ours', updated_at: early, blocked_by: 'X' });
    const theirs = feature({ name: 'theirs', updated_at: late, blocked_by: ['Y'] });
    expect(one(ours, theirs)).toMatchObject({ name: 'theirs', updated_at: late, blocked_by: ['X', 'Y'] });
    const trace = (at: string, by: string): Feature => feature({ updated_at: at, trace: { by } });
    expect(one(trace(early, 'ours'), trace(late, 'theirs')).trace).toEqual({ by: 'theirs' });
    const plain = [feature({ name: 'ours' }), feature({ name: 'theirs' })] as const;
    expect(one(plain[0], plain[1]).name).toBe('ours');
  });
});

describe('records of a list', () => {
  const [a, b, c] = ['A', 'B', 'C'].map((linear_id) => ({ linear_id, title: linear_id })) as [
    Issue,
    Issue,
    Issue,
  ];
  const ids = (list: Issue[]): string[] => list.map(({ linear_id }) => linear_id);

  it('LAY-09 deleted by one side are gone only where the other left them as they were', () => {
    expect(ids(issues({ ours: [a], theirs: [a, b], base: [a, b] }))).toEqual(['A']);
    const changed = { ...b, title: 'changed' };
    expect(issues({ ours: [a], theirs: [a, changed], base: [a, b] })).toEqual([a, changed]);
    expect(ids(issues({ ours: [a], theirs: [a, b], base: null }))).toEqual(['A', 'B']);
  });

  it('LAY-09 keep the order of ours; what theirs added comes last', () => {
    expect(ids(issues({ ours: [c, a], theirs: [a, b, c], base: [a, c] }))).toEqual(['C', 'A', 'B']);
    expect(ids(issues({ ours: [a, b], theirs: [a, c], base: [a] }))).toEqual(['A', 'B', 'C']);
    expect(ids(issues({ ours: [a], theirs: [b, a], base: [a] }))).toEqual(['A', 'B']);
  });
});
