import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeDocument, encodeDocument } from '../../src/core/schema.js';
import {
  countStatuses,
  FEATURE,
  FEATURES,
  Feature,
  judged,
  planEdit,
  planFeature,
  planRemove,
  STATUSES,
} from '../../src/feature/rules.js';
import { failure } from '../support/failure.js';

const now = '2026-03-01T10:00:00.000Z';
const feature = (id: string, change: Partial<Feature> = {}): Feature => ({
  id,
  name: id,
  status: 'not_implemented',
  ...change,
});
const proven = feature('A', {
  status: 'passing',
  tests: ['npm test'],
  verified_at: now,
  verified_commit: 'abc',
  verified_by: ['npm test'],
});

describe('a new feature', () => {
  it('FEA-01 starts as not implemented, with its date', () => {
    expect(
      planFeature([], 'A', { name: 'Login', tests: ['npm test'], priority: 2, linear_issue: 'SX9-1' }, now),
    ).toEqual({
      id: 'A',
      name: 'Login',
      status: 'not_implemented',
      created_at: now,
      tests: ['npm test'],
      priority: 2,
      linear_issue: 'SX9-1',
    });
  });

  it.each([
    ['A', 'Feature A already exists.'],
    ['a', 'Feature A already exists.'],
  ])('FEA-01 B-03 is refused as %j beside A', (id, message) => {
    expect(failure(() => planFeature([feature('A')], id, {}, now))).toMatchObject({
      exit: 2,
      code: 'feature.exists',
      message,
    });
  });

  it.each(['../x', '', 'CON', '-x'])('B-02 is refused with the id %j', (id) => {
    expect(failure(() => planFeature([], id, {}, now)).code).toBe('id.invalid');
  });
});

describe('editing a feature', () => {
  it.each<[string, Feature['blocked_by'], string[], Feature['blocked_by']]>([
    ['one id stays one id', 'X', ['Y'], 'Y'],
    ['a list stays a list', ['X'], ['Y'], ['Y']],
    ['a list stays a list when it is emptied', ['X'], [], []],
    ['one id becomes null when it is emptied', 'X', [], null],
    ['null becomes one id', null, ['Y'], 'Y'],
    ['null stays null', null, [], null],
    ['one id becomes a list when it must', 'X', ['Y', 'Z'], ['Y', 'Z']],
    ['none becomes one id', undefined, ['Y'], 'Y'],
  ])('FEA-01 keeps the form of blocked_by: %s', (_name, before, ids, after) => {
    expect(planEdit([feature('A', { blocked_by: before })], 'A', { blocked_by: ids }).blocked_by).toEqual(
      after,
    );
  });

  it.each([null, 'X', ['X'], []])(
    'FEA-01 leaves blocked_by %j as it is when something else changes',
    (blocked_by) => {
      expect(planEdit([feature('A', { blocked_by })], 'A', { name: 'New' })).toEqual({
        ...feature('A', { blocked_by }),
        name: 'New',
      });
    },
  );

  it.each<[string, Partial<Feature>]>([
    ['other tests', { tests: ['npm run other'] }],
    ['one test more', { tests: ['npm test', 'npm run other'] }],
    ['no tests', { tests: [] }],
  ])('FEA-03 drops a passing one to in_progress without evidence: %s', (_name, { tests }) => {
    expect(planEdit([proven], 'A', { tests })).toEqual({
      id: 'A',
      name: 'A',
      status: 'in_progress',
      tests,
    });
  });

  it('FEA-03 takes the status that is given with other tests', () => {
    expect(planEdit([proven], 'A', { tests: [], status: 'blocked' })).toMatchObject({
      status: 'blocked',
    });
  });

  it('FEA-03 keeps the evidence when the tests stay the same', () => {
    expect(planEdit([proven], 'A', { name: 'New', tests: ['npm test'], priority: 1 })).toEqual({
      ...proven,
      name: 'New',
      priority: 1,
    });
  });

  it.each(STATUSES.filter((status) => status !== 'passing'))(
    'FEA-03 clears the evidence when it becomes %s by hand',
    (status) => {
      const edited = planEdit([proven], 'A', { status });
      expect(edited).toEqual({ id: 'A', name: 'A', status, tests: ['npm test'] });
    },
  );

  it('FEA-03 never makes one passing, new or old', () => {
    const calls = [
      () => planEdit([feature('A')], 'A', { status: 'passing' }),
      () => planEdit([proven], 'A', { status: 'passing', tests: [] }),
      () => planFeature([], 'B', { status: 'passing' }, now),
    ];
    for (const call of calls) expect(failure(call)).toMatchObject({ exit: 3, code: 'feature.unproven' });
    expect(failure(calls[0] as () => unknown).hint).toBe(
      'forge done A\nforge feature edit A --status passing --reason "TEXT"   # for a person',
    );
  });

  it('FEA-01 leaves each field alone that an edit does not name', () => {
    const whole = feature('A', { priority: 2, linear_issue: 'ENG-1', tests: ['npm test'], blocked_by: 'B' });
    expect(JSON.stringify(planEdit([whole], 'A', { name: 'New' }))).toBe(
      JSON.stringify({ ...whole, name: 'New' }),
    );
    expect(planEdit([whole], 'A', { priority: 1 })).toEqual({ ...whole, priority: 1 });
    expect(planEdit([whole], 'A', { linear_issue: 'ENG-2' })).toEqual({ ...whole, linear_issue: 'ENG-2' });
  });

  it('FEA-03 keeps its evidence where the status it has is given again', () => {
    const twice = { ...proven, status: 'failing' as const };
    expect(planEdit([twice], 'A', { status: 'failing' })).toEqual(twice);
  });

  it('FEA-04 keeps unknown fields, and does not touch what it was given', () => {
    const before = { ...proven, category: 'ui', steps: [{ do: 'x' }] };
    const frozen = structuredClone(before);
    expect(planEdit([before], 'A', { tests: [] })).toMatchObject({ category: 'ui', steps: [{ do: 'x' }] });
    expect(before).toEqual(frozen);
  });

  it('B-03 is refused for an id that nobody has', () => {
    expect(failure(() => planEdit([proven], 'a', {}))).toMatchObject({
      code: 'feature.unknown',
      hint: 'Did you mean A?',
    });
  });
});

