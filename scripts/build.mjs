// Bundles the command line and the library into dist/, split so that a command loads only what it needs,
// and writes the type declarations beside them. No download, no network.
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

rmSync(`${root}dist`, { recursive: true, force: true });
await build({
  absWorkingDir: root,
  entryPoints: { 'cli/bin': 'src/cli/bin.ts', index: 'src/index.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  minify: true,
  // Names stay readable in a stack trace that a user pastes into a report.
  keepNames: false,
  legalComments: 'linked',
  chunkNames: 'chunks/[name]-[hash]',
  define: { FORGE_VERSION: JSON.stringify(version) },
  // commander is CommonJS and asks for node: modules through require().
  banner: {
    js: "import{createRequire as __require}from'node:module';const require=__require(import.meta.url);",
  },
  logLevel: 'warning',
});
if (!process.argv.includes('--no-types')) {
  execFileSync(
    process.execPath,
    [`${root}node_modules/typescript/bin/tsc`, '-p', `${root}tsconfig.build.json`],
    {
      stdio: 'inherit',
    },
  );
}
