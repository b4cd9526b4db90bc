import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let folder: string;

/**
 * The end-to-end tests run the built command; it is built when the sources are newer. Every temporary file of a test goes
 * into one folder, which is removed at the end.
 */
export async function setup(): Promise<void> {
  const { ensureBuilt } = await import(new URL('../../scripts/built.mjs', import.meta.url).href);
  ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), 'forge-tests-'));
  // Some tests run programs as another user.
  chmodSync(folder, 0o755);
  process.env.TMPDIR = folder;
}

export function teardown(): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
