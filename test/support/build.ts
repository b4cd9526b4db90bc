import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
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
  folder = makeInMemory() ?? mkdtempSync(join(tmpdir(), 'forge-tests-'));
  // Some tests run programs as another user.
  chmodSync(folder, 0o755);
  process.env.TMPDIR = folder;
}

export function teardown(): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

const ROOM = 4e9;

/**
 * A folder in memory: each of forge's writes is flushed, which takes milliseconds on a disk. The long run, which has tests
 * of full disks and lost power, stays on the disk. Undefined where there is no room, or where no program may run.
 */
function makeInMemory(): string | undefined {
  if (process.env.FORGE_SOAK !== undefined || process.env.TMPDIR !== undefined) return undefined;
  let made: string | undefined;
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    if (bavail * bsize < ROOM) return undefined;
    made = mkdtempSync('/dev/shm/forge-tests-');
    const script = join(made, 'try');
    writeFileSync(script, '#!/bin/sh\n', { mode: 0o755 });
    if (spawnSync(script).status === 0) return made;
  } catch {
    // As on a system without it.
  }
  if (made !== undefined) rmSync(made, { recursive: true, force: true });
  return undefined;
}
