import { chmodSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemWorld } from '../../src/index.js';
import { cloneOf } from '../support/ci.js';
import { expectError, forgeJson, runForge } from '../support/forge.js';
import { makeForge, makePlainForge } from '../support/forge-project.js';
import { containersOf } from '../support/memory.js';
import { commitAll, makeFolder, makeRepository, type Project, projectAt } from '../support/project.js';
import {
  backups,
  breakThings,
  CHECKPOINT,
  differsFrom,
  files,
  makeBroken,
  plan,
  recover,
  staged,
  undo,
  withCheckpoint,
  wreck,
} from '../support/recovery.js';

/** Rolls back, and undoes that: nothing is lost on the way. */
async function thereAndBack(project: Project): Promise<void> {
  const before = [files(project), staged(project)];
  expect(await recover(project)).toMatchObject({ decision: 'rollback' });
  expect(differsFrom(project, CHECKPOINT)).toBe('');
  await undo(project);
  expect([files(project), staged(project)]).toEqual(before);
}

describe('where forge recover rolls back', () => {
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
    await expectError(project, ['recover', '--yes', '--undo', name], 'recover.no_backup');
    expect((await backups(project)).backups).toMatchObject([{ ref: name }]);
  });

  it('B-38 GIT-06 leaves submodules and nested repositories unchanged, and reports them', async () => {
    const inner = makeRepository();
    const project = await makeForge();
    for (const name of ['inner', 'second', 'third', 'whole'])
      project.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.dir, name);
    project.git('commit', '-qm', 'Add submodules');
    await withCheckpoint(project);
    const module = projectAt(project.path('inner'));
    module.write('inside.txt', 'inside\n');
    module.git('add', '.');
    module.git('-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '-qm', 'Inside');
    project.git('-C', 'second', 'pull', '-q', module.dir);
    await breakThings(project);
    project.write('third/new.txt', 'never added\n');
    project.git('add', 'inner');
    project.git('reset', '-q', 'second');
    project.git('init', '-q', 'nested');
    project.write('nested/own.txt', 'own\n');
    const { stderr } = await runForge(project, ['recover', '--yes']);
    expect(stderr).toMatch(/left as they are:.* nested\/, inner, second, third\. /);
    expect([module.read('inside.txt'), project.read('nested/own.txt')]).toEqual(['inside\n', 'own\n']);
    expect(project.git('ls-files', '-s', 'inner')).toContain(project.git('rev-parse', `${CHECKPOINT}:inner`));
    await undo(project);
    expect([module.read('inside.txt'), project.read('nested/own.txt')]).toEqual(['inside\n', 'own\n']);
    expect(project.git('ls-files', '-s', 'inner')).toContain(module.git('rev-parse', 'HEAD'));
  });

  it('B-39 GIT-06 on a detached HEAD too, ignored files in the way are in the backup, and are restored', async () => {
    const project = await makeBroken();
    project.git('checkout', '-q', '--detach');
    rmSync(project.path('lib'));
    project.write('.gitignore', 'lib/\nsrc/app.js\n*.log\n');
    project.write('lib/deep', 'an ignored file where a folder was\n');
    project.git('rm', '-q', '--cached', 'src/app.js');
    project.write('run.sh.d/x', 'x\n');
    rmSync(project.path('run.sh'));
    project.write('run.sh/inside.log', 'an ignored file where a file was\n');
    await thereAndBack(project);
  });

  it('B-40 GIT-06 no filter, hook or program of the repository runs', async () => {
    const project = await makeBroken();
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

  it('B-42 GIT-06 names that are not UTF-8, line endings, hidden changes: nothing is lost', async () => {
    const project = await makeBroken();
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
    // It is no longer marked as assumed unchanged.
    const unmarked = String(before[1]).replace(/^h(?= .*package\.json$)/m, 'H');
    expect([files(project), staged(project)]).toEqual([before[0], unmarked]);
  });

  it('B-42 GIT-06 attributes that convert a file on its way into git or out: nothing is lost', async () => {
    const project = await withCheckpoint();
    wreck(project);
    const attributes = ['a.txt ident', 'b.txt text eol=crlf', 'c.txt text working-tree-encoding=UTF-16LE'];
    project.write('.gitattributes', `${attributes.join('\n')}\n`);
    project.write('.git/info/attributes', '* text=auto\n');
    project.write('a.txt', '$Id: kept $\r\n');
    project.write('b.txt', 'one\ntwo\r\n');
    project.write('c.txt', Buffer.from('one\r\ntwo\n', 'utf16le'));
    project.git('add', 'a.txt', 'b.txt');
    await thereAndBack(project);
  });

  it('B-42 GIT-06 does not follow a folder that was replaced by a symlink', async () => {
    const project = await withCheckpoint();
    const elsewhere = projectAt(makeFolder());
    elsewhere.write('deep/one.js', 'mine\n');
    elsewhere.write('other.txt', 'mine\n');
    rmSync(project.path('lib'), { recursive: true });
    symlinkSync(elsewhere.dir, project.path('lib'));
    wreck(project);
    await thereAndBack(project);
    expect([elsewhere.read('deep/one.js'), elsewhere.read('other.txt')]).toEqual(['mine\n', 'mine\n']);
  });

  it('B-45 GIT-06 not in a sparse checkout, nor beside another git', async () => {
    const project = await makeBroken();
    project.write('.git/index.lock', '');
    await expectError(project, 'recover --yes', '3 recover.place');
    rmSync(project.path('.git/index.lock'));
    project.git('stash', '-uq');
    project.git('sparse-checkout', 'set', '.forge');
    project.git('commit', '-qm', 'Gone', '--allow-empty');
    await expectError(project, 'recover --yes', '3 recover.sparse');
    expect((await backups(project)).backups).toEqual([]);
  });
});

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
    await expectError(project, ['recover', '--yes'], 'recover.place');
    await expectError(project, 'recover --yes --undo', 'recover.no_backup');
    rmSync(project.path('.git/MERGE_HEAD'));
    await expectAlert(project, 'operation', /conflict/);
    expect((await runForge(project, ['recover', '--yes'])).exitCode).toBe(1);
    expect(files(project)).toEqual(before);
    expect((await backups(project)).backups).toEqual([]);
  });

  it('B-39 GIT-06 history unrelated to the checkpoint, forked from it, or behind it, and no commit', async () => {
    const project = await withCheckpoint();
    project.git('reset', '-q', '--soft', 'HEAD~3');
    await expectAlert(project, 'branch', /^behind$/);
    project.write('src/app.js', 'other files\n');
    project.git('commit', '-qam', 'Another way');
    await expectAlert(project, 'branch', /^diverged$/);
    project.git('checkout', '-q', '--orphan', 'fresh');
    await expectAlert(project, 'branch', /^unborn$/);
    expect((await runForge(project, ['recover', '--yes'])).exitCode).toBe(1);
    project.git('commit', '-qm', 'Another history');
    await expectAlert(project, 'branch', /^diverged$/);
  });

  it('B-108 GIT-06 a moved or missing tag, or a named one that is unreliable', async () => {
    const project = await withCheckpoint();
    const tag = project.git('rev-parse', CHECKPOINT);
    project.git('tag', '-f', '-m', 'moved', CHECKPOINT, 'HEAD');
    await expectAlert(project, 'checkpoint', /^checkpoint\/APP-1-v1 is unverified/);
    expect((await plan(project, '--to', 'APP-1-v1')).rules[0]).toMatchObject({ holds: false });
    project.git('tag', '-d', CHECKPOINT);
    await expectAlert(
      project,
      'checkpoint',
      /^checkpoint\/APP-1-v1 is missing: its tag is gone, was not fetched, or is another repository's$/,
    );
    project.git('update-ref', `refs/tags/${CHECKPOINT}`, tag);
    expect((await plan(project)).decision).toBe('continue');
    await expectError(project, ['recover', '--plan', '--to', 'nope-v1'], '2 checkpoint.unknown');
  });

  it('B-45 GIT-06 a shallow clone without the history back to the checkpoint', async () => {
    const project = await withCheckpoint();
    for (const text of ['a', 'b']) {
      project.write('src/more.js', text);
      commitAll(project, text);
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
      await expectError(project, ['recover', ...args], '3 git.none');
  });

  it('GIT-06 while a cycle is in progress here', async () => {
    const project = await makeBroken();
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
    await expectError(project, 'recover --yes', '3 cycle.held');
  });
});
