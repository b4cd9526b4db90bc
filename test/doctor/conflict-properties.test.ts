import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Feature, one } from '../support/conflict-samples.js';

const FIELDS = {
  id: fc.constant('A'),
  name: fc.constantFrom('a', 'b'),
  priority: fc.constantFrom(1, 2, 3),
  tests: fc.subarray(['t1', 't2']),
};
const feature = fc.oneof(
  fc.record({ ...FIELDS, status: fc.constantFrom('not_implemented', 'in_progress', 'failing', 'blocked') }),
  fc.record({
    ...FIELDS,
    status: fc.constant('passing'),
    verified_at: fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'),
    verified_commit: fc.constantFrom('abc', 'def'),
  }),
) as fc.Arbitrary<Feature>;
const base = fc.option(feature);

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
      fc.property(feature, feature, base, (ours, theirs, before) => {
        expect(one(ours, ours, before)).toEqual(ours);
        const merged = one(ours, theirs, before);
        expect(one(merged, merged, before)).toEqual(merged);
      }),
    );
  });

  it('LAY-09 gives the same status and tests from either side', () => {
    fc.assert(
      fc.property(feature, feature, base, (ours, theirs, before) => {
        fc.pre(!ours.verified_at || ours.verified_at !== theirs.verified_at);
        expect(plain(one(ours, theirs, before))).toEqual(plain(one(theirs, ours, before)));
      }),
    );
  });

  it('LAY-09 a passing feature was proven by one side, in one run, with the tests that it has', () => {
    fc.assert(
      fc.property(feature, feature, base, (ours, theirs, before) => {
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
