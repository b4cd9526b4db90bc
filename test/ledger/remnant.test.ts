import { describe, expect, it } from 'vitest';
import { LATE_WRITE } from '../../src/learning/evaluation.js';
import type { LedgerRecord } from '../../src/ledger/rules/record.js';
import { gatherTexts, matchTexts } from '../../src/ledger/rules/remnant.js';

const ID = 'a'.repeat(64);
const of = (fields: object): LedgerRecord =>
  ({ v: 1, tier: 'evaluation', n: 7, prev: ID, seen: [ID], kind: 'cycle', ...fields }) as LedgerRecord;

describe('the text of a redacted record', () => {
  it('LTM-19 is what somebody wrote, not what forge fills itself', () => {
    const sought = gatherTexts([
      of({
        at: '2026-03-01T10:00:00.000Z',
        key: '0123456789abcdef',
        execution: ID,
        classification: 'PARTIAL_SUCCESS',
        governance_violations: [LATE_WRITE, 'It wrote memory.'],
        patterns: [
          { pattern: 'Retry  the\tinstall!', scope: 'environment', holds: true },
          { pattern: 'short' },
        ],
        evidence: [{ argv: ['npm', 'run test:portal'], tree: 'b'.repeat(40), output_sha256: ID }],
        quality_signals: { host: 'portal.internal' },
        stages: [{ name: 'execution', note: 'there is no init.sh' }],
      }),
    ]);
    expect(sought.texts.sort()).toEqual(
      ['it wrote memory', 'portal.internal', 'retry the install', 'run test:portal'].sort(),
    );
    expect(gatherTexts([of({ tier: 'knowledge', evidence: [ID], evidence_cycles: [1] })]).texts).toEqual([]);
  });

  it.each<[string, object, string[]]>([
    ['inside of another text, written otherwise', { text: 'see: RETRY the\u00a0Install now' }, ['text']],
    ['as a line of a log', { log: { tail: 'x\nretry the install\ny' } }, ['log']],
    ['a line of it, inside of a text', { reason: 'it said: second line here' }, ['reason']],
    ['in nothing', { text: 'retry another install' }, []],
  ])('LTM-19 is found %s', (_, fields, expected) => {
    const sought = gatherTexts([
      of({ text: 'Retry the install', log: { tail: 'first\nSecond line here\n' } }),
    ]);
    expect(matchTexts(of(fields), sought).fields).toEqual(expected);
  });
});
