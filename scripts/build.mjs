// Builds dist/: the command line as a few CommonJS files, the library as split ES modules, and the type declarations.
// No download, no network.
//
// The command line is CommonJS because Node starts that faster than the same code as ES modules, and it comes with
// V8's code cache: a Node of the same build skips compiling it. Any other Node ignores the cache (decisions 3 and 21).
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { findUsers, writeCodeCaches } from './code-caches.mjs';
import { discard, makeDraft, publish } from './draft.mjs';
import { collectLicences } from './licences.mjs';
import { checkLinkable, groupModules, linkGroup } from './link.mjs';
import { manPage } from './man.mjs';
import { loadSources } from './sources.mjs';
import { buildTypes } from './types.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  minify: true,
  metafile: true,
  // The whole texts are in dist/LICENSES.txt.
  legalComments: 'none',
  // Its other form, which Node takes, cannot be bundled.
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
  define: { FORGE_VERSION: JSON.stringify(version) },
  logLevel: 'warning',
};

/**
 * `table`: the index of the guard's rules, made here so that no start has to. Needs all rules, of which a start needs none.
 * `texts`: a text for each word that a rule looks behind.
 */
async function readGuard() {
  const { makeTableData, guardRules } = await loadSources(
    "export { guardRules, makeTableData } from './src/domain/guard/table.ts';",
  );
  const words = new Set(guardRules().flatMap(({ keywords }) => keywords ?? []));
  return {
    table: JSON.stringify(JSON.stringify(makeTableData())),
    texts: [...words].map((word) => `${word} is a word.\n\nAnd\n\n`).join(''),
  };
}

/** What went into each bundle. */
const metafiles = [];

async function bundle(options) {
  const result = await build({ ...common, ...options });
  metafiles.push(result.metafile);
  return result;
}

/**
 * Node compiles each of these when it is first required, which is most of what a small command would cost. So they
 * are required when one of their functions is called: the bundle gets functions that do so.
 */
const LAZY = {
  crypto: [
    'createHash',
    'createHmac',
    'createPrivateKey',
    'createPublicKey',
    'generateKeyPairSync',
    'hash',
    'randomBytes',
    'sign',
    'verify',
  ],
  child_process: ['execFileSync', 'spawn', 'spawnSync'],
  tty: ['isatty'],
  os: ['homedir', 'hostname', 'tmpdir', 'uptime', 'userInfo'],
  'timers/promises': ['setTimeout'],
};

const lazyBuiltins = {
  name: 'lazy-builtins',
  setup({ onResolve, onLoad }) {
    const filter = new RegExp(`^(node:)?(${Object.keys(LAZY).join('|')})$`);
    // In ours and in what is always loaded; a library that is loaded on use may have the real ones.
    onResolve({ filter }, ({ path, importer, kind }) =>
      /^(src|node_modules[\\/]commander)[\\/]/.test(relative(root, importer))
        ? {
            path: path.replace('node:', ''),
            namespace: kind === 'require-call' ? 'lazy-require' : 'lazy-import',
          }
        : undefined,
    );
    // A name put together at run time, so that the bundler does not resolve it here again.
    const loading = (path) =>
      `let loaded; const load = () => (loaded ??= require(['node', '${path}'].join(':')));\n`;
    const functions = (path, start) =>
      LAZY[path].map((name) => `${start}${name} = (...args) => load().${name}(...args);`).join('\n');
    onLoad({ filter: /.*/, namespace: 'lazy-import' }, ({ path }) => ({
      contents: loading(path) + functions(path, 'export const '),
    }));
    onLoad({ filter: /.*/, namespace: 'lazy-require' }, ({ path }) => ({
      contents: loading(path) + functions(path, 'exports.'),
    }));
  },
};

/** The server shares hardly more than zod with the rest, of which it needs twice as much: it is a bundle of its own. */
const SERVER = '#mcp/1';
const serverApart = {
  name: 'server-apart',
  setup({ onResolve }) {
    onResolve({ filter: /\/mcp-server\.js$/ }, () => ({ path: SERVER, external: true }));
  },
};

/**
 * What the protocol's library checks a client's form with takes a third of the server's bundle, and forge sends no forms.
 */
const withoutForms = {
  name: 'without-forms',
  setup({ onResolve, onLoad }) {
    const namespace = 'no-forms';
    onResolve({ filter: /^@modelcontextprotocol\/server\/_shims$/ }, ({ path }) => ({ path, namespace }));
    onLoad({ filter: /.*/, namespace }, () => ({
      contents: [
        "export { default as process } from 'node:process';",
        'export class DefaultJsonSchemaValidator {',
        "  getValidator() { throw new Error('This server sends no forms.'); }",
        '}',
      ].join('\n'),
    }));
  },
};

/** A file of ours that nothing is used of is left out: none does anything when it is loaded. */
const withoutEffects = {
  name: 'without-effects',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^\.{1,2}\/.*\.js$/ }, async ({ path, pluginData, ...rest }) => {
      if (pluginData === 'resolved' || !/^src([\\/]|$)/.test(relative(root, rest.resolveDir)))
        return undefined;
      const { kind, importer, resolveDir } = rest;
      const found = await resolve(path, { kind, importer, resolveDir, pluginData: 'resolved' });
      return { ...found, sideEffects: false };
    });
  },
};

