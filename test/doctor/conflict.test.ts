import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatJson } from '../../src/core/json.js';
import { conflictLines } from '../../src/core/schema.js';
import { mergeState } from '../../src/doctor/merge.js';

interface Feature {
  id: string;
  status: string;
  tests: string[];
  [field: string]: unknown;
}

const bytes = (value: unknown): Buffer => Buffer.from(formatJson(value));

/** Merges one feature; `null` without a base. */
const one = (ours: Feature, theirs: Feature, base: Feature | null = null): Feature => {
  const sides = { ours: bytes(ours), theirs: bytes(theirs), base: base && bytes(base) };
  const { schema_version: _, ...fields } = JSON.parse(mergeState('feature', sides, 'file').bytes.toString());
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as Feature;
};

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
    ['passes where only one side ran its tests', passing(), feature(), feature(), 'passing'],
    ['passes where it failed before', passing(), failing, failing, 'passing'],
    ['failed on one side', passing(), failing, feature(), 'in_progress'],
    ['failed since it passed', passing(), failing, passing(), 'failing'],
    ['passes on one side, without a base', passing(), feature(), null, 'in_progress'],
    ['has other tests on one side', passing(), feature({ tests: ['new'] }), feature(), 'in_progress'],
    ['changed on one side alone', feature({ status: 'blocked' }), feature(), feature(), 'blocked'],
    ['changed differently on both sides', feature({ status: 'blocked' }), failing, feature(), 'in_progress'],
    ['passes on both sides', passing(), passing({ verified_commit: 'def' }), feature(), 'passing'],
    ['passes on both sides, without a base', passing(), passing({ verified_commit: 'def' }), null, 'passing'],
  ])('LAY-09 %s', (_, ours, theirs, base, expected) => {
    for (const merged of [one(ours, theirs, base), one(theirs, ours, base)]) {
      expect(merged.status).toBe(expected);
      if (expected !== 'passing') expect(merged.verified_at ?? null).toBeNull();
      if (expected !== 'passing') expect(merged.verified_by).toBeUndefined();
    }
  });

  it('LAY-09 FEA-05 a test that was never seen to fail stays unproven', () => {
    const [fresh, doubted] = [feature({ status: 'not_implemented' }), feature({ unproven: true })];
    for (const [ours, theirs, unproven] of [
      [feature(), doubted, true],
      [passing(), doubted, undefined],
    ] as const) {
      expect(one(ours, theirs, fresh).unproven).toBe(unproven);
      expect(one(theirs, ours, fresh).unproven).toBe(unproven);
    }
  });

  it('LAY-09 keeps the proof of one run together', () => {
    const older = passing({ verified_at: '2026-01-01T00:00:00.000Z', verified_commit: 'old' });
    expect(one(older, passing())).toEqual(older);
    expect(one(passing(), older)).toEqual(passing());
    expect(one(passing(), older, passing())).toEqual(older);
  });
});

describe('fields of a record', () => {
  it('LAY-09 are merged one by one; lists keep the additions of both', () => {
    const base = feature({ priority: 3, name: 'a', linear_issue: null, note: 'x', tests: ['1', '2'] });
    const ours = { ...base, name: 'ours', tests: ['1', '2', '3'], extra: { a: 1, b: 1 } };
    const changes = { priority: 1, linear_issue: 'L-1', note: undefined, tests: ['2', '4'] };
    const theirs = { ...base, ...changes, extra: { a: 1, c: 2 } };
    expect(one(ours, theirs, base)).toEqual({
      ...feature({ priority: 1, name: 'ours', linear_issue: 'L-1', tests: ['2', '3', '4'] }),
      extra: { a: 1, b: 1 },
    });
  });

  it('LAY-09 the newer value wins, else ours', () => {
    const [early, late] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'];
    const ours = feature({ name: 'ours', updated_at: early, blocked_by: ['X'] });
    const theirs = feature({ name: 'theirs', updated_at: late, blocked_by: ['Y'] });
    expect(one(ours, theirs)).toMatchObject({ name: 'theirs', updated_at: late, blocked_by: ['X', 'Y'] });
    const trace = (at: string, by: string): Feature => feature({ updated_at: at, trace: { by } });
    expect(one(trace(early, 'ours'), trace(late, 'theirs')).trace).toEqual({ by: 'theirs' });
    const plain = [feature({ name: 'ours' }), feature({ name: 'theirs' })] as const;
    expect(one(plain[0], plain[1]).name).toBe('ours');
  });
});

describe('conflict markers', () => {
  const text = '[\n<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> other\n]\n';

  it('LAY-09 are found with their lines, of any length that conflict-marker-size allows', () => {
    expect(conflictLines(text)).toEqual({ from: 2, to: 6 });
    const long = text.replace(/[<=>]{7}/g, (marker) => marker + marker);
    expect(conflictLines(long)).toEqual({ from: 2, to: 6 });
  });

  it('LAY-09 are not found inside a line', () => {
    expect(conflictLines('{ "a": "<<<<<<< HEAD\\n=======\\n>>>>>>> x" }')).toBeNull();
    expect(conflictLines('  <<<<<<< HEAD\n  >>>>>>> x\n')).toBeNull();
  });
});

const FIELDS = {
  id: fc.constant('A'),
  name: fc.constantFrom('a', 'b'),
  priority: fc.constantFrom(1, 2, 3),
  tests: fc.subarray(['t1', 't2']),
};
const anyFeature = fc.oneof(
  fc.record({ ...FIELDS, status: fc.constantFrom('not_implemented', 'in_progress', 'failing', 'blocked') }),
  fc.record({
    ...FIELDS,
    status: fc.constant('passing'),
    verified_at: fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'),
    verified_commit: fc.constantFrom('abc', 'def'),
  }),
) as fc.Arbitrary<Feature>;
const anyBase = fc.option(anyFeature);

/** Equal objects give equal texts, whatever the order of their keys. */
const keyText = (value: unknown): string =>
  JSON.stringify(value, (_, part) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort())
      : part,
  ) ?? '';

const plain = ({ status, tests }: Feature): string => keyText([status, [...tests].sort()]);
const proof = (side: Feature | null): string =>
  keyText([side?.status, side?.verified_at, side?.verified_commit]);

describe('merging', () => {
  it('LAY-09 equal sides stay unchanged, and merging again changes nothing', () => {
    fc.assert(
      fc.property(anyFeature, anyFeature, anyBase, (ours, theirs, before) => {
        expect(one(ours, ours, before)).toEqual(ours);
        const merged = one(ours, theirs, before);
        expect(one(merged, merged, before)).toEqual(merged);
      }),
    );
  });

  it('LAY-09 gives the same status and tests from either side', () => {
    fc.assert(
      fc.property(anyFeature, anyFeature, anyBase, (ours, theirs, before) => {
        fc.pre(!ours.verified_at || ours.verified_at !== theirs.verified_at);
        expect(plain(one(ours, theirs, before))).toEqual(plain(one(theirs, ours, before)));
      }),
    );
  });

  it('LAY-09 a passing feature was proven by one side, in one run, with the tests that it has', () => {
    fc.assert(
      fc.property(anyFeature, anyFeature, anyBase, (ours, theirs, before) => {
        const merged = one(ours, theirs, before);
        if (merged.status !== 'passing') return;
        const prover = [ours, theirs].find(
          (side) =>
            proof(side) === proof(merged) &&
            keyText([...side.tests].sort()) === keyText([...merged.tests].sort()),
        );
        expect(prover).toBeDefined();
        const other = prover === ours ? theirs : ours;
        expect(other.status === 'passing' || proof(other) === proof(before)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});
