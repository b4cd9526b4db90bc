import { defineConfig } from 'vitest/config';

/** What takes long runs in `npm run soak`, a part of which `.ci/run` runs as well. */
const LONG = [
  'cli/loop',
  'e2e/cycle',
  'e2e/governed-loop',
  'e2e/ledger-flows-clones',
  'e2e/ledger-flows-merge',
  'e2e/ledger-flows-place',
  'e2e/ledger-limits',
  'e2e/ledger-power',
  'e2e/ledger-writers',
  'e2e/redact-kills',
  'e2e/repository',
  'e2e/seals',
  'e2e/session-commit-busy',
];

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: process.env.FORGE_SOAK ? [] : LONG.map((name) => `test/${name}.test.ts`),
    globalSetup: ['test/support/build.ts'],
    setupFiles: ['test/support/sealed.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Both cores: most tests wait for git and for processes.
    maxWorkers: 3,
  },
});