const draft = makeDraft(root);
const dist = join(draft, 'dist');
const folder = join(dist, 'cli');

/** ES modules: name → text. */
async function bundleModules(entryPoints, table, plugins) {
  const { outputFiles, metafile } = await bundle({
    entryPoints,
    format: 'esm',
    splitting: entryPoints.length > 1,
    outdir: folder,
    chunkNames: '[name]-[hash]',
    write: false,
    plugins,
    define: { ...common.define, ...table, 'import.meta.dirname': '__dirname' },
  });
  checkLinkable(metafile, (path) => readFileSync(`${root}${path}`, 'utf8'));
  return { texts: new Map(outputFiles.map(({ path, text }) => [nameOf(path), text])), metafile };
}

const nameOf = (path) => basename(path, '.js');
const entryOf = (name) => ({ in: `src/cli/${name}.ts`, out: name });

/** The whole as one module. */
async function bundleWhole(name, table, plugins) {
  const { texts } = await bundleModules([entryOf(name)], table, plugins);
  return texts.get(name);
}

/**
 * The command line, each of our files a module of its own, and libraries in as many as it takes for none to be read in
 * vain: esbuild splits so that every entry gets only what it needs, and here every file is one.
 */
async function splitCommandLine(name, table) {
  const plugins = [serverApart, lazyBuiltins];
  const whole = await bundleModules([entryOf(name)], table, plugins);
  const files = Object.keys(whole.metafile.inputs).filter((path) => /^src\/.*\.ts$/.test(path));
  const entries = files.map((path) => ({ in: path, out: path.slice(0, -'.ts'.length).replaceAll('/', '_') }));
  const { texts, metafile } = await bundleModules(
    [entryOf(name), ...entries.filter(({ in: path }) => path !== entryOf(name).in)],
    table,
    plugins,
  );
  return reachable(name, texts, metafile);
}

/** Without those that only stand for a file as an entry. */
function reachable(entry, texts, { outputs }) {
  const importsOf = new Map(Object.entries(outputs).map(([path, { imports }]) => [nameOf(path), imports]));
  const names = new Set([entry]);
  for (const name of names)
    for (const { path } of importsOf.get(name)) if (texts.has(nameOf(path))) names.add(nameOf(path));
  return new Map([...names].map((name) => [name, texts.get(name)]));
}

/** Writes a file for each group of modules (link.mjs). */
function writeGroups(modules, groups) {
  const build = createHash('sha256')
    .update([...modules.values()].join('\n'))
    .digest('hex')
    .slice(0, 16);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const ids = new Map();
  for (const [group, names] of groups)
    for (const [i, name] of names.entries()) ids.set(`./${name}.js`, `#${group}/${i + 1}`);
  const idOf = (path) => ids.get(path) ?? path;
  for (const [group, names] of groups) {
    const texts = names.map((name) => modules.get(name));
    writeFileSync(`${folder}/${group}.cjs`, linkGroup(build, texts, idOf));
  }
  writeFileSync(`${folder}/package.json`, '{ "type": "commonjs" }\n');
}

/**
 * First each module is a file of its own, and the daily commands show which ones they need; then those that the same
 * commands need become one file, and the commands leave there what V8 compiled for them.
 */
async function buildCommandLine(table, texts) {
  const modules = await splitCommandLine('bin', table);
  const server = await bundleWhole('mcp-server', {}, [withoutForms]);
  // Of the library it has what it uses, and nothing of the rest.
  const prompt = await bundleWhole('short-status', table, [withoutEffects, lazyBuiltins]);
  const whole = new Map([...modules, ['mcp', server], ['short-status', prompt]]);
  const write = (usersOf) =>
    writeGroups(whole, [
      ...groupModules(modules, 'bin', usersOf),
      ['mcp', ['mcp']],
      ['short-status', ['short-status']],
    ]);
  write((name) => [name]);
  const forge = join(draft, 'bin', 'forge.js');
  const users = findUsers(forge, texts);
  write((name) => users.get(name === 'bin' ? 'main' : name) ?? []);
  // No other Node than this one would take them, and this one keeps its own.
  if (!('enableCompileCache' in nodeModule)) writeCodeCaches(forge, texts);
}

async function buildLibrary(table) {
  await bundle({
    entryPoints: { index: 'src/index.ts' },
    define: { ...common.define, ...table },
    outdir: dist,
    format: 'esm',
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    banner: {
      js: "import{createRequire as __require}from'node:module';const require=__require(import.meta.url);",
    },
  });
}

async function buildAll() {
  const guard = await readGuard();
  const table = { FORGE_GUARD_TABLE: guard.table };
  await buildLibrary(table);
  await buildCommandLine(table, guard.texts);
  writeFileSync(join(dist, 'LICENSES.txt'), collectLicences(root, metafiles));
  writeFileSync(join(dist, 'forge.1'), await manPage(version));
  if (!process.argv.includes('--no-types')) buildTypes(join(dist, 'types'));
}

try {
  await buildAll();
  publish(draft, root);
} finally {
  discard(draft);
}
