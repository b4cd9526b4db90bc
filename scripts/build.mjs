// Builds dist/: the command line as one CommonJS file, the library as split ES modules, and the type declarations.
// No download, no network.
//
// The command line is CommonJS because Node starts that faster than the same code as ES modules, and it comes with
// V8's code cache: a Node of the same build skips compiling it. Any other Node ignores the cache.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { collectLicences } from './licences.mjs';

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
  define: { FORGE_VERSION: JSON.stringify(version) },
  logLevel: 'warning',
};

/** What went into each bundle. */
const metafiles = [];

async function bundle(options) {
  const { metafile } = await build({ ...common, ...options });
  metafiles.push(metafile);
}

/** Large libraries that few commands need stay files of their own, loaded when they are used. */
const SEPARATE = { execa: 'execa', '@inquirer/prompts': 'prompts' };

const keepSeparate = {
  name: 'keep-separate',
  setup({ onResolve }) {
    onResolve({ filter: /^(execa|@inquirer\/prompts)$/ }, ({ path }) => ({
      path: `./${SEPARATE[path]}.cjs`,
      external: true,
    }));
  },
};

/** What replaces import.meta.url, which CommonJS has not. */
const hereUrl = { 'import.meta.url': '__moduleUrl' };
const banner = { js: "const __moduleUrl=require('node:url').pathToFileURL(__filename).href;" };

async function buildCommandLine() {
  const define = { ...common.define, ...hereUrl };
  const commonjs = { format: 'cjs', define, banner };
  const extension = { outdir: 'dist/cli', outExtension: { '.js': '.cjs' } };
  await bundle({
    ...commonjs,
    ...extension,
    entryPoints: { bin: 'src/cli/bin.ts' },
    plugins: [keepSeparate],
  });
  for (const [library, name] of Object.entries(SEPARATE)) {
    const stdin = { contents: `export * from '${library}'`, resolveDir: root, sourcefile: `${name}.js` };
    await bundle({ ...commonjs, stdin, outfile: `dist/cli/${name}.cjs` });
  }
}

async function buildLibrary() {
  await bundle({
    entryPoints: { index: 'src/index.ts' },
    outdir: 'dist',
    format: 'esm',
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    banner: {
      js: "import{createRequire as __require}from'node:module';const require=__require(import.meta.url);",
    },
  });
}

/** Runs the daily commands; the last one, which uses what nearly all use, leaves its compiled code. */
function writeCodeCache() {
  const scratch = mkdtempSync(join(tmpdir(), 'forge-build-'));
  const project = join(scratch, 'project');
  const env = { PATH: process.env.PATH, HOME: scratch, XDG_STATE_HOME: scratch };
  const run = (...args) => {
    const { status, stderr } = spawnSync(process.execPath, [`${root}scripts/code-cache.cjs`, ...args], {
      cwd: project,
      env,
    });
    if (status !== 0) throw new Error(`forge ${args.join(' ')} failed while building: ${stderr}`);
  };
  try {
    mkdirSync(project);
    execFileSync('git', ['init', '-q'], { cwd: project, env });
    run('init', '--yes');
    run('feature', 'add', 'FORGE-001', 'First');
    run('session', 'start', '--json');
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

rmSync(`${root}dist`, { recursive: true, force: true });
await buildCommandLine();
await buildLibrary();
writeFileSync(`${root}dist/LICENSES.txt`, collectLicences(root, metafiles));
writeFileSync(`${root}dist/cli/package.json`, '{ "type": "commonjs" }\n');
writeCodeCache();
if (!process.argv.includes('--no-types'))
  execFileSync(
    process.execPath,
    [`${root}node_modules/typescript/bin/tsc`, '-p', `${root}tsconfig.build.json`],
    {
      stdio: 'inherit',
    },
  );
