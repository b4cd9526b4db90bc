import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { makeConflict } from '../support/conflicts.js';
import { type Fault, hasShim, runFaulty } from '../support/faults.js';
import { runBinary } from '../support/forge.js';
import { featureFile } from '../support/forge-project.js';
import type { Project } from '../support/project.js';

/** The feature that both sides changed. */
const FILE = featureFile('A');

/* `forge doctor --fix`, killed or with a disk error at each call that changes something. */

const FIX = ['doctor', '--fix', '--yes'];
const KEPT = '.git/forge/conflicts';
const kept = (project: Project): string[] =>
  existsSync(project.path(KEPT))
    ? readdirSync(project.path(KEPT))
        .filter((name) => !name.endsWith('.tmp'))
        .map((name) => project.read(`${KEPT}/${name}`))
    : [];

/** Injects the fault at each call of a kind, in a new project each time. Returns the number of calls. */
async function strikeEach(
  fault: Fault,
  then: (project: Project, before: string, merged: string) => void,
): Promise<number> {
  const whole = await makeConflict();
  expect(runBinary(whole.dir, FIX).exitCode).toBe(0);
  const merged = whole.read(FILE);
  for (let nth = 1; ; nth++) {
    const project = await makeConflict();
    const before = project.read(FILE);
    const { signal, exitCode } = runFaulty(project.dir, FIX, { nth, ...fault });
    if (signal === null && exitCode === 0) return nth - 1;
    then(project, before, merged);
  }
}

/** The file is unchanged, or merged with a copy of the previous one; running it again completes the merge. */
function expectWayOut(project: Project, before: string, merged: string): void {
  const now = project.read(FILE);
  expect([before, merged]).toContain(now);
  if (now === merged) expect(kept(project)).toContain(before);
  const { stdout } = runBinary(project.dir, FIX);
  if (stdout.includes('git considers it unmerged')) project.git('add', '--', FILE);
  expect([project.read(FILE), project.git('ls-files', '-u')]).toEqual([merged, '']);
  expect(kept(project)).toContain(before);
  expect(JSON.parse(runBinary(project.dir, ['feature', 'list', '--json']).stdout).features).toHaveLength(3);
}

describe.skipIf(!hasShim)('forge doctor --fix, interrupted', () => {
  it.each(['write', 'rename', 'mkdir'])(
    'LAY-09 killed at each %s: nothing is lost, and the next run completes it',
    async (call) => {
      const count = await strikeEach({ path: 'features.d|conflicts', call, kill: true }, expectWayOut);
      expect(count).toBeGreaterThan(0);
    },
  );

  it('LAY-09 on a full disk it reports that, and nothing is lost', async () => {
    const fault = { path: 'features.d|conflicts', call: 'write', error: 'ENOSPC' } as const;
    expect(await strikeEach(fault, expectWayOut)).toBeGreaterThan(0);
  });
});
