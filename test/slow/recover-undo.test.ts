import { execFileSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeFolder, projectAt } from '../support/project.js';
import {
  breakThings,
  CHECKPOINT,
  differsFrom,
  files,
  recover,
  staged,
  undo,
  withCheckpoint,
  wreck,
} from '../support/recovery.js';

describe('forge recover --undo', () => {
  it('GIT-06 newer work: refused without a name; with one it is saved in a separate backup first', async () => {
    const project = await withCheckpoint();
    await breakThings(project);
    const before = [files(project), staged(project)];
    const done = await recover(project);
    project.write('src/newer.js', 'newer\n');
    project.write('src/app.js', 'export const answer = 43;\n');
    project.git('add', '-A');
    project.git('commit', '-qm', 'Newer');
    const newer = files(project);
    const error = await forgeError(project, ['recover', '--undo', '--yes']);
    expect(error).toMatchObject({ exitCode: 3, code: 'recover.newer' });
    expect(files(project)).toEqual(newer);
    const name = String(done.backup_ref).split('/').at(-1) as string;
    const back = await undo(project, name);
    expect([files(project), staged(project)]).toEqual(before);
    expect(back.ref).not.toBeNull();
    expect(project.git('log', '--format=%s')).toContain('Newer');
    expect(await undo(project, String(back.ref))).toMatchObject({ undone: back.ref });
    expect(files(project)).toEqual(newer);
  });

  it('GIT-06 an ignored file in the place of a restored one counts as newer work', async () => {
    const project = await withCheckpoint();
    project.write('kept.log', 'before\n');
    project.git('add', '-f', 'kept.log');
    wreck(project);
    const { backup_ref } = await recover(project);
    project.write('kept.log', 'since\n');
    expect(await forgeError(project, ['recover', '--undo', '--yes'])).toMatchObject({
      code: 'recover.newer',
    });
    const back = await undo(project, String(backup_ref));
    expect(project.read('kept.log')).toBe('before\n');
    expect(project.git('show', `${back.ref}:kept.log`)).toBe('since');
  });

  it('GIT-06 a git failure in the middle: exit 6 with the next command, and the next session start completes it', async () => {
    const project = await withCheckpoint();
    await breakThings(project);
    const before = files(project);
    const shim = projectAt(makeFolder());
    const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    shim.write('git', `#!/bin/sh\ncase "$*" in *restore*--worktree*) exit 1;; esac\nexec ${git} "$@"\n`);
    chmodSync(shim.path('git'), 0o755);
    const env = { PATH: `${shim.dir}:${process.env.PATH}` };
    const error = await forgeError(project, ['recover', '--yes'], { env });
    expect(error).toMatchObject({
      code: 'git.failed',
      exitCode: 6,
      hint: expect.stringMatching(/completes the rollback/),
    });
    const { stderr } = await runForge(project, ['session', 'start']);
    expect(stderr).toMatch(/had been interrupted; it is completed now/);
    expect(differsFrom(project, CHECKPOINT)).toBe('');
    await undo(project);
    expect(files(project)).toEqual(before);
  });

  it('GIT-06 nothing to undo, an unknown name, two names: exit 2', async () => {
    const project = await withCheckpoint();
    for (const args of [['--undo'], ['--undo', 'nope']])
      expect(await forgeError(project, ['recover', '--yes', ...args])).toMatchObject({
        exitCode: 2,
        code: 'recover.no_backup',
      });
    expect(await forgeError(project, ['recover', '--plan', '--list'])).toMatchObject({ exitCode: 2 });
  });
});

describe('forge recover --worktree', () => {
  it('GIT-06 puts the checkpoint into a separate folder and changes nothing else; not into a folder with files', async () => {
    const project = await withCheckpoint();
    await breakThings(project);
    const before = [files(project), staged(project), project.git('rev-parse', 'HEAD')];
    const dir = join(makeFolder(), 'look');
    await forgeJson(project, ['recover', '--worktree', dir]);
    expect(projectAt(dir).git('rev-parse', 'HEAD')).toBe(project.git('rev-parse', `${CHECKPOINT}^{commit}`));
    expect([files(project), staged(project), project.git('rev-parse', 'HEAD')]).toEqual(before);
    for (const flags of [[], ['--dry-run']])
      expect(await forgeError(project, ['recover', '--worktree', dir, ...flags])).toMatchObject({
        exitCode: 2,
        message: `${dir} is there already and is not an empty folder.`,
      });
  });
});
