import { describe, expect, it } from 'vitest';
import { afterCycle, type LoopState, reachedLimit, resumed } from '../../src/cycle/rules.js';

const me = { pid: 1, started: '1', boot: 'b', host: 'h' };
const state = (change: Partial<LoopState> = {}): LoopState => ({
  schema_version: '1.0',
  holder: me,
  started_at: '2026-03-01T10:00:00.000Z',
  cycles: 0,
  failures: 0,
  by_classification: {},
  running: true,
  in_cycle: false,
  ...change,
});
const at = (seconds: number): number => Date.parse('2026-03-01T10:00:00.000Z') + seconds * 1000;

describe('a loop', () => {
  it('GOV-02 ends at the number of cycles, at its time, and at failures in a row', () => {
    expect(reachedLimit(state(), { max_failures: 3 }, at(1e6))).toBeNull();
    expect(reachedLimit(state({ cycles: 2 }), { max_cycles: 2, max_failures: 3 }, at(0))).toBe('max_cycles');
    expect(reachedLimit(state(), { max_time: 60, max_failures: 3 }, at(59))).toBeNull();
    expect(reachedLimit(state(), { max_time: 60, max_failures: 3 }, at(60))).toBe('max_time');
    // Sleeping past the end is of no use.
    expect(reachedLimit(state(), { max_time: 60, max_failures: 3 }, at(10), 50)).toBe('max_time');
    expect(reachedLimit(state({ failures: 3, cycles: 9 }), { max_cycles: 9, max_failures: 3 }, at(0))).toBe(
      'max_failures',
    );
  });

  it('GOV-02 counts failures in a row: a success begins again', () => {
    let now = state();
    for (const word of ['FAILURE', 'REGRESSION', 'PARTIAL_SUCCESS', 'GOVERNANCE_VIOLATION'] as const)
      now = afterCycle(now, word);
    expect([now.cycles, now.failures]).toEqual([4, 1]);
    expect(now.by_classification).toEqual({
      FAILURE: 1,
      REGRESSION: 1,
      PARTIAL_SUCCESS: 1,
      GOVERNANCE_VIOLATION: 1,
    });
  });

  it('GOV-02 resumed forgives the failures that stopped it, but not those before a kill, and leaves the pause out of its time', () => {
    const at = Date.parse('2026-03-01T11:00:00Z');
    const stopped = state({
      failures: 3,
      running: false,
      started_at: '2026-03-01T10:00:00Z',
      updated_at: '2026-03-01T10:01:00Z',
    });
    const again = resumed(stopped, me, at, 3);
    expect(again.failures).toBe(0);
    expect(resumed(stopped, me, at, 4).failures).toBe(3);
    expect(reachedLimit(again, { max_failures: 3, max_time: 90 }, at)).toBeNull();
    expect(reachedLimit(again, { max_failures: 3, max_time: 90 }, at + 31_000)).toBe('max_time');
    expect(resumed({ ...stopped, running: true }, me, at, 3).failures).toBe(3);
  });

  it('GOV-02 resumed counts a cycle that was cut off as the failure that it is', () => {
    const other = { ...me, pid: 2 };
    expect(resumed(state({ cycles: 4, running: false }), other, 0, 3)).toMatchObject({
      cycles: 4,
      failures: 0,
      holder: other,
    });
    expect(resumed(state({ cycles: 4, in_cycle: true }), other, 0, 3)).toMatchObject({
      cycles: 5,
      failures: 1,
      in_cycle: false,
      running: true,
    });
  });
});
