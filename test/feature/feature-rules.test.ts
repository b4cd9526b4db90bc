import { describe, expect, it } from 'vitest';
import { decodeDocument, encodeDocument } from '../../src/core/schema.js';
import {
  checkRemoval,
  type Feature,
  planEdit,
  planFeature,
  requireFeature,
} from '../../src/feature/rules.js';
import { FEATURES } from '../../src/feature/store.js';
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

describe('editing a feature', () => {
  it.each<[string, Feature['blocked_by'], string[], Feature['blocked_by']]>([
    ['one id stays one id', 'X', ['Y'], 'Y'],
    ['a list stays a list', ['X'], ['Y'], ['Y']],
    ['a list stays a list when it is emptied', ['X'], [], []],
    ['one id becomes null when it is emptied', 'X', [], null],
    ['null becomes one id', null, ['Y'], 'Y'],
    ['null stays null', null, [], null],
    ['one id becomes a list for several ids', 'X', ['Y', 'Z'], ['Y', 'Z']],
    ['a missing field becomes one id', undefined, ['Y'], 'Y'],
  ])('FEA-01 keeps the form of blocked_by: %s', (_name, before, ids, after) => {
    expect(planEdit([feature('A', { blocked_by: before })], 'A', { blocked_by: ids }).blocked_by).toEqual(
      after,
    );
  });

  it.each([null, 'X', ['X'], []])('FEA-01 leaves blocked_by %j as it is in other changes', (blocked_by) => {
    expect(planEdit([feature('A', { blocked_by })], 'A', { name: 'New' })).toEqual({
      ...feature('A', { blocked_by }),
      name: 'New',
    });
  });

  it('FEA-03 uses the status given together with other tests', () => {
    expect(planEdit([proven], 'A', { tests: [], status: 'blocked' })).toMatchObject({ status: 'blocked' });
  });

  it('FEA-03 keeps the evidence when the same status is given again', () => {
    const twice = { ...proven, status: 'failing' as const };
    expect(planEdit([twice], 'A', { status: 'failing' })).toEqual(twice);
  });

  it.each([
    ['x', 'forge ls'],
    ['A-', 'Did you mean A-1?'],
    ['A-2', 'forge ls'],
  ])('FEA-06 refuses the unknown id %j with a hint', (id, hint) => {
    expect(failure(() => planEdit([feature('A-1')], id, {}))).toMatchObject({
      exit: 2,
      code: 'feature.unknown',
      hint,
    });
  });

  it('FEA-06 matches ids without case, and shows an unknown one with its escapes visible', () => {
    expect(requireFeature([proven], 'a')).toBe(proven);
    const { message } = failure(() => requireFeature([proven], 'a\u202eb'));
    expect(message).toBe('There is no feature "a<U+202E>b".');
  });
});

describe('removing a feature', () => {
  it.each([
    ['A', 'none'],
    [['x', 'A'], 'x'],
    [['x', 'A', 'y'], 'x --blocked-by y'],
  ])('FEA-01 is refused while another feature is blocked by it, in the form %j', (blocked_by, rest) => {
    const error = failure(() => checkRemoval([feature('A'), feature('B', { blocked_by })], 'A'));
    expect(error).toMatchObject({ exit: 3, code: 'feature.needed', message: 'A blocks B.' });
    expect(error.hint).toBe(`forge feature edit B --blocked-by ${rest}`);
  });
});

describe('a feature list', () => {
  it('B-03 is damaged when two ids differ only in case', () => {
    const bytes = encodeDocument({ schema_version: '1.0', features: [feature('A'), feature('a')] });
    const error = failure(() => decodeDocument(FEATURES, bytes, 'features.json'));
    expect(error).toMatchObject({ exit: 4, code: 'file.schema', details: { field: 'features', line: 3 } });
    expect(error.message).toContain('the id a is used twice');
  });
});

describe('cycles of blocked_by', () => {
  const chain = [feature('A'), feature('B', { blocked_by: 'A' }), feature('C', { blocked_by: ['x', 'B'] })];

  it.each([
    ['A', ['A'], 'A waits for A'],
    ['A', ['B'], 'B waits for A'],
    ['A', ['C'], 'B waits for A'],
  ])('FEA-01 %s blocked by %j is refused with who waits already', (id, blocked_by, why) => {
    const error = failure(() => planEdit(chain, id, { blocked_by }));
    expect(error).toMatchObject({ exit: 2, code: 'feature.cycle', details: { field: 'blocked_by' } });
    expect(error.message).toBe(`blocked_by has a cycle: ${why}.`);
  });

  it('FEA-01 a new feature that others already wait for can close one', () => {
    expect(failure(() => planFeature(chain, 'x', { blocked_by: ['C'] }, now)).message).toContain(
      'C waits for x',
    );
  });

  it('FEA-01 two paths to one feature are no cycle', () => {
    const diamond = [...chain, feature('D', { blocked_by: ['A', 'B'] })];
    expect(planEdit(diamond, 'C', { blocked_by: ['D', 'B', 'A'] }).blocked_by).toEqual(['D', 'B', 'A']);
  });

  it('FEA-01 visits each feature once, in a chain of 20,000 and if hundreds wait for all before them', () => {
    const ids = Array.from({ length: 400 }, (_, n) => `F-${n}`);
    const all = ids.map((id, n) => feature(id, { blocked_by: ids.slice(0, n) }));
    // Following every path would never end.
    expect(planEdit(all, 'F-399', { name: 'x' }).name).toBe('x');
    expect(failure(() => planEdit(all, 'F-0', { blocked_by: ['F-399'] })).message).toContain(
      'F-399 waits for F-0',
    );
    const long = Array.from({ length: 20_000 }, (_, n) => feature(`F-${n}`, { blocked_by: `F-${n + 1}` }));
    expect(planEdit(long, 'F-0', { name: 'x' }).name).toBe('x');
  });
});
