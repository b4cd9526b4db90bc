import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync, truncateSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { forgeError, runForge } from '../support/forge.js';
import { makeFolder, type Project, projectAt } from '../support/project.js';
import {
  CHECKPOINT,
  differsFrom,
  files,
  plan,
  recover,
  staged,
  undo,
  withCheckpoint,
  wreck,
} from '../support/recovery.js';

/** As its work goes on, a project learns to ignore more: what is ignored now was not at the checkpoint. */
async function ignoringMore(): Promise<Project> {
  const project = await withCheckpoint();
  project.write('.gitignore', 'build/\n*.log\n.env\ncache/\n');
  project.write('src/app.js', 'export const answer = 0;\n');
  project.git('rm', '-rq', 'lib');
  for (let i = 0; i < 25; i++) project.write(`src/more-${i}.js`, 'more\n');
  project.git('add', '.');
  project.git('commit', '-qm', 'Wrong turn');
  project.write('.env', 'TOKEN=mine\n');
  project.write('cache/deep/big', 'big\n');
  project.write('cache/:(top)odd*', 'odd\n');
  return project;
}

const stateOf = (project: Project): unknown => [files(project), staged(project)];

describe('forge recover and what git ignores', () => {
  it('GIT-06 files ignored by newer rules stay, and are not newer work for --undo', async () => {
    const project = await ignoringMore();
    const before = stateOf(project);
    await recover(project);
    expect(project.read('.env')).toBe('TOKEN=mine\n');
    expect(project.git('diff', '--name-only', CHECKPOINT, '--', '.', ':!.forge')).toBe('');
    // A secret that was ignored is in no backup.
    expect(project.git('rev-list', '--objects', '--all')).not.toMatch(/ \.env$/m);
    await undo(project);
    expect(stateOf(project)).toEqual(before);
  });

  it('GIT-06 they stay with newer work, and where the rollback was cut off as well', async () => {
    const project = await ignoringMore();
    const before = stateOf(project);
    const shim = projectAt(makeFolder());
    const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    // All files are written, and then it is over.
    shim.write('git', `#!/bin/sh\n${git} "$@" || exit\ncase "$*" in *restore*--worktree*) exit 1;; esac\n`);
    chmodSync(shim.path('git'), 0o755);
    const env = { PATH: `${shim.dir}:${process.env.PATH}` };
    expect(await forgeError(project, ['recover', '--yes'], { env })).toMatchObject({ exitCode: 6 });
    await runForge(project, ['session', 'start']);
    expect([project.read('.env'), project.read('cache/deep/big')]).toEqual(['TOKEN=mine\n', 'big\n']);
    project.write('newer.txt', 'newer\n');
    const [, rollback = ''] = project
      .git('for-each-ref', '--sort=-refname', '--format=%(refname) %(subject)', 'refs/forge/backup')
      .match(/^(\S+) Before the rollback/m) as string[];
    await undo(project, rollback);
    expect(stateOf(project)).toEqual(before);
  });

  it('GIT-06 rules that are gone come back, and what they name is not taken away', async () => {
    const project = await withCheckpoint();
    rmSync(project.path('.gitignore'));
    rmSync(project.path('lib'), { recursive: true });
    project.write('build/out.js', 'ignored before\n');
    project.write('a.log', 'ignored before\n');
    wreck(project);
    for (let i = 0; i < 25; i++) project.write(`work-${i}.txt`, 'untracked\n');
    const before = stateOf(project);
    expect((await plan(project)).decision).toBe('rollback');
    const { backup_ref } = await recover(project);
    expect([project.read('a.log'), project.read('build/out.js')]).toEqual(Array(2).fill('ignored before\n'));
    expect(differsFrom(project, CHECKPOINT)).toBe('');
    expect(project.git('ls-tree', '-r', '--name-only', String(backup_ref))).not.toMatch(/^build|\.log$/m);
    await undo(project);
    expect(stateOf(project)).toEqual(before);
  });
});

describe('what forge recover looks at before anything is changed', () => {
  it.each(['missing', 'damaged'])(
    'GIT-06 a file of the checkpoint that is %s in git: exit 6',
    async (how) => {
      const project = await ignoringMore();
      const oid = project.git('rev-parse', `${CHECKPOINT}:src/app.js`);
      const object = project.path(`.git/objects/${oid.slice(0, 2)}/${oid.slice(2)}`);
      chmodSync(object, 0o600);
      if (how === 'missing') rmSync(object);
      else truncateSync(object, 10);
      const before = [stateOf(project), project.git('rev-parse', 'HEAD'), project.git('for-each-ref')];
      expect(await forgeError(project, ['recover', '--yes'])).toMatchObject({
        exitCode: 6,
        code: 'git.failed',
      });
      expect([stateOf(project), project.git('rev-parse', 'HEAD'), project.git('for-each-ref')]).toEqual(
        before,
      );
      expect(project.has('.git/forge/recover.json')).toBe(false);
    },
  );

  it('B-38 GIT-06 a repository of its own where the checkpoint has files: exit 3', async () => {
    const project = await withCheckpoint();
    project.git('rm', '-rq', 'lib');
    project.git('commit', '-qm', 'Move it out');
    wreck(project);
    for (let i = 0; i < 25; i++) project.write(`work-${i}.txt`, 'untracked\n');
    project.write('lib/deep/one.js', 'of another repository\n');
    project.git('init', '-q', 'lib');
    const before = stateOf(project);
    expect(await forgeError(project, ['recover', '--yes'])).toMatchObject({
      exitCode: 3,
      code: 'recover.repository',
      message: expect.stringMatching(/^lib is a nested repository/),
    });
    expect(stateOf(project)).toEqual(before);
  });

  it('B-39 GIT-06 between two commits of a cherry-pick, and in git am, which is not a rebase', async () => {
    const project = await withCheckpoint();
    const start = project.git('rev-parse', 'HEAD');
    for (const text of ['one', 'two', 'three']) {
      project.write('src/app.js', `${text}\n`);
      project.git('commit', '-qam', text);
    }
    project.git('checkout', '-q', '-b', 'picks', start);
    expect(() => project.git('cherry-pick', 'main~1', 'main')).toThrow();
    project.git('checkout', '--theirs', 'src/app.js');
    project.git('commit', '-qam', 'Picked by hand');
    expect(await operation(project)).toBe('a cherry-pick or revert');
    project.git('cherry-pick', '--quit');
    project.git('format-patch', '-q', '-1', 'main~1', '-o', '.git/patches');
    expect(() => project.git('am', '.git/patches/0001-two.patch')).toThrow();
    expect(await operation(project)).toBe('git am');
    project.git('am', '--abort');
    expect(await operation(project)).toBe('none');
  });
});

const operation = async (project: Project): Promise<unknown> =>
  (await plan(project)).rules.find(({ rule }) => rule === 'operation')?.value;
