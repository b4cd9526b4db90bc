import { describe, expect, it } from 'vitest';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { logOf, verify } from './memory.js';
import { makeForge, storedFeature } from './project.js';
import {
  backups,
  breakThings,
  differsFrom,
  files,
  plan,
  recover,
  staged,
  undo,
  withCheckpoint,
} from './recovery.js';

describe('forge recover', () => {
  it('GIT-06 checkpoint, break things, roll back, tests pass again, undo: every byte is back', async () => {
    const project = await withCheckpoint();
    const tree = files(project);
    await breakThings(project);
    const broken = { files: files(project), staged: staged(project), head: project.git('rev-parse', 'HEAD') };

    const planned = await plan(project);
    expect(planned).toMatchObject({
      checkpoint: { tag: 'checkpoint/APP-1-v1' },
      decision: 'rollback',
      divergence: { features_lost: ['FORGE-001'], ledger: 'intact', branch: 'descendant', deleted_files: 2 },
    });
    expect(planned.rules.filter(({ holds }) => !holds).map(({ rule }) => rule)).toEqual(['features_lost']);
    expect([files(project), staged(project)]).toEqual([broken.files, broken.staged]);

    const done = await recover(project);
    expect(done).toMatchObject({
      decision: 'rollback',
      backup_ref: expect.stringMatching(/^refs\/forge\/backup\//),
    });
    expect(differsFrom(project, 'checkpoint/APP-1-v1')).toBe('');
    const { 'build/out.js': ignored, ...rest } = files(project);
    expect(ignored).toBeDefined();
    expect(rest).toEqual(tree);
    expect(project.git('log', '-1', '--format=%s %P')).toBe(
      `[APP-1] Roll back to checkpoint/APP-1-v1 ${broken.head}`,
    );
    await forgeJson(project, ['feature', 'verify', 'FORGE-001']);
    expect(storedFeature(project, 'FORGE-001')).toMatchObject({ status: 'passing' });
    expect((await verify(project)).status).toBe('intact');
    const [entry] = (await logOf(project, 'audit')).filter(({ kind }) => kind === 'recovery');
    expect(entry?.record).toMatchObject({
      action: 'rollback',
      backup: done.backup_ref,
      from: broken.head,
      to: done.commit,
    });

    const back = await undo(project);
    expect(back).toMatchObject({ undone: done.backup_ref, backup_ref: null });
    expect(files(project)).toEqual(broken.files);
    expect(staged(project)).toBe(broken.staged);
    expect(project.git('diff', '--name-only', broken.head, 'HEAD', '--', '.', ':!.forge')).toBe('');
    expect(project.git('rev-list', '--count', `${broken.head}..HEAD`)).toBe('2');
    expect((await verify(project)).status).toBe('intact');
    expect((await backups(project)).backups).toHaveLength(1);
  });

  it('GIT-06 little divergence: goes on, records that, and says what to fix', async () => {
    const project = await withCheckpoint();
    project.write('src/more.js', 'more\n');
    const done = await recover(project);
    expect(done).toMatchObject({ decision: 'continue', divergence: { untracked: 1, files: 0 } });
    expect(done.next.join('\n')).toMatch(/1 untracked/);
    const [entry] = (await logOf(project, 'audit')).filter(({ kind }) => kind === 'recovery');
    expect(entry?.record).toMatchObject({ action: 'continue', checkpoint: 'checkpoint/APP-1-v1' });
    expect(project.has('src/more.js')).toBe(true);
  });

  it('GIT-06 no checkpoint: pauses; cycle, loop and recover refuse until a human has looked', async () => {
    const project = await makeForge();
    const { stdout, exitCode } = await runForge(project, ['recover', '--yes', '--json']);
    expect(exitCode).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ checkpoint: null, decision: 'alert' });
    for (const args of [
      ['cycle', 'true'],
      ['loop', '--max-cycles', '1', 'true'],
      ['recover', '--yes'],
    ])
      expect(await forgeError(project, args)).toMatchObject({ exitCode: 3, code: 'paused' });
    expect((await plan(project)).decision).toBe('alert');
    await forgeJson(project, ['memory', 'override', 'acknowledge', '--reason', 'seen'], { terminal: true });
    await forgeJson(project, ['cycle', '--task', 'X', 'true']);
    expect((await verify(project)).status).toBe('intact');
  });

  it('GIT-06 without a terminal and --yes nothing is done: exit 3', async () => {
    const project = await withCheckpoint();
    for (const args of [['recover'], ['recover', '--undo']])
      expect(await forgeError(project, args)).toMatchObject({ exitCode: 3, code: 'recover.unconfirmed' });
  });
});
