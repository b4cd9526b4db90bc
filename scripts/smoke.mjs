// npm run smoke: packs the package as npm would publish it, installs it where nothing else is, for one project and for all,
// and uses it there. Needs no network. `--node VERSION` does so on another Node, `--nodes` on the oldest and the newest of
// every line that forge runs on; those come from npm once.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt, ROOT } from './built.mjs';
import { NODES, nodeFolder } from './nodes.mjs';
import { checkContent, checkSize } from './smoke-content.mjs';
import { makePerson, run } from './smoke-person.mjs';
import * as use from './smoke-use.mjs';

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const { name, version } = manifest;
const dependencies = Object.keys(manifest.dependencies ?? {});
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'forge-smoke-')));

function step(what, work) {
  try {
    const result = work();
    console.log(`ok  ${what}`);
    return result;
  } catch (error) {
    throw new Error(`${what}: ${error.message}`);
  }
}

/** Packs a folder as it stands, without its scripts: the build has run. */
function pack(folder) {
  const person = makePerson(join(scratch, 'packer'));
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', scratch, folder];
  const [{ filename, files, size }] = JSON.parse(run(person, 'npm', args, scratch));
  return { tarball: join(scratch, filename), paths: files.map(({ path }) => path), size };
}

/** All of it on one Node: the one that runs this, or `version`, which is in `folder`. */
function useOn(label, folder, tarballs) {
  const place = join(scratch, label);
  mkdirSync(place);
  const person = makePerson(place, folder);
  const on = run(person, 'node', ['--version'], place).trim();
  step(`${on}: npm install -g, and the command line does its main job`, () => {
    use.installGlobally(person, tarballs);
    use.useCommandLine(person, version);
    use.checkCache(person);
  });
  const consumer = step(`${on}: npm install`, () =>
    use.installLocally(person, tarballs, [name, ...dependencies]),
  );
  step(`${on}: npx, library and server work with nothing else installed`, () =>
    use.alone(join(consumer, 'node_modules'), dependencies, () => {
      use.useNpx(person, consumer, version);
      use.useLibrary(person, consumer, name);
      use.useServer(person, consumer, version);
    }),
  );
  return { person, consumer };
}

function useElsewhere(versions, tarballs, mayMiss) {
  for (const wanted of versions) {
    const folder = nodeFolder(wanted);
    if (folder !== null) useOn(wanted, folder, tarballs);
    else if (!mayMiss) throw new Error(`Node ${wanted} could not be had from npm.`);
    else console.log(`--  SKIPPED: Node ${wanted} could not be had from npm`);
  }
}

function main() {
  const { values } = parseArgs({
    options: { node: { type: 'string', multiple: true, default: [] }, nodes: { type: 'boolean' } },
  });
  ensureBuilt({ types: true });
  const { tarball, paths, size } = step('npm pack', () => pack(ROOT));
  step(`${size} bytes packed`, () => checkSize(size));
  step(`${paths.length} files, nothing missing, nothing stray`, () => checkContent(paths, manifest));
  const tarballs = [tarball, ...dependencies.map((part) => pack(join(ROOT, 'node_modules', part)).tarball)];
  const { person, consumer } = useOn('this', undefined, tarballs);
  step('a TypeScript program that uses the library is checked', () => use.checkTypes(person, consumer, name));
  useElsewhere(values.node, tarballs, false);
  if (values.nodes) useElsewhere(NODES, tarballs, true);
}

try {
  main();
} catch (error) {
  console.error(`smoke: ${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
}
