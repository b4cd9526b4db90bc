import { describe, expect, it } from 'vitest';
import { compilePattern } from '../../src/core/pattern.js';
import {
  findConvention,
  type Part,
  proposeIdPattern,
  proposeTest,
  type TopFiles,
} from '../../src/init/rules.js';
import { forgeJson, runForge } from '../support/forge.js';
import { CONFIG } from '../support/forge-project.js';
import { makeRepository } from '../support/project.js';

describe('proposals from a repository', () => {
  it('LAY-04 the ids of issues, from recent commits', () => {
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

  /** Files at the top by name, and what is in them. */
  const top = (texts: Record<string, string>): TopFiles => ({
    files: new Set(Object.keys(texts)),
    read: (name) => texts[name] ?? '',
  });
  const part = (stack: Part['stack'], folder = '.'): Part => ({ stack, folder, by: '' });
  const json = (script: unknown, more: object = {}): string =>
    JSON.stringify({ scripts: { test: script }, ...more });

  it.each<[parts: Part[], texts: Record<string, string>, command: string | null]>([
    [[part('node')], { 'package.json': json('vitest run') }, 'npm test'],
    [[part('node')], { 'package.json': json('x'), 'pnpm-lock.yaml': '' }, 'pnpm test'],
    [[part('node')], { 'package.json': json('x', { packageManager: 'yarn@4.1.0' }) }, 'yarn test'],
    [[part('node')], { 'package.json': json('x'), 'bun.lock': '' }, 'bun run test'],
    [[part('node')], { 'package.json': json('echo "Error: no test specified" && exit 1') }, null],
    [[part('node')], { 'package.json': json({ evil: 1 }) }, null],
    [[part('node')], { 'package.json': '[1]' }, null],
    [[part('node')], { 'package.json': json('x', { packageManager: 'npm; rm -rf /' }) }, 'npm test'],
    [[part('python')], {}, null],
    [[part('rust')], {}, 'cargo test'],
    [[part('go')], { 'go.mod': '' }, 'go test ./...'],
    [[part('go', 'a')], {}, null],
    [[part('node'), part('go')], { Makefile: 'all:\n\ntest: all\n\tgo test\n' }, 'make test'],
    [[part('node'), part('go')], { 'package.json': json('x'), 'go.mod': '', Makefile: 'test := 1\n' }, null],
    // A package.json may be there only for a formatter.
    [[part('node'), part('python')], { 'package.json': '{}', 'pytest.ini': '' }, 'python3 -m pytest'],
    [[part('node'), part('rust')], { 'package.json': json('x') }, null],
    [[], { Makefile: 'test :\n' }, 'make test'],
    [[], { Makefile: 'check: all\n' }, 'make check'],
    [[], { Makefile: 'check: all\ntest: all\n' }, 'make test'],
  ])('LAY-04 the command that runs the tests: %j %j', (parts, texts, command) => {
    expect(proposeTest(parts, top(texts))?.command ?? null).toBe(command);
  });

  it.each<[texts: Record<string, string>, command: string | null, by?: string]>([
    [
      { 'pyproject.toml': '[project.optional-dependencies]\ntest = ["pytest>=8"]' },
      '.venv/bin/python -m pytest',
    ],
    [{ 'pyproject.toml': '[dependency-groups]\ndev = ["ruff", "pytest"]' }, '.venv/bin/python -m pytest'],
    [
      { 'pyproject.toml': '[tool.poetry.dev-dependencies]\npytest = "^8"', 'poetry.lock': '' },
      'poetry run pytest',
    ],
    [{ 'requirements-dev.txt': 'ruff\npytest==8\n' }, '.venv/bin/python -m pytest'],
    [{ 'pytest.ini': '' }, 'python3 -m pytest', 'pytest.ini'],
    [{ 'pyproject.toml': '[tool.pytest.ini_options]\n' }, 'python3 -m pytest'],
    [{ 'pyproject.toml': '[tool.pytest]', 'uv.lock': '' }, 'uv run pytest'],
    [{ 'tox.ini': '[pytest]\naddopts = -q\n' }, 'python3 -m pytest', 'tox.ini'],
    // A comment or a description is no dependency, and a plugin is another one.
    [{ 'pyproject.toml': '# perhaps "pytest" some day\n' }, null],
    [{ 'pyproject.toml': 'description = "like pytest"', 'requirements.txt': 'pytest-cov\n' }, null],
  ])('LAY-04 a Python project runs pytest where it is installed or set up: %j', (texts, command, by) => {
    const proposal = proposeTest([part('python')], top(texts));
    expect(proposal?.command ?? null).toBe(command);
    if (by !== undefined) expect(proposal?.by).toBe(by);
  });

  it('GIT-08 detects commitlint, and pull requests squashed with their number', () => {
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
    const typed = ['feat: a', 'fix(b)!: c', 'docs: d', 'chore: e', 'ci: f'];
    expect(found([...typed, ...Array(5).fill('x')])?.name).toBe('conventional commits');
    expect(found([...typed, ...Array(6).fill('x')])).toBeNull();
    expect(found(['feat: a', 'fix: b'])).toBeNull();
  });

  it('GIT-08 configures itself to fit them, and reports it', async () => {
    const project = makeRepository();
    project.write('commitlint.config.js', 'export default {};\n');
    const { stdout } = await runForge(project, ['init']);
    expect(stdout).toMatch(
      /commits +commitlint: only agents’ commits follow the protocol, with subjects such as "feat: title"/,
    );
    const config = project.read(CONFIG);
    expect(config).toContain('\nwho = "agents"\n');
    expect(config).toContain('\nstyle = "conventional"\n');
    expect((await forgeJson<{ value: string }>(project, 'config get commit.who')).value).toBe('agents');
  });

  it('LAY-04 VIS-01 what was found is aligned, but not to a long value', async () => {
    const project = makeRepository();
    project.write('package.json', json('vitest run'));
    project.write('commitlint.config.js', '');
    const terminal = { terminal: true, columns: 80 };
    const { stdout } = await runForge(project, ['init', '--yes'], terminal);
    expect(stdout).toMatch(/^ {2}stack {4}node {28}package\.json$/m);
    expect(stdout).toMatch(/^ {2}commits {2}commitlint: only .+\n {11}\S/m);
  });
});
