import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { duplicateKey, type Patched } from '../../src/kfr/patch.js';
import { countKfr, type Kfr } from '../../src/kfr/rules.js';
import { EMPTY, LIMITS, patch } from '../support/patches.js';

/** Any operation: right, wrong, strange. */
const strange = fc.oneof(
  fc.constantFrom('', ' ', '- [ ] z', '```', 'a\nb', '\u0000', '\ud800'),
  fc.constantFrom('__proto__', 'constructor', 'x', 'X.', 'y'),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.integer({ min: 100, max: 300 }).map((length) => `${length}`.repeat(length).slice(0, length)),
);
const texty = fc.oneof(
  { weight: 5, arbitrary: fc.stringMatching(/^[a-zA-Z]{2,12}( [a-z]{2,9}){0,40}$/) },
  { weight: 1, arbitrary: strange },
);
const id = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: 1, max: 12 }).map((n) => `kfr-${n}`) },
  { weight: 1, arbitrary: strange },
);
const kinds = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('Goal', 'Plan', 'ActiveContract', 'Constraint', 'OpenQuestion') },
  { weight: 1, arbitrary: fc.constantFrom('Todo', 'open questions', '__proto__', '') },
);
const operation: fc.Arbitrary<unknown> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record(
      {
        op: fc.constantFrom('add', 'add', 'replace'),
        kind: kinds,
        text: texty,
        requires_resolution: fc.boolean(),
      },
      { requiredKeys: ['op', 'kind', 'text'] },
    ),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('remove'), id }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('resolve'), id, resolution: texty }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constantFrom('dismiss', 'park'), id, reason: texty }) },
  { weight: 1, arbitrary: fc.anything() },
  {
    weight: 1,
    arbitrary: fc.constant(JSON.parse('{"op":"add","kind":"Goal","text":"x","__proto__":{"a":1}}')),
  },
);
const patches = fc.array(fc.array(operation, { minLength: 1, maxLength: 3 }), { maxLength: 40, size: 'max' });

/** What holds at every moment (AGN-025). */
function expectSound({ entries, closed }: Kfr): void {
  for (const kind of ['Goal', 'Plan'])
    expect(entries.filter((entry) => entry.kind === kind).length).toBeLessThanOrEqual(1);
  const keys = entries.map(({ text }) => duplicateKey(text));
  expect(new Set(keys).size).toBe(keys.length);
  const ids = [...entries, ...closed].map((entry) => entry.id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { kind, text, requires_resolution } of entries) {
    if (kind === 'OpenQuestion') expect(requires_resolution).toBe(true);
    expect([...text].length).toBeLessThanOrEqual(LIMITS.characters);
    expect(text.trim()).toBe(text);
    expect(text.includes('\n') && kind !== 'Plan').toBe(false);
  }
  // A park is never refused for the few tokens of its mark.
  expect(countKfr(entries.map(({ parked: _, ...entry }) => entry))).toBeLessThanOrEqual(LIMITS.tokens);
  for (const { requires_resolution, kind, outcome, words } of closed) {
    if (requires_resolution || kind === 'OpenQuestion') {
      expect(['resolved', 'dismissed']).toContain(outcome);
      expect(words?.trim()).toBeTruthy();
    } else if (outcome === 'replaced') expect(['Goal', 'Plan']).toContain(kind);
  }
}

/** What one patch may have done to what was there. */
function expectStep(before: Kfr, { kfr, refusals, isMalformed }: Patched): void {
  if (refusals.length > 0) {
    expect(kfr).toBe(before);
    return;
  }
  expect(isMalformed).toBe(false);
  for (const entry of before.entries) {
    const still = kfr.entries.find(({ id: other }) => other === entry.id);
    const gone = kfr.closed.find(({ id: other }) => other === entry.id);
    expect([still, gone].filter((one) => one !== undefined)).toHaveLength(1);
    // Replaced, never amended.
    expect((still ?? gone)?.text).toBe(entry.text);
    expect((still ?? gone)?.kind).toBe(entry.kind);
    expect((still ?? gone)?.requires_resolution).toBe(entry.requires_resolution);
  }
  expect(kfr.last).toBeGreaterThanOrEqual(before.last);
  const old = new Set([...before.entries, ...before.closed].map((entry) => entry.id));
  for (const entry of kfr.entries)
    if (!old.has(entry.id)) expect(Number(entry.id.slice(4))).toBeGreaterThan(before.last);
}

describe('any sequence of patches', () => {
  it('KFR-01 KFR-02 KFR-05 KFR-06 KFR-07 KFR-08 breaks no rule of the lifecycle', () => {
    let [taken, refused] = [0, 0];
    fc.assert(
      fc.property(patches, (all) => {
        let kfr = EMPTY;
        for (const operations of all) {
          const frozen = JSON.stringify(kfr);
          const patched = patch(kfr, ...operations);
          expect(JSON.stringify(kfr)).toBe(frozen);
          expectStep(kfr, patched);
          if (patched.refusals.length > 0) refused++;
          else taken++;
          kfr = patched.kfr;
          expectSound(kfr);
        }
        expect(({} as { a?: number }).a).toBeUndefined();
      }),
      { numRuns: 300 },
    );
    // Both happened, often.
    expect([taken > 300, refused > 300]).toEqual([true, true]);
  });
});
