import { rmSync, truncateSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runForge } from '../support/forge.js';
import { differences, makeForge, snapshot } from '../support/forge-project.js';
import { containerOf, flipByte, HUMAN, JOURNAL, linesOf, putLines, record } from '../support/memory.js';
import type { Project } from '../support/project.js';

interface Outcome {
  restored: object[];
  repairs: object[];
  halted: boolean;
  audit: object | null;
}

/** What a run with `-n` said would come of it, or what came of it: without ids, which differ from run to run. */
async function outcomeOf(
  project: Project,
  call: string[],
): Promise<{ exitCode: number | null; [field: string]: unknown }> {
  const { stdout, stderr, exitCode } = await runForge(project, [...call, '--json'], HUMAN);
  if (exitCode !== 0) return { exitCode, stderr };
  const { restored, repairs, halted, audit } = JSON.parse(stdout) as Outcome;
  return {
    exitCode,
    restored,
    repairs: repairs.map((repair) => ({ ...repair, record: null })),
    halted,
    audited: audit !== null,
  };
}

const EDITED = (project: Project, file: string): void =>
  flipByte(project, file, project.read(file).indexOf('"task_id":"') + 11);
const BROKEN = (project: Project, file: string): void =>
  flipByte(project, file, project.read(file).indexOf('"task_id":"') + 10);
const REMOVED = (project: Project, file: string): void => {
  const [first, , ...rest] = linesOf(project, file) as [string, string];
  putLines(project, file, [first, ...rest]);
};
const LOST = (project: Project, file: string): void => {
  rmSync(project.path(JOURNAL));
  REMOVED(project, file);
};
const TORN = (project: Project, file: string): void => truncateSync(project.path(file), 1000);

describe('a dry run', () => {
  it.each([
    ['restore', 'an edited line', EDITED],
    ['restore', 'a removed line', REMOVED],
    ['restore', 'a line that is not JSON', BROKEN],
    ['restore', 'a removed line that is nowhere', LOST],
    ['repair', 'an edited line', EDITED],
    ['repair', 'a line that is not JSON', BROKEN],
    ['repair', 'a removed line', REMOVED],
    ['repair', 'a removed line that is nowhere', LOST],
    ['repair', 'a torn line', TORN],
  ])('LTM-14 of memory %s says of %s what the run then does', async (how, _, damage) => {
    const project = await makeForge();
    for (let i = 0; i < 3; i++) await record(project);
    damage(project, containerOf(project));
    await runForge(project, ['memory', 'verify']);
    const call = ['memory', how, '--reason', 'r'];

    const before = snapshot(project.dir);
    const { stderr } = await runForge(project, [...call, '-n'], HUMAN);
    const said = await outcomeOf(project, [...call, '-n']);
    expect(differences(before, snapshot(project.dir))).toEqual([]);

    expect(await outcomeOf(project, call)).toEqual(said);
    const changed = differences(before, snapshot(project.dir)).filter((path) => path.includes('.jsonl'));
    const inMemory = changed.filter((path) => path.includes('.forge/'));
    if (said.exitCode === 0) expect(stderr).toMatch(new RegExp(`${inMemory.length} files? would change: `));
  });

  it.each([['verify'], ['restore']])(
    'LTM-04 of memory %s puts back, in words, what git took',
    async (how) => {
      const project = await makeForge();
      for (let i = 0; i < 3; i++) await record(project);
      project.git('clean', '-fdxq', '.forge/memory');
      const before = snapshot(project.dir);
      const call = ['memory', how, '--json'];
      const dry = await runForge(project, [...call, '-n']);
      expect(differences(before, snapshot(project.dir))).toEqual([]);
      const run = await runForge(project, call);
      const told = ({ stdout, exitCode }: typeof run): unknown => {
        const { restored, problems, status } = JSON.parse(stdout) as Record<string, unknown>;
        return { exitCode, restored, problems, status };
      };
      expect(told(dry)).toEqual(told(run));
      expect(JSON.parse(run.stdout).restored).toMatchObject([{ tier: 'execution', records: 3 }]);
    },
  );
});
