import { describe, expect, it } from 'vitest';
import { create, fileOf, list } from '../support/checkpoints.js';
import { cloneOf } from '../support/ci.js';
import { atTerminal } from '../support/e2e-terminal.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import type { Project } from '../support/project.js';

/** A feature that passed, as its file says. */
async function withFeature(): Promise<Project> {
  const project = await makeForge();
  project.write('app.txt', '\n');
  await forgeJson(project, ['feature', 'add', 'LOGIN', 'Log in', '--test', 'grep -q login app.txt']);
  project.write('app.txt', 'login\n');
  await forgeJson(project, ['feature', 'verify', 'LOGIN']);
  project.git('add', '.');
  project.git('commit', '-qm', 'It works');
  return project;
}

async function trustedClone(project: Project): Promise<Project> {
  const clone = cloneOf(project);
  await forgeJson(clone, ['trust', '--yes'], { terminal: true });
  return clone;
}

describe('the claims of a checkpoint', () => {
  it('GIT-05 leaves out a feature that claims to pass but fails, and reports it', async () => {
    const project = await withFeature();
    project.write('app.txt', 'broken\n');
    project.git('commit', '-qam', 'Break it');
    const { stderr } = await runForge(project, ['checkpoint', 'create', 'A', '--verify', 'true']);
    expect(await forgeJson(project, ['checkpoint', 'show', 'A-v1'])).toMatchObject({ features_passing: [] });
    expect(stderr).toMatch(/LOGIN is not in the checkpoint\. grep -q login app\.txt: exit code 1/);
    expect(await forgeJson(project, ['feature', 'show', 'LOGIN'])).toMatchObject({ status: 'failing' });
  });

  it('GIT-05 FEA-02 a feature whose test fails at a checkpoint is failing from then on', async () => {
    const project = await withFeature();
    project.write('app.txt', 'broken\n');
    project.git('commit', '-qam', 'Break it');
    expect(await forgeError(project, ['checkpoint', 'create', 'A'])).toMatchObject({
      exitCode: 1,
      code: 'checkpoint.failed',
    });
    expect(await forgeJson(project, ['feature', 'show', 'LOGIN'])).toMatchObject({
      status: 'failing',
      last_run: { command: 'grep -q login app.txt', exit_code: 1 },
    });
  });

  it('GIT-05 GIT-06 a feature whose tests are skipped is not proved, now or by a later checkpoint', async () => {
    const project = await makeForge();
    const report = (text: string): void => {
      project.write('report.txt', text);
      project.git('add', '.');
      project.git('commit', '-qm', 'Report');
    };
    await forgeJson(project, ['feature', 'add', 'A', 'a', '--test', 'cat report.txt']);
    report('1 passed in 0.1s\n');
    await forgeJson(project, ['feature', 'verify', 'A']);
    expect(await create(project, 'ONE')).toMatchObject({ features_passing: ['A'] });
    report('1 skipped in 0.1s\n');
    for (const verify of [[], ['--verify', 'cat report.txt']])
      expect(await forgeError(project, ['checkpoint', 'create', 'ZERO', ...verify])).toMatchObject({
        exitCode: 1,
        message: 'cat report.txt: no test ran; no checkpoint was made.',
      });
    const plan = await runForge(project, ['recover', '--plan', '--json']);
    expect(plan.stdout).toContain('"decision":"alert"');
    expect(plan.stdout).toContain('"state":"not_run","why":"cat report.txt: no test ran"');
    const { stderr } = await runForge(project, ['checkpoint', 'create', 'TWO', '--verify', 'true']);
    expect(stderr).toContain('A is not in the checkpoint. cat report.txt: no test ran');
    expect(await forgeJson(project, ['checkpoint', 'show', 'TWO-v1'])).toMatchObject({
      features_passing: [],
    });
  });

  it('GIT-05 unapproved tests are not run, and their features not listed', async () => {
    const project = await withFeature();
    await forgeJson(project, ['trust', '--revoke'], { terminal: true });
    const { stderr } = await runForge(project, ['checkpoint', 'create', 'A', '--verify', 'true']);
    expect(await forgeJson(project, ['checkpoint', 'show', 'A-v1'])).toMatchObject({ features_passing: [] });
    expect(stderr).toMatch(/LOGIN is not in the checkpoint\. .*not approved on this machine/);
  });
});

describe('checkpoints of several clones', () => {
  it('GIT-05 names of two clones do not clash, and each is found without its suffix', async () => {
    const project = await withFeature();
    project.git('config', 'receive.denyCurrentBranch', 'ignore');
    const clones = [await trustedClone(project), await trustedClone(project)];
    const tags: string[] = [];
    for (const clone of clones) {
      const { tag } = await create(clone, 'APP');
      expect(tag).toMatch(/^checkpoint\/APP-v1\.[0-9a-f]{6}$/);
      clone.git('push', '-q', 'origin', tag);
      tags.push(tag);
    }
    const [first, second] = clones as [Project, Project];
    expect(await forgeJson(first, ['checkpoint', 'show', 'APP-v1'])).toMatchObject({ tag: tags[0] });
    second.git('pull', '-q', '--no-rebase', '--no-edit', first.dir, 'main');
    second.git('fetch', '-q', '--tags', 'origin');
    expect((await list(second)).map(({ tag, state }) => [tag, state]).sort()).toEqual(
      tags.sort().map((tag) => [tag, 'ok']),
    );
    expect(await forgeError(second, ['checkpoint', 'show', 'APP-v1'])).toMatchObject({
      exitCode: 2,
      code: 'checkpoint.unknown',
    });
    expect((await create(second, 'APP')).tag).toMatch(/APP-v2\./);
    expect(second.has(fileOf(String(tags[0]).replace('checkpoint/', '')))).toBe(true);
  });

  it('GIT-05 at a terminal it offers to push the tag, and pushes it only after a yes', async () => {
    const project = await withFeature();
    const clone = await trustedClone(project);
    const remoteTags = (): string => project.git('tag', '-l', 'checkpoint/*');
    const no = await atTerminal(clone, ['checkpoint', 'create', 'A'], [['Push it now', 'n\r']]);
    expect([no.exitCode, remoteTags()]).toEqual([0, '']);
    expect(no.shown).toMatch(/to share it: git push origin checkpoint\/A-v1\./);
    const yes = await atTerminal(clone, ['checkpoint', 'create', 'B'], [['Push it now', 'y\r']]);
    expect([yes.exitCode, remoteTags()]).toEqual([
      0,
      expect.stringMatching(/^checkpoint\/B-v1\.[0-9a-f]{6}$/),
    ]);
    const made = await create(clone, 'C');
    expect([made, remoteTags().split('\n')]).toEqual([
      expect.not.objectContaining({ pushed: expect.anything() }),
      [expect.stringContaining('B-v1')],
    ]);
  });
});
