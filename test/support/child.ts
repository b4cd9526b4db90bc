import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { onTestFinished } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'forge-child-'));
const script = join(folder, 'child.mjs');
let built = false;

/** test/support/store-child.ts as a process of its own, gone when the test has finished. */
export function startChild(...args: string[]): ChildProcess {
  const entry = fileURLToPath(new URL('./store-child.ts', import.meta.url));
  const mainFields = ['module', 'main'];
  if (!built)
    buildSync({
      entryPoints: [entry],
      outfile: script,
      bundle: true,
      platform: 'node',
      format: 'esm',
      mainFields,
    });
  built = true;
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child;
}

/** Resolves when it has said its first word. */
export async function firstWord(child: ChildProcess): Promise<string> {
  const [chunk] = await once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data');
  return String(chunk).trim();
}
