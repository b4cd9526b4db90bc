import { describe, expect, it } from 'vitest';
import { atTerminal } from '../support/e2e-terminal.js';
import { expectError, forgeError, forgeJson, runForge } from '../support/forge.js';
import { differences, makeForge, snapshot, storedFeature } from '../support/forge-project.js';
import { logOf, verify } from '../support/memory.js';
import { commitAll } from '../support/project.js';
import {
  backups,
  breakThings,
  differsFrom,
  files,
  makeBroken,
  plan,
  recover,
  staged,
  undo,
  withCheckpoint,
} from '../support/recovery.js';

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
      divergence: { features_lost: ['FORGE-001'], ledger: 'intact', branch: 'descendant' },
    });
    expect(planned.rules.filter(({ holds }) => !holds).map(({ rule }) => rule)).toEqual(['failing']);
    expect([files(project), staged(project)]).toEqual([broken.files, broken.staged]);

    const done = await recover(project);
    expect(done).toMatchObject({
      decision: 'rollback',
      backup_ref: expect.stringMatching(/^refs\/forge\/backup\//),
      features: [{ id: 'FORGE-001', status: 'passing' }],
      next: [/^forge undo/, /^git restore --source=refs\/forge\/backup\/\S+ -- FILE/].map((line) =>
        expect.stringMatching(line),
      ),
    });
    expect(differsFrom(project, 'checkpoint/APP-1-v1')).toBe('');
    const { 'build/out.js': ignored, ...rest } = files(project);
    expect(ignored).toBeDefined();
    expect(rest).toEqual(tree);
    expect(project.git('log', '-1', '--format=%s %P')).toBe(
      `[APP-1] Roll back to checkpoint/APP-1-v1 ${broken.head}`,
    );
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
    expect(back).toMatchObject({ undone: done.backup_ref, action: 'rollback', redo: 'forge undo' });
    expect(storedFeature(project, 'FORGE-001')).toMatchObject({ status: 'failing' });
    expect(files(project)).toEqual(broken.files);
    expect(staged(project)).toBe(broken.staged);
    expect(project.git('diff', '--name-only', broken.head, 'HEAD', '--', '.', ':!.forge')).toBe('');
    expect(project.git('rev-list', '--count', `${broken.head}..HEAD`)).toBe('2');
    expect((await verify(project)).status).toBe('intact');
    expect((await backups(project)).backups).toHaveLength(2);
  });

  it('GIT-06 a test that a feature shares with the checkpoint runs once and fails once', async () => {
    const project = await makeForge();
    project.write('app.txt', 'works\n');
    const test = 'grep -q works app.txt';
    for (const id of ['A', 'B'])
      await forgeJson(project, ['feature', 'add', id, id, '--test', test, '--no-run']);
    await forgeJson(project, ['feature', 'verify', '--all']);
    commitAll(project, 'It works');
    await forgeJson(project, ['checkpoint', 'create', 'APP', '--verify', test]);
    project.write('app.txt', 'slip\n');
    const { decision, checks, rules } = await plan(project);
    expect(checks.map(({ name, state }) => [name, state])).toEqual([
      ['A', 'failed'],
      ['B', 'failed'],
    ]);
    expect([decision, rules.find(({ rule }) => rule === 'failing')?.value]).toEqual(['continue', 1]);
  });

  it('GIT-06 a run before the first commit of the work proves nothing about HEAD, where a commit broke it', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'A', 'A', '--test', 'test -f app.txt']);
    commitAll(project, 'Before');
    project.write('app.txt', 'works\n');
    await forgeJson(project, ['feature', 'verify', 'A']);
    commitAll(project, 'It works');
    await forgeJson(project, ['checkpoint', 'create', 'APP']);
    project.git('rm', '-q', 'app.txt');
    project.git('commit', '-qm', 'Remove it');
    project.write('other.txt', 'not the cause\n');
    expect((await plan(project)).decision).toBe('rollback');
  });

  it('GIT-06 where no checkpoint was ever made nothing is done, and nothing pauses', async () => {
    const project = await makeForge();
    for (const args of [[], ['--yes'], ['-n']])
      expect(await forgeError(project, ['recover', ...args])).toMatchObject({
        exitCode: 3,
        code: 'recover.no_checkpoint',
        hint: expect.stringMatching(/^forge checkpoint create/),
      });
    expect((await runForge(project, ['recover', '--plan'])).stdout).toMatch(/nothing is done$/m);
    expect(await logOf(project, 'audit')).toEqual([]);
    await forgeJson(project, ['cycle', '--task', 'X', 'true']);
  });

  it('GIT-06 --plan, --dry-run and a call that nobody confirmed write nothing', async () => {
    const project = await withCheckpoint();
    await breakThings(project);
    const before = snapshot(project.dir);
    expect((await plan(project)).decision).toBe('rollback');
    await expectError(project, 'recover', '3 recover.unconfirmed');
    await expectError(project, 'recover --plan --list', '2');
    for (const args of [['-n'], ['-n', '--worktree', '../look'], ['--list']])
      expect((await runForge(project, ['recover', ...args])).exitCode).toBe(0);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
    await recover(project);
    const rolled = snapshot(project.dir);
    expect((await runForge(project, ['recover', '--undo', '-n'])).stdout).toMatch(/^would undo/);
    const { stdout } = await runForge(project, ['recover', '-n']);
    expect(stdout).toMatch(/Go on\. To do:\n {2}forge checkpoint create\n/);
    expect(differences(rolled, snapshot(project.dir))).toEqual([]);
  });

  it.each([
    ['a builder', { FORGE_ROLE: 'builder' }, 'role.denied', expect.any(String)],
    [
      'an agent',
      { CLAUDECODE: '1' },
      'human.required',
      "Rolling back needs a human's decision; CLAUDECODE is set, so an agent runs this command.",
    ],
  ])('LTM-12 GIT-06 %s may go on, but leaves a rollback to a human', async (_name, env, code, message) => {
    const project = await withCheckpoint();
    expect((await runForge(project, ['recover', '--yes'], { env })).exitCode).toBe(0);
    await breakThings(project);
    const before = files(project);
    expect(await forgeError(project, 'recover --yes', { env })).toMatchObject({ exitCode: 3, code, message });
    expect([files(project), (await backups(project)).backups]).toEqual([before, []]);
    await recover(project);
    const restored = files(project);
    for (const args of ['undo', 'recover --undo --yes'])
      expect(await forgeError(project, args, { env })).toMatchObject({ exitCode: 3, code });
    expect(files(project)).toEqual(restored);
  });

  it('GIT-06 at a terminal shows the table and asks; no changes nothing, yes rolls back', async () => {
    const project = await makeBroken();
    const before = files(project);
    const refused = await atTerminal(project, ['recover'], [['Roll back?', 'n\r']]);
    expect([refused.exitCode, files(project)]).toEqual([3, before]);
    expect(refused.shown).toContain('FORGE-001');
    const agreed = await atTerminal(project, ['recover'], [['Roll back?', 'y\r']]);
    expect([agreed.exitCode, differsFrom(project, 'checkpoint/APP-1-v1')]).toEqual([0, '']);
    expect(agreed.shown.split('since then:')).toHaveLength(2);
    const undone = await atTerminal(project, ['recover', '--undo'], [['Bring back', 'y\r']]);
    expect([undone.exitCode, files(project)]).toEqual([0, before]);
  });

  it('GIT-06 shows people the table, what was done, and how to undo it', async () => {
    const project = await makeBroken();
    const shown = await runForge(project, ['recover', '--plan']);
    expect(shown.stdout).toMatch(/checkpoint\/APP-1-v1/);
    expect(shown.stdout).toMatch(/✗ {2}FORGE-001 +failed +grep -q 42 src\/app\.js: exit code 1/);
    expect(shown.stdout).toMatch(/✗ {2}failing +1 +at most 0 +→ rollback/);
    expect(shown.stdout).toMatch(
      /since then: 1 commit, .*\n {2}git log --oneline checkpoint\/APP-1-v1\.\. {3}# these commits/,
    );
    expect(shown.stdout).toMatch(/rollback: roll back to the checkpoint/);
    const done = await runForge(project, ['recover', '--yes']);
    expect(done.stdout).toMatch(/✓ Rolled back \(commit [0-9a-f]{12}\).*refs\/forge\/backup/);
    expect(done.stdout).toMatch(/^ {2}what it proved ran again: FORGE-001 passing\n {2}forge undo/m);
    expect((await runForge(project, 'recover --list')).stdout).toMatch(/Before the rollback to checkpoint/);
    expect((await runForge(project, ['recover', '--undo', '--yes'])).stdout).toMatch(
      /✓ Undone: the rollback to \S+/,
    );
  });
});
