import { describe, expect, it } from 'vitest';
import { investigationOf } from '../../src/feature/issue.js';

describe('an investigation', () => {
  it.each([
    [1, '1 evaluation contradicts what was learned'],
    [10, '10 evaluations contradict what was learned'],
  ])('LTM-09 says how many evaluations contradict: %d', (count, words) => {
    const about = { knowledge_id: 'a'.repeat(64), pattern: 'p', scope: 'execution' };
    const ids = Array.from({ length: count }, String);
    expect(investigationOf(about, ids, '2026-03-01T10:00:00.000Z').description).toContain(words);
  });
});
