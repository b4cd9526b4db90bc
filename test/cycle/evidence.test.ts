import { describe, expect, it } from 'vitest';
import {
  boundEvidence,
  boundTexts,
  CycleInput,
  type Evidence,
  evaluationBody,
} from '../../src/learning/evaluation.js';
import { formatRecord } from '../../src/ledger/record.js';

const run = (exit_code: number | null, word = 'true'): Evidence => ({
  feature: 'A',
  argv: [word],
  exit_code,
  duration_ms: 1,
  tree: null,
  output_bytes: 0,
  output_sha256: 'e'.repeat(64),
});

describe('boundEvidence', () => {
  it('GOV-03 keeps evidence that fits in order', () => {
    const runs = [run(0), run(1), run(null), run(0)];
    expect(boundEvidence(runs)).toEqual({ evidence: runs });
  });

  it('GOV-03 keeps failures first, and the count of the rest', () => {
    const runs = Array.from({ length: 1200 }, (_, i) => run(i % 400 === 399 ? 1 : 0, `t${i}`));
    const { evidence, evidence_left_out } = boundEvidence(runs);
    expect(evidence.length).toBe(500);
    expect(evidence.slice(0, 4).map(({ argv }) => argv[0])).toEqual(['t399', 't799', 't1199', 't0']);
    expect(evidence_left_out).toBe(700);
  });

  it('GOV-03 LTM-02 makes a record that can be written, of thousands of features', () => {
    const many = Array.from({ length: 5000 }, (_, i) => `regression of feature ${'x'.repeat(64)}-${i}`);
    const input: CycleInput = {
      task_id: 'A',
      exit_code: 0,
      governance_violations: boundTexts(many),
      regression_flags: boundTexts(many),
      ...boundEvidence(many.map((name) => run(1, `npm test -- ${name.repeat(3)}`))),
    };
    expect(CycleInput.safeParse(input).success).toBe(true);
    const { tier, ...body } = evaluationBody(input, 'k', 1, '0'.repeat(64));
    const seen = Array.from({ length: 64 }, () => '0'.repeat(64));
    formatRecord({ v: 1, tier, n: 1, seg: '00000000', prev: null, seen }, body);
  });
});

describe('boundTexts', () => {
  it('GOV-03 ends with the count of the rest', () => {
    const texts = Array.from({ length: 1500 }, (_, i) => `feature ${i}`);
    expect(boundTexts(texts).length).toBe(501);
    expect(boundTexts(texts).at(-1)).toBe('and 1000 more');
    expect(boundTexts(texts.slice(0, 500))).toEqual(texts.slice(0, 500));
  });
});
