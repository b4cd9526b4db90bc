import { describe, expect, it } from 'vitest';
import { type CycleResult, classify, type Findings, progressLine } from '../../src/cycle/rules.js';

const clean: Findings = {
  governance_violations: [],
  regression_flags: [],
  not_run: [],
  environment_valid: true,
  exit_code: 0,
  task: 'passing',
  improved: false,
  tests_changed: [],
};

describe('classify', () => {
  it.each<[string, Partial<Findings>, string]>([
    ['exit 0 and the task passes', {}, 'SUCCESS'],
    ['GOV-05 the task passes, but its tests changed', { tests_changed: ['a.test.js'] }, 'PARTIAL_SUCCESS'],
    ['no tests', { task: 'untested' }, 'PARTIAL_SUCCESS'],
    ['the task fails, but more passes than before', { task: 'failing', improved: true }, 'PARTIAL_SUCCESS'],
    ['the task fails and nothing improved', { task: 'failing' }, 'FAILURE'],
    ['the tests could not be run', { task: 'unknown' }, 'FAILURE'],
    ['what passed before could not be run', { not_run: ['A'] }, 'FAILURE'],
    ['exit 1, although the tests pass', { exit_code: 1 }, 'FAILURE'],
    ['a timeout', { exit_code: null }, 'FAILURE'],
    ['a broken environment', { environment_valid: false }, 'FAILURE'],
    ['a regression and exit 1', { exit_code: 1, regression_flags: ['A'] }, 'REGRESSION'],
    [
      'a violation and a regression',
      { regression_flags: ['A'], governance_violations: ['v'] },
      'GOVERNANCE_VIOLATION',
    ],
  ])('GOV-01 %s', (_name, change, expected) => {
    expect(classify({ ...clean, ...change })).toBe(expected);
  });
});

describe('the line of a cycle', () => {
  const report = { features_passing: 1, features: 2, duration_ms: 2000, evidence: [], tests_changed: [] };
  const line = (change: object, stages: object[] = []): string =>
    progressLine({
      ...{ cycle: 3, task: 'A', classification: 'FAILURE', stages },
      report: { ...report, ...change },
    } as unknown as CycleResult);

  it('GOV-04 GOV-05 names changed tests', () => {
    expect(line({})).toBe('Cycle 3 FAILURE: A, 1/2 features passing, 2 s');
    expect(line({ tests_changed: ['a.test.js', 'check.sh'] })).toBe(
      'Cycle 3 FAILURE: A, 1/2 features passing, tests changed: a.test.js, check.sh, 2 s',
    );
  });

  it('GOV-04 GOV-05 GOV-01 names a test that failed or could not run, and why', () => {
    const evidence = [{ feature: 'B', argv: ['uv', 'run'], exit_code: 0, not_run: 'no test ran' }];
    expect(line({ evidence })).toContain(', uv run could not run (B, no test ran), ');
    const failed = [{ feature: 'A', argv: ['test', '-f', 'done'], exit_code: 1 }];
    expect(line({ evidence: failed })).toContain(', test -f done failed (A, exit 1), ');
  });

  it.each([
    ['the command', { name: 'execution', note: 'sh: stopped' }],
    ['a test', { name: 'evaluation', note: 'A: Interrupted; nothing was recorded for this feature.' }],
    ['nothing yet', { name: 'execution', note: 'interrupted' }],
  ])('GOV-02 says that a person interrupted %s', (_name, stage) => {
    expect(line({}, [stage])).toBe('Cycle 3 FAILURE: A, interrupted from outside, 1/2 features passing, 2 s');
  });

  it('GOV-02 does not call a time limit an interruption', () => {
    expect(line({}, [{ name: 'execution', note: 'sh: stopped after 1 s' }])).not.toContain('interrupted');
  });
});
