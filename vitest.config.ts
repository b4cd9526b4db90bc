import { defineConfig } from 'vitest/config';

/** What takes long runs in `npm run soak`, a part of which `.ci/run` runs as well. */
const LONG = [
  'cli/checkpoint',
  'cli/clock',
  'cli/cycle',
  'cli/cycle-claims',
  'cli/cycle-strangers',
  'cli/cycle-keep',
  'cli/doctor-place',
  'cli/loop',
  'cli/memory-damage',
  'cli/memory-dry',
  'cli/memory-keep',
  'cli/memory-purge',
  'cli/memory-redact',
  'cli/recover-places',
  'docs/check-ledger',
  'e2e/agent-kills',
  'e2e/bench',
  'e2e/checkpoint',
  'e2e/checkpoint-kills',
  'e2e/commit-clean-up',
  'e2e/completion',
  'e2e/conflict-kills',
  'e2e/crash',
  'e2e/cycle',
  'e2e/doctor',
  'e2e/git-hooks-flows',
  'e2e/git-hooks-prepare',
  'e2e/cycle-keep-kills',
  'e2e/governed-loop',
  'e2e/holders',
  'e2e/init-places',
  'e2e/init-runs',
  'e2e/init-script',
  'e2e/init-stacks',
  'e2e/kfr',
  'e2e/ledger-flows-*',
  'e2e/ledger-limits',
  'e2e/ledger-power',
  'e2e/ledger-writers',
  'e2e/odd-names',
  'e2e/recover-kills',
  'e2e/redact-kills',
  'e2e/repository',
  'e2e/screens',
  'e2e/seals',
  'e2e/session-commit',
  'e2e/session-commit-busy',
  'e2e/session-commit-hostile',
  'e2e/session-reverify',
  'e2e/short-status',
  'e2e/trust',
  'e2e/verify',
  'e2e/worktrees',
  'mcp/interrupted',
  'mcp/wire',
];
/** These do a little in `npm test`, and much there. */
const BOTH = ['adapters/process-group', 'e2e/concurrency', 'e2e/ledger-*', 'e2e/recover-walk'];

const files = (names: readonly string[]): string[] => names.map((name) => `test/${name}.test.ts`);
const soak = process.env.FORGE_SOAK !== undefined;

export default defineConfig({
  test: {
    include: soak ? files([...LONG, ...BOTH]) : ['test/**/*.test.ts'],
    exclude: soak ? [] : files(LONG),
    globalSetup: ['test/support/build.ts'],
    setupFiles: ['test/support/sealed.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Both cores: most tests wait for git and for processes.
    maxWorkers: 3,
  },
});
