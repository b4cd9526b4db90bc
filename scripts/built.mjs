// Builds dist/ when it is missing or older than what it is made from.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The command line as its users start it. */
export const FORGE = join(ROOT, 'bin', 'forge.js');

/** `types`: the type declarations have to be there too, which the tests' own build leaves out. */
export function ensureBuilt({ types = false } = {}) {
  const made = [join(ROOT, 'dist', 'cli', 'full.cjs')];
  if (types) made.push(join(ROOT, 'dist', 'types', 'index.d.ts'));
  const sources = newest(join(ROOT, 'src'));
  if (made.every((path) => existsSync(path) && statSync(path).mtimeMs > sources)) return;
  console.error('Building dist/ …');
  const args = [join(ROOT, 'scripts', 'build.mjs'), ...(types ? [] : ['--no-types'])];
  execFileSync(process.execPath, args, { stdio: ['ignore', 2, 2] });
}

/** When the newest file below a folder changed, ms. */
function newest(folder) {
  const times = readdirSync(folder, { withFileTypes: true }).map((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? newest(path) : statSync(path).mtimeMs;
  });
  return Math.max(...times);
}
