import { berryFile, hasTool } from './tools.js';

/** Small real projects, their tools and their lock files; none has a dependency that is not in the project itself. */

export interface Kind {
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

export const hasVenv = hasTool('python3', ['-c', 'import ensurepip, venv']);
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

export const node = (steps: Kind['steps'], lock?: string[], more: Partial<Kind> = {}): Kind => ({
  stack: 'node',
  files: NODE,
  steps,
  broken: { 'test.js': 'process.exit(4)' },
  ...(lock ? { lock } : {}),
  ...more,
});

/** A build backend that is in the project, so that nothing has to be fetched. */
export const BACKEND = `
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

export const KINDS: Record<string, [can: boolean, kind: Kind]> = {
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
