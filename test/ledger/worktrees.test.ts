import { describe, expect, it } from 'vitest';
import { forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { commitAll, makeFolder, projectAt } from '../support/project.js';

describe('files of memory that were written in a linked worktree', () => {
  it('LTM-05 come back when its branch is deleted after it, unless they were merged or pushed', async () => {
    const project = await makeForge();
    commitAll(project, 'Begin');
    const work = async (branch: string): Promise<string> => {
      const { dir, ...tree } = projectAt(`${makeFolder()}/${branch}`);
      project.git('worktree', 'add', '-qb', branch, dir);
      await forgeJson({ dir, ...tree }, ['feature', 'add', branch, `Feature ${branch}`]);
      tree.git('add', '.');
      tree.git('commit', '-qm', branch);
      return dir;
    };
    const verify = async (): Promise<string> =>
      (await forgeJson<{ notes: string[] }>(project, 'memory verify')).notes.join('\n');
    const folders: Record<string, string> = {};
    for (const branch of ['LOST', 'MERGED', 'PUSHED', 'OPEN']) folders[branch] = await work(branch);
    project.git('merge', '-q', 'MERGED');
    project.git('rm', '-q', '.forge/memory/long-term/features.d/MERGED.json');
    commitAll(project, 'Drop it');
    const pushed = { 'refs/remotes/origin/PUSHED': project.git('rev-parse', 'PUSHED').trim() };
    project.write('.git/forge/pushed.json', JSON.stringify(pushed));
    expect(await verify()).not.toContain('put back');

    for (const branch of ['LOST', 'MERGED', 'PUSHED']) {
      project.git('worktree', 'remove', '--force', folders[branch] ?? '');
      project.git('branch', '-qD', branch);
    }
    expect(await verify()).toMatch(/put back 1 file of memory written here, .*: \S+features\.d\/LOST\.json$/);
    const { stdout } = await runForge(project, ['ls']);
    expect(stdout).toContain('Feature LOST');
    expect(stdout).not.toMatch(/MERGED|PUSHED|OPEN/);
    expect(await verify()).not.toContain('put back');
  });
});
