import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemWorld } from '../../src/index.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeFolder, makeRepository, type Project, projectAt } from '../support/project.js';
import { makeForge, makePlainForge } from './project.js';
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

const CHECKPOINT = 'checkpoint/APP-1-v1';

/** A repository made so, with forge in it. */
async function forgeAt(project: Project): Promise<Project> {
  await forgeJson(project, ['init', '--yes']);
  project.git('add', '.');
  project.git('commit', '-qm', 'Add forge');
  return project;
}

async function expectAlert(project: Project, rule: string, value: RegExp): Promise<void> {
  const { decision, rules } = await plan(project);
  expect([decision, rules.find((row) => row.rule === rule)]).toEqual([
    'alert',
    expect.objectContaining({ holds: false, value: expect.stringMatching(value) }),
  ]);
}

/** Rolls back, and undoes that: nothing is lost on the way. */
async function thereAndBack(project: Project): Promise<void> {
  const before = [files(project), staged(project)];
  expect(await recover(project)).toMatchObject({ decision: 'rollback' });
  expect(differsFrom(project, CHECKPOINT)).toBe('');
  await undo(project);
  expect([files(project), staged(project)]).toEqual(before);
}

describe('what forge recover leaves to a human', () => {
  it('B-39 GIT-06 a merge in progress, and a conflict that is left', async () => {
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
    expect(await forgeError(project, ['recover', '--undo', '--yes'])).toMatchObject({
      code: 'recover.place',
    });
    rmSync(project.path('.git/MERGE_HEAD'));
    await expectAlert(project, 'operation', /conflict/);
    expect((await runForge(project, ['recover', '--yes'])).exitCode).toBe(3);
    expect(files(project)).toEqual(before);
    expect((await backups(project)).backups).toEqual([]);
  });

  it('B-39 GIT-06 a branch without a commit', async () => {
    const project = await withCheckpoint();
    project.git('checkout', '-q', '--orphan', 'fresh');
    await expectAlert(project, 'branch', /^unborn$/);
    expect((await runForge(project, ['recover', '--yes'])).exitCode).toBe(3);
  });

  it('GIT-06 history that has nothing to do with the checkpoint, forked from it, or is behind it', async () => {
    const project = await withCheckpoint();
    project.git('reset', '-q', '--soft', 'HEAD~3');
    await expectAlert(project, 'branch', /^behind$/);
    project.git('commit', '-qm', 'Another way');
    await expectAlert(project, 'branch', /^diverged$/);
    project.git('checkout', '-q', '--orphan', 'fresh');
    project.git('commit', '-qm', 'Another history');
    await expectAlert(project, 'branch', /^unrelated$/);
  });

  it('B-108 GIT-06 a tag that was moved, is gone, or is named and cannot be relied on', async () => {
    const project = await withCheckpoint();
    const tag = project.git('rev-parse', CHECKPOINT);
    project.git('tag', '-f', '-m', 'moved', CHECKPOINT, 'HEAD');
    await expectAlert(project, 'checkpoint', /none that is good \(checkpoint\/APP-1-v1 is unverified/);
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

  it('B-45 GIT-06 a shallow clone that has not got the way to the checkpoint', async () => {
    const project = await withCheckpoint();
    for (const text of ['a', 'b']) {
      project.write('src/more.js', text);
      project.git('add', '.');
      project.git('commit', '-qm', text);
    }
    const clone = projectAt(join(makeFolder(), 'clone'));
    project.git('clone', '-q', '--depth', '1', `file://${project.dir}`, clone.dir);
    clone.git('fetch', '-q', '--depth', '1', 'origin', 'tag', CHECKPOINT);
    await expectAlert(clone, 'branch', /shallow clone/);
  });

  it('GIT-06 damaged memory stops by itself: exit 4, and nothing is moved', async () => {
    const project = await withCheckpoint();
    await forgeJson(project, ['note', 'add', 'x']);
    await breakThings(project);
    const before = files(project);
    const [name = ''] = project.git('ls-files', '-o', '-c', '.forge/memory/notes.d/*.jsonl').split('\n');
    project.write(name, project.read(name).replace('"x"', '"y"'));
    await expectAlert(project, 'ledger', /^corrupted$/);
    expect(await forgeError(project, ['recover', '--yes'])).toMatchObject({ exitCode: 4 });
    await expectAlert(project, 'ledger', /^halted$/);
    expect(files(project)).toEqual(before);
  });
});

describe('where forge recover does nothing', () => {
  it('B-38 GIT-06 without git: exit 3', async () => {
    const project = await makePlainForge();
    for (const args of [['--plan'], ['--list'], ['--yes'], ['--undo', '--yes']])
      expect(await forgeError(project, ['recover', ...args])).toMatchObject({
        exitCode: 3,
        code: 'recover.place',
      });
  });

  it('GIT-06 while a cycle is under way here', async () => {
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

describe('where forge recover rolls back', () => {
  it('B-39 GIT-06 on a detached HEAD, and says that no branch holds it', async () => {
    const project = await withCheckpoint();
    await breakThings(project);
    project.git('checkout', '-q', '--detach');
    const { stderr } = await runForge(project, ['recover', '--yes']);
    expect(stderr).toMatch(/HEAD is detached/);
    expect(differsFrom(project, CHECKPOINT)).toBe('');
  });

  it('GIT-06 in a repository with SHA-256', async () => {
    const project = projectAt(makeFolder());
    project.git('init', '-q', '--object-format=sha256');
    project.write('package.json', '{}\n');
    await withCheckpoint(await forgeAt(project));
    await breakThings(project);
    await thereAndBack(project);
  });

  it('B-38 GIT-06 in a linked worktree; another one does not undo it', async () => {
    const project = await withCheckpoint();
    const linked = projectAt(join(makeFolder(), 'linked'));
    project.git('worktree', 'add', '-q', '-b', 'beside', linked.dir);
    await forgeJson(linked, ['trust', '--yes'], { terminal: true });
    await breakThings(linked);
    const before = files(project);
    const done = await recover(linked);
    expect(differsFrom(linked, CHECKPOINT)).toBe('');
    expect(files(project)).toEqual(before);
    const name = String(done.backup_ref);
    expect(await forgeError(project, ['recover', '--yes', '--undo', name])).toMatchObject({
      code: 'recover.elsewhere',
    });
    expect((await backups(project)).backups).toMatchObject([{ ref: name, here: false }]);
  });

  it('B-38 GIT-06 with a submodule and a repository inside: they stay as they are, and that is said', async () => {
    const inner = makeRepository();
    const project = await makeForge();
    project.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.dir, 'inner');
    project.git('commit', '-qm', 'Add a submodule');
    await withCheckpoint(project);
    const module = projectAt(project.path('inner'));
    module.write('inside.txt', 'inside\n');
    module.git('add', '.');
    module.git('-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '-qm', 'Inside');
    project.git('add', 'inner');
    await breakThings(project);
    project.git('init', '-q', 'nested');
    project.write('nested/own.txt', 'own\n');
    const { stderr } = await runForge(project, ['recover', '--yes']);
    expect(stderr).toMatch(/left as they are:.*nested\/, inner|left as they are:.*inner/);
    expect([module.read('inside.txt'), project.read('nested/own.txt')]).toEqual(['inside\n', 'own\n']);
    expect(project.git('ls-files', '-s', 'inner')).toContain(project.git('rev-parse', `${CHECKPOINT}:inner`));
  });

  it('GIT-06 ignored files in the way are in the backup too, and come back', async () => {
    const project = await withCheckpoint();
    await breakThings(project);
    rmSync(project.path('lib'));
    project.write('.gitignore', 'lib/\nsrc/app.js\n*.log\n');
    project.write('lib/deep', 'an ignored file where a folder was\n');
    project.git('rm', '-q', '--cached', 'src/app.js');
    project.write('run.sh.d/x', 'x\n');
    rmSync(project.path('run.sh'));
    project.write('run.sh/inside.log', 'an ignored file where a file was\n');
    const { divergence } = await plan(project);
    expect(divergence.in_the_way.sort()).toEqual(['lib/deep', 'run.sh/inside.log', 'src/app.js']);
    await thereAndBack(project);
  });

  it('B-40 GIT-06 no filter, hook or program of the repository runs', async () => {
    const project = await withCheckpoint();
    await breakThings(project);
    const mark = join(makeFolder(), 'ran');
    project.write('.gitattributes', '* filter=evil diff=evil\n');
    for (const name of ['clean', 'smudge'])
      project.git('config', `filter.evil.${name}`, `touch ${mark}; cat`);
    project.git('config', 'diff.external', `touch ${mark}`);
    project.git('config', 'diff.evil.textconv', `touch ${mark}; cat`);
    project.git('config', 'core.fsmonitor', `touch ${mark}`);
    for (const hook of ['post-checkout', 'pre-commit', 'post-index-change', 'reference-transaction']) {
      project.write(`.git/hooks/${hook}`, `#!/bin/sh\ntouch ${mark}\n`);
      chmodSync(project.path('.git/hooks', hook), 0o755);
    }
    const before = files(project);
    await plan(project);
    await recover(project);
    await undo(project);
    await forgeJson(project, ['recover', '--worktree', join(makeFolder(), 'w')]);
    expect(existsSync(mark)).toBe(false);
    expect(files(project)).toEqual(before);
  });

  it('B-42 GIT-06 names that are no UTF-8, line ends, marks for git not to look: nothing is lost', async () => {
    const project = await withCheckpoint();
    await breakThings(project);
    const odd = Buffer.concat([Buffer.from(`${project.dir}/odd-`), Buffer.from([0xff, 0x0a, 0x5c])]);
    project.git('config', 'core.autocrlf', 'true');
    project.write('crlf.txt', 'one\r\ntwo\n');
    project.write('package.json', '{ "edited": "unseen" }\n');
    project.git('update-index', '--assume-unchanged', 'package.json');
    const before = [files(project), staged(project)];
    writeFileSync(odd, 'odd\n');
    await recover(project);
    expect(existsSync(odd)).toBe(false);
    expect(project.read('package.json')).not.toContain('unseen');
    await undo(project);
    expect(readFileSync(odd, 'utf8')).toBe('odd\n');
    rmSync(odd);
    expect([files(project), staged(project)]).toEqual(before);
  });

  it('GIT-06 with a split index, with none, and with a large file', async () => {
    const project = await withCheckpoint();
    await breakThings(project);
    project.write('large.bin', randomBytes(3_000_000));
    project.git('update-index', '--split-index');
    await thereAndBack(project);
    rmSync(project.path('.git/index'));
    const before = files(project);
    expect(await recover(project)).toMatchObject({ decision: 'rollback' });
    expect(differsFrom(project, CHECKPOINT)).toBe('');
    await undo(project);
    expect([files(project), staged(project)]).toEqual([before, '']);
  });

  it('B-42 GIT-06 a folder that is a link now is not followed', async () => {
    const project = await withCheckpoint();
    const elsewhere = projectAt(makeFolder());
    elsewhere.write('deep/one.js', 'mine\n');
    elsewhere.write('other.txt', 'mine\n');
    rmSync(project.path('lib'), { recursive: true });
    symlinkSync(elsewhere.dir, project.path('lib'));
    project.write('src/app.js', 'broken\n');
    await runForge(project, ['feature', 'verify', 'FORGE-001']);
    await thereAndBack(project);
    expect([elsewhere.read('deep/one.js'), elsewhere.read('other.txt')]).toEqual(['mine\n', 'mine\n']);
  });

  it('B-42 GIT-06 a folder that is a link to itself now, of which git says nothing', async () => {
    const project = await withCheckpoint();
    rmSync(project.path('lib'), { recursive: true });
    symlinkSync('lib', project.path('lib'));
    project.write('src/app.js', 'broken\n');
    await runForge(project, ['feature', 'verify', 'FORGE-001']);
    await thereAndBack(project);
  });

  it('B-45 GIT-06 not in a sparse checkout, nor beside another git', async () => {
    const project = await withCheckpoint();
    await breakThings(project);
    project.write('.git/index.lock', '');
    expect(await forgeError(project, ['recover', '--yes'])).toMatchObject({
      exitCode: 3,
      code: 'recover.place',
    });
    rmSync(project.path('.git/index.lock'));
    project.git('stash', '-uq');
    project.git('sparse-checkout', 'set', '.forge');
    for (let i = 0; i < 30; i++) project.write(`junk/${i}`, 'x');
    expect(await forgeError(project, ['recover', '--yes'])).toMatchObject({
      exitCode: 3,
      code: 'recover.sparse',
    });
    expect((await backups(project)).backups).toEqual([]);
  });
});

describe('forge recover --undo', () => {
  it('GIT-06 newer work: not without a name; with one it is in a backup of its own first', async () => {
    const project = await withCheckpoint();
    await breakThings(project);
    const before = [files(project), staged(project)];
    const done = await recover(project);
    project.write('src/newer.js', 'newer\n');
    project.write('src/app.js', 'export const answer = 43;\n');
    project.git('commit', '-qam', 'Newer');
    const newer = files(project);
    const error = await forgeError(project, ['recover', '--undo', '--yes']);
    expect(error).toMatchObject({ exitCode: 3, code: 'recover.newer' });
    expect(files(project)).toEqual(newer);
    const name = String(done.backup_ref).split('/').at(-1) as string;
    const back = await undo(project, name);
    expect([files(project), staged(project)]).toEqual(before);
    expect(back.backup_ref).not.toBeNull();
    expect(project.git('log', '--format=%s')).toContain('Newer');
    expect(await undo(project, String(back.backup_ref))).toMatchObject({ undone: back.backup_ref });
    expect(files(project)).toEqual(newer);
  });

  it('GIT-06 an ignored file that stands where one comes back is newer work too', async () => {
    const project = await withCheckpoint();
    project.write('kept.log', 'before\n');
    project.git('add', '-f', 'kept.log');
    for (let i = 0; i < 30; i++) project.write(`junk/${i}`, 'x');
    const { backup_ref } = await recover(project);
    project.write('kept.log', 'since\n');
    expect(await forgeError(project, ['recover', '--undo', '--yes'])).toMatchObject({
      code: 'recover.newer',
    });
    const back = await undo(project, String(backup_ref));
    expect(project.read('kept.log')).toBe('before\n');
    expect(project.git('show', `${back.backup_ref}:kept.log`)).toBe('since');
  });

  it('GIT-06 git fails in the middle: exit 6 with the way on, and the next session start completes it', async () => {
    const project = await withCheckpoint();
    await breakThings(project);
    const before = files(project);
    const shim = projectAt(makeFolder());
    const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    shim.write('git', `#!/bin/sh\ncase "$*" in *checkout-index*-u*) exit 1;; esac\nexec ${git} "$@"\n`);
    chmodSync(shim.path('git'), 0o755);
    const env = { PATH: `${shim.dir}:${process.env.PATH}` };
    const error = await forgeError(project, ['recover', '--yes'], { env });
    expect(error).toMatchObject({
      code: 'git.failed',
      exitCode: 6,
      hint: expect.stringMatching(/completes the rollback/),
    });
    const { stderr } = await runForge(project, ['session', 'start']);
    expect(stderr).toMatch(/had been cut off; it is completed now/);
    expect(differsFrom(project, CHECKPOINT)).toBe('');
    await undo(project);
    expect(files(project)).toEqual(before);
  });

  it('GIT-06 nothing to undo, a name that is none: exit 2; two at once: exit 2', async () => {
    const project = await withCheckpoint();
    for (const args of [['--undo'], ['--undo', 'nope']])
      expect(await forgeError(project, ['recover', '--yes', ...args])).toMatchObject({
        exitCode: 2,
        code: 'recover.no_backup',
      });
    expect(await forgeError(project, ['recover', '--plan', '--list'])).toMatchObject({ exitCode: 2 });
  });

  it('GIT-06 what only the work that is gone has shown to pass is in progress; undo gives it back', async () => {
    const project = await withCheckpoint();
    await forgeJson(project, ['feature', 'add', 'FORGE-002', 'More', '--test', 'test -f src/more.js']);
    project.write('src/more.js', 'more\n');
    await forgeJson(project, ['feature', 'verify', 'FORGE-002']);
    const features = project.read('.forge/memory/long-term/features.json');
    for (let i = 0; i < 30; i++) project.write(`junk/${i}`, 'x');
    expect(await recover(project)).toMatchObject({ decision: 'rollback' });
    const shown = await forgeJson<{ status: string }>(project, ['feature', 'show', 'FORGE-002']);
    expect(shown.status).toBe('in_progress');
    await undo(project);
    expect(project.read('.forge/memory/long-term/features.json')).toBe(features);
  });
});

describe('forge recover --worktree', () => {
  it('GIT-06 puts the checkpoint beside, and touches nothing else; not into a folder that holds something', async () => {
    const project = await withCheckpoint();
    await breakThings(project);
    const before = [files(project), staged(project), project.git('rev-parse', 'HEAD')];
    const dir = join(makeFolder(), 'look');
    await forgeJson(project, ['recover', '--worktree', dir]);
    expect(projectAt(dir).git('rev-parse', 'HEAD')).toBe(project.git('rev-parse', `${CHECKPOINT}^{commit}`));
    expect([files(project), staged(project), project.git('rev-parse', 'HEAD')]).toEqual(before);
    expect(await forgeError(project, ['recover', '--worktree', dir])).toMatchObject({
      code: 'recover.folder',
    });
  });
});
