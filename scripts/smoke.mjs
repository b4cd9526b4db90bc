// npm run smoke: packs the package as npm would publish it, installs it into an empty project and uses it there:
// the command line, the library, and the library's types. Needs no network.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt, ROOT } from './built.mjs';

const { name, version, dependencies = {} } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'forge-smoke-')));
const consumer = join(scratch, 'consumer');

/** A person who has just installed Node: PATH and an empty home. npm finds its settings where they are. */
const env = {
  PATH: process.env.PATH,
  HOME: join(scratch, 'home'),
  GIT_CONFIG_NOSYSTEM: '1',
  npm_config_userconfig: join(scratch, 'home', '.npmrc'),
};

function run(program, args, cwd = consumer) {
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    cwd,
    env,
    encoding: 'utf8',
    input: '',
  });
  if (error) throw new Error(`${program} could not be started: ${error.message}`);
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: exit ${status}\n${stdout}${stderr}`);
  return stdout;
}

const node = (...args) => run(process.execPath, args);
const forge = (...args) => run(join(consumer, 'node_modules', '.bin', 'forge'), args);

function check(condition, what) {
  if (!condition) throw new Error(what);
}

function step(what, work) {
  const result = work();
  console.log(`ok  ${what}`);
  return result;
}

/** Packs a folder as it stands, without its scripts: the build has run. */
function pack(folder) {
  const [{ filename, files, size }] = JSON.parse(
    run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', scratch, folder], scratch),
  );
  return { tarball: join(scratch, filename), paths: files.map(({ path }) => path), size };
}

const EXPECTED = [
  'package.json',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'bin/forge.js',
  'bin/package.json',
  'dist/index.js',
  'dist/LICENSES.txt',
  'dist/cli/main.cjs',
  'dist/cli/main.v8',
  'dist/cli/mcp.cjs',
  'dist/cli/mcp.v8',
  'dist/cli/package.json',
  'dist/types/index.d.ts',
  'templates/ci/github.yml',
  'templates/ci/gitlab-ci.yml',
  'templates/forge/config.toml',
  'templates/forge/gitignore',
  'templates/init/none.sh',
  'schemas/cycle.json',
  'schemas/features.json',
  '.claude-plugin/marketplace.json',
  'agents/claude/.claude-plugin/plugin.json',
  'agents/claude/.mcp.json',
  'agents/claude/hooks/hooks.json',
  'agents/claude/skills/forge-memory/SKILL.md',
  'agents/copilot/hooks/forge.json',
  'agents/opencode/plugins/forge.js',
];

/** Everything that belongs in the package; the rest is stray. */
const ALLOWED = [
  /^(package\.json|README\.md|LICENSE|CHANGELOG\.md)$/,
  /^bin\/(forge\.js|package\.json)$/,
  /^dist\/(index\.js|LICENSES\.txt)$/,
  /^dist\/chunks\/[\w-]+\.js$/,
  /^dist\/cli\/([a-z.]+\.(cjs|v8)|package\.json)$/,
  /^dist\/types\/.+\.d\.ts$/,
  /^templates\//,
  /^schemas\/[\w-]+\.json$/,
  /^\.claude-plugin\/marketplace\.json$/,
  /^agents\/.+\.(js|json|md)$/,
];

function checkContent(paths) {
  const missing = EXPECTED.filter((path) => !paths.includes(path));
  check(missing.length === 0, `The package lacks ${missing.join(', ')}.`);
  const stray = paths.filter((path) => !ALLOWED.some((pattern) => pattern.test(path)));
  check(stray.length === 0, `These do not belong in the package: ${stray.join(', ')}.`);
}

/** Bytes packed: what everyone fetches who types npx. */
const MAX_SIZE = 2_000_000;

function checkSize(size) {
  check(size <= MAX_SIZE, `The package is too large: ${size} bytes packed, ${MAX_SIZE} allowed.`);
}

/** What the package depends on comes from this checkout, so that nothing has to be fetched. */
function install(tarball) {
  const parts = Object.keys(dependencies).map((part) => pack(join(ROOT, 'node_modules', part)).tarball);
  mkdirSync(consumer);
  mkdirSync(env.HOME, { recursive: true });
  writeFileSync(
    join(consumer, 'package.json'),
    '{ "name": "consumer", "private": true, "type": "module" }\n',
  );
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--silent', tarball, ...parts]);
  const found = readdirSync(join(consumer, 'node_modules')).filter((entry) => !entry.startsWith('.'));
  const wanted = [name, ...Object.keys(dependencies)].sort();
  check(
    found.sort().join() === wanted.join(),
    `npm installed ${found.join(', ')} instead of ${wanted.join(', ')}.`,
  );
}

/** Runs `work` with nothing beside the package: its dependencies are for type checking alone. */
function alone(work) {
  const parts = Object.keys(dependencies);
  const aside = join(scratch, 'aside');
  mkdirSync(aside);
  for (const part of parts) renameSync(join(consumer, 'node_modules', part), join(aside, part));
  try {
    work();
  } finally {
    for (const part of parts) renameSync(join(aside, part), join(consumer, 'node_modules', part));
  }
}

function useCommandLine() {
  check(forge('--version') === `${version}\n`, `forge --version does not print ${version}.`);
  run('git', ['init', '-q']);
  const { created } = JSON.parse(forge('init', '--yes', '--json'));
  check(
    created.length > 0 && existsSync(join(consumer, '.forge', 'config.toml')),
    'forge init made nothing.',
  );
  forge('feature', 'add', 'FORGE-001', 'It works', '--test', 'node -e 0');
  const { session, briefing } = JSON.parse(forge('session', 'start', '--json'));
  check(
    session.state === 'started' && briefing.text.includes('FORGE-001'),
    'forge session start told nothing.',
  );
  const { results } = JSON.parse(forge('feature', 'verify', '--all', '--json'));
  check(results[0].status === 'passing', 'forge feature verify did not pass.');
  forge('memory', 'record', '--task', 'FORGE-001', '--exit-code', '0', '--classification', 'SUCCESS');
  const { status } = JSON.parse(forge('memory', 'verify', '--json'));
  check(status === 'intact', 'forge memory verify did not find memory intact.');
}

const PROGRAM = `import { openForge } from '${name}';

