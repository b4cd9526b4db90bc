import { defineConfig } from 'vitest/config';

/**
 * The tests that `npm run mutation` runs against each change of a rule. They call the rules in the test process and start
 * no other. test/kfr/patch-properties.test.ts is left out: a run of it takes seconds.
 */
export default defineConfig({
  test: {
    include: [
      'test/kfr/{kfr-rules,patch}.test.ts',
      'test/learning/consolidation.test.ts',
      'test/cycle/{cycle,evidence}.test.ts',
      'test/recover/recover.test.ts',
      'test/ledger/records.test.ts',
      'test/guard/{assignments,look-alikes,normalise,rules,scan,secrets,values}.test.ts',
    ],
    testTimeout: 60_000,
    // Each sample of a secret twice, instead of 25 times.
    env: { FORGE_TEST_ROUNDS: '2' },
    pool: 'threads',
  },
});
