import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { forgeJson } from '../support/forge.js';
import { CONFIG, makeForge, makePlainForge } from '../support/forge-project.js';
import { makeFolder, type Project, projectAt } from '../support/project.js';
import { plan } from '../support/recovery.js';
import { commitAll, component } from '../support/statuses.js';

/** `main` follows a bare repository, and is one commit ahead of it and one behind. */
function diverge(project: Project): void {
  const other = makeFolder();
  project.git('init', '-q', '--bare', other);
  project.git('remote', 'add', 'origin', other);
  project.git('push', '-q', '-u', 'origin', 'main');
  project.git('commit', '-q', '--allow-empty', '-m', 'Theirs');
  project.git('push', '-q');
  project.git('reset', '-q', '--hard', 'HEAD~');
  project.git('commit', '-q', '--allow-empty', '-m', 'Ours');
}

describe('forge status and git', () => {
  it('VIS-01 changes only in .forge/ are not uncommitted work', async () => {
    const project = await makeForge();
    await forgeJson(project, ['knowledge', 'add', 'invariant', 'i']);
    expect(project.git('status', '--porcelain')).not.toBe('');
    expect((await component(project, 'git')).reasons).toEqual(['clean outside .forge/; no checkpoint yet']);
    project.write('src/app.js', 'changed\n');
    project.write('new.txt', 'new\n');
    project.write('.forgery/x', 'new\n');
    expect((await component(project, 'git')).reasons[0]).toBe('uncommitted: 1 changed file, 2 new files');
  });

  it('VIS-01 ahead of and behind the upstream of the default branch is red, on any branch', async () => {
    const project = await makeForge();
    diverge(project);
    const told = await component(project, 'git');
    expect([told.color, told.reasons[0]]).toEqual([
      'red',
      'diverged from origin/main: 1 commit ahead, 1 behind',
    ]);
    project.git('switch', '-q', '-c', 'topic');
    expect((await component(project, 'git')).color).toBe('red');
    project.git('switch', '-q', '--detach');
    expect((await component(project, 'git')).color).toBe('red');
    // What it names makes it good; asked twice, since the answer is remembered.
    project.git('switch', '-q', 'main');
    project.git('rebase', '-q', 'origin/main');
    for (let turn = 0; turn < 2; turn++) {
      const { color, reasons } = await component(project, 'git');
      expect([color, reasons]).toEqual(['neutral', ['clean outside .forge/; no checkpoint yet']]);
    }
    // Of a branch that has an upstream of its own, too.
    project.git('switch', '-q', 'topic');
    project.git('push', '-q', '-u', 'origin', 'topic');
    expect((await component(project, 'git')).color).toBe('red');
    project.git('remote', 'rename', 'origin', 'up');
    expect((await component(project, 'git')).reasons[0]).toBe(
      'diverged from up/main: 1 commit ahead, 1 behind',
    );
  });

  it('VIS-01 the settings name the default branch if the remote does not', async () => {
    const project = await makeForge();
    diverge(project);
    project.git('branch', '-q', '-m', 'main', 'next');
    project.git('update-ref', 'refs/remotes/origin/next', 'origin/main');
    project.git('update-ref', '-d', 'refs/remotes/origin/main');
    project.git('branch', '-q', '-u', 'origin/next');
    // With a single branch that one is the default.
    project.git('branch', '-q', 'other');
    const color = async (): Promise<string> => (await component(project, 'git')).color;
    project.write(CONFIG, 'schema_version = 1\n[git]\ndefault_branch = "../../heads/next"\n');
    expect(await color()).toBe('neutral');
    project.write(CONFIG, 'schema_version = 1\n[git]\ndefault_branch = "next"\n');
    expect(await color()).toBe('red');
    project.git('switch', '-q', '-c', 'topic');
    expect(await color()).toBe('red');
  });

  it('VIS-01 GIT-05 a checkpoint counts if it is intact and leads to HEAD', async () => {
    const project = await makeForge();
    await forgeJson(project, ['checkpoint', 'create', 'A', '--verify', 'true']);
    const color = async (): Promise<string> => (await component(project, 'git')).color;
    expect([await color(), await color()]).toEqual(['green', 'green']);
    const manifest = '.forge/git/checkpoints/A-v1.json';
    const whole = project.read(manifest);
    project.write(manifest, whole.replace('"can_rollback_to": true', '"can_rollback_to":  true'));
    expect(await color()).toBe('yellow');
    project.write(manifest, whole);
    expect(await color()).toBe('green');
    project.git('tag', '-d', 'checkpoint/A-v1');
    expect(await color()).toBe('yellow');
  });

  it('VIS-01 GIT-06 after a squash merge it names the checkpoint that recover returns to, not an older one of main', async () => {
    const project = await makeForge();
    await forgeJson(project, ['checkpoint', 'create', 'OLD', '--verify', 'true']);
    project.git('switch', '-q', '-c', 'topic');
    project.write('src/app.js', 'more\n');
    commitAll(project);
    await forgeJson(project, ['checkpoint', 'create', 'A', '--verify', 'true']);
    project.git('switch', '-q', 'main');
    project.git('merge', '-q', '--squash', 'topic');
    project.git('commit', '-qm', 'Squashed (#1)');
    const { checkpoint, decision } = await plan(project);
    expect([checkpoint?.tag, decision]).toEqual(['checkpoint/A-v1', 'continue']);
    const reasons = ['clean outside .forge/; last checkpoint: checkpoint/A-v1'];
    expect(await component(project, 'git')).toMatchObject({ color: 'green', reasons });
  });

  it('VIS-01 GIT-05 without a checkpoint it is neutral until a session has ended and a feature passes; its command works as printed', async () => {
    const project = await makeForge();
    const color = async (): Promise<string> => (await component(project, 'git')).color;
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['feature', 'add', '--no-run', 'A', 'a', '--test', 'true']);
    await forgeJson(project, ['feature', 'verify', 'A']);
    commitAll(project);
    expect(await color()).toBe('neutral');
    await forgeJson(project, ['progress', 'add', 'x']);
    await forgeJson(project, ['session', 'end']);
    expect(await component(project, 'git')).toMatchObject({
      color: 'yellow',
      reasons: ['no checkpoint to go back to'],
      fix: ['forge checkpoint create'],
    });
    await forgeJson(project, ['checkpoint', 'create']);
    expect(await color()).toBe('green');
  });

  it('VIS-01 B-39 a detached HEAD, an unborn branch, a merge in progress', async () => {
    const project = await makeForge();
    const reasons = async (): Promise<string> => (await component(project, 'git')).reasons.join('; ');
    project.git('switch', '-q', '--detach');
    expect(await reasons()).toBe('clean outside .forge/, on a detached HEAD; no checkpoint yet');
    project.git('switch', '-q', '--orphan', 'unborn');
    project.git('checkout', '-q', 'main', '--', '.forge');
    expect(await reasons()).toBe('there is no commit yet');
    project.git('switch', '-q', '-f', 'main');
    for (const [branch, text] of [
      ['one', '1\n'],
      ['two', '2\n'],
    ] as const) {
      project.git('switch', '-q', '-c', branch, 'main');
      project.write('src/app.js', text);
      commitAll(project);
    }
    expect(() => project.git('merge', 'one')).toThrow();
    expect(await reasons()).toBe('a merge is in progress; uncommitted: 1 conflict');
    // What commits all that is changed would commit the markers.
    expect((await component(project, 'git')).fix.join()).not.toContain('commit -a');
  });

  it('VIS-01 B-38 LAY-05 without git, and in a worktree', async () => {
    const plain = await makePlainForge();
    expect(await component(plain, 'git')).toMatchObject({
      color: 'yellow',
      reasons: ['there is no git repository: no commits, no checkpoints'],
    });
    const project = await makeForge();
    project.write('src/app.js', 'changed\n');
    const tree = projectAt(join(makeFolder(), 'tree'));
    project.git('worktree', 'add', '-q', tree.dir);
    expect((await component(tree, 'git')).reasons).toEqual(['clean outside .forge/; no checkpoint yet']);
    expect((await component(tree, 'short-term')).color).toBe('neutral');
  });
});
