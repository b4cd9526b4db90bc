import { describe, expect, it } from 'vitest';
import { type Feature, planEdit, planFeature } from '../../src/feature/rules.js';
import { failure } from '../support/failure.js';

const now = '2026-03-01T10:00:00.000Z';
const feature = (id: string, change: Partial<Feature> = {}): Feature => ({
  id,
  name: id,
  status: 'not_implemented',
  ...change,
});

describe('circles of blocked_by', () => {
  const chain = [feature('A'), feature('B', { blocked_by: 'A' }), feature('C', { blocked_by: ['x', 'B'] })];

  it.each([
    ['A', ['A'], 'A → A'],
    ['A', ['B'], 'A → B → A'],
    ['A', ['C'], 'A → C → B → A'],
    ['A', ['x', 'C', 'B'], 'A → B → A'],
  ])('FEA-01 %s waiting for %j is refused with the way', (id, blocked_by, path) => {
    const error = failure(() => planEdit(chain, id, { blocked_by }));
    expect(error).toMatchObject({ exit: 2, code: 'feature.cycle', details: { field: 'blocked_by' } });
    expect(error.message).toBe(`blocked_by has a cycle: ${path}.`);
  });

  it('FEA-01 a new feature that others wait for already can close one', () => {
    expect(failure(() => planFeature(chain, 'x', { blocked_by: ['C'] }, now)).message).toContain('x → C → x');
  });

  it('FEA-01 two ways to one feature are none', () => {
    const diamond = [...chain, feature('D', { blocked_by: ['A', 'B'] })];
    expect(planEdit(diamond, 'C', { blocked_by: ['D', 'B', 'A'] }).blocked_by).toEqual(['D', 'B', 'A']);
  });

  it('FEA-01 hundreds that each wait for all before are each looked at once', () => {
    const ids = Array.from({ length: 400 }, (_, n) => `F-${n}`);
    const all = ids.map((id, n) => feature(id, { blocked_by: ids.slice(0, n) }));
    // Going all ways through them would never end.
    expect(planEdit(all, 'F-399', { name: 'x' }).name).toBe('x');
    expect(failure(() => planEdit(all, 'F-0', { blocked_by: ['F-399'] })).message).toContain(
      'F-0 → F-399 → F-0',
    );
  });

  it('FEA-01 a chain of 20,000 is no problem', () => {
    const all = Array.from({ length: 20_000 }, (_, n) => feature(`F-${n}`, { blocked_by: `F-${n + 1}` }));
    expect(planEdit(all, 'F-0', { name: 'x' }).name).toBe('x');
  });
});
