// Builds dist/: the command line as two CommonJS bundles, the library as split ES modules, and the type declarations.
// No download, no network.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';
import { discard, makeDraft, publish } from './draft.mjs';
import { collectLicenses } from './licenses.mjs';
import { manPage } from './man.mjs';
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
  // Optional, with a native part.
  external: ['libsql'],
  // The full texts are in dist/LICENSES.txt.
  legalComments: 'none',
  // The form of jsonc-parser that Node would take cannot be bundled.
  mainFields: ['module', 'main'],
  alias: {
    // With DEBUG=* the real one prints every environment variable.
    debug: join(root, 'scripts', 'no-debug.cjs'),
    // The real one brings a JSON Schema compiler, a tenth of the bundle, for questions that forge does not ask a client.
    '@modelcontextprotocol/server/_shims': join(root, 'scripts', 'no-json-schema.mjs'),
  },
  define: { FORGE_VERSION: JSON.stringify(version) },
  logLevel: 'warning',
};

/** Modules that only the commands of the full bundle import, each with `import()` (bin/forge.js lists the daily ones). */
const NOT_DAILY = new RegExp(
  `^src/(${[
    '(agent|artifact|checkpoint|ci|config|cycle|doctor|events|finding|guard|hooks|import|init|ledger|linear|mcp|recover|trust|undo)/command',
    '(agent|hooks)/install|events/(fleet|read)|linear/edit-issue|learning/report',
    'artifact/artifact|checkpoint/(create|read)|ci/ci|config/config|cycle/(cycle|loop)|doctor/doctor|import/import|init/init',
    'ledger/(integrity|log|redact|repair|rows|verify-memory)|recover/(plan|recover)',
    'cli/(command|complete|help)|library/schemas|ui/command',
  ].join('|')})\\.ts$`,
);

/** Leaves those modules out of the daily bundle. */
const dailyOnly = {
  name: 'daily-only',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^\.{1,2}\// }, async ({ path, pluginData, kind, importer, resolveDir }) => {
      if (kind !== 'dynamic-import' || pluginData === 'resolved') return undefined;
      const found = await resolve(path, { kind, importer, resolveDir, pluginData: 'resolved' });
      const file = relative(root, found.path).replaceAll('\\', '/');
      return NOT_DAILY.test(file)
        ? { path: `./${basename(file)} is not in the daily bundle`, external: true }
        : found;
    });
  },
};

/** Libraries and modules that few commands load. Each is a file of its own: Node 20 compiles all of a bundle at every start. */
const APART = [
  '@hono/node-server',
  '@inquirer/prompts',
  'chalk',
  'commander',
  'execa',
  'hono',
  'murmurhash3js-revisited',
  'picomatch',
  're2js',
  'simple-git',
  'yaml',
];
/** The clients of NATS share the code of a connection. The guard and its rules are as long as all other code of a command. */
const OWN_APART = { './nats.js': 'src/events/nats.ts', './document.js': 'src/guard/document.ts' };
/** How src/ imports them. */
const OWN = /^(\.\/nats|(\.|\.{1,2}\/guard)\/document)\.js$/;
/** Of a library of which only a part is used. */
const PART = { '@inquirer/prompts': 'checkbox, confirm, input, select' };

const fileOf = (library) => `${library.replace(/\W/g, '-').replace(/^-/, '')}.cjs`;

const librariesApart = {
  name: 'libraries-apart',
  setup({ onResolve }) {
    const filter = new RegExp(`^(${APART.join('|')})$`);
    onResolve({ filter }, ({ path }) => ({ path: `./${fileOf(path)}`, external: true }));
    onResolve({ filter: OWN }, ({ path }) => ({ path: `./${basename(path, '.js')}.cjs`, external: true }));
  },
};

async function bundle(options) {
  const { metafile } = await build({ ...common, ...options });
  return metafile;
}

/**
 * V8 compiles a function in parentheses together with its file, and Node keeps that in its code cache. Every module of a
 * bundle is such a function, run at most once: without parentheses it is compiled at every start, 4 to 6 ms in all.
 */
