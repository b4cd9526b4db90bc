import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { makeFolder } from '../support/project.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Without dates, digests and durations, which differ from run to run, and without the places that follow from them. */
const lasting = (picture: string): string =>
  picture
    .replace(/\d{4}-\d\d-\d\d/g, 'DATE')
    .replace(/\b[0-9a-f]{6,40}\b/g, 'HEX')
    .replace(/\bC-[0-9a-z]{3}\b/g, 'ID')
    .replace(/\d+(\.\d+)? ?m?s\b/g, 'TIME');

it('VIS-01 the picture of the README shows what forge prints today', () => {
  const path = join(makeFolder(), 'demo.svg');
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(ROOT, 'scripts/demo.mjs'), '--picture', path],
    { encoding: 'utf8' },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  // Else: npm run recording
  expect(lasting(readFileSync(join(ROOT, 'docs/demo.svg'), 'utf8'))).toBe(
    lasting(readFileSync(path, 'utf8')),
  );
});
