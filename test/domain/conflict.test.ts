import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyText } from '../../src/domain/conflict/fields.js';
import { mergeProgress } from '../../src/domain/conflict/progress.js';
import { conflictLines, type Sides, sidesOf } from '../../src/domain/conflict/sides.js';
import { mergeState, type StateName } from '../../src/domain/conflict/state.js';
import { formatJson } from '../../src/domain/json.js';

interface Feature {
  id: string;
  status: string;
  tests: string[];
  [field: string]: unknown;
}

const bytes = (value: unknown): Buffer => Buffer.from(formatJson(value));

/** Merged as the file is; `isSure` says that the base is git's. */
function merge<T>(name: StateName, sides: Sides<object>, isSure = true) {
  const { ours, theirs, base } = sides;
  const merged = mergeState(
    name,
    { ours: bytes(ours), theirs: bytes(theirs), base: base && bytes(base) },
    'file',
    isSure,
  );
  return { value: JSON.parse(merged.bytes.toString('utf8')) as T, choices: merged.choices };
}

const features = (sides: Sides<Feature[]>, isSure = true): Feature[] => {
  const file = (list: Feature[]): object => ({ schema_version: '1.0', features: list });
  const { ours, theirs, base } = sides;
  return merge<{ features: Feature[] }>(
    'features',
    { ours: file(ours), theirs: file(theirs), base: base && file(base) },
    isSure,
  ).value.features;
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

/** Of one feature that all sides have; `null`: there is no base. */
const one = (ours: Feature, theirs: Feature, base: Feature | null = null, isSure = true): Feature =>
  features({ ours: [ours], theirs: [theirs], base: base && [base] }, isSure)[0] as Feature;

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
    const older = passing({ verified_at: '2026-01-01T00:00:00.000Z', verified_commit: 'old', override: 'x' });
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

describe('records', () => {
  const [a, b, c] = ['A', 'B', 'C'].map((id) => feature({ id })) as [Feature, Feature, Feature];
  const ids = (list: Feature[]): string[] => list.map(({ id }) => id);

  it('LAY-09 deleted by one side are gone only where the other left them as they were', () => {
    expect(ids(features({ ours: [a], theirs: [a, b], base: [a, b] }))).toEqual(['A']);
    const changed = { ...b, name: 'changed' };
    expect(features({ ours: [a], theirs: [a, changed], base: [a, b] })).toEqual([a, changed]);
    expect(ids(features({ ours: [a], theirs: [a, b], base: null }))).toEqual(['A', 'B']);
  });

  it('LAY-09 keep the order of ours; what theirs added follows what it follows there', () => {
    expect(ids(features({ ours: [c, a], theirs: [a, b, c], base: [a, c] }))).toEqual(['C', 'A', 'B']);
    expect(ids(features({ ours: [a, b], theirs: [a, c], base: [a] }))).toEqual(['A', 'B', 'C']);
    expect(ids(features({ ours: [a], theirs: [b, a], base: [a] }))).toEqual(['B', 'A']);
  });

  it('LAY-09 ids that differ in case alone are refused, not mixed', () => {
    expect(() => features({ ours: [a], theirs: [feature({ id: 'a' })], base: [] })).toThrow(/stands twice/);
  });

  it('LAY-09 knowledge is told apart by what it says, whatever its case', () => {
    const file = (invariants: string[], at: string): object => ({
      schema_version: '1.0',
      patterns: { successful: [{ context: 'CI', approach: 'use port 0', learned_at: at }], failed: [] },
      invariants,
    });
    const { value, choices } = merge('knowledge', {
      ours: file(['Ids are stable.', 'mine'], '2026-02-01T00:00:00Z'),
      theirs: file(['ids are  stable', 'yours'], '2026-01-01T00:00:00Z'),
      base: null,
    });
    expect(value).toEqual(file(['Ids are stable.', 'mine', 'yours'], '2026-01-01T00:00:00Z'));
    expect(choices.map(({ id, field }) => [id, field])).toContainEqual(['CI', 'learned_at']);
  });
});

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

describe('conflict markers', () => {
  const text = (...hunks: string[]): string => `[\n${hunks.join('"x",\n')}]\n`;
  const plain = '<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> other\n';
  const three = '<<<<<<< HEAD\n1\n||||||| abc\n0\n=======\n2\n>>>>>>> other\n';

  it('LAY-09 give both sides in each style, several hunks, LF or CRLF; the base where all hunks have it', () => {
    expect(sidesOf(text(plain))).toEqual({ ours: '[\n1\n]\n', theirs: '[\n2\n]\n', base: null });
    expect(sidesOf(text(three))).toEqual({ ours: '[\n1\n]\n', theirs: '[\n2\n]\n', base: '[\n0\n]\n' });
    expect(sidesOf(text(three, three))?.base).toBe('[\n0\n"x",\n0\n]\n');
    expect(sidesOf(text(three, plain))?.base).toBeNull();
    expect(sidesOf(text(three).replaceAll('\n', '\r\n'))?.ours).toBe('[\r\n1\r\n]\r\n');
  });

  it('LAY-09 are as long as the attribute conflict-marker-size says', () => {
    const long = plain.replace(/[<=>]{7}/g, (marker) => marker + marker);
    expect(conflictLines(text(long))).toEqual({ from: 2, to: 6 });
    expect(sidesOf(text(long))).toEqual({ ours: '[\n1\n]\n', theirs: '[\n2\n]\n', base: null });
  });

  it('LAY-09 that stand in one another or do not pair up give none', () => {
    expect(sidesOf(text(`<<<<<<< HEAD\n${plain}=======\n2\n>>>>>>> other\n`))).toBeNull();
    expect(sidesOf(text('<<<<<<< HEAD\n1\n'))).toBeNull();
    expect(sidesOf(text('=======\n'))).toBeNull();
    expect(sidesOf('{}')).toBeNull();
  });

  it('LAY-09 within a text, or longer ones, are none', () => {
    expect(conflictLines('{ "a": "<<<<<<< HEAD\\n=======\\n>>>>>>> x" }')).toBeNull();
    expect(conflictLines('  <<<<<<< HEAD\n  >>>>>>> x\n')).toBeNull();
    expect(conflictLines('<<<<<<< HEAD\n>>>>>>>>> x\n')).toBeNull();
    expect(conflictLines(text(plain))).toEqual({ from: 2, to: 6 });
  });
});

describe('progress of two sides', () => {
  const log = (...lines: string[]): string => `=== FORGE Session 2026-03-01 ===\n\n${lines.join('\n')}\n`;

  it('LAY-09 is every line once, by time, past midnight as well', () => {
    const ours = log('[22:00] begun', '[23:50] late', '[00:10] ours', '', 'NEXT: go on');
    const theirs = log(
      '[22:00] begun',
      '[23:55] theirs',
      '        more of it',
      '[00:20] end',
      '',
      'NEXT: stop',
    );
    expect(mergeProgress({ ours, theirs, base: null })?.text).toBe(
      log(
        '[22:00] begun',
        '[23:50] late',
        '[00:10] ours',
        '[23:55] theirs',
        '        more of it',
        '[00:20] end',
        '',
        'NEXT: stop',
      ),
    );
  });

  it('LAY-09 is no line twice, none lost, and keeps what one line stood behind in the other', () => {
    const ours = log('[10:00] a', '[10:05] x', '[10:05] x', '[10:10] b', '[10:11] ours');
    const theirs = log('[10:00] a', '[10:03] theirs', '[10:05] x', '[10:10] b', '[10:12] end');
    const merged = log(
      ...[
        '[10:00] a',
        '[10:03] theirs',
        '[10:05] x',
        '[10:05] x',
        '[10:10] b',
        '[10:11] ours',
        '[10:12] end',
      ],
    );
    const lines = { id: null, field: 'lines', ours: 5, theirs: 5, value: 7, why: 'both: 2 more than ours' };
    expect(mergeProgress({ ours, theirs, base: null })).toEqual({ text: merged, choices: [lines] });
    expect(mergeProgress({ ours: theirs, theirs: ours, base: null })?.text).toBe(merged);
    expect(mergeProgress({ ours, theirs: ours, base: null })).toEqual({ text: ours, choices: [] });
  });

  it('LAY-09 keeps the one NEXT that there is, and the one date', () => {
    const [early, late] = [log('[10:00] a', '', 'NEXT: go on'), log('[10:00] a', '[10:05] b')];
    for (const [ours, theirs] of [
      [early, late],
      [late, early],
    ] as const)
      expect(mergeProgress({ ours, theirs, base: null })).toMatchObject({
        text: log('[10:00] a', '[10:05] b', '', 'NEXT: go on'),
      });
    const undated = '[10:05] b\n';
    expect(mergeProgress({ ours: undated, theirs: early, base: null })?.text).toMatch(/2026-03-01/);
    const other = log('[10:00] a', '', 'NEXT: stop');
    expect(mergeProgress({ ours: early, theirs: other, base: null })).toEqual({
      text: early,
      choices: [
        {
          id: null,
          field: 'next',
          ours: 'go on',
          theirs: 'stop',
          value: 'go on',
          why: 'of whoever wrote last',
        },
      ],
    });
  });

  it('LAY-09 is left to a person where something else stands there', () => {
    const [strange, whole] = [log('a word'), log('[10:00] x')];
    expect(mergeProgress({ ours: strange, theirs: whole, base: null })).toBeNull();
    expect(mergeProgress({ ours: whole, theirs: strange, base: null })).toBeNull();
  });
});
