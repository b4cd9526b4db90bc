// Builds dist/: the command line as one CommonJS file, the library as split ES modules, and the type declarations.
// No download, no network.
//
// The command line is CommonJS because Node starts that faster than the same code as ES modules, and it comes with
// V8's code cache: the very same Node skips compiling it. Any other one does not look at the cache.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { writeCodeCaches } from './code-caches.mjs';
import { collectLicences } from './licences.mjs';
import { manPage } from './man.mjs';

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
 * The index of the guard's rules, made here so that no start has to. Needs all rules, of which a start needs none.
 */
async function guardTable() {
  const folder = mkdtempSync(join(tmpdir(), 'forge-table-'));
  try {
    const outfile = join(folder, 'table.mjs');
    const entryPoints = ['src/domain/guard/table.ts'];
    await build({ ...common, entryPoints, outfile, format: 'esm', metafile: false });
    const { makeTableData } = await import(pathToFileURL(outfile).href);
    return JSON.stringify(makeTableData());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What went into each bundle. */
const metafiles = [];

async function bundle(options) {
  const { metafile } = await build({ ...common, ...options });
  metafiles.push(metafile);
}

/** What is large and not always needed stays in files of its own, loaded when it is used. */
const SEPARATE = {
  '@inquirer/prompts': 'prompts',
  'jsonc-parser': 'jsonc',
  '../domain/guard/engine.js': 'guard',
  '../mcp/server.js': 'mcp',
};

const keepSeparate = {
  name: 'keep-separate',
  setup({ onResolve }) {
    onResolve(
      { filter: /^(@inquirer\/prompts|jsonc-parser|.*\/guard\/engine\.js|.*\/mcp\/server\.js)$/ },
      ({ path }) => ({
        path: `./${SEPARATE[path]}.cjs`,
        external: true,
      }),
    );
  },
};

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
  os: ['homedir', 'hostname', 'tmpdir', 'uptime'],
  'timers/promises': ['setTimeout'],
};

const lazyBuiltins = {
  name: 'lazy-builtins',
  setup({ onResolve, onLoad }) {
    const filter = new RegExp(`^(node:)?(${Object.keys(LAZY).join('|')})$`);
    // In ours and in what is always loaded; a library that is loaded on use may have the real ones.
    onResolve({ filter }, ({ path, importer }) =>
      /[\\/](src|node_modules[\\/]commander)[\\/]/.test(importer)
        ? { path: path.replace('node:', ''), namespace: 'lazy-builtin' }
        : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'lazy-builtin' }, ({ path }) => ({
      // A name put together at run time, so that the bundler does not resolve it here again.
      contents: [
        `let loaded; const load = () => (loaded ??= require(['node', '${path}'].join(':')));`,
        ...LAZY[path].map((name) => `export const ${name} = (...args) => load().${name}(...args);`),
      ].join('\n'),
    }));
  },
};

/** A file of ours that nothing is used of is left out: none does anything when it is loaded. */
const withoutEffects = {
  name: 'without-effects',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^\.{1,2}\/.*\.js$/ }, async ({ path, pluginData, ...rest }) => {
      if (pluginData === 'resolved' || !/[\\/]src[\\/]/.test(`${rest.resolveDir}/`)) return undefined;
      const { kind, importer, resolveDir } = rest;
      const found = await resolve(path, { kind, importer, resolveDir, pluginData: 'resolved' });
      return { ...found, sideEffects: false };
    });
  },
};

/** What CommonJS has instead of import.meta. */
const here = { 'import.meta.url': '__moduleUrl', 'import.meta.dirname': '__dirname' };
const banner = { js: "const __moduleUrl=require('node:url').pathToFileURL(__filename).href;" };

/**
 * Node reads and compiles a file of ASCII alone in half the memory. What the bundler leaves as it is stands in regular
 * expressions, where an escape is the same.
 */
function makeAscii(file) {
  const text = readFileSync(file, 'utf8');
  const escaped = (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  writeFileSync(file, text.replace(/[\u0080-\uffff]/g, escaped));
}

async function buildCommandLine(table) {
  const commonjs = { format: 'cjs', define: { ...common.define, ...here } };
  const extension = { outdir: 'dist/cli', outExtension: { '.js': '.cjs' } };
  await bundle({
    ...commonjs,
    ...extension,
    entryPoints: { bin: 'src/cli/bin.ts' },
    plugins: [keepSeparate, lazyBuiltins],
  });
  // Of the library it has what it uses, and nothing of the rest.
  await bundle({
    ...commonjs,
    ...extension,
    entryPoints: { 'short-status': 'src/cli/short-status.ts' },
    plugins: [withoutEffects, keepSeparate, lazyBuiltins],
  });
  for (const [module, name] of Object.entries(SEPARATE)) {
    const resolveDir = module.startsWith('.') ? `${root}src/${name === 'mcp' ? 'cli' : 'routines'}` : root;
    const stdin = { contents: `export * from '${module}'`, resolveDir, sourcefile: `${name}.js` };
    await bundle({
      ...commonjs,
      // The guard is loaded by every command that writes, and does not ask where it is.
      ...(name === 'guard'
        ? { plugins: [lazyBuiltins], define: { ...common.define, ...table } }
        : { banner }),
      stdin,
      outfile: `dist/cli/${name}.cjs`,
    });
  }
}

async function buildLibrary(table) {
  await bundle({
    entryPoints: { index: 'src/index.ts' },
    define: { ...common.define, ...table },
    outdir: 'dist',
    format: 'esm',
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    banner: {
      js: "import{createRequire as __require}from'node:module';const require=__require(import.meta.url);",
    },
  });
}

rmSync(`${root}dist`, { recursive: true, force: true });
const table = { FORGE_GUARD_TABLE: await guardTable() };
await buildCommandLine(table);
for (const name of ['bin', 'short-status', 'guard']) makeAscii(`${root}dist/cli/${name}.cjs`);
await buildLibrary(table);
writeFileSync(`${root}dist/LICENSES.txt`, collectLicences(root, metafiles));
writeFileSync(`${root}dist/forge.1`, await manPage(version));
writeFileSync(`${root}dist/cli/package.json`, '{ "type": "commonjs" }\n');
await writeCodeCaches();
if (!process.argv.includes('--no-types'))
  execFileSync(
    process.execPath,
    [`${root}node_modules/typescript/bin/tsc`, '-p', `${root}tsconfig.build.json`],
    {
      stdio: 'inherit',
    },
  );
