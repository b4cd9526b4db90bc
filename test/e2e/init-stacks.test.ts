import { existsSync, rmSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { makeFolder, makePlainProject, type Project, projectAt, run } from '../support/project.js';
import { berryFile, hasTool, toolEnv } from '../support/tools.js';
import { typed } from './typed.js';

/** Small real projects, their tools and their lock files; none has a dependency that is not in the project itself. */

interface Kind {
  stack: string;
  files: Record<string, string>;
  /** What somebody who has the tool would type first. */
  lock?: string[];
  env?: NodeJS.ProcessEnv;
  /** The steps that init.sh takes, as it says them. */
  steps: (string | RegExp)[];
  /** Breaks the project, so that only a real proof sees it. */
  broken: Record<string, string>;
}

const has = Object.fromEntries(
  ['pnpm', 'yarn', 'bun', 'uv', 'poetry', 'cargo', 'go'].map((name) => [
    name,
    hasTool(name, name === 'go' ? ['version'] : ['--version']),
  ]),
);
const hasVenv = hasTool('python3', ['-c', 'import ensurepip, venv']);
const berry = has.yarn ? berryFile() : null;

const NODE = {
  '.gitignore': 'node_modules\n.yarn\n.pnp*\n',
  'dep/package.json': '{ "name": "dep", "version": "1.0.0", "main": "index.js" }',
  'dep/index.js': 'module.exports = 42;',
  'package.json': JSON.stringify({
    name: 'app',
    version: '1.0.0',
    dependencies: { dep: 'file:./dep' },
    scripts: { test: 'node test.js' },
  }),
  'test.js': "if (require('dep') !== 42) process.exit(3);",
};
const node = (steps: Kind['steps'], lock?: string[], more: Partial<Kind> = {}): Kind => ({
  stack: 'node',
  files: NODE,
  steps,
  broken: { 'test.js': 'process.exit(4)' },
  ...(lock ? { lock } : {}),
  ...more,
});

/** A build backend that is in the project, so that nothing has to be fetched. */
const BACKEND = `
import os, zipfile
def wheel(folder, files):
    name = "app-1.0-py3-none-any.whl"
    info = "app-1.0.dist-info/"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
        archive.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: app\\nVersion: 1.0\\nProvides-Extra: dev\\n")
        archive.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        archive.writestr(info + "RECORD", "")
    return name
def build_editable(folder, config_settings=None, metadata_directory=None):
    return wheel(folder, {"app.pth": os.path.abspath("src")})
build_wheel = build_editable
`;

const KINDS: Record<string, [can: boolean, kind: Kind]> = {
  'npm with its lock file': [
    true,
    node(
      ['npm ci --no-audit --no-fund', 'npm run test'],
      ['npm', 'install', '--package-lock-only', '--offline'],
    ),
  ],
  'npm without one': [true, node(['npm install --no-package-lock --no-audit --no-fund', 'npm run test'])],
  pnpm: [
    has.pnpm === true,
    node(
      ['pnpm install --frozen-lockfile', 'pnpm run test'],
      ['pnpm', 'install', '--lockfile-only', '--offline'],
    ),
  ],
  'pnpm by packageManager alone': [
    has.pnpm === true,
    node(['pnpm install --no-lockfile', 'pnpm run test'], undefined, {
      files: {
        ...NODE,
        '.npmrc': 'manage-package-manager-versions=false\npackage-manager-strict=false\n',
        'package.json': NODE['package.json'].replace('{', '{ "packageManager": "pnpm@9.0.0", '),
      },
    }),
  ],
  'yarn 1': [
    has.yarn === true,
    node(
      ['yarn install --frozen-lockfile --non-interactive', 'yarn run test'],
      ['yarn', 'install', '--offline', '--silent'],
    ),
  ],
  'yarn 2 and newer': [
    berry !== null,
    node(['yarn install --immutable', 'yarn run test'], ['yarn', 'install', '--mode=update-lockfile'], {
      files: { ...NODE, 'yarn.lock': '', '.yarnrc.yml': `yarnPath: ${berry}\nenableGlobalCache: false\n` },
      env: { YARN_ENABLE_NETWORK: '0', YARN_ENABLE_IMMUTABLE_INSTALLS: 'false' },
    }),
  ],
  bun: [
    has.bun === true,
    node(['bun install --frozen-lockfile', 'bun run test'], ['bun', 'install', '--lockfile-only']),
  ],
  'python with requirement files': [
    hasVenv,
    {
      stack: 'python',
      files: {
        'requirements.txt': '# none yet\n',
        'app/__init__.py': 'from . import part\n',
        'app/part.py': '',
      },
      steps: [
        'python3 -m venv --clear .venv',
        '.venv/bin/python -m pip install -r requirements.txt',
        'import what is here',
      ],
      broken: { 'app/part.py': 'import no_such_module\n' },
    },
  ],
  'python with pyproject.toml': [
    hasVenv,
    {
      stack: 'python',
      files: {
        'backend/backend.py': BACKEND,
        'pyproject.toml':
          '[project]\nname = "app"\nversion = "1.0"\n[project.optional-dependencies]\ndev = []\n' +
          '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["backend"]\n',
        'src/app/__init__.py': 'ANSWER = 42\n',
      },
      steps: [
        'python3 -m venv --clear .venv',
        '.venv/bin/python -m pip install -e .[dev]',
        'import what is here',
      ],
      broken: { 'src/app/__init__.py': 'ANSWER = (\n' },
    },
  ],
  poetry: [
    has.poetry === true,
    {
      stack: 'python',
      files: {
        'pyproject.toml':
          '[tool.poetry]\nname = "app"\nversion = "1.0"\ndescription = ""\nauthors = []\n' +
          '[tool.poetry.dependencies]\npython = "^3.8"\n' +
          '[build-system]\nrequires = ["poetry-core"]\nbuild-backend = "poetry.core.masonry.api"\n',
        'app/__init__.py': 'ANSWER = 42\n',
      },
      lock: ['poetry', 'lock', '--no-interaction'],
      steps: ['poetry install --no-interaction --no-ansi', 'import what is here'],
      broken: { 'app/__init__.py': 'raise SystemExit(3)\n' },
    },
  ],
  uv: [
    has.uv === true,
    {
      stack: 'python',
      files: {
        'pyproject.toml':
          '[project]\nname = "app"\nversion = "1.0"\nrequires-python = ">=3.8"\ndependencies = []\n',
        'app/__init__.py': 'ANSWER = 42\n',
      },
      lock: ['uv', 'lock', '--offline'],
      steps: ['uv sync --locked', 'import what is here'],
      broken: { 'app/__init__.py': 'raise SystemExit(3)\n' },
    },
  ],
  'a cargo workspace': [
    has.cargo === true,
    {
      stack: 'rust',
      files: {
        '.gitignore': 'target\n',
        'Cargo.toml': '[workspace]\nmembers = ["one", "two"]\n',
        'one/Cargo.toml': '[package]\nname = "one"\nversion = "0.1.0"\nedition = "2021"\n',
        'one/src/lib.rs': 'pub fn answer() -> u32 { 42 }\n',
        'two/Cargo.toml':
          '[package]\nname = "two"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\none = { path = "../one" }\n',
        'two/src/main.rs': 'fn main() { println!("{}", one::answer()); }\n',
      },
      lock: ['cargo', 'generate-lockfile', '--offline'],
      steps: ['cargo fetch --locked', 'cargo check --workspace --locked'],
      broken: { 'two/src/main.rs': 'fn main() { one::question(); }\n' },
    },
  ],
  'a crate without lock file and .gitignore': [
    has.cargo === true,
    {
      stack: 'rust',
      files: {
        'Cargo.toml': '[package]\nname = "one"\nversion = "0.1.0"\nedition = "2021"\n',
        'src/lib.rs': 'pub fn answer() -> u32 { 42 }\n',
      },
      steps: ['cargo fetch', /cargo check --workspace( --locked)?/],
      broken: { 'src/lib.rs': 'pub fn answer() -> u32 { "42" }\n' },
    },
  ],
  'a go module': [
    has.go === true,
    {
      stack: 'go',
      files: {
        'go.mod': 'module example.com/app\n\ngo 1.18\n',
        'main.go': 'package main\n\nimport "example.com/app/part"\n\nfunc main() { println(part.Answer) }\n',
        'part/part.go': 'package part\n\nconst Answer = 42\n',
      },
      steps: ['go mod download', 'go build -o /dev/null ./...'],
      broken: { 'part/part.go': 'package part\n\nconst Answers = 42\n' },
    },
  ],
  'a go workspace': [
    has.go === true,
    {
      stack: 'go',
      files: {
        'go.work': 'go 1.18\n\nuse (\n\t./one\n\t./two\n)\n',
        'one/go.mod': 'module example.com/one\n\ngo 1.18\n',
        'one/one.go': 'package one\n\nconst Answer = 42\n',
        'two/go.mod': 'module example.com/two\n\ngo 1.18\n',
        'two/main.go': 'package main\n\nimport "example.com/one"\n\nfunc main() { println(one.Answer) }\n',
      },
      steps: ['go mod download', 'go build -o /dev/null ./one/... ./two/...'],
      broken: { 'one/one.go': 'package one\n' },
    },
  ],
};

function put(project: Project, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) project.write(path, text);
}

