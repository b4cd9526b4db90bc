import { describe, expect, it } from 'vitest';
import { forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { commitAll, type Project } from '../support/project.js';

async function makeLearned(): Promise<Project> {
  const project = await makeForge();
  await forgeJson(project, ['session', 'start']);
  await forgeJson(project, ['knowledge', 'add', 'success', 'tests need a port of their own']);
  await forgeJson(project, ['feature', 'add', 'F-1', 'Sign in']);
  return project;
}

const known = async (project: Project): Promise<string> =>
  `${(await runForge(project, ['knowledge', 'list'])).stdout}${(await runForge(project, ['ls'])).stdout}`;
const verify = (project: Project) => forgeJson<{ status: string; notes: string[] }>(project, 'memory verify');

describe('features, lessons and archives that git took away', () => {
  it('LTM-05 come back when no commit has them', async () => {
    const project = await makeLearned();
    project.git('clean', '-fdq');
    expect(await known(project)).not.toMatch(/port of their own|Sign in/);
    expect((await runForge(project, ['status'])).stdout).toMatch(
      /missing: 2 files of memory written here, which no branch has: .*learned\.d.*forge memory verify/s,
    );
    expect((await verify(project)).notes).toMatchObject(
      [/put back 2 files of memory written here, which no branch has: .*F-1\.json/].map((it) =>
        expect.stringMatching(it),
      ),
    );
    expect(await known(project)).toMatch(/port of their own[\s\S]*Sign in/);
  });

  it('LTM-05 come back after the commit that had them is reset away or its branch is deleted', async () => {
    const project = await makeLearned();
    await forgeJson(project, ['session', 'end', '--next', 'wire it']);
    project.git('reset', '-q', '--hard', 'HEAD~1');
    const { briefing } = await forgeJson<{ briefing: { text: string } }>(project, ['session', 'start']);
    expect(briefing.text).toMatch(/wire it/);
    expect(await known(project)).toMatch(/port of their own[\s\S]*Sign in/);
    project.git('switch', '-qc', 'side');
    commitAll(project, 'Keep it');
    project.git('switch', '-q', 'main');
    expect((await verify(project)).notes).toEqual([]);
    expect(await known(project)).not.toMatch(/Sign in/);
    project.git('branch', '-qD', 'side');
    await verify(project);
    expect(await known(project)).toMatch(/port of their own[\s\S]*Sign in/);
  });

  it('LTM-05 FEA-03 a feature comes back without its pass, because its code may be gone', async () => {
    const project = await makeForge();
    project.git('switch', '-qc', 'side');
    await forgeJson(project, ['feature', 'add', 'F-1', 'Sign in', '--test', 'test -e login']);
    project.write('login', '');
    expect((await runForge(project, ['done', 'F-1'])).exitCode).toBe(0);
    commitAll(project, 'Sign in');
    project.git('switch', '-q', 'main');
    project.git('branch', '-qD', 'side');
    expect((await verify(project)).notes.join('\n')).not.toContain('edited outside forge');
    expect((await runForge(project, ['ls'])).stdout).toMatch(/F-1 +in_progress/);
    expect((await runForge(project, ['feature', 'show', 'F-1'])).stdout).not.toMatch(/passes since/);
  });

  it('LTM-05 stay away when a person or a commit removed them, or a stash has them', async () => {
    const project = await makeLearned();
    await forgeJson(project, ['feature', 'add', 'F-2', 'Sign out']);
    await forgeJson(project, ['feature', 'remove', 'F-2']);
    project.git('stash', '-qu');
    project.git('stash', 'pop', '-q');
    commitAll(project, 'Learn');
    project.git('rm', '-q', '.forge/memory/long-term/features.d/F-1.json');
    commitAll(project, 'Drop it');
    expect((await verify(project)).notes).toEqual([]);
    await forgeJson(project, ['feature', 'add', 'F-3', 'Find things']);
    project.git('stash', '-qu');
    expect((await verify(project)).notes).toEqual([]);
    expect(await known(project)).not.toMatch(/Sign in|Sign out|Find things/);
  });
});
