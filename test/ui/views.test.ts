import { describe, expect, it } from 'vitest';
import type { Feature, LogRow, Where } from '../../src/index.js';
import { kindOf } from '../../src/status/status.js';
import { csvLine, cycleSeries, featureSeries, listDecisions, memorySeries } from '../../src/ui/views.js';

const row = (change: Partial<LogRow>): LogRow => ({
  ...{ id: 'a'.repeat(64), tier: 'execution', n: 1, kind: 'cycle', at: '2026-03-01T10:00:00Z' },
  ...{ session: null, bytes: 100, text: '', ...change },
});

describe('what the page draws', () => {
  it('VIS-02 gives folders the kinds of RFC-9060 §8.2', () => {
    const kinds = {
      'memory/long-term/features.d': 'long-term',
      'memory/ledger': 'long-term',
      'memory/short-term': 'short-term',
      local: 'short-term',
      'memory/artifacts/code': 'artifacts',
      'linear/templates': 'linear',
      'git/checkpoints': 'git',
      'skills/release': 'other',
      memory: 'other',
    };
    expect(Object.fromEntries(Object.keys(kinds).map((path) => [path, kindOf(path)]))).toEqual(kinds);
  });

  it('VIS-02 counts cycles by what their evaluation says', () => {
    const rows = [
      row({ id: 'x1' }),
      row({ id: 'e1', tier: 'evaluation', execution: 'x1', classification: 'SUCCESS' }),
      row({ id: 'x2', at: '2026-03-03T10:00:00Z' }),
      row({ id: 'x3', at: 'no time' }),
    ];
    const { at, names, values } = cycleSeries(rows);
    expect(names).toEqual(['SUCCESS', 'not evaluated']);
    expect(values.map((line) => line.at(-1))).toEqual([1, 1]);
    expect(at[0]).toBeLessThanOrEqual(Date.parse('2026-03-01T10:00:00Z') / 1000);
    expect(at.length).toBeLessThanOrEqual(61);
    expect(values.every((line) => line.length === at.length)).toBe(true);
  });

  it('VIS-02 adds up sizes and features over any span, in at most 61 points', () => {
    const rows = [0, 1, 2000, 20_000].map((days) =>
      row({ at: new Date(days * 86_400_000).toISOString(), bytes: 10 }),
    );
    const memory = memorySeries(rows);
    expect(memory.at.length).toBeLessThanOrEqual(61);
    expect(memory.values[0]?.at(-1)).toBe(40);
    expect(memorySeries([])).toEqual({ at: [], names: ['bytes'], values: [[]] });
    const features: Feature[] = [
      {
        id: 'A',
        name: 'a',
        status: 'passing',
        created_at: '2026-03-01T10:00:00Z',
        verified_at: '2026-03-02T10:00:00Z',
      },
      { id: 'B', name: 'b', status: 'failing', created_at: '2026-03-01T11:00:00Z', verified_at: null },
    ];
    const now = Date.parse('2026-03-03T10:00:00Z');
    expect(featureSeries(features, [], now).values.map((line) => line.at(-1))).toEqual([2, 1]);
    // Both passed for some hours, and B failed again.
    const runs = [
      row({ at: '2026-03-01T12:00:00Z', passed: ['A', 'B', 'removed'] }),
      row({ at: '2026-03-01T15:00:00Z', failed: ['B'], passed: ['A'] }),
    ];
    const { values } = featureSeries(features, runs, now);
    expect(values.map((line) => [Math.max(...line), line.at(-1)])).toEqual([
      [2, 2],
      [2, 1],
    ]);
  });

  it('VIS-02 lists what only a person can settle, the most urgent first', () => {
    const where = {
      ...{ halted: 'a record is missing', recovering: true, paused: null },
      waiting: ['1 note for somebody: forge note list --waiting'],
    } as Where;
    const open = { id: 'kfr-1', kind: 'OpenQuestion', text: 'Which?', requires_resolution: true } as const;
    const goal = { id: 'kfr-2', kind: 'Goal', text: 'Go', requires_resolution: false } as const;
    const entries = [open, goal].map((entry) => ({ ...entry, created_at: '' }));
    const found = listDecisions(where, entries, []);
    expect(found.at(-1)?.what).toBe('1 note for somebody');
    expect(found.map(({ commands }) => commands[0])).toEqual([
      'forge memory verify',
      'forge recover',
      'forge kfr patch --resolve "kfr-1=TEXT"',
      'forge note list --waiting',
    ]);
  });

  it('B-100 writes no cell that a spreadsheet would run', () => {
    expect(csvLine(["=cmd|' /C calc'!A0", '+1', '-1', '@x', '\tx', '\rx', 'a=b', -5, null])).toBe(
      `'=cmd|' /C calc'!A0,'+1,'-1,'@x,'\tx,"'\rx",a=b,-5,\r\n`,
    );
    expect(csvLine(['a "b", c', 'two\nlines'])).toBe('"a ""b"", c","two\nlines"\r\n');
  });
});
