import { describe, expect, it } from 'vitest';
import { compilePattern } from '../../src/core/pattern.js';
import { isBranchName } from '../../src/core/text.js';
import {
  findConvention,
  findTasks,
  MAX_TASKS,
  proposeIdPattern,
  proposeTest,
  type TestFacts,
} from '../../src/init/proposal.js';
import type { Part } from '../../src/init/stack.js';
import { forgeJson, runForge } from '../support/forge.js';
import { CONFIG } from '../support/forge-project.js';
import { makeRepository } from '../support/project.js';

describe('what a repository says about itself', () => {
  it('LAY-04 the ids of issues, by what recent commits call them', () => {
    const cases: [subjects: string[], pattern: string | null][] = [
      [['ABC-1: a', '[ABC-2] b', 'c (ABC-3)', 'd'], 'ABC-\\d+'],
      [['ABC-1', 'ABC-2', 'ABC-3', 'X9-1', 'X9-2', 'X9-3'], '(ABC|X9)-\\d+'],
      [['#1 a', '[#2] b', 'Fixes #3'], '#\\d+'],
      // The same few numbers are a standard, a server's mark, or chance.
      [['Read UTF-8', 'Write UTF-16', 'Drop UTF-32'], null],
      [['SHA-1 out', 'SHA-256 in', 'SHA-512 too'], null],
      [['ABC-1', 'ABC-1', 'ABC-2'], null],
      [['Login (#12)', 'Logout (#13)', 'Export (#14)'], null],
      [['abc-1', 'abc-2', 'abc-3', 'x-ABC-1', 'ABC-1x'], null],
      [['FORGE-1', 'FORGE-2', 'FORGE-3'], null],
      [['ABC-1', 'ABC-2', 'ABC-3', ...Array(20).fill('x')], null],
      [['A1', 'B1', 'C1', 'D1', 'E1'].flatMap((p) => [`${p}-1`, `${p}-2`, `${p}-3`]), null],
      [[], null],
    ];
    for (const [subjects, pattern] of cases)
      expect([subjects, proposeIdPattern(subjects)]).toEqual([subjects, pattern]);
    for (const id of ['ABC-12', 'X9-1'])
      expect(compilePattern(proposeIdPattern(cases[1]?.[0] as string[]) as string)(id)).toBe(true);
    expect(proposeIdPattern([`${'A'.repeat(1_000_000)}-1`, '#'.repeat(1_000_000)])).toBeNull();
  });

  it('LAY-04 B-42 names of branches, not what somebody wrote into HEAD', () => {
    for (const name of ['main', 'feature/x-1', 'Ümlaut', 'a.b', '日本'])
      expect([name, isBranchName(name)]).toEqual([name, true]);
    for (const name of [
      '',
      '-x',
      '--upload-pack=x',
      'a b',
      'a..b',
      'a@{1}',
      'a.lock',
      'a/',
      '/a',
      '.a',
      'a\\b',
      'a\u001b[31m',
      'a\u202eb',
      'a:b',
      'a*',
    ])
      expect([name, isBranchName(name)]).toEqual([name, false]);
  });

  it('LAY-04 open tasks of a Markdown text, as one line of plain text each', () => {
    const text = [
      '# Plan',
      '- [ ] **Login** works with [OpenID](https://a.b/c)',
      '* [ ] Export `CSV`   ',
      '  1. [ ] Nested',
      '- [x] Done',
      '- [ ]',
      '- [ ] login works with openid',
      '- no task',
      '```md',
      '- [ ] In a code block',
      '```',
      '- [ ] After it',
    ];
    const tasks = ['Login works with OpenID', 'Export CSV', 'Nested', 'After it'];
    expect(findTasks(text.join('\n'))).toEqual({ tasks, leftOut: 0 });
    expect(findTasks(`\uFEFF${text.join('\r\n')}\r\n`)).toEqual({ tasks, leftOut: 0 });
  });

  it('LAY-04 leaves out tasks that nobody could read as they are, and those beyond fifty', () => {
    const odd = ['\u001b]0;x\u0007', 'a\u202eb', '\u{e0041}', 'x'.repeat(201), '\ud800'];
    const text = odd.map((task) => `- [ ] ${task}\n`).join('');
    expect(findTasks(text)).toEqual({ tasks: [], leftOut: odd.length });
    const many = findTasks(Array.from({ length: 60 }, (_, i) => `- [ ] Task ${i}`).join('\n'));
    expect([many.tasks.length, many.leftOut]).toEqual([MAX_TASKS, 10]);
    const long = `- [ ] ${'[a]('.repeat(200_000)}\n${'- [ ] '.repeat(100_000)}`;
    expect(findTasks(long).leftOut).toBe(2);
  });

  const facts = (change: Partial<TestFacts> = {}): TestFacts => ({
    files: new Set(),
    packageJson: null,
    pyproject: '',
    makefile: '',
    ...change,
  });
  const part = (stack: Part['stack'], folder = '.'): Part => ({ stack, folder, by: '' });

  it('LAY-04 the command that runs the tests', () => {
    const json = (script: unknown, more: object = {}): unknown => ({ scripts: { test: script }, ...more });
    const cases: [parts: Part[], change: Partial<TestFacts>, command: string | null][] = [
      [[part('node')], { packageJson: json('vitest run') }, 'npm test'],
      [[part('node')], { packageJson: json('x'), files: new Set(['pnpm-lock.yaml']) }, 'pnpm test'],
      [[part('node')], { packageJson: json('x', { packageManager: 'yarn@4.1.0' }) }, 'yarn test'],
      [[part('node')], { packageJson: json('x'), files: new Set(['bun.lock']) }, 'bun run test'],
      [[part('node')], { packageJson: json('echo "Error: no test specified" && exit 1') }, null],
      [[part('node')], { packageJson: json({ evil: 1 }) }, null],
      [[part('node')], { packageJson: [1] }, null],
      [[part('node')], { packageJson: json('x', { packageManager: 'npm; rm -rf /' }) }, 'npm test'],
      [[part('python')], { files: new Set(['pytest.ini']) }, 'python3 -m pytest'],
      [[part('python')], { pyproject: '[tool.pytest]', files: new Set(['uv.lock']) }, 'uv run pytest'],
      [[part('python')], {}, null],
      [[part('rust')], {}, 'cargo test'],
      [[part('go')], { files: new Set(['go.mod']) }, 'go test ./...'],
      [[part('go', 'a')], {}, null],
      [[part('node'), part('go')], { makefile: 'all:\n\ntest: all\n\tgo test\n' }, 'make test'],
      [
        [part('node'), part('go')],
        { packageJson: json('x'), files: new Set(['go.mod']), makefile: 'test := 1\n' },
        null,
      ],
      // A package.json for a formatter is no reason to know nothing of the tests.
      [
        [part('node'), part('python')],
        { packageJson: { devDependencies: {} }, files: new Set(['pytest.ini']) },
        'python3 -m pytest',
      ],
      [[part('node'), part('rust')], { packageJson: json('x') }, null],
      [[], { makefile: 'test :\n' }, 'make test'],
    ];
    for (const [parts, change, command] of cases)
      expect([change, proposeTest(parts, facts(change))?.command ?? null]).toEqual([change, command]);
  });

  it('LAY-04 a Python project’s tests run with pytest where it is installed or used, else with unittest', () => {
    const tests = (path: string, text: string, isPackage = true) => ({ tests: [{ path, text, isPackage }] });
    const plain = 'from shop import slug\nimport unittest\n';
    const fixture = tests('tests/test_a.py', 'import pytest\n');
    const cases: [change: Partial<TestFacts>, command: string | null, by?: string][] = [
      [{ pyproject: '[project.optional-dependencies]\ntest = ["pytest>=8"]' }, '.venv/bin/python -m pytest'],
      [{ pyproject: '[dependency-groups]\ndev = ["ruff", "pytest"]' }, '.venv/bin/python -m pytest'],
      [
        { pyproject: '[tool.poetry.dev-dependencies]\npytest = "^8"', files: new Set(['poetry.lock']) },
        'poetry run pytest',
      ],
      [{ more: { 'requirements-dev.txt': 'ruff\npytest==8\n' } }, '.venv/bin/python -m pytest'],
      [{ pyproject: '[tool.pytest.ini_options]\n' }, 'python3 -m pytest'],
      [{ more: { 'tox.ini': '[pytest]\naddopts = -q\n' } }, 'python3 -m pytest', 'tox.ini'],
      [fixture, 'python3 -m pytest', 'tests/test_a.py'],
      // A word is no dependency, and a plugin is another one.
      [
        { pyproject: '# perhaps "pytest" some day\n', ...tests('test_a.py', plain) },
        '.venv/bin/python -m unittest',
      ],
      [{ pyproject: 'description = "like pytest"', more: { 'requirements.txt': 'pytest-cov\n' } }, null],
      [tests('tests/test_a.py', plain), '.venv/bin/python -m unittest', 'tests/test_a.py'],
      [tests('tests/test_a.py', plain, false), '.venv/bin/python -m unittest discover -s tests'],
      [{ ...tests('test_a.py', plain), files: new Set(['uv.lock']) }, 'uv run python -m unittest'],
      [tests('test_a.py', 'def test_a(): pass\n'), null],
    ];
    for (const [change, command, by] of cases) {
      const told = proposeTest([part('python')], facts(change));
      expect([change, told?.command ?? null]).toEqual([change, command]);
      if (by !== undefined) expect(told?.by).toBe(by);
    }
  });

  it('GIT-08 notices commitlint, and pull requests that are squashed with their number', () => {
    const none: string[] = [];
    const found = (subjects: string[], files: string[] = [], packageJson = '') =>
      findConvention(subjects, new Set(files), packageJson);
    expect(found(none, ['.commitlintrc.yml'])?.name).toBe('commitlint');
    expect(found(none, ['commitlint.config.mjs'])?.from).toBe('commitlint.config.mjs');
    expect(found(none, [], '{"devDependencies": {"@commitlint/cli": "^19"}}')?.from).toBe('package.json');
    const squashed = ['Fix a (#1)', 'Add b (#2)', 'Add c (!3)'];
    expect(found([...squashed, ...Array(12).fill('x')])?.name).toBe('pull requests');
    expect(found([...squashed, ...Array(13).fill('x')])).toBeNull();
    expect(found(['Fix a (#1)', 'Fix #2'])).toBeNull();
  });

  it('GIT-08 sets itself up beside them, and says so', async () => {
    const project = makeRepository();
    project.write('commitlint.config.js', 'export default {};\n');
    const { stdout } = await runForge(project, ['init']);
    expect(stdout).toMatch(
      /commits +commitlint: only agents’ commits follow the protocol, but for the subject/,
    );
    const config = project.read(CONFIG);
    expect(config).toContain('\nwho = "agents"\n');
    expect(config).toContain('\nrules_off = ["subject"]\n');
    expect((await forgeJson<{ value: string }>(project, ['config', 'get', 'commit.who'])).value).toBe(
      'agents',
    );
  });
});
