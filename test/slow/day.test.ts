import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { HANG } from '../support/project.js';

/** Each label, with the case that shows it true. The script ends with exit 1 where one does not hold. */
const LABELS = [
  ...['passing', 'verified_by', 'unproven', 'by hand', 'not run', 'a lesson promoted from sessions'],
  ...[
    'tested',
    'reported',
    'contested',
    'false convictions',
    'a checkpoint and a recovery',
    'a corrupted byte',
    'CI',
  ],
];

it('SES-06 FEA-05 LTM-06 GIT-06 a day with every label: sessions learn, honest agents are never accused, nothing is lost', () => {
  const script = fileURLToPath(new URL('../../scripts/day.mjs', import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, '--day-only'], {
    encoding: 'utf8',
    timeout: HANG,
  });
  expect([status, stderr]).toEqual([0, '']);
  const told = new Map(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/, 2) as [string, string]),
  );
  expect([...told.keys()]).toEqual(LABELS);
  expect(told.get('false convictions')).toMatch(/^0 in 10 cycles/);
  expect(told.get('tested')).toMatch(/^in 3 cycles/);
  expect(told.get('CI')).toMatch(
    /^exit 0: commits ok, memory (ok|warned), guard ok, features ok, checkpoints (ok|warned)$/,
  );
});
