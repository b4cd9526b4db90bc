import { readFileSync } from 'node:fs';
import { parse } from 'smol-toml';
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

/** The kinds of test/fixtures/stacks.toml. */
function readKinds(): Record<string, [can: boolean, kind: Kind]> {
  const kinds = parse(readFileSync('test/fixtures/stacks.toml', 'utf8')) as unknown as Record<
    string,
    Kind & { needs: string; steps: string[] }
  >;
  const toStep = (step: string) => (/^\/.*\/$/.test(step) ? new RegExp(step.slice(1, -1)) : step);
  return Object.fromEntries(
    Object.entries(kinds).map(([title, { needs, ...kind }]) => [
      title,
      [needs === 'venv' ? hasVenv : has[needs] === true, { ...kind, steps: kind.steps.map(toStep) }],
    ]),
  );
}

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
  ...readKinds(),
};
