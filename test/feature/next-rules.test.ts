import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Feature, STATUSES } from '../../src/feature/rules.js';
import type { Unit } from '../../src/feature/tasks.js';
import { selectNext, taskLine } from '../../src/feature/tasks.js';

const feature = (id: string, change: Partial<Feature> = {}): Feature => ({
  id,
  name: `Name of ${id}`,
  status: 'not_implemented',
  created_at: '2026-01-02T00:00:00.000Z',
  ...change,
});
const issue = (linear_id: string, change: Partial<Unit> = {}): Unit => ({
  linear_id,
  title: `Title of ${linear_id}`,
  ...change,
});
const active = [issue('SX9-1')];
const linked = { linear_issue: 'SX9-1' };
const OLD = { created_at: '2026-01-01T00:00:00.000Z' };
const NEW = { created_at: '2026-01-03T00:00:00.000Z' };

describe('forge next', () => {
  it('SES-10 lists an active issue by itself unless an unfinished feature carries it', () => {
    const ids = (status: Feature['status']) =>
      selectNext([feature('A', { ...linked, status })], active).candidates.map(({ id }) => id);
    expect(ids('failing')).toEqual(['A']);
    expect(ids('passing')).toEqual(['SX9-1']);
  });

  it.each([
    ['started', 'in_progress'],
    ['in_progress', 'in_progress'],
    [null, 'not_implemented'],
  ])('SES-10 treats an issue in state %j as %s', (state, status) => {
    const reason = `unblocked, active issue SX9-1, ${status.replace('_', ' ')}`;
    const selection = selectNext([], [issue('SX9-1', { state, priority: 0 })]);
    expect(selection).toMatchObject({ task: { id: 'SX9-1', status }, source: 'linear', reason });
  });

  it('SES-10 treats priority 0 in Linear as none and 1 as the most urgent', () => {
    const issues = [
      issue('SX9-1', { priority: 0 }),
      issue('SX9-2', { priority: 4 }),
      issue('SX9-3', { priority: 1 }),
    ];
    expect(selectNext([], issues).candidates.map(({ id }) => id)).toEqual(['SX9-3', 'SX9-2', 'SX9-1']);
  });

  it('SES-10 does not depend on the order in the files', () => {
    const ids = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'];
    const one = fc.record({
      status: fc.constantFrom(...STATUSES),
      priority: fc.constantFrom(undefined, 1, 2),
      created_at: fc.constantFrom(undefined, OLD.created_at, NEW.created_at),
      linear_issue: fc.constantFrom(null, 'SX9-1', 'SX9-2'),
      blocked_by: fc.constantFrom(null, 'A', ['B', 'gone']),
    });
    const features = fc
      .array(one, { minLength: 8, maxLength: 8 })
      .map((all) => all.map((change, i) => feature(ids[i] ?? '', change)));
    const issues = [issue('SX9-1', { priority: 2 }), issue('SX9-2'), issue('SX9-3')];
    const shuffled = features.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: 8 })),
    );
    fc.assert(
      fc.property(shuffled, ([given, mixed]) => {
        expect(selectNext(mixed, issues.toReversed())).toEqual(selectNext(given, issues));
      }),
    );
  });
});

describe('taskLine', () => {
  it('SES-10 B-06 names the task in one line without control characters', () => {
    expect(taskLine({ id: 'A', title: 'Login\n\u001b[2Jworks' })).toBe('A: Login <U+001B>[2Jworks');
  });
});