const compileEarly = (code) =>
  code.replace(
    /(= __(?:esm|commonJS)\(\{\n {2}"[^"\n]+")(\([^\n]*\)) \{\n((?:[\s\S]*?\n)??) {2}\}\n\}\);/g,
    '$1: (function$2 {\n$3  })\n});',
  );

/** Escapes regular expressions as esbuild escapes strings. Node reads and compiles a file of ASCII alone a millisecond faster. */
const inAscii = (code) =>
  code.replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** A CommonJS file in dist/cli. */
async function commonJs(dist, name, options) {
  const { outputFiles, metafile } = await build({
    ...common,
    outfile: join(dist, 'cli', name),
    format: 'cjs',
    minify: false,
    write: false,
    ...options,
  });
  const { minify, platform, target } = common;
  for (const { path, text } of outputFiles) {
    const { code } = await transform(compileEarly(text), { format: 'cjs', minify, platform, target });
    mkdirSync(join(dist, 'cli'), { recursive: true });
    writeFileSync(path, inAscii(code));
  }
  return metafile;
}

const IN_COMMON_JS = { ...common.define, 'import.meta.dirname': '__dirname' };

const commandLine = (dist, name, plugins) =>
  commonJs(dist, `${name}.cjs`, {
    entryPoints: ['src/main.ts'],
    // How bin/forge.js knows that the file is whole.
    footer: { js: 'module.exports = true;' },
    define: IN_COMMON_JS,
    // Node's own import() of a CommonJS file takes longer than require().
    supported: { 'dynamic-import': false },
    plugins: [librariesApart, ...plugins],
  });

const libraryApart = (dist, name) =>
  commonJs(dist, fileOf(name), {
    stdin: {
      contents: PART[name]
        ? `export { ${PART[name]} } from '${name}';`
        : `module.exports = require('${name}');`,
      resolveDir: root,
    },
  });

const ownApart = (dist, [name, source]) =>
  bundle({
    entryPoints: [source],
    outfile: join(dist, 'cli', name.replace(/js$/, 'cjs')),
    format: 'cjs',
    define: IN_COMMON_JS,
    // NATS reports broken messages of a server on stdout.
    drop: ['console'],
    plugins: [librariesApart],
  });

/** What src/ takes from these files. */
const SHARED = {
  execa: 'execa',
  'simple-git': 'simpleGit',
  'nats.js':
    'connect, credsAuthenticator, headers, jetstream, jetstreamManager, Kvm, nanos, nkeyAuthenticator',
  'document.js': 'fieldsOf, findForeignCode, guardRules, scanBytes, scanFields, scanText',
};

/** What the library imports on use is in dist/cli already. Each import() becomes a file of its own, in dist/chunks. */
const sharedWithCommandLine = {
  name: 'shared-with-command-line',
  setup({ onResolve, onLoad }) {
    const filter = new RegExp(`^(execa|simple-git)$|${OWN.source}`);
    onResolve({ filter }, ({ path, kind }) =>
      kind === 'dynamic-import' ? { path: basename(path), namespace: 'shared' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'shared' }, ({ path }) => ({
      contents: `export const { ${SHARED[path]} } = require('../cli/${basename(path, '.js')}.cjs');`,
    }));
    onResolve({ filter: /^\.\.\/cli\//, namespace: 'shared' }, ({ path }) => ({ path, external: true }));
  },
};

const library = (dist) =>
  bundle({
    plugins: [sharedWithCommandLine],
    entryPoints: { index: 'src/index.ts' },
    outdir: dist,
    format: 'esm',
    splitting: true,
    // Node prints the whole line that threw an error.
    lineLimit: 120,
    drop: ['console'],
    chunkNames: 'chunks/[name]-[hash]',
    banner: {
      js: "import{createRequire as __require}from'node:module';const require=__require(import.meta.url);",
    },
  });

/** The page of `forge ui`: one script and one style. */
const page = (dist) =>
  bundle({
    entryPoints: { page: 'src/ui/page/main.tsx' },
    outdir: join(dist, 'ui'),
    platform: 'browser',
    target: ['chrome123', 'firefox120', 'safari17.5'],
    format: 'iife',
    tsconfig: 'src/ui/page/tsconfig.json',
    external: [],
    mainFields: ['browser', 'module', 'main'],
  });

async function buildAll(dist) {
  const bundles = [
    commandLine(dist, 'daily', [dailyOnly]),
    commandLine(dist, 'full', []),
    ...APART.map((name) => libraryApart(dist, name)),
    ...Object.entries(OWN_APART).map((each) => ownApart(dist, each)),
    library(dist),
    page(dist),
  ];
  // A bundle that is still being written would bring a discarded draft back.
  await Promise.allSettled(bundles);
  const metafiles = await Promise.all(bundles);
  writeFileSync(join(dist, 'LICENSES.txt'), collectLicenses(root, metafiles));
  writeFileSync(join(dist, 'forge.1'), await manPage(version));
  if (!process.argv.includes('--no-types')) buildTypes(join(dist, 'types'));
}

const draft = makeDraft(root);
try {
  await buildAll(join(draft, 'dist'));
  publish(draft, root);
} finally {
  discard(draft);
}
