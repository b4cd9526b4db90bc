import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addRemote, commit, forge, hookFiles, makeCommitted } from '../support/e2e-hooks.js';
import { BIN, runBinary } from '../support/forge.js';
import { snapshot } from '../support/forge-project.js';
import { MESSAGE } from '../support/message.js';
import { changedPaths, makeFolder, pathWithoutForge, run } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';

const NAMES = ['commit-msg', 'post-checkout', 'post-commit', 'post-merge', 'pre-push'];

describe('forge hooks in a plain repository', () => {
  it('GIT-03 installs five hooks, lists them, and removes them without a trace', () => {
    const project = makeCommitted();
    const before = hookFiles(project);
    expect(forge(project, 'hooks', 'status').stdout).toMatch(/· +commit-msg +not installed/);
    const installed = forge(project, 'hooks', 'install', '--json');
    expect(JSON.parse(installed.stdout)).toEqual({
      hooks: NAMES.map((name) => ({ name, state: 'new', path: `.git/hooks/${name}` })),
      gone: [],
      enforce: 'block',
      who: 'mine',
    });
    for (const name of NAMES) {
      const file = join(project.dir, '.git/hooks', name);
      expect(statSync(file).mode & 0o777).toBe(0o755);
      expect(readFileSync(file, 'utf8')).toMatch(/^#!\/bin\/sh\n[^\r]*$/);
    }
    const again = JSON.parse(forge(project, 'hooks', 'install', '--json').stdout);
    expect(again.hooks.map(({ state }: { state: string }) => state)).toEqual(Array(5).fill('installed'));
    expect(changedPaths(project)).toEqual([]);
    const dry = forge(project, 'hooks', 'uninstall', '--dry-run').stderr;
    expect(dry).toMatch(/5 files would change: \.git\/hooks\/commit-msg, /);
    forge(project, 'hooks', 'uninstall');
    expect(hookFiles(project)).toEqual(before);
  });

  it.each([
    ['git commit', []],
    ['git commit -a', ['-a']],
    ['git commit PATH', ['--', 'a.txt']],
  ])('GIT-03 LTM-13 %s of a secret is refused, and the value is not shown', (_, args) => {
    const project = makeCommitted();
    project.write('a.txt', 'a\n');
    project.git('add', 'a.txt');
    commit(project);
    forge(project, 'hooks', 'install');
    const secret = SAMPLES.secret();
    project.write('a.txt', `key = ${secret}\n`);
    if (args.length === 0) project.git('add', 'a.txt');
    const refused = run(project.dir, 'git', ['commit', '-m', MESSAGE, ...args]);
    expect(refused).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(
        /what is staged contains a secret; nothing was committed\n {2}a\.txt:1: /,
      ),
    });
    expect(refused.stderr).not.toContain(secret);
    expect(project.git('status', '--porcelain', 'a.txt')).toMatch(/a\.txt$/);
  });

  it('GIT-03 keeps and runs lines that a person added to a hook that forge made', () => {
    const project = makeCommitted();
    const hook = '.git/hooks/commit-msg';
    forge(project, 'hooks', 'install');
    project.write(hook, `${project.read(hook)}echo checked by me >&2\n`);
    const first = project.read(hook);
    expect(commit(project).stderr).toBe('checked by me\n');
    expect(commit(project, {}, 'no protocol').exitCode).toBe(1);
    forge(project, 'hooks', 'install');
    expect(project.read(hook)).toBe(first);
    forge(project, 'hooks', 'uninstall');
    expect(project.read(hook)).toBe('#!/bin/sh\necho checked by me >&2\n');
    expect(commit(project, {}, 'no protocol')).toMatchObject({ exitCode: 0, stderr: 'checked by me\n' });
    expect(project.has('.git/hooks/pre-push')).toBe(false);
  });

  it('GIT-04 keeps commits.log and branches.json current, and git status clean', () => {
    const project = makeCommitted();
    forge(project, 'hooks', 'install');
    commit(project);
    project.git('switch', '-qc', 'side"quote');
    commit(project, {}, MESSAGE.replace('Brief description', 'On the side'));
    project.git('commit', '--amend', '-q', '--no-edit', '--allow-empty');
    project.git('switch', '-q', '-');
    project.git('merge', '-q', '--no-edit', 'side"quote');
    const log = project.read('.forge/git/commits.log').split('\n');
    expect(log[0]).toMatch(/^[0-9a-f]{7,} \d{4}-\d\d-\d\dT\S+ \[SX9-123\] On the side$/);
    expect(log.filter((line) => line.includes('On the side'))).toHaveLength(1);
    const { branches } = project.json<{ branches: object[] }>('.forge/git/branches.json');
    expect(branches).toMatchObject([
      { name: 'main', current: true, head: project.git('rev-parse', 'HEAD') },
      { name: 'side"quote', current: false },
    ]);
    expect(changedPaths(project)).toEqual([]);
  });

  it('GIT-04 does not write through a symlink', () => {
    const project = makeCommitted();
    forge(project, 'hooks', 'install');
    const outside = makeFolder();
    rmSync(join(project.dir, '.forge/git'), { recursive: true });
    symlinkSync(outside, join(project.dir, '.forge/git'));
    commit(project);
    expect(Object.keys(snapshot(outside))).toEqual([]);
  });

  it('GIT-03 B-47 never blocks if forge or Node is missing, and reports it in one line', () => {
    const project = makeCommitted();
    forge(project, 'hooks', 'install');
    const script = '.git/forge/hook';
    for (const [program, gone] of [
      [BIN, '/nowhere/forge.js'],
      [process.execPath, '/nowhere/node'],
    ] as const) {
      project.write(script, project.read(script).replace(program, gone));
      const { exitCode, stderr } = commit(project, { PATH: pathWithoutForge() });
      expect([exitCode, stderr]).toEqual([0, expect.stringMatching(/^forge: not found, .*\n$/)]);
    }
    rmSync(project.path(script));
    const stderr = expect.stringMatching(
      /^forge: \S+ is missing, so nothing was checked; .*hooks install\n$/,
    );
    expect(commit(project)).toMatchObject({ exitCode: 0, stderr });
    expect(commit(project, { FORGE_HOOKS: '0' }, 'anything')).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it.each([
    ['config.toml is damaged', '.forge/config.toml', '[commit\n', /config\.toml:1: /],
    ['config.toml is empty', '.forge/config.toml', '', /config\.toml is empty/],
    [
      'the settings are of no use',
      '.forge/config.toml',
      'schema_version = 1\n[commit]\nenforce = "x"\n',
      /enforce/,
    ],
    ['the features are damaged', '.forge/memory/long-term/features.json', '{', /features\.json/],
  ])('GIT-03 LTM-13 where %s it says so in one line, and refuses only secrets', (_, file, text, why) => {
    const project = makeCommitted();
    forge(project, 'hooks', 'install');
    addRemote(project);
    const push = () => run(project.dir, 'git', ['push', '-q', 'origin', 'HEAD']);
    project.write(file, text);
    const odd = MESSAGE.replace('[SX9-123]', '[no-id]');
    const said = commit(project, {}, odd);
    expect([said.exitCode, said.stderr]).toEqual([
      0,
      expect.stringMatching(/^forge: only secrets were checked: [^\n]*\n$/),
    ]);
    expect(said.stderr).toMatch(why);
    expect(push()).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/^forge: messages could not be checked: [^\n]*\n$/),
    });
    const secret = SAMPLES.secret();
    const refused = commit(project, {}, MESSAGE.replace('Rationale for the change', secret));
    expect([refused.exitCode, refused.stderr.includes(secret)]).toEqual([1, false]);
    expect(refused.stderr).toContain('nothing was committed');
    project.write('s.txt', `${secret}\n`);
    project.git('add', 's.txt');
    project.git('commit', '-q', '--no-verify', '-m', MESSAGE);
    const pushed = push();
    expect([pushed.exitCode, pushed.stderr.includes(secret)]).toEqual([1, false]);
    expect(pushed.stderr).toContain('s.txt:1: ');
  });

  it('GIT-01 GIT-03 cleans up a message by the settings of the committing git, in any environment', () => {
    const project = makeCommitted();
    forge(project, 'hooks', 'install');
    const text = MESSAGE.replace('Rationale for the change', '; dropped');
    const strip = ['-c', 'commit.cleanup=strip', '-c', 'core.commentChar=;'];
    const env = { FORGE_SHIM: '1', FORGE_MESSAGE_SETTINGS: 'core.commentchar %' };
    const made = (...args: string[]) =>
      run(project.dir, 'git', [...args, 'commit', '-q', '--allow-empty', '-F', '-'], { input: text, env });
    expect(made(...strip)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('"## Why" has no text'),
    });
    expect(made()).toMatchObject({ exitCode: 0, stderr: '' });
    project.git('config', 'core.commentChar', ';');
    project.git('config', 'commit.cleanup', 'strip');
    expect(made()).toMatchObject({ exitCode: 1 });
  });

  it('GIT-03 in a linked worktree and from a subfolder, where they are removed too', () => {
    const project = makeCommitted();
    const before = hookFiles(project);
    forge(project, 'hooks', 'install');
    const side = join(makeFolder(), 'side');
    project.git('worktree', 'add', '-q', side, '-b', 'side');
    mkdirSync(join(side, 'deep'));
    const made = run(join(side, 'deep'), 'git', ['commit', '-q', '--allow-empty', '-F', '-'], {
      input: MESSAGE,
    });
    expect(made).toMatchObject({ exitCode: 0, stderr: '' });
    expect(readFileSync(join(side, '.forge/git/commits.log'), 'utf8')).toContain('Brief description');
    expect(JSON.parse(runBinary(side, ['hooks', 'status', '--json']).stdout).hooks[0]).toMatchObject({
      state: 'installed',
    });
    forge({ dir: side }, 'hooks', 'uninstall');
    expect(hookFiles(project)).toEqual(before);
  });
});
