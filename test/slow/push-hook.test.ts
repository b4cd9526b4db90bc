import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commit } from '../support/ci.js';
import { forgeJson, runForge } from '../support/forge.js';
import { differences, makeForge, snapshot } from '../support/forge-project.js';
import { record } from '../support/memory.js';
import type { Project } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';

/** The pre-push hook for HEAD and a remote that has nothing; fails when it wrote anything. */
async function pushHead(project: Project) {
  const id = project.git('rev-parse', 'HEAD');
  const stdin = `refs/heads/main ${id} refs/heads/main ${'0'.repeat(40)}\n`;
  const before = snapshot(project.dir);
  const outcome = await runForge(project, ['hook', 'pre-push', 'origin'], { stdin });
  expect(differences(before, snapshot(project.dir))).toEqual([]);
  return outcome;
}

function commitSecret(project: Project): void {
  project.write('key.txt', `${SAMPLES.secret()}\n`);
  project.git('add', '-A');
  // Past the hook that looks at what is staged.
  project.git('commit', '-q', '--no-verify', '-m', 'Add a key');
}

const SECRET = /^ {2}\w{10} key\.txt:1: /m;

describe('the pre-push hook', () => {
  it('GIT-03 LTM-13 refuses a secret after the revert of a merge that held records, and writes nothing', async () => {
    const project = await makeForge();
    await forgeJson(project, ['hooks', 'install']);
    project.git('switch', '-q', '-c', 'side');
    await record(project);
    commit(project);
    project.git('switch', '-q', '-');
    project.git('merge', '-q', '--no-ff', '-m', 'Merge', 'side');
    project.git('revert', '-m', '1', '--no-edit', 'HEAD');
    expect(await pushHead(project)).toMatchObject({ exitCode: 0, stderr: '' });
    commitSecret(project);
    expect(await pushHead(project)).toMatchObject({ exitCode: 5, stderr: expect.stringMatching(SECRET) });
  });

  it('GIT-03 LTM-13 refuses a secret after git clean in a session, and writes nothing', async () => {
    const project = await makeForge();
    await forgeJson(project, ['hooks', 'install']);
    await runForge(project, ['session', 'start']);
    await record(project);
    project.git('clean', '-fdxq', '.forge');
    expect(await pushHead(project)).toMatchObject({ exitCode: 0, stderr: '' });
    commitSecret(project);
    expect(await pushHead(project)).toMatchObject({ exitCode: 5, stderr: expect.stringMatching(SECRET) });
  });

  it('GIT-03 LTM-05 refuses halted memory if git cannot show the pushed commits', async () => {
    const project = await makeForge();
    await forgeJson(project, ['config', 'set', 'guard.halt_on', 'all']);
    await runForge(project, ['note', 'add', SAMPLES.secret()]);
    project.write('new.txt', 'new\n');
    commit(project);
    const blob = project.git('rev-parse', 'HEAD:new.txt');
    project.git('update-index', '--force-remove', 'new.txt');
    rmSync(project.path('.git/objects', blob.slice(0, 2), blob.slice(2)));
    const { exitCode, stderr } = await pushHead(project);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('  memory: Memory is halted: ')]);
    expect(stderr).toMatch(/^forge: secrets could not be checked: git .*\n/);
  });
});
