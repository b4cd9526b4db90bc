// The library's type declarations: those that index.d.ts leads to, and no others.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

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
  for (const [, path] of readFileSync(file, 'utf8').matchAll(
    /(?:from|import)\s*\(?\s*["'](\.[^"']+)\.js["']/g,
  ))
    follow(resolve(dirname(file), `${path}.d.ts`), needed);
}

function prune(path, needed) {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inner = join(path, entry.name);
    if (entry.isDirectory()) prune(inner, needed);
    else if (!needed.has(inner)) rmSync(inner);
  }
  if (readdirSync(path).length === 0) rmdirSync(path);
}
