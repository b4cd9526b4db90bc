// The package in use, as npm installs it: a day's work on the command line, the library, the MCP server, the types.
import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './built.mjs';
import { check, checkSilent, run, runSilently } from './smoke-person.mjs';

/** What the package depends on comes from this checkout, so that nothing has to be fetched. */
const FLAGS = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'];

/** For all projects of this person: `forge` is on their PATH. */
export function installGlobally(person, tarballs) {
  run(person, 'npm', ['install', '-g', '--prefix', person.global, ...FLAGS, ...tarballs], person.folder);
}

/** Into a project that has nothing else; its folder. */
export function installLocally(person, tarballs, packages) {
  const consumer = join(person.folder, 'consumer');
  mkdirSync(consumer);
  writeFileSync(
    join(consumer, 'package.json'),
    '{ "name": "consumer", "private": true, "type": "module" }\n',
  );
  run(person, 'npm', ['install', ...FLAGS, ...tarballs], consumer);
  const found = readdirSync(join(consumer, 'node_modules')).filter((entry) => !entry.startsWith('.'));
  check(
    found.sort().join() === [...packages].sort().join(),
    `npm installed ${found.join(', ')} instead of ${packages.join(', ')}.`,
  );
  return consumer;
}

/** Runs `work` with nothing beside the package: its dependencies are for type checking alone. */
export function alone(modules, dependencies, work) {
  const aside = join(modules, '..', 'aside');
  mkdirSync(aside);
  for (const part of dependencies) renameSync(join(modules, part), join(aside, part));
  try {
    work();
  } finally {
    for (const part of dependencies) renameSync(join(aside, part), join(modules, part));
  }
}

/** The main job: a session with a feature, its evidence, a record, a commit that the hook checks, and intact memory. */
export function useCommandLine(person, version) {
  const project = join(person.folder, 'project');
  mkdirSync(project);
  const forge = (...args) => runSilently(person, 'forge', args, project);
  const json = (...args) => JSON.parse(forge(...args, '--json'));
  check(forge('--version') === `${version}\n`, `forge --version does not print ${version}.`);
  run(person, 'git', ['init', '-q'], project);
  check(json('init', '--yes').created.length > 0, 'forge init made nothing.');
  check(existsSync(join(project, '.forge', 'config.toml')), 'forge init made no settings.');
  forge('hooks', 'install');
  // Its test fails until there is work.
  forge('feature', 'add', 'FORGE-001', 'It works', '--test', 'node proof.js');
  writeFileSync(join(project, 'proof.js'), '');
  const { session, briefing } = json('session', 'start');
  check(session.state === 'started', 'forge session start started nothing.');
  check(briefing.text.includes('FORGE-001'), 'forge session start told nothing.');
  check(
    json('feature', 'verify', '--all').results[0].status === 'passing',
    'forge feature verify did not pass.',
  );
  forge('progress', 'add', 'It works on this Node');
  forge('memory', 'record', '--task', 'FORGE-001', '--exit-code', '0', '--classification', 'SUCCESS');
  useCommits(person, project, forge);
  forge('session', 'end', '--learned', 'nothing was missing', '--next', 'go on');
  check(json('memory', 'verify').status === 'intact', 'forge memory verify did not find memory intact.');
  usePage(person, project, forge);
}

const PAGE = `import { spawn } from 'node:child_process';
const server = spawn('forge', ['ui', '--json'], { stdio: ['ignore', 'pipe', 'inherit'] });
server.stdout.once('data', async (line) => {
  const { port, token } = JSON.parse(line);
  const headers = { authorization: \`Bearer \${token}\` };
  const answer = await fetch(\`http://127.0.0.1:\${port}/api/overview\`, { headers });
  console.log(answer.status, (await answer.json()).memory.status);
  server.kill('SIGINT');
});
`;

/** The page's server, and the page as one file. */
function usePage(person, project, forge) {
  const script = join(person.folder, 'page.mjs');
  writeFileSync(script, PAGE);
  const said = runSilently(person, 'node', [script], project);
  check(said === '200 intact\n', `forge ui answered ${said}`);
  check(forge('export', 'html').includes('It works'), 'forge export html did not export the feature.');
}

