// The library's type declarations: those that index.d.ts leads to, and no others.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** The packages that a declaration may import. */
const INSTALLED = Object.keys(dependencies);

export function buildTypes(folder) {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = [compiler, '-p', join(root, 'tsconfig.build.json'), '--outDir', folder];
  execFileSync(process.execPath, args, { stdio: 'inherit' });
  const needed = new Set();
  follow(join(folder, 'index.d.ts'), needed);
  prune(folder, needed);
}

/** What a declaration names: `from './x.js'`, `import('./x.js')`, `import './x.js'`. */
function follow(file, needed) {
  if (needed.has(file)) return;
  needed.add(file);
  for (const [, path] of readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*["']([^"'\n]+)["']/g))
    if (path.startsWith('.')) follow(resolve(dirname(file), path.replace(/\.js$/, '.d.ts')), needed);
    else if (!path.startsWith('node:') && !INSTALLED.some((name) => `${path}/`.startsWith(`${name}/`)))
      throw new Error(`${file} needs ${path}, which is not installed with forge`);
}

function prune(path, needed) {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inner = join(path, entry.name);
    if (entry.isDirectory()) prune(inner, needed);
    else if (!needed.has(inner)) rmSync(inner);
  }
  if (readdirSync(path).length === 0) rmdirSync(path);
}
