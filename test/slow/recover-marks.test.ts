import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { create } from '../support/checkpoints.js';
import { forgeError } from '../support/forge.js';
import type { Project } from '../support/project.js';
import { files, recover, undo, withCheckpoint, wreck } from '../support/recovery.js';

const NAME = 'package.json';
const TAG = 'checkpoint/APP-1-v1';

const edit = (project: Project): void => project.write(NAME, '{ "edited": "unseen" }\n');
const remove = (project: Project): void => rmSync(project.path(NAME));

describe.each(['--skip-worktree', '--assume-unchanged'])('a file marked %s', (flag) => {
  const mark = (project: Project): unknown => project.git('update-index', flag, NAME);

  it.each<[string, ((project: Project) => unknown)[]]>([
    ['marked, then edited', [mark, edit]],
    ['edited, then marked', [edit, mark]],
    [
      'edited, after a commit changed it',
      [
        (project) => project.write(NAME, '{ "newer": true }\n'),
        (project) => project.git('commit', '-qm', 'Newer', '--', NAME),
        mark,
        edit,
      ],
    ],
  ])('B-42 GIT-06 comes back with the undo of a rollback: %s', async (_name, steps) => {
    const project = await withCheckpoint();
    wreck(project);
    for (const step of steps) step(project);
    const before = files(project);
    expect((await recover(project)).decision).toBe('rollback');
    expect(project.git('hash-object', NAME)).toBe(project.git('rev-parse', `${TAG}:${NAME}`));
    await undo(project);
    expect(files(project)).toEqual(before);
  });

  it.each([
    ['edited', edit],
    ['removed', remove],
  ])('GIT-05 stops a checkpoint, which would claim its committed bytes: %s', async (_name, change) => {
    const project = await withCheckpoint();
    mark(project);
    change(project);
    const args = ['checkpoint', 'create', 'X', '--verify', 'true'];
    expect(await forgeError(project, args)).toMatchObject({ code: 'checkpoint.dirty', files: [NAME] });
    expect(await forgeError(project, ['checkpoint', 'verify', '--run'])).toMatchObject({
      code: 'checkpoint.elsewhere',
    });
    project.git('update-index', flag.replace('--', '--no-'), NAME);
    project.git('checkout', '--', NAME);
    mark(project);
    expect((await create(project, 'X')).tag).toBe('checkpoint/X-v1');
  });

  it('GIT-05 stops a checkpoint whose command marks and removes it', async () => {
    const project = await withCheckpoint();
    const verify = `sh -c "git update-index ${flag} ${NAME} && rm ${NAME}"`;
    expect(await forgeError(project, ['checkpoint', 'create', 'X', '--verify', verify])).toMatchObject({
      code: 'checkpoint.changed',
    });
  });
});

it('GIT-06 a removed file marked skip-worktree stops a rollback, and nothing is changed', async () => {
  const project = await withCheckpoint();
  wreck(project);
  project.git('update-index', '--skip-worktree', NAME);
  remove(project);
  const before = files(project);
  expect(await forgeError(project, ['recover', '--yes'])).toMatchObject({ code: 'recover.sparse' });
  expect(files(project)).toEqual(before);
});

it('B-42 GIT-06 a removed file marked assume-unchanged is removed again by the undo', async () => {
  const project = await withCheckpoint();
  wreck(project);
  project.git('update-index', '--assume-unchanged', NAME);
  remove(project);
  const before = files(project);
  await recover(project);
  expect(project.has(NAME)).toBe(true);
  await undo(project);
  expect(files(project)).toEqual(before);
});
