import { defineConfig } from 'vitest/config';

/** `npm run soak` runs test/slow/, `.ci/run` a short form of it. Every other test runs in `npm test`. */
const soak = process.env.FORGE_SOAK !== undefined;
/** Milliseconds. Some tests of the long run take many minutes each. */
const HANG = soak ? 14_400_000 : 600_000;

export default defineConfig({
  test: {
    include: [soak ? 'test/slow/**/*.test.ts' : 'test/**/*.test.ts'],
    exclude: soak ? [] : ['test/slow/**'],
    globalSetup: ['test/support/build.ts'],
    setupFiles: ['test/support/sealed.ts'],
    // They only end a hang: no test depends on speed.
    testTimeout: HANG,
    hookTimeout: HANG,
    expect: { poll: { timeout: 300_000, interval: 20 } },
    pool: 'forks',
    // In the fast part the modules of src/ are loaded once per worker. Each test file has a home of its own (sealed.ts).
    isolate: soak,
    // Twice the cores of a small machine: most tests wait for git and for processes.
    maxWorkers: 4,
    // Starting a process copies the page tables of its parent: git starts quicker from a small heap.
    execArgv: ['--max-semi-space-size=2'],
  },
});
