import { describe, expect, it } from 'vitest';
import { asBuilder } from '../../src/cycle/builder.js';
import { type CycleMark, interruptedInput } from '../../src/cycle/running.js';

const mark: CycleMark = {
  schema_version: '1.0',
  key: '0123456789abcdef',
  holder: { pid: 7, started: '1', boot: 'b', host: 'h' },
  started_at: '2026-03-01T10:00:00.000Z',
  task_id: 'A',
  stage: 'execution',
  stages: [{ name: 'supervisor', status: 'ok', duration_ms: 1 }],
};

describe('an interrupted cycle', () => {
  it('GOV-03 is recorded as a FAILURE with its stages, under its own key', () => {
    expect(interruptedInput(mark)).toMatchObject({
      task_id: 'A',
      exit_code: null,
      classification: 'FAILURE',
      stages: [
        { name: 'supervisor', status: 'ok' },
        { name: 'execution', status: 'failed', note: 'interrupted' },
      ],
      idempotency_key: mark.key,
    });
  });

  it.each([
    ['SUCCESS', 'FAILURE'],
    ['REGRESSION', 'FAILURE'],
    ['GOVERNANCE_VIOLATION', 'GOVERNANCE_VIOLATION'],
  ])(
    'LTM-16 judged as %s before its record is recorded as %s, without patterns',
    (classification, expected) => {
      const patterns = [{ pattern: 'p', scope: 'execution' }];
      const input = { task_id: 'A', exit_code: 0, classification, patterns, improvement_proposals: ['x'] };
      const recorded = interruptedInput({ ...mark, stage: 'memory', input });
      expect(recorded).toMatchObject({ exit_code: 0, classification: expected, idempotency_key: mark.key });
      expect([recorded.patterns, recorded.improvement_proposals]).toEqual([undefined, undefined]);
    },
  );
});

describe('the environment of a builder', () => {
  it("B-93 is the caller's without forge's own keys", () => {
    const env = {
      PATH: '/bin',
      API_TOKEN: 't',
      NOTHING: undefined,
      FORGE_TRUST: 'sha',
      FORGE_DIR: '..',
      FORGE_ROLE: 'supervisor',
    };
    expect(asBuilder(env)).toEqual({ PATH: '/bin', API_TOKEN: 't', FORGE_ROLE: 'builder' });
  });
});
