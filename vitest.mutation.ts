import { defineConfig } from 'vitest/config';

/** The tests that `npm run mutation` runs against each change of a rule: those of rules alone, which take milliseconds. */
export default defineConfig({
  test: {
    include: [
      'test/kfr/{kfr-rules,patch-properties,patch}.test.ts',
      'test/learning/consolidation.test.ts',
      'test/recover/recover.test.ts',
      'test/ledger/records.test.ts',
      'test/guard/{assignments,checksum,look-alikes,normalise,proprietary,scan,secrets,table}.test.ts',
    ],
    testTimeout: 60_000,
    pool: 'threads',
  },
});
