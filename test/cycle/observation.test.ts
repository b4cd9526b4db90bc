import { describe, expect, it } from 'vitest';
import { parseObservations } from '../../src/cycle/builder.js';

const none = (): null => null;

describe('parseObservations', () => {
  it.each([
    ['{"pattern":"x","scope":"world"}', /line 1: scope/],
    ['{"pattern":"x","scope":"execution","extra":1}', /line 1: .*extra/],
    ['{"confirm":[1]}', /line 1: confirm/],
    ['{"note":["x"]}', /line 1: note/],
    ['{"note":"x","pattern":"y"}', /line 1: .*pattern/],
    ['[1]', /line 1: /],
    ['null', /line 1: /],
    ['{"confirm":', /line 1: /],
    ['{"confirm":"a","__proto__":1}', /line 1: /],
    [`{"pattern":"${'x'.repeat(2001)}"}`, /line 1: pattern/],
  ])('GOV-01 rejects %s with the reason', (line, problem) => {
    const { problems, ...taken } = parseObservations(`${line}\n{"confirm":"kept"}`, none);
    expect(problems).toEqual([expect.stringMatching(problem)]);
    expect(taken).toEqual({ patterns: [], confirmed: ['kept'], notes: [] });
  });

  it('GOV-01 reads at most 100 lines, and the guard checks each', () => {
    const many = parseObservations('{"confirm":"p"}\n'.repeat(103), none);
    expect([many.confirmed.length, many.problems]).toEqual([
      100,
      ['observations: 3 lines after the first 100 left out'],
    ]);
    const refused = parseObservations('{"confirm":"p"}', () => 'refused by the guard');
    expect([refused.confirmed, refused.problems]).toEqual([
      [],
      ['observations, line 1: refused by the guard'],
    ]);
  });
});
