import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

function newest(folder: string): number {
  return Math.max(
    ...readdirSync(folder, { withFileTypes: true }).map((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? newest(path) : statSync(path).mtimeMs;
    }),
  );
}

/** The end-to-end tests run the built command; it is built when the sources are newer. */
export function setup(): void {
  const last = join(root, 'dist', 'cli', 'mcp.v8');
  if (existsSync(last) && statSync(last).mtimeMs > newest(join(root, 'src'))) return;
  execFileSync(process.execPath, [join(root, 'scripts', 'build.mjs'), '--no-types'], { stdio: 'inherit' });
}
