import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyText } from '../../src/doctor/merge-fields.js';
import { type Feature, features } from '../support/conflict-samples.js';

const FIELDS = {
  name: fc.constantFrom('a', 'b'),
  priority: fc.constantFrom(1, 2, 3),
  tests: fc.subarray(['t1', 't2']),
};
const plainFeature = fc.record({
  ...FIELDS,
  status: fc.constantFrom('not_implemented', 'in_progress', 'failing', 'blocked'),
});
const provenFeature = fc.record({
  ...FIELDS,
  status: fc.constant('passing'),
  verified_at: fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'),
  verified_commit: fc.constantFrom('abc', 'def'),
});
const list = fc
  .uniqueArray(fc.tuple(fc.constantFrom('A', 'B', 'C', 'D'), fc.oneof(plainFeature, provenFeature)), {
    selector: ([id]) => id,
  })
  .map((all) => all.map(([id, rest]) => ({ ...rest, id }) as Feature));
const sides = fc.record({ ours: list, theirs: list, base: fc.option(list) });

const sorted = (all: Feature[]): string[] =>
  all.map((one) => keyText({ ...one, name: '', tests: [...one.tests].sort() })).sort();
const find = (all: Feature[] | null, id: string): Feature | undefined => all?.find((one) => one.id === id);
const proof = (one: Feature | undefined): string =>
  keyText([one?.status, one?.verified_at, one?.verified_commit]);

describe('merging', () => {
  it('LAY-09 the same on both sides is left as it is', () => {
    fc.assert(
      fc.property(list, fc.option(list), (same, base) => {
        expect(features({ ours: same, theirs: same, base })).toEqual(same);
      }),
    );
  });

  it('LAY-09 merging again changes nothing', () => {
    fc.assert(
      fc.property(sides, ({ ours, theirs, base }) => {
        const merged = features({ ours, theirs, base });
        expect(features({ ours: merged, theirs: merged, base })).toEqual(merged);
      }),
    );
  });

  it('LAY-09 comes out the same from either side, names and order aside, which are ours', () => {
    fc.assert(
      fc.property(sides, fc.boolean(), ({ ours, theirs, base }, isSure) => {
        expect(sorted(features({ ours, theirs, base }, isSure))).toEqual(
          sorted(features({ ours: theirs, theirs: ours, base }, isSure)),
        );
      }),
    );
  });

  it('LAY-09 never loses an id that a side has changed or added, and brings none that neither has', () => {
    fc.assert(
      fc.property(sides, ({ ours, theirs, base }) => {
        const merged = new Set(features({ ours, theirs, base }).map(({ id }) => id));
        for (const { id } of [...ours, ...theirs]) {
          const [one, other, before] = [find(ours, id), find(theirs, id), find(base, id)];
          const isTakenOut =
            (!one || !other) && before !== undefined && keyText(one ?? other) === keyText(before);
          expect(merged.has(id)).toBe(!isTakenOut);
        }
        expect([...merged].every((id) => find(ours, id) ?? find(theirs, id))).toBe(true);
      }),
    );
  });

  it('LAY-09 never makes a feature pass that a side does not prove, by one run, for the tests that it has', () => {
    fc.assert(
      fc.property(sides, fc.boolean(), ({ ours, theirs, base }, isSure) => {
        for (const one of features({ ours, theirs, base }, isSure).filter(
          ({ status }) => status === 'passing',
        )) {
          const both = [find(ours, one.id), find(theirs, one.id)];
          const prover = both.find(
            (side) => proof(side) === proof(one) && keyText(side?.tests) === keyText(one.tests),
          );
          expect(prover).toBeDefined();
          const other = both.find((side) => side !== prover) ?? prover;
          const isUntouched = isSure && proof(other) === proof(find(base, one.id));
          expect(other?.status === 'passing' || isUntouched).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
