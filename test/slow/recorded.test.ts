import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { makeFolder } from '../support/project.js';

const FOLDER = fileURLToPath(new URL('../recorded', import.meta.url));

/** `node test/recorded/record.mjs` renews the record; its diff in git shows what a change did to the output. */
it('prints what test/recorded/recorded.json has for 800 commands', () => {
  const out = join(makeFolder(), 'recorded.json');
  execFileSync(process.execPath, [join(FOLDER, 'record.mjs'), '--out', out], { stdio: 'ignore' });
  const { stdout } = spawnSync(
    process.execPath,
    [join(FOLDER, 'compare.mjs'), join(FOLDER, 'recorded.json'), out],
    { encoding: 'utf8', maxBuffer: 1 << 26 },
  );
  expect(stdout).toBe('No differences.\n');
});