/** Node 22.1 and newer keep compiled code in the user's cache folder. Nothing of it is in the temporary folder. */
export function checkCache(person) {
  const keeps =
    run(person, 'node', ['-p', '"enableCompileCache" in require("module")'], person.folder) === 'true\n';
  const folder = join(person.home, '.cache', 'forge', 'node');
  const kept = existsSync(folder) && readdirSync(folder).length > 0;
  check(
    kept === keeps,
    kept ? 'A Node without a code cache has one.' : 'Node keeps no compiled code of forge.',
  );
  const temporary = readdirSync(person.temp).filter((name) => name.startsWith('forge-compile'));
  check(temporary.length === 0, `The temporary folder has ${temporary.join(', ')}.`);
}

/** Git itself asks the hook: what does not follow the protocol is refused, what forge writes is taken. */
function useCommits(person, project, forge) {
  writeFileSync(join(project, 'works.txt'), 'It works\n');
  run(person, 'git', ['add', '-A'], project);
  const refused = person.start('git', ['commit', '-m', 'It works'], project);
  const { status, stderr } = refused;
  check(
    status === 1 && stderr.includes('does not follow the commit protocol'),
    `The hook let it pass: ${stderr}`,
  );
  checkSilent(refused);
  forge('commit', '--why', 'it is to work on every Node');
  const subject = run(person, 'git', ['log', '-1', '--format=%s'], project);
  check(subject === '[FORGE-001] It works\n', `The commit is called ${subject}`);
}

const PROGRAM = `const { features } = await openForge(process.argv[2]).feature.list();
console.log(features[0].status);
`;

/** By import, and by require, which every Node has for ES modules since 20.19 and 22.12. */
export function useLibrary(person, consumer, name) {
  const project = join(person.folder, 'project');
  const forms = {
    'use.mjs': `import { openForge } from '${name}';\n${PROGRAM}`,
    'use.cjs': `const { openForge } = require('${name}');\n(async () => {\n${PROGRAM}})();\n`,
  };
  for (const [file, text] of Object.entries(forms)) {
    writeFileSync(join(consumer, file), text);
    check(
      runSilently(person, 'node', [file, project], consumer) === 'passing\n',
      `${file} did not find the feature.`,
    );
  }
}

/** As a project that depends on forge starts it. */
export function useNpx(person, consumer, version) {
  const said = run(person, 'npx', ['--no-install', 'forge', '--version'], consumer);
  check(said === `${version}\n`, `npx --no-install forge --version prints ${said}`);
}

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

export function useServer(person, consumer, version) {
  const bin = join(consumer, 'node_modules', '.bin', 'forge');
  const project = join(person.folder, 'project');
  const answer = runSilently(person, 'node', ['-e', GREETER, bin, JSON.stringify(INITIALIZE)], project);
  check(JSON.parse(answer).result?.serverInfo?.version === version, 'forge mcp does not answer initialize.');
}

const typedProgram = (
  name,
) => `import { type Feature, ForgeError, openForge, type StartedSession } from '${name}';

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

/** How a program may be set up: as Node loads it, and as a bundler does. */
const SETTINGS = [
  { module: 'nodenext', moduleResolution: 'nodenext' },
  { module: 'node16', moduleResolution: 'node16' },
  { module: 'esnext', moduleResolution: 'bundler' },
];

/** Strictly, declarations included. TypeScript and Node's own types are this checkout's. */
export function checkTypes(person, consumer, name) {
  writeFileSync(join(consumer, 'use.ts'), typedProgram(name));
  for (const settings of SETTINGS) {
    const compilerOptions = {
      ...settings,
      target: 'es2022',
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      typeRoots: [join(ROOT, 'node_modules', '@types')],
      types: ['node'],
    };
    writeFileSync(join(consumer, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }));
    run(
      person,
      process.execPath,
      [join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', '.'],
      consumer,
    );
  }
}
