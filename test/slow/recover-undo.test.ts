import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Undone } from '../../src/index.js';
import { ada, at, bob, start } from '../support/agents.js';
import { expectError, forgeError, forgeJson, runForge } from '../support/forge.js';
import {
  differences,
  FEATURES,
  makeForge,
  makePlainForge,
  snapshot,
  storedFeature,
} from '../support/forge-project.js';
import { commitAll, makeFolder, type Project, projectAt } from '../support/project.js';
import {
  CHECKPOINT,
  differsFrom,
  failingGit,
  files,
  makeBroken,
  recover,
  staged,
  undo,
  withCheckpoint,
  wreck,
} from '../support/recovery.js';

describe('forge recover --undo', () => {
  it('GIT-06 newer work: refused without a name; with one it is saved in a separate backup first', async () => {
    const project = await makeBroken();
    const before = [files(project), staged(project)];
    const done = await recover(project);
    project.write('src/newer.js', 'newer\n');
    project.write('src/app.js', 'export const answer = 43;\n');
    commitAll(project, 'Newer');
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
    await expectError(project, 'recover --undo --yes', 'recover.newer');
    const back = await undo(project, String(backup_ref));
    expect(project.read('kept.log')).toBe('before\n');
    expect(project.git('show', `${back.ref}:kept.log`)).toBe('since');
  });

  it('GIT-06 a git failure in the middle: exit 6 with the next command, and the next session start completes it', async () => {
    const project = await makeBroken();
    const before = files(project);
    const error = await forgeError(project, ['recover', '--yes'], failingGit('before'));
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
});

describe('forge recover --worktree', () => {
  it('GIT-06 puts the checkpoint into a separate folder and changes nothing else; not into a folder with files', async () => {
    const project = await makeBroken();
    const before = [files(project), staged(project), project.git('rev-parse', 'HEAD')];
    const dir = join(makeFolder(), 'a look');
    const { stdout } = await runForge(project, ['recover', '--worktree', dir]);
    expect(stdout).toContain(`\n  remove it with: git worktree remove '${dir}'\n`);
    expect(projectAt(dir).git('rev-parse', 'HEAD')).toBe(project.git('rev-parse', `${CHECKPOINT}^{commit}`));
    expect([files(project), staged(project), project.git('rev-parse', 'HEAD')]).toEqual(before);
    expect((await forgeError(project, ['recover', '--worktree', dir])).message).toContain('already exists');
  });
});

const undoLast = (project: Project, ...args: string[]): Promise<Undone> =>
  forgeJson(project, ['undo', ...args]);
const REF = /^refs\/forge\/backup\//;

describe('forge undo', () => {
  it('GIT-09 after recover it restores everything; again, it rolls back again; and so on', async () => {
    const project = await makeBroken();
    const broken = [files(project), staged(project)];
    const { backup_ref } = await recover(project);
    const rolled = [files(project), staged(project)];
    expect(differsFrom(project, 'checkpoint/APP-1-v1')).toBe('');
    for (let i = 0; i < 2; i++) {
      const back = await undoLast(project);
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
    expect(kept.stdout).toContain('To go back instead: forge recover --rollback');
    expect(files(project)).toEqual(before);
    const again = ['recover', '--to', 'checkpoint/APP-1-v1', '--rollback'];
    expect(await forgeError(project, again)).toMatchObject({
      code: 'recover.unconfirmed',
      hint: expect.stringContaining('--yes'),
    });
    expect(await forgeJson(project, [...again, '--yes'])).toMatchObject({ decision: 'rollback' });
    expect(differsFrom(project, 'checkpoint/APP-1-v1')).toBe('');
    await undoLast(project);
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
      await undoLast(project);
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
    expect(await undoLast(project)).toMatchObject({
      action: 'feature remove',
      ref: expect.stringMatching(REF),
    });
    expect(project.read(FEATURES)).toBe(before);
    expect(await undoLast(project)).toMatchObject({ action: 'undo' });
    expect(project.read(FEATURES)).toBe(gone);
    await forgeJson(project, ['feature', 'add', 'b', 'Another']);
    const mine = project.read(FEATURES);
    await expectError(project, ['undo'], '3 undo.newer');
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
      await undoLast(project);
      expect(differences(before, snapshot(project.path('.forge')))).toEqual([]);
      await undoLast(project);
      expect(differences(discarded, snapshot(project.path('.forge')))).toEqual([]);
    }
    await undoLast(project);
    expect(differences(before, snapshot(project.path('.forge')))).toEqual([]);
    await forgeJson(project, ['progress', 'add', 'It goes on']);
    await forgeJson(project, ['session', 'end']);
  });

  it('GIT-09 is refused while another session runs; nothing to undo: exit 2; without git: exit 3', async () => {
    const project = await makeForge();
    await expectError(project, ['undo'], '2 recover.no_backup');
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['session', 'discard']);
    await forgeJson(project, ['session', 'start']);
    await expectError(project, ['undo'], '3 undo.newer');
    const plain = await makePlainForge();
    await forgeJson(plain, ['feature', 'add', 'A', 'A']);
    expect((await runForge(plain, ['feature', 'remove', 'A'])).stderr).toContain('cannot bring this back');
    await expectError(plain, ['undo'], '3');
  });

  it('GIT-09 a session that has ended since does not run again, not even by the name of its discard', async () => {
    const project = await makeForge();
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['kfr', 'patch', '--add', 'Constraint:Keep this']);
    const { session } = await forgeJson<{ session: { id: string } }>(project, ['session', 'discard']);
    const { undone } = await undoLast(project);
    await forgeJson(project, ['session', 'end', '--next', 'IMPORTANT']);
    const ended = snapshot(project.path('.forge'));
    for (const args of [['undo'], ['undo', undone]]) {
      const { exitCode, code, message, hint = '' } = await forgeError(project, args);
      expect([exitCode, code, message]).toEqual([
        ...[3, 'undo.newer'],
        expect.stringMatching(`Session ${session.id} has ended since; nothing was changed\\.$`),
      ]);
      expect((await runForge(project, hint.replace('forge ', ''))).stdout).toContain('Keep this');
    }
    expect(differences(ended, snapshot(project.path('.forge')))).toEqual([]);
  });

  it('GIT-09 is refused once a feature has changed since; by name the newer state is kept', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'F-1', 'One', '--no-run']);
    await forgeJson(project, ['feature', 'remove', 'F-1']);
    await undoLast(project);
    await forgeJson(project, ['feature', 'edit', 'F-1', '--priority', '1', '--no-run']);
    const { code, hint = '' } = await forgeError(project, ['undo']);
    expect(code).toBe('undo.newer');
    expect(storedFeature(project, 'F-1')).toMatchObject({ priority: 1 });
    const [, , name = ''] = hint.split(' ');
    expect(await undoLast(project, name)).toMatchObject({
      what: 'the undo of the removal of feature F-1',
    });
    await undoLast(project);
    expect(storedFeature(project, 'F-1')).toMatchObject({ priority: 1 });
  });

  it('GIT-09 says what it brings back or takes away, also with --dry-run and in the list of backups', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'F-1', 'One', '--no-run']);
    await forgeJson(project, ['feature', 'remove', 'F-1']);
    const removal = 'the removal of feature F-1';
    for (const what of [removal, `the undo of ${removal}`, removal]) {
      const dry = await runForge(project, ['undo', '-n']);
      expect(dry.stdout).toMatch(`would undo ${what} (saved `);
      expect(dry.stderr).toContain('1 file would change: .forge/memory/long-term/features.d/F-1.json');
      expect((await runForge(project, ['undo'])).stdout).toMatch(
        new RegExp(`✓ Undone: ${what} \\(saved .*: 1 file\n`),
      );
    }
    const { stdout } = await runForge(project, ['recover', '--list']);
    expect(stdout).toMatch(/Before the undo of the removal .*\n.*Before the removal of feature F-1\n/);
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['session', 'discard']);
    const dry = await runForge(project, ['undo', '-n']);
    const [, counted] = /^would undo the discard of session \S+ .*: (\d+ files)\n/.exec(dry.stdout) ?? [];
    expect(dry.stderr).toContain(`${counted} would change: `);
    expect((await runForge(project, ['undo'])).stdout).toMatch(`: ${counted}\n`);
  });

  it('GIT-09 an interrupted session that was discarded comes back beside the running one', async () => {
    const project = await makeForge();
    await start(project, at(ada, 0));
    await forgeJson(project, ['progress', 'add', 'Half of it']);
    await start(project, at(bob, 1), '--take-over');
    await forgeJson(project, ['progress', 'add', 'Other work']);
    await forgeJson(project, ['session', 'discard', '001']);
    await forgeJson(project, ['progress', 'add', 'More of it']);
    expect((await runForge(project, ['undo'])).stdout).toMatch(/^✓ Undone: the discard of session \S+-001 /);
    expect(await forgeJson(project, ['session', 'list'])).toMatchObject({
      active: { id: expect.stringContaining('002') },
      sessions: [{ status: 'interrupted' }],
    });
  });
});