/** A repository with these projects, each in its folder, locked, committed, and with forge in it. */
function made(kinds: readonly (readonly [folder: string, kind: Kind])[], name = 'a project'): Project {
  const project = projectAt(`${makeFolder()}/${name}`);
  for (const [folder, kind] of kinds) {
    const at = projectAt(project.path(folder));
    put(at, kind.files);
    const [program, ...args] = kind.lock ?? [];
    if (program === undefined) continue;
    const { exitCode, stdout, stderr } = run(at.dir, program, args, { env: { ...toolEnv(), ...kind.env } });
    expect(exitCode, stdout + stderr).toBe(0);
    rmSync(at.path('node_modules'), { recursive: true, force: true });
  }
  project.git('init', '-q');
  typed(project, ['init', '--yes']);
  project.git('add', '.');
  project.git('commit', '-q', '-m', 'Begin');
  return project;
}

function bootstrap(project: Project, env: NodeJS.ProcessEnv = {}) {
  return run('/', 'sh', [project.path('.forge/init.sh')], { env: { ...toolEnv(), CI: 'true', ...env } });
}

const linesOf = (name: string, steps: Kind['steps']): unknown[] =>
  steps.map((step) =>
    typeof step === 'string'
      ? `init: ${name}: ${step}`
      : expect.stringMatching(new RegExp(`^init: ${name}: ${step.source}$`)),
  );

