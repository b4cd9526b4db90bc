import { describe, expect, it } from 'vitest';
import type { FeatureList } from '../../src/index.js';
import { expectError, fixedClock, forgeError, forgeJson, runForge, wordsOf } from '../support/forge.js';
import { differences, FEATURES, makeForge, snapshot, storedFeature } from '../support/forge-project.js';

describe('forge feature', () => {
  it('FEA-01 adds, lists, shows, edits and removes', async () => {
    const project = await makeForge();
    const world = fixedClock();
    await forgeJson(project, ['feature', 'add', 'FORGE-002', '-'], { world, stdin: 'From stdin\n' });
    const flags = wordsOf('--test "node -e 0" --test true --blocked-by forge-002 --priority 2 --issue SX9-1');
    await forgeJson(project, ['feature', 'add', 'FORGE-001', 'Login works', ...flags, '--no-run'], { world });
    expect(storedFeature(project, 'FORGE-001')).toEqual({
      id: 'FORGE-001',
      name: 'Login works',
      status: 'not_implemented',
      created_at: '2026-03-01T10:00:00.000Z',
      tests: ['node -e 0', 'true'],
      priority: 2,
      linear_issue: 'SX9-1',
      blocked_by: 'FORGE-002',
    });
    // The list has blocked_by also where nothing is in the way.
    expect(project.json(FEATURES).features).toMatchObject([
      { blocked_by: 'FORGE-002' },
      { blocked_by: null },
    ]);
    expect(storedFeature(project, 'FORGE-002')).not.toHaveProperty('blocked_by');
    expect((await runForge(project, ['feature', 'list'])).stdout).toBe(
      'FORGE-001  not_implemented  Login works\nFORGE-002  not_implemented  From stdin\n',
    );
    const edit = wordsOf('--status in_progress --name Login --priority 1 --issue none --blocked-by none');
    await forgeJson(project, ['feature', 'edit', 'FORGE-001', ...edit]);
    const { stdout } = await runForge(project, ['feature', 'show', 'FORGE-001']);
    expect(stdout).toMatch(
      /^FORGE-001 {2}Login\nstatus +in_progress\ntests +node -e 0; true\npriority +1\n$/,
    );
    expect(await forgeJson(project, 'feature show FORGE-001')).toEqual(storedFeature(project, 'FORGE-001'));
    expect((await runForge(project, ['feature', 'remove', 'FORGE-002'])).stdout).toBe(
      'removed FORGE-002  From stdin   # back with: forge undo\n',
    );
    expect(project.json(FEATURES).features).toMatchObject([{ id: 'FORGE-001' }]);
    expect((await forgeError(project, ['feature', 'show', 'FORGE-002'])).exitCode).toBe(2);
  });

  it('FEA-01 accepts only the five statuses', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'A', 'a']);
    for (const status of ['in_progress', 'failing', 'blocked', 'not_implemented']) {
      await forgeJson(project, ['feature', 'edit', 'A', '--status', status]);
      expect(storedFeature(project, 'A')?.status).toBe(status);
    }
    const error = await forgeError(project, ['feature', 'edit', 'A', '--status', 'done']);
    expect(error).toMatchObject({ exitCode: 2, field: 'status' });
    expect(error.message).toMatch(/"done".*not_implemented.*in_progress.*failing.*passing.*blocked/);
  });

  it('FEA-01 --dry-run shows the change and writes nothing, not even approvals', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'A', 'a']);
    const before = [snapshot(project.dir), snapshot(process.env.HOME as string)];
    for (const args of [
      ['add', 'B', 'b', '--test', 'true'],
      ['edit', 'A', '--test', 'false'],
      ['remove', 'A'],
      ['import', '-'],
    ]) {
      const { exitCode, stderr } = await runForge(project, ['feature', ...args, '-n'], { stdin: '- one\n' });
      expect([args, exitCode, stderr]).toEqual([
        args,
        0,
        expect.stringMatching(/nothing was written.*features\.json/),
      ]);
    }
    expect(differences(before[0] as never, snapshot(project.dir))).toEqual([]);
    expect(differences(before[1] as never, snapshot(process.env.HOME as string))).toEqual([]);
  });

  it.each([
    [
      'NameError: no f',
      '=== FAILURES ===\n    def test():\n>       assert f() == 1\nE       NameError: no f\n=== 1 failed ===\n',
    ],
    ['No test files found, exiting with code 1', 'No test files found, exiting with code 1\n\nexclude: a\n'],
    ['npm error 404 Not Found - GET a', 'npm error code E404\nnpm error 404 Not Found - GET a\n'],
    [
      'not ok 3 - Should reply with 400',
      '# Subtest: No error without a name\nok 1 - No error without a name # SKIP\n# error: logged by a test that passes\nnot ok 2 - later # TODO\nnot ok 3 - Should reply with 400\n',
    ],
    ['✖ replies', '▶ server\n  ✔ logs an error\n  ✖ replies\n    AssertionError: 1\n'],
  ])('FEA-05 shows the line that says why the test of a new feature fails: %s', async (line, report) => {
    const project = await makeForge();
    project.write('report.txt', report);
    const { stdout } = await runForge(project, [
      ...['feature', 'add', 'Sums', '--test', "sh -c 'cat report.txt; exit 1'"],
    ]);
    expect(stdout).toMatch(new RegExp(`its test fails for now, as it should .*:\\n {4}${line}\\n`));
  });

  it('FEA-05 says where a test runs, in a package of the project', async () => {
    const project = await makeForge();
    project.write('packages/a/src/a.js', '');
    const args = ['feature', 'add', 'A', 'a', '--test', 'test -f src/b.js'];
    const add = await runForge(project, ['-C', project.path('packages/a'), ...args]);
    expect(add.stderr).toContain(`A: test -f src/b.js   (in ${project.dir})\n`);
    expect((await runForge(project, ['feature', 'verify', 'A'])).stderr).toMatch(/^A: test -f src\/b\.js$/m);
  });

  it('FEA-05 a test that cannot run is named with what to type instead, and has not failed', async () => {
    const project = await makeForge();
    const { stdout } = await runForge(project, 'feature add A-4 Name --test no-such-program');
    expect(stdout).toContain(
      'not run (no-such-program: command not found). Once it can run: forge done A-4\n    forge feature edit A-4 --test "COMMAND"  # for another test\n',
    );
    // Nor has a test failed whose file is not there yet.
    const add = ['feature', 'add', 'A', 'a', '--test', 'sh tests/a.sh'];
    expect((await runForge(project, add)).stdout).toContain(
      'not run (tests/a.sh does not exist). Once it can run: forge done A',
    );
    project.write('tests/a.sh', 'exit 1\n');
    for (const file of ['tests/a.sh', 'tests/a.sh::one', 'tests/a.sh:12', "'tests/*.sh'", 'tests/...']) {
      const { stdout } = await runForge(project, ['feature', 'add', `In ${file}`, '--test', `sh ${file}`]);
      expect(stdout).not.toContain('does not exist');
    }
    project.write('tests/test_b.py', '');
    const tests = [
      // A part of a path, as runners take it, and a setting.
      "node -e 'process.exit(1)' tests/a",
      'SET_UP=x/test/set-up.js sh tests/a.sh',
      // Names of tests and targets, and a file in a folder that another word names.
      'false -k test_login',
      'false test_app.T.test_login',
      'false discover -s tests -p test_b.py',
    ];
    for (const [i, test] of tests.entries()) {
      const { stdout } = await runForge(project, ['feature', 'add', `Fails ${i}`, '--test', test]);
      expect(stdout).toContain('its test fails for now, as it should');
    }
  });

  it('FEA-05 B-91 a pattern that no shell expands is not a test that failed', async () => {
    const project = await makeForge();
    project.write('t/a.sh', 'test -e done\n');
    const add = async (test: string): Promise<string> =>
      (await runForge(project, ['feature', 'add', `It ${test}`, '--test', test])).stdout;
    for (const [pattern, rest] of [['t/*.sh'], ['t/[a-c].sh'], ['t/?.sh', " 'two words'"]] as const) {
      const command = `sh -c 'sh ${pattern}${(rest ?? '').replaceAll("'", "'\\''")}'`;
      expect(await add(`sh ${pattern}${rest ?? ''}`)).toContain(
        `not run (no shell expands ${pattern} here; this does: ${command}). Once it can run: forge done`,
      );
      expect(await add(command)).toContain('its test fails for now, as it should');
    }
    // These programs expand it themselves.
    for (const test of ['grep -r nothing --include=*.sh t', 'node --test "t/*.test.js"'])
      expect(await add(test)).toContain('its test fails for now, as it should');
  });

  it('FEA-05 a new test that was stopped is reported as such, whatever it printed', async () => {
    const project = await makeForge();
    await forgeJson(project, ['config', 'set', 'features.timeout_seconds', '1']);
    const test = "sh -c 'echo make: error; echo 1 skipped in 0.1s; sleep 100'";
    const { stdout } = await runForge(project, ['feature', 'add', 'Slow', '--test', test]);
    expect(stdout).toMatch(/its test fails for now, as it should .*:\n {4}stopped after 1 s\n/);
  });

  it('FEA-01 a blocker is a feature, or one that an import brought', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'import', '-'], {
      stdin: '[{"id":"LOGIN","blocked_by":"LATER"}]',
    });
    expect(await forgeError(project, ['feature', 'add', 'Orders', '--blocked-by', 'logon'])).toMatchObject({
      exitCode: 2,
      message: 'There is no feature "logon".',
      hint: 'forge feature add Orders --blocked-by LOGIN',
    });
    // An issue never passes.
    const { linear_id } = await forgeJson<{ linear_id: string }>(project, ['linear', 'new', 'Wire it']);
    await expectError(project, ['feature', 'add', 'Orders', '--blocked-by', linear_id], 'feature.unknown');
    expect((await forgeJson<FeatureList>(project, ['ls'])).features).toHaveLength(1);
    await forgeJson(project, ['feature', 'add', 'Orders', '--blocked-by', 'login']);
    await forgeJson(project, ['feature', 'edit', 'LOGIN', '--blocked-by', 'LATER', '--priority', '1']);
  });

  it('FEA-06 FEA-01 blockers match without case, and so does a cycle of them', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'F-1', 'one', '--test', 'true', '--no-run']);
    await forgeJson(project, ['feature', 'add', 'F-2', 'two', '--blocked-by', 'f-1']);
    await expectError(project, ['feature', 'edit', 'F-1', '--blocked-by', 'f-2'], 'feature.cycle');
    await forgeJson(project, ['feature', 'verify', 'F-1']);
    expect((await runForge(project, ['next'])).stdout).toContain('F-2: two\n  why: unblocked');
  });
});
