import { describe, expect, it } from 'vitest';
import type { Undone } from '../../src/index.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import {
  differences,
  FEATURES,
  makeForge,
  makePlainForge,
  snapshot,
  storedFeature,
} from '../support/forge-project.js';
import type { Project } from '../support/project.js';
import { breakThings, differsFrom, files, recover, staged, withCheckpoint } from '../support/recovery.js';

const undo = (project: Project, ...args: string[]): Promise<Undone> => forgeJson(project, ['undo', ...args]);
const REF = /^refs\/forge\/backup\//;

describe('forge undo', () => {
  it('GIT-09 after recover it restores everything; again, it rolls back again; and so on', async () => {
    const project = await withCheckpoint();
    await breakThings(project);
    const broken = [files(project), staged(project)];
    const { backup_ref } = await recover(project);
    const rolled = [files(project), staged(project)];
    expect(differsFrom(project, 'checkpoint/APP-1-v1')).toBe('');
    for (let i = 0; i < 2; i++) {
      const back = await undo(project);
      expect(back).toMatchObject({ ref: expect.stringMatching(REF), redo: 'forge undo' });
      if (i === 0) expect(back).toMatchObject({ undone: backup_ref, action: 'rollback' });
      expect([files(project), staged(project)]).toEqual(broken);
      await forgeJson(project, ['recover', '--undo', '--yes']);
      expect([files(project), staged(project)]).toEqual(rolled);
    }
  });

  it('GIT-06 GIT-09 --rollback works although nothing is broken, and undo reverts it', async () => {
    const project = await withCheckpoint();
    project.write('src/extra.js', 'extra\n');
    const before = files(project);
    const kept = await runForge(project, ['recover', '--to', 'checkpoint/APP-1-v1', '--yes']);
    expect(kept.stdout).toContain('forge recover --to checkpoint/APP-1-v1 --rollback   # goes back');
    expect(files(project)).toEqual(before);
    const again = ['recover', '--to', 'checkpoint/APP-1-v1', '--rollback'];
    expect(await forgeError(project, again)).toMatchObject({
      code: 'recover.unconfirmed',
      hint: expect.stringContaining(`forge ${again.join(' ')} --yes`),
    });
    expect(await forgeJson(project, [...again, '--yes'])).toMatchObject({ decision: 'rollback' });
    expect(differsFrom(project, 'checkpoint/APP-1-v1')).toBe('');
    await undo(project);
    expect(files(project)).toEqual(before);
  });

  it('GIT-09 undo restores the proofs that a rollback removed, and a redo removes them', async () => {
    const project = await withCheckpoint();
    await forgeJson(project, ['feature', 'add', 'NEW', 'More', '--test', 'test -f src/more.js']);
    project.write('src/more.js', 'more\n');
    await forgeJson(project, ['feature', 'verify', 'NEW']);
    project.write('src/app.js', 'broken\n');
    project.git('add', 'src');
    project.git('commit', '-qm', 'Wreck');
    const statusOf = (): unknown => storedFeature(project, 'NEW')?.status;
    await recover(project);
    const seen = [statusOf()];
    for (let i = 0; i < 3; i++) {
      await undo(project);
      seen.push(statusOf());
    }
    expect(seen).toEqual(['in_progress', 'passing', 'in_progress', 'passing']);
  });

  it('GIT-09 restores a removed feature in its place with all fields; again, it is removed', async () => {
    const project = await makeForge();
    for (const id of ['A', 'B', 'C'])
      await forgeJson(project, ['feature', 'add', id, id, '--test', 'true', '--no-run']);
    await forgeJson(project, ['feature', 'verify', 'B']);
    const before = project.read(FEATURES);
    await forgeJson(project, ['feature', 'remove', 'b']);
    const gone = project.read(FEATURES);
    await forgeJson(project, ['feature', 'edit', 'C', '--name', 'Since then']);
    await forgeJson(project, ['feature', 'edit', 'C', '--name', 'C']);
    expect(await undo(project)).toMatchObject({ action: 'feature remove', ref: expect.stringMatching(REF) });
    expect(project.read(FEATURES)).toBe(before);
    expect(await undo(project)).toMatchObject({ action: 'undo' });
    expect(project.read(FEATURES)).toBe(gone);
    await forgeJson(project, ['feature', 'add', 'b', 'Another']);
    const mine = project.read(FEATURES);
    expect(await forgeError(project, ['undo'])).toMatchObject({ exitCode: 3, code: 'undo.newer' });
    expect(project.read(FEATURES)).toBe(mine);
  });

  it('GIT-09 a discarded session runs again with every file restored; again, it is discarded', async () => {
    const project = await makeForge();
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['progress', 'add', 'Half of it']);
    await forgeJson(project, ['focus', 'set', '--task', 'The task']);
    const before = snapshot(project.path('.forge'));
    await forgeJson(project, ['session', 'discard']);
    const discarded = snapshot(project.path('.forge'));
    for (let i = 0; i < 2; i++) {
      await undo(project);
      expect(differences(before, snapshot(project.path('.forge')))).toEqual([]);
      await undo(project);
      expect(differences(discarded, snapshot(project.path('.forge')))).toEqual([]);
    }
    expect(await undo(project)).toMatchObject({ action: 'session discard' });
    expect(differences(before, snapshot(project.path('.forge')))).toEqual([]);
    await forgeJson(project, ['progress', 'add', 'It goes on']);
    await forgeJson(project, ['session', 'end']);
  });

  it('GIT-09 is refused while another session runs; nothing to undo: exit 2; without git: exit 3', async () => {
    const project = await makeForge();
    expect(await forgeError(project, ['undo'])).toMatchObject({ exitCode: 2, code: 'recover.no_backup' });
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['session', 'discard']);
    await forgeJson(project, ['session', 'start']);
    expect(await forgeError(project, ['undo'])).toMatchObject({ exitCode: 3, code: 'undo.newer' });
    const plain = await makePlainForge();
    await forgeJson(plain, ['feature', 'add', 'A', 'A']);
    expect((await runForge(plain, ['feature', 'remove', 'A'])).stderr).toContain('cannot bring this back');
    expect(await forgeError(plain, ['undo'])).toMatchObject({ exitCode: 3 });
  });

  it('GIT-09 LTM-12 a builder may not; --dry-run changes nothing', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'A', 'A']);
    await forgeJson(project, ['feature', 'remove', 'A']);
    expect(await forgeError(project, ['undo'], { env: { FORGE_ROLE: 'builder' } })).toMatchObject({
      exitCode: 3,
      code: 'role.denied',
    });
    const before = snapshot(project.dir);
    expect((await runForge(project, ['undo', '-n'])).exitCode).toBe(0);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });
});
