import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_TAIL_BYTES } from '../../src/core/text.js';
import {
  afterFailedWrite,
  CycleInput,
  evaluationBody,
  executionBody,
  isEvaluated,
} from '../../src/learning/evaluation.js';
import { recordId } from '../../src/ledger/record.js';

const NOW = '2026-03-01T10:00:00.000Z';
const draft = (input: CycleInput) => executionBody(input, 'k', NOW, 1);
const keptLog = (log: string) => draft({ task_id: 'A', exit_code: 0, log }).log;

describe('a cycle', () => {
  it('LTM-02 has the given number; times default to now', () => {
    expect(draft({ task_id: 'A', exit_code: null })).toEqual({
      tier: 'execution',
      kind: 'cycle',
      key: 'k',
      cycle: 1,
      task_id: 'A',
      exit_code: null,
      started_at: NOW,
      finished_at: NOW,
    });
  });

  it('LTM-02 accepts the end, the length and the digest of a log', () => {
    const log = { tail: 'the end\n', bytes: 2 ** 30, sha256: 'a'.repeat(64) };
    expect(draft(CycleInput.parse({ task_id: 'A', exit_code: 0, log })).log).toEqual(log);
    for (const wrong of [
      { ...log, tail: 'x'.repeat(4097) },
      { ...log, sha256: 'a' },
      { ...log, bytes: -1 },
    ])
      expect(CycleInput.safeParse({ task_id: 'A', exit_code: 0, log: wrong }).success).toBe(false);
  });

  it('LTM-02 keeps the last 4 KiB of its log in whole characters, and the digest of the whole', () => {
    const text = fc.array(fc.constantFrom('a', 'é', '€', '😀', '\n'), { minLength: 1000, maxLength: 5000 });
    expect(keptLog('')).toMatchObject({ tail: '', bytes: 0 });
    fc.assert(
      fc.property(text, (characters) => {
        const log = characters.join('');
        const size = Buffer.byteLength(log);
        const { tail, bytes, sha256 } = keptLog(log) as { tail: string; bytes: number; sha256: string };
        expect([bytes, sha256]).toEqual([size, recordId(log)]);
        expect(log.endsWith(tail)).toBe(true);
        expect(tail.isWellFormed()).toBe(true);
        const kept = Buffer.byteLength(tail);
        expect(kept).toBeLessThanOrEqual(MAX_TAIL_BYTES);
        expect(kept).toBeGreaterThan(Math.min(size, MAX_TAIL_BYTES) - 4);
      }),
      { numRuns: 30 },
    );
  });

  it('LTM-02 is evaluated if any judgement is given; missing ones are null or empty', () => {
    const plain: CycleInput = { task_id: 'A', exit_code: 0 };
    expect(isEvaluated(plain)).toBe(false);
    expect(isEvaluated({ ...plain, environment_valid: false })).toBe(true);
    expect(evaluationBody(plain, 'k', 4, 'e').patterns).toEqual([]);
    const patterns: CycleInput['patterns'] = [{ pattern: 'p', scope: 'execution' }];
    expect(evaluationBody({ ...plain, patterns }, 'k', 4, 'e')).toEqual({
      tier: 'evaluation',
      kind: 'cycle',
      key: 'k',
      cycle: 4,
      execution: 'e',
      task_id: 'A',
      classification: null,
      environment_valid: null,
      governance_violations: [],
      quality_signals: {},
      regression_flags: [],
      improvement_proposals: [],
      patterns: [{ pattern: 'p', scope: 'execution', holds: true }],
    });
  });

  it('LTM-02 GOV-03 keeps its stages, and what forge ran to judge it', () => {
    const stages: CycleInput['stages'] = [
      { name: 'build', status: 'failed', duration_ms: 7, note: 'exit 1' },
    ];
    const ran = { argv: ['npm', 'test'], exit_code: 0, duration_ms: 1, tree: null, output_bytes: 0 };
    const evidence = [{ ...ran, output_sha256: 'e'.repeat(64) }];
    const input: CycleInput = { task_id: 'A', exit_code: 0, stages, evidence, evidence_left_out: 2 };
    expect(draft(input)).toMatchObject({ stages });
    expect(evaluationBody(input, 'k', 4, 'e')).toMatchObject({ evidence, evidence_left_out: 2 });
  });

  it.each([
    ['SUCCESS', 'FAILURE'],
    ['REGRESSION', 'FAILURE'],
    ['GOVERNANCE_VIOLATION', 'GOVERNANCE_VIOLATION'],
  ] as const)('LTM-16 a %s whose first write failed is a %s without patterns', (classification, expected) => {
    const kept = { task_id: 'A', exit_code: 0, quality_signals: { coverage: 1 } };
    const after = afterFailedWrite({
      ...{ ...kept, classification, governance_violations: ['one'], improvement_proposals: ['faster'] },
      patterns: [{ pattern: 'p', scope: 'execution' }],
    });
    const governance_violations = ['one', 'memory write failed; recorded by a later command'];
    expect(after).toEqual({ ...kept, classification: expected, governance_violations });
    expect(CycleInput.safeParse(after).success).toBe(true);
  });

  it.each(['a b', 'a"b', 'a\\b', 'é', '', 'x'.repeat(201), '\n'])(
    'B-58 takes no key that JSON would write otherwise: %j',
    (key) => {
      expect(CycleInput.safeParse({ task_id: 'A', exit_code: 0, idempotency_key: key }).success).toBe(false);
    },
  );
});
