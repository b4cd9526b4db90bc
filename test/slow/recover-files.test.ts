import { chmodSync, existsSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { create } from '../support/checkpoints.js';
import { expectError, forgeError, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { commitAll, makeFolder, type Project } from '../support/project.js';
import {
  CHECKPOINT,
  differsFrom,
  failingGit,
  files,
  plan,
  recover,
  staged,
  undo,
  withCheckpoint,
  wreck,
} from '../support/recovery.js';

/** A filter like git-crypt's, in the repository's own config alone; `mark` is there once it ran. */
async function makeFiltered(): Promise<{
  project: Project;
  run: (home: boolean) => { env: NodeJS.ProcessEnv };
  ran: () => boolean;
}> {
  const project = await makeForge();
  const place = makeFolder();
  const [script, mark, home] = [join(place, 'rot'), join(place, 'ran'), join(place, 'gitconfig')];
  writeFileSync(script, `#!/bin/sh\n: >'${mark}'\ntr a-z n-za-m\n`);
  chmodSync(script, 0o755);
  const settings = ['clean', 'smudge'].map((name) => [`filter.crypt.${name}`, script] as const);
  for (const [name, value] of settings) project.git('config', name, value);
  project.write('.gitattributes', '*.key filter=crypt\n');
  project.write('a.key', 'secret\n');
  project.write('app.txt', 'works\n');
  // Git trusts the time of a file only once it is older than the index.
  utimesSync(project.path('a.key'), 1e9, 1e9);
  commitAll(project, 'A filtered file');
  expect(project.git('show', 'HEAD:a.key')).toBe('frperg');
  writeFileSync(
    home,
    `[user]\n\tname = x\n\temail = x@example.com\n[filter "crypt"]\n\tclean = ${script}\n\tsmudge = ${script}\n`,
  );
  const run = (isOwn: boolean) => ({ env: isOwn ? { GIT_CONFIG_GLOBAL: home } : {} });
  return { project, run, ran: () => existsSync(mark) };
}

describe("filters of the repository's own config", () => {
  it('GIT-05 GIT-06 a checkpoint reports files it cannot compare and the setup, and compares them after it', async () => {
    const { project, run } = await makeFiltered();
    await create(project, 'A');
    project.write('a.key', 'secret\n');
    expect(await forgeError(project, ['checkpoint', 'create', 'B', '--verify', 'true'])).toMatchObject({
      exitCode: 3,
      code: 'checkpoint.filter',
      message: expect.stringMatching(
        /^1 file \(a\.key\) needs the filter "crypt", which only this repository's own/,
      ),
      hint: expect.stringMatching(/^git config --global --edit/),
    });
    const args = ['checkpoint', 'create', 'B', '--verify', 'true'];
    expect((await runForge(project, args, run(true))).exitCode).toBe(0);
  });

  it('GIT-06 a rollback never writes git’s stored form of a file; with the filter set up it completes', async () => {
    const { project, run } = await makeFiltered();
    await create(project, 'A', '--verify', 'grep -q works app.txt');
    project.write('a.key', 'newer\n');
    project.write('app.txt', 'broken\n');
    project.git('commit', '-qam', 'Break both');
    project.write('b.key', 'third\n');
    project.write('a.key', 'newest\n');
    expect((await runForge(project, ['recover', '--plan'])).stderr).toMatch(
      /1 file \(a\.key\) needs the filter "crypt".*so it cannot compare them.*git config --global --edit/,
    );
    project.write('a.key', 'newer\n');
    const before = [files(project), staged(project)];
    const { stderr, exitCode } = await runForge(project, ['recover', '--yes']);
    expect([exitCode, files(project), staged(project)]).toEqual([3, ...before]);
    expect(stderr).toMatch(/1 file \(a\.key\) needs the filter "crypt".*nothing was changed/);
    const done = await runForge(project, ['recover', '--yes', '--json'], run(true));
    expect([done.exitCode, JSON.parse(done.stdout).decision]).toEqual([0, 'rollback']);
    expect([project.read('a.key'), project.read('app.txt')]).toEqual(['secret\n', 'works\n']);
    expect((await runForge(project, ['recover', '--undo', '--yes'], run(true))).exitCode).toBe(0);
    expect([files(project), staged(project)]).toEqual(before);
  });

  it('GIT-06 filtered files that a rollback does not touch do not block it, and no filter runs', async () => {
    const { project, ran } = await makeFiltered();
    await create(project, 'A', '--verify', 'grep -q works app.txt');
    project.write('app.txt', 'broken\n');
    project.git('commit', '-qam', 'Break it');
    expect(ran()).toBe(true);
    rmSync(join(project.git('config', 'filter.crypt.clean'), '..', 'ran'));
    expect(await recover(project)).toMatchObject({ decision: 'rollback' });
    expect([project.read('a.key'), project.read('app.txt'), ran()]).toEqual(['secret\n', 'works\n', false]);
  });
});

/** As its work goes on, a project learns to ignore more: what is ignored now was not at the checkpoint. */
async function ignoringMore(): Promise<Project> {
  const project = await withCheckpoint();
  project.write('.gitignore', 'build/\n*.log\n.env\ncache/\n');
  project.write('src/app.js', 'export const answer = 0;\n');
  project.git('rm', '-rq', 'lib');
  for (let i = 0; i < 25; i++) project.write(`src/more-${i}.js`, 'more\n');
  commitAll(project, 'Wrong turn');
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
    await expectError(project, ['recover', '--yes'], '6', failingGit('after'));
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
  it.each(['missing', 'damaged'])('GIT-06 a file of the checkpoint is %s in git: exit 6', async (how) => {
    const project = await ignoringMore();
    const oid = project.git('rev-parse', `${CHECKPOINT}:src/app.js`);
    const object = project.path(`.git/objects/${oid.slice(0, 2)}/${oid.slice(2)}`);
    chmodSync(object, 0o600);
    if (how === 'missing') rmSync(object);
    else truncateSync(object, 10);
    const before = [stateOf(project), project.git('rev-parse', 'HEAD'), project.git('for-each-ref')];
    await expectError(project, 'recover --yes', '6 git.failed');
    expect([stateOf(project), project.git('rev-parse', 'HEAD'), project.git('for-each-ref')]).toEqual(before);
    expect(project.has('.git/forge/recover.json')).toBe(false);
  });

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
    await expectError(project, ['checkpoint', 'verify', '--run'], 'checkpoint.elsewhere');
    project.git('update-index', flag.replace('--', '--no-'), NAME);
    project.git('checkout', '--', NAME);
    mark(project);
    expect((await create(project, 'X')).tag).toBe('checkpoint/X-v1');
  });

  it('GIT-05 stops a checkpoint whose command marks and removes it', async () => {
    const project = await withCheckpoint();
    const verify = `sh -c "git update-index ${flag} ${NAME} && rm ${NAME}"`;
    await expectError(project, ['checkpoint', 'create', 'X', '--verify', verify], 'checkpoint.changed');
  });
});

it('GIT-06 a removed file marked skip-worktree stops a rollback, and nothing is changed', async () => {
  const project = await withCheckpoint();
  wreck(project);
  project.git('update-index', '--skip-worktree', NAME);
  remove(project);
  const before = files(project);
  await expectError(project, ['recover', '--yes'], 'recover.sparse');
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