describe('init.sh in real projects', () => {
  for (const [title, [can, kind]] of Object.entries(KINDS))
    it.skipIf(!can)(`LAY-03 installs, proves, and knows when nothing changed: ${title}`, () => {
      const project = made([['.', kind]]);
      const first = bootstrap(project, kind.env);
      expect(first.stderr).toBe('');
      expect(first.stdout.trimEnd().split('\n')).toEqual([...linesOf(kind.stack, kind.steps), 'init: ready']);
      // What was installed and built is nobody's to commit; a lock file that was not there may be.
      expect(project.git('status', '--porcelain').replace('?? Cargo.lock', '')).toBe('');
      const nothing = `init: ${kind.stack}: nothing changed\ninit: ready\n`;
      expect(bootstrap(project, kind.env)).toMatchObject({ exitCode: 0, stdout: nothing, stderr: '' });

      put(project, kind.broken);
      const { exitCode, stdout, stderr } = bootstrap(project, kind.env);
      expect([exitCode, stderr.split('\n')[0]]).toEqual([
        1,
        expect.stringMatching(`^init: failed: ${kind.stack}: `),
      ]);
      // Only the proof again: what it depends on did not change.
      expect(stdout.trimEnd().split('\n')).toEqual(linesOf(kind.stack, kind.steps.slice(-1)));
      for (const path of Object.keys(kind.broken)) project.write(path, kind.files[path] as string);
      expect(bootstrap(project, kind.env)).toMatchObject({ exitCode: 0, stderr: '' });
    });

  it.skipIf(!hasVenv)('LAY-03 collects the tests where pytest is installed; none is no failure', () => {
    const project = projectAt(`${makeFolder()}/a project`);
    // No pytest can be fetched here: one that ends as it is told.
    const stand = 'import sys\nif __name__ == "__main__":\n    sys.exit(int(open("exit").read()))\n';
    project.write(
      'wheel.py',
      `${BACKEND.replaceAll('app', 'pytest')}\nwheel(".", {"pytest.py": ${JSON.stringify(stand)}})\n`,
    );
    expect(run(project.dir, 'python3', ['wheel.py'], { env: toolEnv() })).toMatchObject({ exitCode: 0 });
    project.write('requirements.txt', './pytest-1.0-py3-none-any.whl\n');
    typed(project, ['init', '--yes']);
    const answers = (exit: string): number | null => {
      project.write('exit', exit);
      return bootstrap(project).exitCode;
    };
    expect([answers('0'), answers('5'), answers('2')]).toEqual([0, 0, 1]);
    expect(bootstrap(project).stderr).toMatch(/^init: failed: python: pytest --collect-only \(exit 2/);
    // A virtual environment whose Python is gone is made again.
    rmSync(project.path('.venv/bin/python'));
    symlinkSync('/nowhere/python', project.path('.venv/bin/python'));
    project.write('exit', '0');
    expect(bootstrap(project)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('venv --clear'),
    });
  });

  it.skipIf(!has.go || !has.cargo)('LAY-03 several stacks, each in its folder', () => {
    const at = (title: string): Kind => (KINDS[title] as [boolean, Kind])[1];
    const project = made([
      ['.', node(['npm ci'], ['npm', 'install', '--package-lock-only', '--offline'])],
      ['services/api', at('npm with its lock file')],
      ['services/engine core', at('a cargo workspace')],
      ['tools', at('a go module')],
    ]);
    expect(project.read('.forge/init.sh')).toContain(
      "part node .\npart node services/api\npart rust 'services/engine core'\npart go tools\n",
    );
    const { exitCode, stdout, stderr } = bootstrap(project);
    expect([exitCode, stderr]).toEqual([0, '']);
    for (const line of ['node: npm ci', 'rust in services/engine core: cargo check', 'go in tools: go build'])
      expect(stdout).toContain(`init: ${line}`);
    expect(bootstrap(project).stdout.match(/nothing changed/g)).toHaveLength(4);
    put(projectAt(project.path('tools')), at('a go module').broken);
    expect(bootstrap(project).stderr).toMatch(/^init: failed: go in tools: go build/);
  });

  it.skipIf(!has.go)('LAY-03 go without a home folder keeps what it builds in .forge/local/', () => {
    const project = makePlainProject();
    project.write('go.mod', 'module example.com/app\n\ngo 1.18\n');
    project.write('app.go', 'package app\n');
    typed(project, ['init', '--yes']);
    const { PATH } = process.env;
    const ran = run(project.dir, 'env', ['-i', `PATH=${PATH}`, 'sh', '.forge/init.sh']);
    expect(ran).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('init: ready') });
    expect(existsSync(project.path('.forge/local/go-build'))).toBe(true);
  });

  it('LAY-03 killed in the middle of installing, it installs again', () => {
    const project = made([['.', node([], ['npm', 'install', '--package-lock-only', '--offline'])]]);
    project.write('.npmrc', 'foreground-scripts=true\n');
    const json = project.json<{ scripts: object }>('package.json');
    const scripts = { ...json.scripts, preinstall: 'test ! -e stop || kill -9 $PPID' };
    project.write('package.json', JSON.stringify({ ...json, scripts }));
    project.write('stop', '');
    expect(bootstrap(project).exitCode).not.toBe(0);
    rmSync(project.path('stop'));
    expect(bootstrap(project)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('npm ci') });
  });
});
