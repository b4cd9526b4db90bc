import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { systemWorld } from '../../src/index.js';
import { cloneOf } from '../support/ci.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { makePlainForge } from '../support/forge-project.js';
import { containersOf } from '../support/memory.js';
import type { Project } from '../support/project.js';
import { backups, breakThings, CHECKPOINT, files, plan, withCheckpoint } from '../support/recovery.js';

async function expectAlert(project: Project, rule: string, value: RegExp): Promise<void> {
  const { decision, rules } = await plan(project);
  expect([decision, rules.find((row) => row.rule === rule)]).toEqual([
    'alert',
    expect.objectContaining({ holds: false, value: expect.stringMatching(value) }),
  ]);
}

describe('situations that forge recover leaves to a human', () => {
  it('B-39 GIT-06 a merge in progress, and an unresolved conflict', async () => {
    const project = await withCheckpoint();
    project.git('checkout', '-qb', 'other');
    project.write('src/app.js', 'theirs\n');
    project.git('commit', '-qam', 'Theirs');
    project.git('checkout', '-q', 'main');
    project.write('src/app.js', 'ours\n');
    project.git('commit', '-qam', 'Ours');
    expect(() => project.git('merge', 'other')).toThrow();
    const before = files(project);
    await expectAlert(project, 'operation', /^a merge$/);
    expect(await forgeError(project, ['recover', '--yes'])).toMatchObject({ code: 'recover.place' });
    expect(await forgeError(project, ['recover', '--yes', '--undo'])).toMatchObject({
      code: 'recover.no_backup',
    });
    rmSync(project.path('.git/MERGE_HEAD'));
    await expectAlert(project, 'operation', /conflict/);
    expect((await runForge(project, ['recover', '--yes'])).exitCode).toBe(1);
    expect(files(project)).toEqual(before);
    expect((await backups(project)).backups).toEqual([]);
  });

  it('B-39 GIT-06 a branch without a commit', async () => {
    const project = await withCheckpoint();
    project.git('checkout', '-q', '--orphan', 'fresh');
    await expectAlert(project, 'branch', /^unborn$/);
    expect((await runForge(project, ['recover', '--yes'])).exitCode).toBe(1);
  });

  it('GIT-06 history unrelated to the checkpoint, forked from it, or behind it', async () => {
    const project = await withCheckpoint();
    project.git('reset', '-q', '--soft', 'HEAD~3');
    await expectAlert(project, 'branch', /^behind$/);
    project.write('src/app.js', 'other files\n');
    project.git('commit', '-qam', 'Another way');
    await expectAlert(project, 'branch', /^diverged$/);
    project.git('checkout', '-q', '--orphan', 'fresh');
    project.git('commit', '-qm', 'Another history');
    await expectAlert(project, 'branch', /^unrelated$/);
  });

  it('B-108 GIT-06 a moved or missing tag, or a named one that is unreliable', async () => {
    const project = await withCheckpoint();
    const tag = project.git('rev-parse', CHECKPOINT);
    project.git('tag', '-f', '-m', 'moved', CHECKPOINT, 'HEAD');
    await expectAlert(project, 'checkpoint', /^checkpoint\/APP-1-v1 is unverified/);
    expect((await plan(project, '--to', 'APP-1-v1')).rules[0]).toMatchObject({ holds: false });
    project.git('tag', '-d', CHECKPOINT);
    await expectAlert(project, 'checkpoint', /is missing/);
    project.git('update-ref', `refs/tags/${CHECKPOINT}`, tag);
    expect((await plan(project)).decision).toBe('continue');
    expect(await forgeError(project, ['recover', '--plan', '--to', 'nope-v1'])).toMatchObject({
      exitCode: 2,
      code: 'checkpoint.unknown',
    });
  });

  it('B-45 GIT-06 a shallow clone without the history back to the checkpoint', async () => {
    const project = await withCheckpoint();
    for (const text of ['a', 'b']) {
      project.write('src/more.js', text);
      project.git('add', '.');
      project.git('commit', '-qm', text);
    }
    const clone = cloneOf(project, '--depth', '1');
    clone.git('fetch', '-q', '--depth', '1', 'origin', 'tag', CHECKPOINT);
    await expectAlert(clone, 'branch', /shallow clone/);
  });

  it('GIT-06 damaged memory: exit 4, and nothing is moved', async () => {
    const project = await withCheckpoint();
    await forgeJson(project, ['note', 'add', 'x']);
    await breakThings(project);
    const before = files(project);
    const name = containersOf(project).find((file) => project.read(file).includes('"x"')) ?? '';
    project.write(name, project.read(name).replace('"x"', '"y"'));
    await expectAlert(project, 'ledger', /^corrupted$/);
    expect((await runForge(project, ['recover', '--yes'])).stdout).toMatch(/forge memory verify/);
    expect(files(project)).toEqual(before);
  });
});

describe('places where forge recover does nothing', () => {
  it('B-38 GIT-06 without git: exit 3', async () => {
    const project = await makePlainForge();
    for (const args of [['--plan'], ['--list'], ['--yes'], ['--undo', '--yes']])
      expect(await forgeError(project, ['recover', ...args])).toMatchObject({
        exitCode: 3,
        code: 'git.none',
      });
  });

  it('GIT-06 while a cycle is in progress here', async () => {
    const project = await withCheckpoint();
    await breakThings(project);
    const world = systemWorld(process.env, false);
    project.write(
      '.git/forge/cycle.json',
      JSON.stringify({
        schema_version: '1.0',
        key: 'a'.repeat(16),
        // The test's own parent: somebody else, who is alive.
        holder: world.holder(),
        started_at: '2026-01-01T00:00:00.000Z',
        task_id: 'X',
        stage: 'execution',
        stages: [],
      }),
    );
    expect(await forgeError(project, ['recover', '--yes'])).toMatchObject({
      exitCode: 3,
      code: 'cycle.held',
    });
  });
});
