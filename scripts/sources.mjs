// What scripts need of src/, as a module: command specs, schemas, rules.
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** `contents`: exports, with paths from the root of the repository. */
export async function loadSources(contents) {
  // Inside the package, where modules look for its templates.
  const folder = mkdtempSync(join(ROOT, 'node_modules', '.forge-sources-'));
  try {
    const outfile = join(folder, 'sources.mjs');
    await build({
      stdin: { contents, resolveDir: ROOT },
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      // The form of jsonc-parser that Node would take cannot be bundled.
      mainFields: ['module', 'main'],
      target: 'node20.19',
      logLevel: 'error',
      banner: {
        js: "import{createRequire as makeRequire}from'node:module';const require=makeRequire(import.meta.url);",
      },
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
