import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyText } from '../../src/doctor/merge.js';
import { type Feature, type Issue, issues, one } from '../support/conflict-samples.js';

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

const list = fc
  .uniqueArray(fc.tuple(fc.constantFrom('A', 'B', 'C', 'D'), fc.constantFrom('x', 'y')), {
    selector: ([id]) => id,
  })
  .map((all) => all.map(([linear_id, title]): Issue => ({ linear_id, title })));

const plain = (merged: Feature): string => keyText({ ...merged, name: '', tests: [...merged.tests].sort() });
const proof = (side: Feature | null): string =>
  keyText([side?.status, side?.verified_at, side?.verified_commit]);

describe('merging', () => {
  it('LAY-09 the same on both sides is left as it is, and merging again changes nothing', () => {
    fc.assert(
      fc.property(feature, feature, base, (ours, theirs, before) => {
        expect(one(ours, ours, before)).toEqual(ours);
        const merged = one(ours, theirs, before);
        expect(one(merged, merged, before)).toEqual(merged);
      }),
    );
  });

  it('LAY-09 comes out the same from either side, the name aside, which is ours', () => {
    fc.assert(
      fc.property(feature, feature, base, fc.boolean(), (ours, theirs, before, isSure) => {
        expect(plain(one(ours, theirs, before, isSure))).toEqual(plain(one(theirs, ours, before, isSure)));
      }),
    );
  });

  it('LAY-09 never makes a feature pass that a side does not prove, by one run, for the tests that it has', () => {
    fc.assert(
      fc.property(feature, feature, base, fc.boolean(), (ours, theirs, before, isSure) => {
        const merged = one(ours, theirs, before, isSure);
        if (merged.status !== 'passing') return;
        const prover = [ours, theirs].find(
          (side) => proof(side) === proof(merged) && keyText(side.tests) === keyText(merged.tests),
        );
        expect(prover).toBeDefined();
        const other = prover === ours ? theirs : ours;
        expect(other.status === 'passing' || (isSure && proof(other) === proof(before))).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it('LAY-09 never loses an id that a side has changed or added, and brings none that neither has', () => {
    const find = (all: Issue[] | null, id: string): Issue | undefined =>
      all?.find(({ linear_id }) => linear_id === id);
    fc.assert(
      fc.property(list, list, fc.option(list), (ours, theirs, before) => {
        const merged = new Set(issues({ ours, theirs, base: before }).map(({ linear_id }) => linear_id));
        for (const { linear_id: id } of [...ours, ...theirs]) {
          const [mine, yours, old] = [find(ours, id), find(theirs, id), find(before, id)];
          const isTakenOut =
            (!mine || !yours) && old !== undefined && keyText(mine ?? yours) === keyText(old);
          expect(merged.has(id)).toBe(!isTakenOut);
        }
        expect([...merged].every((id) => find(ours, id) ?? find(theirs, id))).toBe(true);
      }),
    );
  });
});
