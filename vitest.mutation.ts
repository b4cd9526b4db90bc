import { defineConfig } from 'vitest/config';

/** The tests that `npm run mutation` runs against each change of a rule. */
export default defineConfig({
  test: {
    include: ['test/{kfr,learning,ledger,recover,guard}/**/*.test.ts'],
    globalSetup: ['test/support/build.ts'],
    setupFiles: ['test/support/sealed.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'threads',
  },
});
