import { describe, expect, it } from 'vitest';
import { classify, type Findings } from '../../src/cycle/rules.js';

const clean: Findings = {
  violations: [],
  regressions: [],
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
    ['exit 1, although the tests pass', { exit_code: 1 }, 'FAILURE'],
    ['a timeout', { exit_code: null }, 'FAILURE'],
    ['a broken environment', { environment_valid: false }, 'FAILURE'],
    ['a regression and exit 1', { exit_code: 1, regressions: ['A'] }, 'REGRESSION'],
    ['a violation and a regression', { regressions: ['A'], violations: ['v'] }, 'GOVERNANCE_VIOLATION'],
  ])('GOV-01 %s', (_name, change, expected) => {
    expect(classify({ ...clean, ...change })).toBe(expected);
  });
});
