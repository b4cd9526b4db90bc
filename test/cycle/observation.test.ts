import { describe, expect, it } from 'vitest';
import { parseObservations } from '../../src/cycle/builder.js';

const none = (): null => null;

describe('parseObservations', () => {
  it('GOV-01 reads patterns, confirmations, proposals and signals, one a line', () => {
    const text = [
      '{"pattern":"npm ci needs a lock file","scope":"environment"}',
      '',
      '{"pattern":"retry helps","scope":"execution","holds":false}',
      '{"pattern":"tests need port 0"}',
      '{"confirm":"C-317"}',
      '{"proposal":"cache the build"}',
      '{"signal":{"coverage":81.5,"flaky":false}}\r',
    ].join('\n');
    expect(parseObservations(text, none)).toEqual({
      patterns: [
        { pattern: 'npm ci needs a lock file', scope: 'environment' },
        { pattern: 'retry helps', scope: 'execution', holds: false },
        { pattern: 'tests need port 0', scope: 'execution' },
      ],
      confirmed: ['C-317'],
      proposals: ['cache the build'],
      signals: { coverage: 81.5, flaky: false },
      problems: [],
    });
  });

  it.each([
    ['{"pattern":"x","scope":"world"}', /line 1: scope/],
    ['{"pattern":"x","scope":"execution","extra":1}', /line 1: .*extra/],
    ['{"signal":{"a":[1]}}', /line 1: signal/],
    ['{"note":"x"}', /line 1: found none of/],
    ['[1]', /line 1: found none of/],
    ['null', /line 1: found none of/],
    ['{"proposal":', /line 1: /],
    ['{"proposal":"a","__proto__":1}', /line 1: /],
    [`{"proposal":"${'x'.repeat(2001)}"}`, /line 1: proposal/],
  ])('GOV-01 rejects %s with the reason', (line, problem) => {
    const { problems, ...taken } = parseObservations(`${line}\n{"proposal":"kept"}`, none);
    expect(problems).toEqual([expect.stringMatching(problem)]);
    expect(taken).toEqual({ patterns: [], proposals: ['kept'], signals: {}, confirmed: [] });
  });

  it('GOV-01 reads at most 100 lines, and the guard checks each', () => {
    const many = parseObservations('{"proposal":"p"}\n'.repeat(103), none);
    expect([many.proposals.length, many.problems]).toEqual([
      100,
      ['observations: 3 lines after the first 100 left out'],
    ]);
    const refused = parseObservations('{"proposal":"p"}', () => 'refused by the guard');
    expect([refused.proposals, refused.problems]).toEqual([
      [],
      ['observations, line 1: refused by the guard'],
    ]);
  });
});
