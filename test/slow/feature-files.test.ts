import { readdirSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { AddedFeature } from '../../src/index.js';
import { expectError, forgeError, forgeJson, runForge } from '../support/forge.js';
import {
  differences,
  FEATURES,
  featureFile,
  KNOWLEDGE,
  makeForge,
  PASSING_FEATURE,
  putFeatures,
  snapshot,
  storedFeature,
} from '../support/forge-project.js';
import { changedPaths, type Project } from '../support/project.js';
import { commitAll, component } from '../support/statuses.js';

interface View {
  schema_version: string;
  features: { id: string; [field: string]: unknown }[];
}

const edit = (project: Project, change: (view: View) => unknown): void => {
  const view = project.json<View>(FEATURES);
  change(view);
  project.write(FEATURES, JSON.stringify(view));
};

const added = async (...ids: string[]): Promise<Project> => {
  const project = await makeForge();
  for (const id of ids) await forgeJson(project, ['feature', 'add', id, `the ${id}`]);
  return project;
};

describe('one file per entry', () => {
  it('LAY-09 each feature and each learning is a file; the two .json files are views that git ignores', async () => {
    const project = await added('A', 'B');
    await forgeJson(project, ['knowledge', 'add', 'success', 'use port 0', '--context', 'CI']);
    const [learned] = readdirSync(project.path('.forge/memory/long-term/learned.d'));
    expect(changedPaths(project)).toEqual([
      `?? ${featureFile('A')}`,
      `?? ${featureFile('B')}`,
      `?? .forge/memory/long-term/learned.d/${learned}`,
    ]);
    expect(project.json<View>(FEATURES)).toMatchObject({
      schema_version: '1.0',
      features: [
        { id: 'A', name: 'the A', status: 'not_implemented' },
        { id: 'B', name: 'the B', status: 'not_implemented' },
      ],
    });
    expect(project.json(KNOWLEDGE)).toMatchObject({
      schema_version: '1.0',
      patterns: { successful: [{ context: 'CI', approach: 'use port 0' }], failed: [] },
      invariants: [],
    });
  });

  it('LAY-09 a missing or outdated view is rewritten and loses nothing', async () => {
    const project = await added('A', 'B');
    for (const path of [FEATURES, KNOWLEDGE]) rmSync(project.path(path));
    const { features } = await forgeJson<View>(project, ['feature', 'list']);
    expect(features.map(({ id }) => id)).toEqual(['A', 'B']);
    expect(project.has(FEATURES)).toBe(false);
    await forgeJson(project, ['init']);
    expect(project.json<View>(FEATURES).features).toHaveLength(2);
    // As after a git merge: one entry more, one less.
    project.write(featureFile('C'), project.read(featureFile('A')).replaceAll('"A"', '"C"'));
    commitAll(project, 'Features');
    project.git('rm', '-q', featureFile('A'));
    commitAll(project, 'Merge');
    await forgeJson(project, ['session', 'start']);
    expect(project.json<View>(FEATURES).features.map(({ id }) => id)).toEqual(['C', 'B']);
    expect(project.has(featureFile('A'))).toBe(false);
  });

  it('LAY-09 imports edits of features.json by id and field, and reports them', async () => {
    const project = await added('A', 'B', 'C');
    edit(project, ({ features }) => {
      Object.assign(features[0] as object, { name: 'by hand', tests: ['true'], note: 'mine' });
      features.splice(1, 1);
      features.push({ id: 'D', name: 'new', status: 'in_progress' });
    });
    const before = snapshot(project.dir);
    const { features } = await forgeJson<View>(project, ['feature', 'list']);
    expect(features.map(({ id, name }) => [id, name])).toEqual([
      ['A', 'by hand'],
      ['B', 'the B'],
      ['C', 'the C'],
      ['D', 'new'],
    ]);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
    // Meanwhile git changed another field of the same feature.
    project.write(
      featureFile('A'),
      project.read(featureFile('A')).replace('"priority": null', '"priority": 1'),
    );
    const { stderr } = await runForge(project, ['feature', 'edit', 'C', '--priority', '2']);
    expect(stderr).toContain(
      'features.json was edited, and forge took it in: A (name, tests, note); D added.',
    );
    expect(stderr).toContain('features.json lacked 1 entry, now put back. To remove: forge feature remove B');
    expect(storedFeature(project, 'A')).toMatchObject({
      name: 'by hand',
      tests: ['true'],
      note: 'mine',
      priority: 1,
    });
    expect(storedFeature(project, 'D')?.status).toBe('in_progress');
    expect(project.json<View>(FEATURES).features.map(({ id }) => id)).toEqual(['A', 'B', 'C', 'D']);
    expect((await runForge(project, 'feature edit C --priority 3')).stderr).not.toMatch(/edited|lacked/);
  });

  it('LAY-09 a view from before a merge removes nothing when its base is gone', async () => {
    const project = await added('A');
    await forgeJson(project, ['knowledge', 'add', 'success', 'tests need a port of their own']);
    commitAll(project, 'A');
    project.git('checkout', '-qb', 'other');
    await forgeJson(project, ['feature', 'add', 'B', 'the B']);
    await forgeJson(project, ['knowledge', 'add', 'success', 'dates are in UTC']);
    commitAll(project, 'B');
    project.git('checkout', '-q', 'main');
    await forgeJson(project, ['feature', 'edit', 'A', '--name', 'first']);
    commitAll(project, 'first');
    project.git('merge', '-q', '--no-edit', 'other');
    edit(project, ({ features }) => features.push({ id: 'D', name: 'by hand', status: 'in_progress' }));
    rmSync(project.path('.git/forge'), { recursive: true });
    await forgeJson(project, ['session', 'start']);
    expect(project.git('status', '--short', '--', '.forge/memory/long-term')).toMatch(/^\?\? \S+D\.json$/m);
    expect(project.git('diff', '--stat', 'HEAD', '--', '.forge/memory/long-term')).toBe('');
    const names = ['A', 'B', 'D'].map((id) => storedFeature(project, id)?.name);
    expect(names).toEqual(['first', 'the B', 'by hand']);
  });

  it('LAY-09 views that a backup of .forge/ brings back remove nothing that was pulled since', async () => {
    const project = await added('A');
    commitAll(project, 'A');
    const older = [FEATURES, KNOWLEDGE].map((path) => [path, project.read(path)] as const);
    await forgeJson(project, ['feature', 'add', 'B', 'the B']);
    await forgeJson(project, ['knowledge', 'add', 'success', 'dates are in UTC']);
    commitAll(project, 'B');
    const pulled = project.git('rev-parse', 'HEAD').trim();
    for (const [path, text] of older) project.write(path, text);
    const { stderr } = await runForge(project, ['session', 'start']);
    expect(stderr).toContain('features.json lacked 1 entry, now put back. To remove: forge feature remove B');
    expect(stderr).toMatch(
      /knowledge\.json lacked 1 entry, now put back\. To remove: forge knowledge remove \w+/,
    );
    await forgeJson(project, ['session', 'end']);
    expect(project.git('diff', '--name-status', pulled, '--', '.forge/memory/long-term')).toBe('');
    expect(project.json<View>(FEATURES).features.map(({ id }) => id)).toEqual(['A', 'B']);
    expect(project.read(KNOWLEDGE)).toContain('dates are in UTC');
  });

  it('FEA-03 no edit of features.json makes a feature pass', async () => {
    const project = await makeForge();
    putFeatures(project, [PASSING_FEATURE, { id: 'B', name: 'b', status: 'failing', tests: ['true'] }]);
    await forgeJson(project, ['session', 'start']);
    edit(project, ({ features }) => {
      for (const feature of features)
        Object.assign(feature, {
          status: 'passing',
          verified_at: '2030-01-01T00:00:00.000Z',
          tests: ['echo'],
        });
      features.push({ ...PASSING_FEATURE, id: 'C' });
    });
    const { stderr } = await runForge(project, ['session', 'end']);
    expect(stderr).toContain('B stays failing until forge done B');
    const statuses = ['A', 'B', 'C'].map((id) => storedFeature(project, id)?.status);
    expect(statuses).toEqual(['in_progress', 'failing', 'in_progress']);
    for (const id of ['A', 'B', 'C']) expect(storedFeature(project, id)).not.toHaveProperty('verified_at');
  });

  it('KNO-01 imports edits of knowledge.json', async () => {
    const project = await makeForge();
    await forgeJson(project, ['knowledge', 'add', 'invariant', 'one']);
    const view = project.json<{ invariants: string[] }>(KNOWLEDGE);
    project.write(KNOWLEDGE, JSON.stringify({ ...view, invariants: ['two'] }));
    const { stderr } = await runForge(project, ['session', 'start']);
    expect(stderr).toContain('knowledge.json was edited, and forge took it in: "two" added.');
    const command = /knowledge\.json lacked 1 entry, now put back\. To remove: forge (.*)/.exec(stderr)?.[1];
    expect(project.json(KNOWLEDGE)).toMatchObject({ invariants: ['two', 'one'] });
    await forgeJson(project, command ?? '');
    expect(project.json(KNOWLEDGE)).toMatchObject({ invariants: ['two'] });
  });
});

describe('a new feature', () => {
  it('FEA-05 whose test already passes is unproven until it has failed once; it does not count as passing', async () => {
    const project = await makeForge();
    const first = await runForge(project, ['feature', 'add', 'A', 'a', '--test', 'test ! -e broken']);
    expect([first.exitCode, first.stdout]).toEqual([0, expect.stringContaining('unproven')]);
    const verified = await runForge(project, ['feature', 'verify', 'A']);
    expect(verified.exitCode).toBe(1);
    expect(verified.stdout).toMatch(/^! A {2}not_implemented → in_progress .* but has never failed/);
    expect(verified.stdout).toContain('forge feature confirm A');
    const { stdout, stderr } = await runForge(project, ['feature', 'list']);
    expect([stdout, stderr]).toEqual([expect.stringMatching(/^A +in_progress \(unproven\) +a\n$/), '']);
    const next = await forgeJson<{ task: null; reason: string }>(project, ['next']);
    expect([next.task, next.reason]).toEqual([
      null,
      'everything left is blocked; A waits for its proof (for a person: forge feature confirm A)',
    ]);
    project.write('broken', '');
    await runForge(project, ['feature', 'verify', 'A']);
    rmSync(project.path('broken'));
    await forgeJson(project, ['feature', 'verify', 'A']);
    expect((await runForge(project, ['feature', 'list'])).stdout).toMatch(/^A +passing +a\n$/);
  });

  it('FEA-05 a person confirms it; an agent does not', async () => {
    const project = await makeForge();
    const shown = async () => (await runForge(project, ['feature', 'show', 'A'])).stdout;
    await forgeJson(project, ['feature', 'add', 'A', 'a', '--test', 'test ! -e broken']);
    await runForge(project, ['feature', 'verify', 'A']);
    await expectError(project, ['feature', 'confirm', 'A'], '3');
    await forgeJson(project, ['feature', 'confirm', '--all', '--yes'], { terminal: true });
    expect(storedFeature(project, 'A')).not.toHaveProperty('unproven');
    expect((await runForge(project, ['feature', 'list'])).stdout).toMatch(/^A +passing +a\n$/);
    expect(await shown()).toMatch(/^ *confirmed +\S+ by a person; its tests were never seen to fail$/m);
    project.write('broken', '');
    await runForge(project, ['feature', 'verify', 'A']);
    rmSync(project.path('broken'));
    await runForge(project, ['feature', 'verify', 'A']);
    expect(await shown()).not.toContain('confirmed');
  });

  it('FEA-05 a result of the old test says nothing about a new one', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'A', 'a', '--test', 'test -e a']);
    await runForge(project, ['feature', 'verify', 'A']);
    const edited = await runForge(project, ['feature', 'edit', 'A', '--test', 'true']);
    expect(edited.stdout).toContain('in_progress (unproven)');
    await forgeJson(project, ['feature', 'confirm', 'A', '--yes'], { terminal: true });
    expect(storedFeature(project, 'A')).toMatchObject({ status: 'passing' });
    await forgeJson(project, ['feature', 'edit', 'A', '--test', 'node -e 0']);
    expect(storedFeature(project, 'A')).toMatchObject({ status: 'in_progress', unproven: true });
  });

  /** A feature that is not verified yet; its test prints that, and has that exit code. */
  async function printing(output: string, code = 0): Promise<Project> {
    const project = await makeForge();
    project.write('output.txt', output);
    const test = `sh -c 'cat output.txt; exit ${code}'`;
    await forgeJson(project, ['feature', 'add', 'A', 'a', '--test', test, '--no-run']);
    return project;
  }

  const none = 'Tests run: 0, Failures: 0, Errors: 0, Skipped: 0';
  const oneOfTwo = 'Tests run: 2, Failures: 0, Errors: 0, Skipped: 1';
  const netCounts = (passed: number, total: number) =>
    `Failed:     0, Passed:     ${passed}, Skipped:     1, Total:     ${total}, Duration: 9 ms - B.dll (net8.0)\n`;
  const xcCounts = (count: string) => `\t Executed ${count} (0 unexpected) in 0.000 (0.001) seconds\n`;
  const others = `ok  \texample.com/c\t0.2s
running 3 tests
test result: ok. 3 passed; 0 failed
  2 passing (1ms)
=== 2 passed in 0.1s ===
`;
  it.each([
    ['go', 'ok  \texample.com/a\t0.1s [no tests to run]\n?   \texample.com/b\t[no test files]\n', others],
    ['cargo', '\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 6 filtered out\n', others],
    ['node', '# tests 1\n# pass 0\n# fail 0\n# cancelled 0\n# skipped 1\n', others],
    ['pytest', '=== no tests ran in 0.01s ===\n', others],
    ['pytest', 's\n1 skipped, 8 deselected, 1 warning in 0.02s\n', others],
    ['rspec', '1 example, 0 failures, 1 pending\n', others],
    ['mocha', '\n\n  0 passing (1ms)\n\n', others],
    ['jest', 'Test Suites: 1 skipped, 0 of 1 total\nTests:       3 skipped, 1 todo, 4 total\n', others],
    [
      'vitest',
      '\u001b[2m      Tests \u001b[22m \u001b[33m3 skipped\u001b[39m\u001b[90m (3)\u001b[39m\n',
      others,
    ],
    ['make', "make: Nothing to be done for 'check'.\n", others],
    ['pnpm', 'No projects matched the filters in "/a"\n', others],
    [
      'go -cover',
      'ok  \tx/a\t0.1s\tcoverage: 0.0% of statements [no tests to run]\n',
      'ok  \tx/c\t0.1s\tcoverage: 50.0% of statements in ./...\n',
    ],
    ['maven', `[INFO] Results:\n[INFO] \n[INFO] ${none}\n`, `[WARNING] ${oneOfTwo}\n`],
    [
      'maven',
      '[WARNING] Tests run: 4, Failures: 0, Errors: 0, Skipped: 4\n',
      '[INFO] Tests run: 40, Failures: 0, Errors: 0, Skipped: 4, Time elapsed: 0.1 s -- in ATest\n',
    ],
    ['maven', '[INFO] No tests to run.\n', `[WARNING] ${oneOfTwo}\n`],
    ['maven', '[INFO] Tests are skipped.\n', `[WARNING] ${oneOfTwo}\n`],
    [
      'gradle',
      '> Task :lib:compileTestJava NO-SOURCE\n> Task :lib:test NO-SOURCE\n',
      '> Task :app:processTestResources NO-SOURCE\n> Task :app:test\n',
    ],
    ['gradle', '> Task :app:integrationTest SKIPPED\n', '> Task :app:testDebugUnitTest UP-TO-DATE\n'],
    [
      '.NET',
      'No test is available in /a/bin/A.dll. Make sure that test discoverer & executors are registered.\n',
      `Passed!  - ${netCounts(3, 4)}`,
    ],
    [
      '.NET',
      'No test matches the given testcase filter `x` in /a/A.dll\n',
      'Total tests: 3\n     Passed: 3\n',
    ],
    ['.NET', `Skipped! - ${netCounts(0, 1)}`, `Passed!  - ${netCounts(3, 4)}`],
    [
      '.NET',
      'Test summary: total: 0, failed: 0, succeeded: 0, skipped: 0, duration: 0.2s\n',
      'Test summary: total: 2, failed: 0, succeeded: 2, skipped: 0, duration: 0.2s\n',
    ],
    [
      'deno',
      '\nok | 0 passed | 0 failed | 5 filtered out (0ms)\n',
      '\nok | 1 passed (2 steps) | 0 failed (3ms)\n',
    ],
    [
      'minitest',
      '3 runs, 0 assertions, 0 failures, 0 errors, 3 skips\n',
      '30 runs, 4 assertions, 0 failures, 0 errors, 3 skips\n',
    ],
    [
      'cargo nextest',
      '     Summary [   0.001s] 0 tests run: 0 passed, 5 skipped\n',
      '     Summary [   0.012s] 1 test run: 1 passed, 5 skipped\n',
    ],
    ['Pest', '\n   INFO  No tests found.\n\n', '  Tests:    3 passed (4 assertions)\n'],
    ['Pest', '  Tests:    2 skipped (0 assertions)\n', '  Tests:    2 skipped, 1 passed (1 assertions)\n'],
    ['ExUnit', 'There are no tests to run\n', '7 tests, 0 failures\n'],
    ['ExUnit', 'Finished in 0.03 seconds\n3 tests, 0 failures, 3 excluded\n', '1 test, 0 failures\n'],
    ['ExUnit', 'Finished in 0.03 seconds\n0 failures\n', '2 doctests, 3 tests, 0 failures, 3 excluded\n'],
    ['unittest', 'Ran 0 tests in 0.000s\n\nOK\n', 'Ran 1 test in 0.000s\n\nOK\n'],
    [
      'unittest',
      'Ran 2 tests in 0.000s\r\n\r\nOK (skipped=2)\r\n',
      'Ran 2 tests in 0.000s\n\nOK (skipped=1)\n',
    ],
    ['PHPUnit', 'No tests executed!\n', 'OK (3 tests, 4 assertions)\n'],
    ['ctest', 'No tests were found!!!\n', '100% tests passed, 0 tests failed out of 2\n'],
    ['Playwright', 'No test files found, exiting with code 0\n', '  4 passed (2.0s)\n'],
    ['RSpec', '0 examples, 0 failures\n', '3 examples, 0 failures, 1 pending\n'],
    ['XCTest', xcCounts('0 tests, with 0 failures'), xcCounts('1 test, with 0 failures')],
    [
      'XCTest',
      xcCounts('2 tests, with 2 tests skipped and 0 failures'),
      xcCounts('20 tests, with 2 tests skipped and 0 failures'),
    ],
    [
      'Swift Testing',
      `${xcCounts('0 tests, with 0 failures')}✔ Test run with 0 tests in 0 suites passed after 0.001 seconds.\n`,
      '✔ Test run with 3 tests in 1 suite passed after 0.001 seconds.\n',
    ],
  ])(
    'FEA-05 a run of %s in which no test ran is not a pass; with another module it is: %j',
    async (_, nothing, some) => {
      const project = await printing(nothing);
      const { exitCode, stdout } = await runForge(project, ['feature', 'verify', 'A']);
      expect([exitCode, stdout]).toEqual([6, expect.stringContaining('not run (no test ran)')]);
      for (const output of [nothing + some, some + nothing]) {
        project.write('output.txt', output);
        expect((await runForge(project, ['feature', 'verify', 'A'])).exitCode).toBe(0);
      }
    },
  );

  it.each([
    [
      'maven',
      'No tests matching pattern "ATest" were executed! (Set -Dsurefire.failIfNoSpecifiedTests=false)',
    ],
    ['gradle', '> Task :test FAILED\n> No tests found for given includes: [ATest](--tests filter)'],
    ['deno', 'error: No test modules found'],
    ['cargo nextest', 'error: no tests to run'],
    ['ExUnit', 'The --only option was given to "mix test" but no test was executed'],
    ['.NET', 'Test run summary: Zero tests ran'],
  ])('FEA-05 a new test that %s does not find was not run', async (_, output) => {
    const { stdout } = await firstRun(output);
    expect(stdout).toContain('not run (no test ran)');
  });

  it.each([
    [
      'maven',
      '[INFO] No tests to run.\n[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.8.1:testCompile (default-testCompile) on project b',
    ],
    ['gradle', '> Task :lib:test NO-SOURCE\n> Task :app:compileTestJava FAILED'],
    [
      'gradle',
      '> Task :lib:test NO-SOURCE\n> Task :app:test FAILED\n\n3 tests completed, 1 failed, 1 skipped',
    ],
    ['.NET', 'No test is available in /a/A.dll.\n/a/T.cs(3,9): error CS0103: The name does not exist'],
    ['.NET', 'No test is available in /a/A.dll.\nFailed!  - Failed:     1, Passed:     0, Skipped:     0'],
  ])(
    'FEA-05 a new test in %s fails beside a module without tests, or does not compile',
    async (_, output) => {
      expect((await firstRun(output)).stdout).toContain('its test fails for now, as it should');
    },
  );

  /** A feature is added whose test prints that and fails. */
  async function firstRun(output: string) {
    const project = await makeForge();
    project.write('output.txt', `${output}\n`);
    return runForge(project, ['feature', 'add', 'B', 'b', '--test', "sh -c 'cat output.txt; exit 1'"]);
  }

  it.each([
    ['pytest', 's.x [100%]\n1 passed, 1 skipped, 1 xfailed in 0.01s\n'],
    [
      'cargo',
      `test result: ok. 400 passed; 0 failed\n${'-'.repeat(99)}\nrunning 0 tests\ntest result: ok. 0 passed\n`,
    ],
    ['node', '# tests 2\n# pass 1\n# skipped 1\n'],
    ['a build by make', "make: 'kilo' is up to date.\n"],
  ])('FEA-05 a run of %s in which something passed is a pass', async (_, output) => {
    expect((await runForge(await printing(output), ['feature', 'verify', 'A'])).exitCode).toBe(0);
  });

  it.each([
    ['pytest', '1 failed, 2 skipped in 0.1s\n'],
    ['go', '# a [a.test]\n./a.go:3: undefined: x\nFAIL\ta [build failed]\n?   \tb\t[no test files]\nFAIL\n'],
    [
      'cargo',
      'test result: ok. 0 passed; 0 failed\nrunning 1 test\nerror: test failed, to rerun pass `--test a`\n',
    ],
    ['make', "make: *** No rule to make target 'a.c', needed by 'a.o'.  Stop.\n"],
    ['make', 'make: *** [Makefile:3: test] Error 1\n'],
  ])('FEA-02 a run of %s that failed is a failure, also where other parts ran no test', async (_, output) => {
    const { exitCode, stdout } = await runForge(await printing(output, 2), ['feature', 'verify', 'A']);
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('not_implemented → failing')]);
  });

  it.each([
    [
      "make: *** No rule to make target 'check-undo'.  Stop.",
      "make: *** No rule to make target 'check-undo'. Stop.",
    ],
    [
      'make: clang-tidy-99: No such file or directory\nmake: *** [Makefile:15: tidy] Error 127',
      'clang-tidy-99: No such',
    ],
    ['error: no such subcommand: `tset`', 'error: no such subcommand: `tset`'],
    ['go vtt: unknown command', 'go vtt: unknown command'],
  ])('FEA-05 a program that does not find what to run has run no test: %s', async (output, reason) => {
    const { stdout } = await runForge(await printing(`${output}\n`, 2), ['feature', 'verify', 'A']);
    expect(stdout).toContain('not run (');
    expect(stdout).toContain(reason);
  });

  it('FEA-05 reports a test that fails or has no tool; --no-run and import run nothing', async () => {
    const project = await makeForge();
    const add = async (words: string) =>
      (await forgeJson<AddedFeature>(project, `feature add ${words}`)).first_run;
    expect(await add('A a --test false')).toMatchObject({ result: 'failed' });
    const missing = { result: 'not_run', reason: 'uv: command not found' };
    expect(await add('B b --test "uv run"')).toMatchObject(missing);
    expect(await add('C c --test "touch ran" --no-run')).toBeUndefined();
    await forgeJson(project, ['feature', 'import', '-'], { stdin: '[{"name":"d","tests":["touch ran"]}]' });
    expect(project.has('ran')).toBe(false);
    for (const id of ['A', 'B', 'C']) expect(storedFeature(project, id)).not.toHaveProperty('unproven');
  });

  it('FEA-06 refuses two words without quotes; lists one status', async () => {
    const project = await makeForge();
    expect(await forgeError(project, ['feature', 'add', 'Login', 'works'])).toMatchObject({
      exitCode: 2,
      message: 'Put quotes around it: forge feature add "Login works"',
    });
    expect(await forgeError(project, ['feature', 'add', 'Login works', 'with a password'])).toMatchObject({
      exitCode: 2,
      message: 'A feature has one name, and before it at most an id, which has no spaces.',
      hint: 'forge feature add "Login works" --test "COMMAND"',
    });
    for (const words of ['LOGIN works', 'login-2 works', 'logout Logout', 'exit "It works"', '"Login works"'])
      await forgeJson(project, `feature add ${words}`);
    await forgeJson(project, ['feature', 'edit', 'LOGIN', '--status', 'in_progress']);
    const list = async (status: string) =>
      (await forgeJson<View>(project, ['feature', 'list', '--status', status])).features.map(({ id }) => id);
    expect([await list('in_progress'), await list('failing')]).toEqual([['LOGIN'], []]);
    expect(await list('not_implemented')).toEqual(['login-2', 'logout', 'exit', 'login-works']);
    expect((await runForge(project, ['feature', 'list', '--status', 'failing'])).stdout).toContain(
      'No feature is failing',
    );
    await expectError(project, ['feature', 'list', '--status', 'x'], '2');
  });

  it('FEA-06 makes an id from the name; ids match without case', async () => {
    const project = await makeForge();
    const add = async (...args: string[]) =>
      (await forgeJson<View>(project, ['feature', 'add', ...args])).features[0]?.id;
    expect(await add('Login works!')).toBe('login-works');
    expect(await add('Login works.')).toBe('login-works-2');
    expect(await add('Logout', '--id', 'OUT')).toBe('OUT');
    expect(await add('Größe zählt à la carte')).toBe('grosse-zahlt-a-la-carte');
    // The word none means no feature.
    for (const name of ['登录', 'None']) expect(await add(name)).toMatch(/^f-[0-9a-f]{8}$/);
    await forgeJson(project, ['feature', 'edit', 'out', '--priority', '1']);
    expect(await forgeJson(project, 'feature show LOGIN-WORKS')).toMatchObject({ name: 'Login works!' });
    expect(storedFeature(project, 'OUT')?.priority).toBe(1);
  });
});

describe('passing by hand', () => {
  it('FEA-03 is shown as such everywhere and never has verified_by', async () => {
    const project = await added('A');
    const words = 'feature edit A --status passing --reason "seen at the customer" --yes';
    await forgeJson(project, words, { terminal: true });
    expect(storedFeature(project, 'A')).not.toHaveProperty('verified_by');
    const says = 'passing (by hand: seen at the customer)';
    for (const args of [['feature', 'list'], ['feature', 'show', 'A'], ['briefing'], ['status']])
      expect((await runForge(project, args)).stdout).toContain(says);
    expect((await component(project, 'features')).color).toBe('yellow');
  });
});
