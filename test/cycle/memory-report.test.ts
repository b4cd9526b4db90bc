import { describe, expect, it } from 'vitest';
import { buildReport } from '../../src/learning/report.js';
import type { Identified } from '../../src/ledger/memory.js';
import type { LedgerRecord } from '../../src/ledger/record.js';

const at = (minute: number): string => `2026-03-01T10:${String(minute).padStart(2, '0')}:00.000Z`;
const record = (id: string, fields: object): Identified => ({ id, record: fields as LedgerRecord });

/** Cycle 1 ran from minute 0 to 10, cycle 2 from 20 to 30; cycle 3 was recorded at 40, when it was over. */
const executions = [
  [0, 10],
  [20, 30],
  [40, 40],
].map(([start = 0, end = 0], i) =>
  record(`e${i}`, { kind: 'cycle', cycle: i + 1, task_id: 'T', started_at: at(start), finished_at: at(end) }),
);
const breaches = [-1, 5, 25, 29, 35, 45].map((minute) =>
  record(`minute ${minute}`, { kind: 'breach', at: minute < 0 ? '2026-02-01T00:00:00.000Z' : at(minute) }),
);

describe('the report of a range', () => {
  it.each([
    [1, 1, [5]],
    [2, 2, [25, 29]],
    [3, 3, [35, 45]],
    [1, 2, [5, 25, 29]],
    [undefined, 1, [-1, 5]],
    [undefined, undefined, [-1, 5, 25, 29, 35, 45]],
  ])('LTM-15 of cycles %s to %s has what happened in them', (from, to, expected) => {
    const { breaches: found } = buildReport({
      executions,
      evaluations: [],
      knowledge: [],
      audit: breaches,
      from,
      to,
    });
    expect(found.map(({ id }) => id)).toEqual(expected.map((minute) => `minute ${minute}`));
  });

  it('LTM-15 of cycles that there are not has none of it', () => {
    const input = { executions, evaluations: [], knowledge: [], audit: breaches };
    expect(buildReport({ ...input, from: 7, to: 9 }).breaches).toEqual([]);
  });
});
