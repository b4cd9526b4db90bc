import { rmSync, truncateSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runForge } from '../support/forge.js';
import { differences, snapshot } from '../support/forge-project.js';
import { commit, flipByte, HUMAN, JOURNAL, linesOf, putLines, withCycles } from '../support/memory.js';
import type { Project } from '../support/project.js';

type Damage = (project: Project, file: string) => void;

const EDITED: Damage = (project, file) =>
  flipByte(project, file, project.read(file).indexOf('"task_id":"') + 11);
const NOWHERE: Damage = (project, file) => {
  rmSync(project.path(JOURNAL));
  putLines(project, file, linesOf(project, file).toSpliced(1, 1));
};
const TORN: Damage = (project, file) => truncateSync(project.path(file), 1000);
const TAKEN: Damage = (project) => project.git('clean', '-fdxq', '.forge/memory');
const REVERTED: Damage = (project) => {
  commit(project);
  project.git('revert', '--no-edit', 'HEAD');
};

const told = ({ stdout, exitCode }: { stdout: string; exitCode: number | null }): unknown => {
  const { duration_ms: _, tiers: __, notes: ___, ...said } = JSON.parse(stdout) as Record<string, unknown>;
  return { exitCode, ...said };
};

describe('a dry run', () => {
  it.each([
    ['an edited line', EDITED],
    ['a removed line that is nowhere', NOWHERE],
    ['records that a commit removed', REVERTED],
  ])('LTM-14 of memory repair says what it will do about %s, and changes nothing', async (_, damage) => {
    const { project, file } = await withCycles();
    damage(project, file);
    await runForge(project, ['memory', 'verify']);
    const call = ['memory', 'repair', '--reason', 'r', '--json'];
    const before = snapshot(project.dir);
    const dry = await runForge(project, [...call, '-n'], HUMAN);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
    expect(dry.exitCode, dry.stderr).toBe(0);
    expect(JSON.parse(dry.stdout).done.join()).toMatch(/restore|put the records back/);
    expect((await runForge(project, call, HUMAN)).exitCode).toBe(0);
  });

  it.each([
    ['a torn line', TORN],
    ['what git took', TAKEN],
    ['an edited line', EDITED],
  ])('LTM-04 of memory verify changes nothing at %s', async (_, damage) => {
    const { project, file } = await withCycles();
    damage(project, file);
    const before = snapshot(project.dir);
    const dry = await runForge(project, ['memory', 'verify', '--json', '-n']);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
    if (damage === EDITED)
      expect(told(dry)).toEqual(told(await runForge(project, ['memory', 'verify', '--json'])));
    else expect(dry).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('"code":"missing"') });
  });
});
