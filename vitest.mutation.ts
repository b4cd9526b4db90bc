import { defineConfig } from 'vitest/config';

/**
 * The tests that `npm run mutation` runs against each change of a rule. They call the rules in the test process and start
 * no other. Tests of many thousand random samples are left out, because each change would run them again.
 */
export default defineConfig({
  test: {
    include: [
      'test/kfr/{kfr-rules,patch}.test.ts',
      'test/learning/consolidation.test.ts',
      'test/cycle/{cycle,evidence}.test.ts',
      'test/recover/recover.test.ts',
      'test/ledger/records.test.ts',
      'test/guard/{assignments,findings,masks,normalise,rules,scan,secret-rules,values}.test.ts',
    ],
    testTimeout: 60_000,
    pool: 'threads',
  },
});
