import { describe, expect, it } from 'vitest';
import { type Fault, hasShim, runFaulty } from '../support/faults.js';
import { runBinary } from '../support/forge.js';
import { differences, makeForge, snapshot } from '../support/forge-project.js';
import type { Ended, Project } from '../support/project.js';

/* `forge agent`, killed or let down by the disk at each call with which it changes something in the project. */

const SETTINGS = '.claude/settings.json';
const MINE = '{\r\n  // mine\r\n  "model": "x",\r\n}';
const INSTALL = ['agent', 'install', 'claude'];
const OTHERWISE = [...INSTALL, '--command', 'npx --no-install forge'];
const UNINSTALL = ['agent', 'uninstall', 'claude'];

/** All but what git keeps for itself. */
const all = (project: Project): Record<string, string> =>
  Object.fromEntries(
    Object.entries(snapshot(project.dir)).filter(([path]) => !/^\.git\/(?!forge)/.test(path)),
  );

const FILES = '/.claude/|.mcp.json';

async function rig(...before: string[][]): Promise<Project> {
  const project = await makeForge();
  project.write(SETTINGS, MINE);
  project.git('add', '.claude');
  project.git('commit', '-q', '-m', 'Settings');
  for (const args of before) must(project, args);
  return project;
}

function must(project: Project, args: readonly string[]): void {
  const { exitCode, stderr } = runBinary(project.dir, args);
  expect([args, exitCode, stderr]).toEqual([args, 0, '']);
}

/** Strikes each call of a kind, one a project, until there are no more; gives how many there were. */
async function strikeEach(
  before: string[][],
  args: readonly string[],
  fault: Partial<Fault>,
  then: (project: Project, ended: Ended) => void,
): Promise<number> {
  for (let nth = 1; ; nth++) {
    const project = await rig(...before);
    const ended = runFaulty(project.dir, args, { path: FILES, nth, ...fault });
    if (ended.signal === null && ended.exitCode === 0) return nth - 1;
    then(project, ended);
  }
}

const STEPS: [what: string, before: string[][], args: string[]][] = [
  ['install', [], INSTALL],
  ['install with another command', [INSTALL], OTHERWISE],
  ['uninstall', [INSTALL], UNINSTALL],
];

describe.skipIf(!hasShim)('an interrupted forge agent', () => {
  it.each(STEPS)(
    'AGT-01 %s, killed: another install and uninstall restore the bytes',
    async (_, before, args) => {
      const [clean, wired] = [all(await rig()), await rig(INSTALL)];
      let count = 0;
      for (const call of ['rename', 'unlink', 'mkdir'])
        count += await strikeEach(before, args, { call, kill: true }, (project, { signal }) => {
          expect(signal).toBe('SIGKILL');
          // Either way from here; the second shows that nothing was left behind.
          if (count % 2 === 0) must(project, UNINSTALL);
          must(project, [...INSTALL, '--command', 'forge']);
          for (const path of [SETTINGS, '.mcp.json']) expect(project.read(path)).toBe(wired.read(path));
          must(project, UNINSTALL);
          expect(differences(clean, all(project))).toEqual([]);
        });
      expect(count).toBeGreaterThan(1);
    },
  );

  it('AGT-01 leaves all files as they were on a full disk', async () => {
    const clean = all(await rig());
    const count = await strikeEach(
      [],
      INSTALL,
      { call: 'write', error: 'ENOSPC' },
      (project, { exitCode, stderr }) => {
        expect([exitCode, stderr]).toEqual([6, expect.stringContaining('the disk is full')]);
        const there = [project.read(SETTINGS) !== MINE, project.has('.mcp.json')];
        expect(new Set(there).size).toBe(1);
        must(project, UNINSTALL);
        expect(differences(clean, all(project))).toEqual([]);
      },
    );
    expect(count).toBeGreaterThan(1);
  });
});