describe('a verified feature', () => {
  it('FEA-02 is passing with time, commit and commands', () => {
    const before = feature('A', { status: 'failing', tests: ['npm test'] });
    expect(judged(before, { ok: true, at: now, commit: 'abc', commands: ['npm test'] })).toEqual(proven);
  });

  it('FEA-02 is failing without evidence when a test fails', () => {
    expect(judged({ ...proven, extra: 1 }, { ok: false, at: now, commit: 'abc', commands: [] })).toEqual({
      id: 'A',
      name: 'A',
      status: 'failing',
      tests: ['npm test'],
      extra: 1,
    });
  });
});

describe('removing a feature', () => {
  it('FEA-01 takes it out and nothing else', () => {
    expect(planRemove([feature('A'), feature('B')], 'A').map(({ id }) => id)).toEqual(['B']);
  });

  it.each(['A', ['x', 'A']])('FEA-01 is refused while another waits for it in the form %j', (blocked_by) => {
    const error = failure(() => planRemove([feature('A'), feature('B', { blocked_by })], 'A'));
    expect(error).toMatchObject({ exit: 3, code: 'feature.needed', message: 'A blocks B.' });
    expect(error.hint).toBe('forge feature edit B --blocked-by none');
  });
});

describe('features.json', () => {
  it('FEA-04 comes back byte for byte, unknown fields and their order too', () => {
    const text = Buffer.from(
      '{\n  "note": "x",\n  "schema_version": "1.0",\n  "features": [\n    {\n      "category": "ui",\n      "status": "failing",\n      "id": "A",\n      "name": "a"\n    }\n  ]\n}\n',
    );
    expect(encodeDocument(decodeDocument(FEATURES, text, 'features.json').value).toString()).toBe(
      text.toString(),
    );
  });
});

describe('countStatuses', () => {
  it('FEA-01 counts each', () => {
    const all = [proven, feature('B'), feature('C'), feature('D', { status: 'blocked' })];
    expect(countStatuses(all)).toEqual({
      not_implemented: 2,
      in_progress: 0,
      failing: 0,
      passing: 1,
      blocked: 1,
    });
  });
});

describe('a feature list', () => {
  it('B-03 is refused as damaged when it has one id twice, case aside', () => {
    const bytes = encodeDocument({ schema_version: '1.0', features: [feature('A'), feature('a')] });
    const error = failure(() => decodeDocument(FEATURES, bytes, 'features.json'));
    expect(error).toMatchObject({ exit: 4, code: 'file.schema', details: { field: 'features', line: 3 } });
    expect(error.message).toContain('the id a stands twice');
  });
});

describe('the quick look at a feature', () => {
  const text = fc.oneof(fc.constantFrom('A', 'B', 'a b', '', 'passing', 'blocked'), fc.string());
  const anything = fc.oneof(
    text,
    fc.constant(null),
    fc.integer({ min: 0, max: 5 }),
    fc.array(text),
    fc.object(),
  );
  const field = fc.constantFrom(...Object.keys(Feature.shape), 'note', 'constructor');
  const some = fc.dictionary(field, anything);
  const likely = fc.record({
    id: fc.constantFrom('A', 'B', 'a'),
    name: text,
    status: fc.constantFrom(...STATUSES),
  });
  const one = fc.oneof(
    fc.tuple(likely, some).map(([a, b]) => ({ ...b, ...a })),
    some,
  );

  it('LAY-08 never lets anything through that the schema refuses', () => {
    let passed = 0;
    fc.assert(
      fc.property(one, (value) => {
        if (!FEATURE.isPlain?.(value)) return;
        passed++;
        expect(FEATURE.schema.safeParse(value).success, JSON.stringify(value)).toBe(true);
      }),
      { numRuns: 3000 },
    );
    expect(passed).toBeGreaterThan(100);
  });
});
