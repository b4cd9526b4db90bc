import { defineConfig } from 'vitest/config';

/** What takes long runs in `npm run soak`, a part of which `.ci/run` runs as well. */
const LONG = [
  'session-commit-busy',
  'repository',
  'ledger-limits',
  'ledger-power',
  'ledger-flows-clones',
  'ledger-writers',
];

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: process.env.FORGE_SOAK ? [] : LONG.map((name) => `test/e2e/${name}.test.ts`),
    globalSetup: ['test/support/build.ts'],
    setupFiles: ['test/support/sealed.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Both cores: most tests wait for git and for processes.
    maxWorkers: 3,
  },
});
