import { renameSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { FeatureResult } from '../../src/index.js';
import {
  expectError,
  fixedClock,
  forgeError,
  forgeFound,
  forgeJson,
  runForge,
  startBinary,
} from '../support/forge.js';
import { makeForge, PASSING_FEATURE, putFeatures, storedFeature } from '../support/forge-project.js';
import type { Project } from '../support/project.js';

const stored = storedFeature;
const verified = (project: Project, ...args: string[]) =>
  forgeFound<{ results: FeatureResult[] }>(project, ['feature', 'verify', ...args]);

/** A feature with tests that were typed here, and so may run. */
const add = (project: Project, id: string, ...tests: string[]): Promise<object> =>
  forgeJson(project, [
    'feature',
    'add',
    id,
    '--no-run',
    ...tests.flatMap((test) => ['--test', test]),
    `the ${id}`,
  ]);

describe('forge done', () => {
  it('FEA-05 a passing feature whose test file was renamed is proven; with another test it is not', async () => {
    const project = await makeForge();
    project.write('tests/a_test.sh', 'test -e done');
    await forgeJson(project, ['feature', 'add', 'A', 'a', '--test', 'sh tests/a_test.sh -x']);
    project.write('done', '');
    await forgeJson(project, 'feature verify A');
    renameSync(project.path('tests/a_test.sh'), project.path('tests/b_test.sh'));
    const { stdout } = await runForge(project, ['feature', 'edit', 'A', '--test', 'sh tests/b_test.sh -x']);
    expect(stdout).toContain('its renamed test passes (sh tests/b_test.sh -x): forge done A');
    expect((await verified(project, 'A')).results).toMatchObject([{ status: 'passing' }]);
    project.write('tests/c_test.sh', '');
    const other = await runForge(project, ['feature', 'edit', 'A', '--test', 'sh tests/c_test.sh -x']);
    expect(other.stdout).toContain('unproven: its test passes but has never failed');
  });

  it('FEA-02 runs the tests and sets passing with its evidence', async () => {
    const project = await makeForge();
    await add(project, 'A', "node -e 'process.exit(0)'", "sh -c 'echo out; echo err >&2'");
    const { stdout, stderr, exitCode } = await runForge(project, 'feature verify A -v', {
      world: fixedClock(),
    });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^✓ A {2}not_implemented → passing {2}\d+\.\d s\n$/);
    expect(stderr).toContain("A: node -e 'process.exit(0)'\n");
    expect(stderr).toMatch(/^out$/m);
    expect(stderr).toMatch(/^err$/m);
    expect(stored(project, 'A')).toMatchObject({
      status: 'passing',
      verified_at: '2026-03-01T10:00:00.000Z',
      verified_commit: project.git('rev-parse', 'HEAD'),
      verified_by: ["node -e 'process.exit(0)'", "sh -c 'echo out; echo err >&2'"],
    });
  });

  it('FEA-02 a failing test exits with 1, clears the evidence and shows the end of the output', async () => {
    const project = await makeForge();
    await add(project, 'A', 'test ! -e broken', 'true');
    await forgeJson(project, ['feature', 'verify', 'A']);
    project.write('broken', '');
    const { results, exitCode } = await verified(project, 'A');
    expect(exitCode).toBe(1);
    const [result] = results;
    expect(result).toMatchObject({
      id: 'A',
      status: 'failing',
      before: 'passing',
      exit_code: 1,
      failure: 'exit code 1',
    });
    // The first failing command ends the run and is reported.
    expect(result?.command).toBe("test '!' -e broken");
    expect(stored(project, 'A')).toMatchObject({ status: 'failing' });
    for (const field of ['verified_at', 'verified_commit', 'verified_by'])
      expect(stored(project, 'A')).not.toHaveProperty(field);
    const script = 'console.log("x".repeat(9000)); console.error("the reason"); process.exit(7)';
    await add(project, 'B', `node -e '${script}'`);
    const second = await runForge(project, ['feature', 'verify', 'B']);
    expect([second.exitCode, second.stdout]).toEqual([1, expect.stringMatching(/^✗ B .*exit code 7/)]);
    const [again] = (await verified(project, 'B')).results;
    expect(again?.output).toMatch(/the reason\n$/);
    expect(Buffer.byteLength(again?.output ?? '')).toBeLessThanOrEqual(4096);
  });

  it('FEA-02 --all runs every feature that has tests; names pick some; neither is an error', async () => {
    const project = await makeForge();
    await add(project, 'A', 'true');
    await add(project, 'B', 'false');
    await add(project, 'C');
    const { results, exitCode } = await verified(project, '--all');
    expect(exitCode).toBe(1);
    expect(results.map(({ id, status }) => [id, status])).toEqual([
      ['A', 'passing'],
      ['B', 'failing'],
    ]);
    expect((await runForge(project, ['feature', 'verify', 'A'])).exitCode).toBe(0);
    await expectError(project, ['feature', 'verify', 'C'], '2 feature.no_tests');
    await expectError(project, ['feature', 'verify', 'A', 'Z'], '2 feature.unknown');
    await expectError(project, 'feature verify', '2 feature.which');
    await expectError(project, ['feature', 'verify', 'A', '--all'], '2');
  });

  it('FEA-02 reports a missing program, a file that is not executable and a signal', async () => {
    const project = await makeForge();
    await add(project, 'A', 'no-such-program --flag');
    project.write('plain.txt', 'x');
    await add(project, 'B', './plain.txt');
    await add(project, 'C', "sh -c 'kill -9 $$'");
    const { results, exitCode } = await verified(project, 'A', 'B', 'C');
    expect(exitCode).toBe(1);
    const [a, b, c] = results;
    expect(a).toMatchObject({
      status: 'not_implemented',
      exit_code: null,
      not_run: 'no-such-program: command not found',
    });
    expect(b).toMatchObject({ status: 'not_implemented', not_run: './plain.txt: not executable' });
    expect(c).toMatchObject({ status: 'failing', exit_code: null, failure: 'ended by a signal' });
  });

  it('FEA-05 a missing tool is not a failing feature: exit 6, status unchanged', async () => {
    const project = await makeForge();
    putFeatures(project, [
      { ...PASSING_FEATURE, tests: ["sh -c 'uv run'"], verified_by: ["sh -c 'uv run'"] },
    ]);
    await runForge(project, ['trust', '--yes'], { terminal: true });
    const { stdout, exitCode } = await runForge(project, ['feature', 'verify', 'A']);
    expect(exitCode).toBe(6);
    expect(stdout).toMatch(/^- A {2}passing {2}not run \(.*uv.*not found\)\n$/);
    expect(stored(project, 'A')?.status).toBe('passing');
  });

  it('FEA-05 a missing test file is not run for a feature that nobody began, and fails one that passed', async () => {
    const project = await makeForge();
    await add(project, 'A', 'sh test/a.test.sh');
    await add(project, 'B', 'true');
    const all = await runForge(project, 'feature verify --all');
    expect(all).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('✓ B') });
    expect(all.stdout).toContain('- A  not_implemented  not run (test/a.test.sh does not exist)\n');
    expect((await runForge(project, 'done A')).exitCode).toBe(6);
    project.write('test/a.test.sh', '');
    await forgeJson(project, 'done A');
    rmSync(project.path('test/a.test.sh'));
    expect((await runForge(project, 'done A')).stdout).toMatch(
      /^✗ A {2}passing → failing.*\n\s+test\/a.test.sh does not exist\n/,
    );
  });

  it('FEA-05 the failure of a test file that is away for a moment is no proof of a test that never failed', async () => {
    const project = await makeForge();
    project.write('test/u.test.sh', '');
    await forgeJson(project, ['feature', 'add', 'U', 'Old code', '--test', 'sh test/u.test.sh']);
    await runForge(project, 'done U');
    rmSync(project.path('test/u.test.sh'));
    const away = await runForge(project, 'done U');
    expect(away.stdout).toContain('- U  in_progress  not run (test/u.test.sh does not exist)\n');
    project.write('test/u.test.sh', '');
    await runForge(project, 'done U');
    expect(stored(project, 'U')).toMatchObject({ status: 'in_progress', unproven: true });
  });

  it('FEA-02 a test that is not approved is named, and the others run', async () => {
    const project = await makeForge();
    await add(project, 'A', 'true');
    const a = stored(project, 'A') as object;
    putFeatures(project, [a, { ...a, id: 'B', status: 'in_progress', tests: ['touch ran'] }]);
    const line = '- B  in_progress  not run (not approved here; for a person: forge trust)\n';
    for (const [args, code] of [
      ['feature verify --all', 6],
      ['done A B', 3],
    ] as const) {
      const { stdout, exitCode } = await runForge(project, args);
      expect([stdout, exitCode]).toEqual([expect.stringMatching(/^✓ A {2}.*\n/), code]);
      expect(stdout).toContain(line);
    }
    await expectError(project, 'done B', '3 trust.needed');
    expect(project.has('ran')).toBe(false);
    putFeatures(
      project,
      ['A', 'B', 'C'].map((id) => ({ ...a, id, tests: ['touch ran'] })),
    );
    const { message } = await forgeError(project, 'done B');
    expect(message).toBe('"touch ran" (feature B) was not approved here; nothing was run.');
  });

  it('FEA-05 FEA-02 a run that ended with an error has failed, also if no test ran', async () => {
    const project = await makeForge();
    project.write('report.txt', '2 passed in 0.1s\n');
    await add(project, 'A', "sh -c 'cat report.txt; ! grep error report.txt'");
    await forgeJson(project, ['feature', 'verify', 'A']);
    project.write('report.txt', '=== no tests ran in 0.01s ===\nUnknown command: "x"\nerror\n');
    const { stdout } = await runForge(project, ['feature', 'verify', 'A']);
    expect(stdout).toMatch(/^✗ A {2}passing → failing/);
    const first = ['feature', 'edit', 'A', '--test', "sh -c 'cat report.txt; exit 5'"];
    expect((await runForge(project, first)).stdout).toContain('not run (no test ran)');
  });

  it('FEA-05 shows the output of a passing feature whose tests are skipped now', async () => {
    const project = await makeForge();
    project.write('output.txt', '1 passed in 0.1s\n');
    await add(project, 'A', 'cat output.txt');
    await runForge(project, ['feature', 'verify', 'A']);
    project.write('output.txt', 'later: needs a server\n1 skipped in 0.1s\n');
    const { stderr, stdout } = await runForge(project, ['feature', 'verify', 'A']);
    expect(stderr).toContain('later: needs a server\n');
    expect(stdout).toBe('- A  passing  not run (no test ran)\n');
  });

  it('FEA-02 shows the output of a failing test only', async () => {
    const project = await makeForge();
    await add(project, 'A', "sh -c 'echo fine'");
    // Test runners color their output even in a pipe.
    await add(project, 'B', String.raw`sh -c 'printf "\033[31mbroken\033[0m\n"; exit 1'`);
    const { stderr, stdout } = await runForge(project, ['feature', 'verify', 'A', 'B']);
    expect(stderr).toMatch(/^A: [^\n]*\nB: [^\n]*\nbroken\n$/);
    expect(stdout).toMatch(/✓ A [\s\S]*✗ B /);
    expect((await runForge(project, ['feature', 'verify', 'A', '-v'])).stderr).toContain('\nfine\n');
  });

  it('FEA-02 names the test that failed if it stands far above the end of the output', async () => {
    const project = await makeForge();
    const passed = [...Array(40).keys()].map((i) => `ok ${i + 2} - other\n`).join('');
    project.write('output.txt', `not ok 1 - the first thing\n${passed}`);
    await add(project, 'A', "sh -c 'cat output.txt; exit 1'");
    const { stdout } = await runForge(project, ['done', 'A']);
    expect(stdout).toMatch(/^✗ A .* exit code 1 \(.*\):\n {4}not ok 1 - the first thing\n$/);
    project.write('output.txt', 'not ok 1 - the first thing\n');
    expect((await runForge(project, ['done', 'A'])).stdout).toMatch(/^✗ A .* exit code 1 \(.*\)\n$/);
  });

  it('FEA-02 without an id it verifies the task of the session', async () => {
    const project = await makeForge();
    await add(project, 'A', 'true');
    await add(project, 'B', 'true');
    expect((await runForge(project, ['feature', 'verify'])).exitCode).toBe(2);
    await forgeJson(project, ['focus', 'set', '--task', 'B: b']);
    const { results } = await forgeJson<{ results: { id: string }[] }>(project, ['feature', 'verify']);
    expect(results.map(({ id }) => id)).toEqual(['B']);
  });

  it('FEA-02 with -v streams the output to stderr while the test runs, whole characters only', async () => {
    const project = await makeForge();
    const script =
      "process.stdout.write('ready \\xc3', 'latin1'); const wait = () => { if (fs.existsSync('go')) process.stdout.write('\\xa9 done\\n', 'latin1'); else setTimeout(wait, 20); }; wait()";
    await add(project, 'A', `node -e "const fs = require('fs'); ${script}"`);
    const child = startBinary(project.dir, ['feature', 'verify', 'A', '-v']);
    let shown = '';
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      shown += chunk;
      // Only a reader who saw the first word can let the test end.
      if (shown.includes('\nready') && !project.has('go')) setTimeout(() => project.write('go', ''), 100);
    });
    const code = await new Promise((done) => child.on('close', done));
    expect(code).toBe(0);
    expect(shown).toContain('ready \u00e9 done\n');
  });
});