const { features } = await openForge(process.cwd()).feature.list();
console.log(features[0].status);
`;

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'smoke', version: '1' } },
};

/** A client keeps stdin open until it has its answer. */
const GREETER = `
  const server = require('node:child_process').spawn(process.argv[1], ['mcp'], { stdio: ['pipe', 'pipe', 'inherit'] });
  server.stdin.write(process.argv[2] + '\\n');
  server.stdout.once('data', (answer) => { process.stdout.write(answer); server.stdin.end(); });`;

function useServer() {
  const bin = join(consumer, 'node_modules', '.bin', 'forge');
  const { result } = JSON.parse(node('-e', GREETER, bin, JSON.stringify(INITIALIZE)));
  check(result?.serverInfo?.version === version, 'forge mcp does not answer initialize.');
}

function useLibrary() {
  writeFileSync(join(consumer, 'use.js'), PROGRAM);
  check(node('use.js') === 'passing\n', 'The library did not find the feature.');
}

const TYPED_PROGRAM = `import { type Feature, ForgeError, openForge, type StartedSession } from '${name}';

const forge = openForge(process.cwd());
const started: StartedSession = await forge.session.start({ budget: 500 });
const { features } = await forge.feature.list();
const first: Feature | undefined = features[0];
const status: 'not_implemented' | 'in_progress' | 'failing' | 'passing' | 'blocked' | undefined = first?.status;
// @ts-expect-error a budget is a number: without the types of what the package depends on, this would pass
forge.briefing({ budget: 'much' }).catch((error: unknown) => error instanceof ForgeError && error.exit);
// @ts-expect-error an id is a text
export const id: number = first?.id ?? '';
console.log(started.session.id, status);
`;

/** Strictly, declarations included. TypeScript and Node's own types are this checkout's. */
function checkTypes() {
  writeFileSync(join(consumer, 'use.ts'), TYPED_PROGRAM);
  const settings = {
    compilerOptions: {
      target: 'ES2022',
      module: 'NodeNext',
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      typeRoots: [join(ROOT, 'node_modules', '@types')],
      types: ['node'],
    },
    files: ['use.ts'],
  };
  writeFileSync(join(consumer, 'tsconfig.json'), JSON.stringify(settings));
  node(join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', '.');
}

try {
  ensureBuilt({ types: true });
  const { tarball, paths, size } = step('npm pack', () => pack(ROOT));
  step(`${size} bytes packed`, () => checkSize(size));
  step(`${paths.length} files, nothing missing, nothing stray`, () => checkContent(paths));
  step('npm install --offline', () => install(tarball));
  alone(() => {
    step('the command line works with nothing else installed', useCommandLine);
    step('so does the library', useLibrary);
    step('forge mcp answers initialize', useServer);
  });
  step('a TypeScript program that uses the library is checked', checkTypes);
} catch (error) {
  console.error(`smoke: ${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
}
