import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { snapshot } from '../cli/project.js';
import { BIN, runBinary } from '../support/forge.js';
import { MESSAGE } from '../support/message.js';
import { peer } from '../support/peers.js';
import { changedPaths, makeFolder, type Project, run } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';
import { makeForgeRepository } from './typed.js';

const NAMES = ['commit-msg', 'post-checkout', 'post-commit', 'post-merge', 'pre-push'];
const forge = (project: Pick<Project, 'dir'>, ...args: string[]) => runBinary(project.dir, args);

/** A repository whose `.forge/` is committed. */
function makeCommitted(): Project {
  const project = makeForgeRepository();
  project.git('add', '-A');
  project.git('commit', '-q', '-m', MESSAGE);
  return project;
}

/** A hook of the person's own that says that it ran, and what it read. */
function writeOwn(project: Project, path: string, shebang = '#!/bin/sh\n'): void {
  const file = join(project.dir, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(
    file,
    `${shebang}echo "own $(basename "$0") $#" >>"$OWN_LOG"\ncat >>"$OWN_LOG" 2>/dev/null </dev/stdin || :\nexit 0\n`,
  );
  chmodSync(file, 0o755);
}

function commit(project: Project, env: NodeJS.ProcessEnv = {}, message = MESSAGE) {
  return run(project.dir, 'git', ['commit', '-q', '--allow-empty', '-F', '-'], { input: message, env });
}

/** All of the git dir that hooks are made of. */
const hookFiles = (project: Project): Record<string, string> =>
  Object.fromEntries(
    Object.entries(snapshot(project.dir)).filter(
      ([path]) =>
        /^\.(git\/(hooks|config|info)|husky)|lefthook|githooks/.test(path) || path === '.git/forge/hook',
    ),
  );

describe('forge hooks in a plain repository', () => {
  it('GIT-03 installs five hooks, tells of them, and takes them out without a trace', () => {
    const project = makeCommitted();
    const before = hookFiles(project);
    expect(forge(project, 'hooks', 'status').stdout).toMatch(/· +commit-msg +not installed/);
    const installed = forge(project, 'hooks', 'install', '--comment-char', '--json');
    expect(JSON.parse(installed.stdout)).toEqual({
      hooks: NAMES.map((name) => ({ name, state: 'new', path: `.git/hooks/${name}` })),
      gone: [],
      beside: [],
      comment_char: ';',
    });
    for (const name of NAMES) {
      const file = join(project.dir, '.git/hooks', name);
      expect(statSync(file).mode & 0o777).toBe(0o755);
      expect(readFileSync(file, 'utf8')).toMatch(/^#!\/bin\/sh\n[^\r]*$/);
    }
    const again = JSON.parse(forge(project, 'hooks', 'install', '--json').stdout);
    expect(again.hooks.map(({ state }: { state: string }) => state)).toEqual(Array(5).fill('installed'));
    expect(changedPaths(project)).toEqual([]);
    forge(project, 'hooks', 'uninstall');
    expect(hookFiles(project)).toEqual(before);
  });

  it('GIT-03 puts back the comment character that was there, and leaves one of the person’s own', () => {
    const project = makeCommitted();
    project.git('config', 'core.commentChar', '#');
    forge(project, 'hooks', 'install', '--yes');
    expect(project.git('config', 'core.commentChar')).toBe(';');
    forge(project, 'hooks', 'uninstall');
    expect(project.git('config', 'core.commentChar')).toBe('#');
    project.git('config', 'core.commentChar', '%');
    forge(project, 'hooks', 'install', '--yes');
    expect(project.git('config', 'core.commentChar')).toBe('%');
    forge(project, 'hooks', 'uninstall');
    expect(project.git('config', 'core.commentChar')).toBe('%');
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
    const { branches } = project.json<{ branches: { name: string; head: string; current: boolean }[] }>(
      '.forge/git/branches.json',
    );
    expect(branches.map(({ name, current }) => [name, current]).sort()).toEqual(
      [
        [project.git('branch', '--show-current'), true],
        ['side"quote', false],
      ].sort(),
    );
    expect(branches[0]?.head).toBe(project.git('rev-parse', 'HEAD'));
    expect(changedPaths(project)).toEqual([]);
  });

  it('GIT-04 writes through no link that somebody put there', () => {
    const project = makeCommitted();
    forge(project, 'hooks', 'install');
    const outside = makeFolder();
    rmSync(join(project.dir, '.forge/git'), { recursive: true });
    symlinkSync(outside, join(project.dir, '.forge/git'));
    commit(project);
    expect(Object.keys(snapshot(outside))).toEqual([]);
  });

  it('GIT-03 B-47 never holds anyone up where forge or Node is gone, and says so in one line', () => {
    const project = makeCommitted();
    forge(project, 'hooks', 'install');
    const script = join(project.dir, '.git/forge/hook');
    writeFileSync(script, readFileSync(script, 'utf8').replace(BIN, '/nowhere/forge.js'));
    const gone = commit(project, { PATH: '/usr/bin:/bin' });
    expect(gone).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/^forge: not found, .*\n$/) });
    writeFileSync(script, readFileSync(script, 'utf8').replace(process.execPath, '/nowhere/node'));
    expect(commit(project, { PATH: '/usr/bin:/bin' })).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/^forge: not found, .*\n$/),
    });
    rmSync(script);
    expect(commit(project)).toMatchObject({ exitCode: 0, stderr: '' });
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
  ])(
    'GIT-03 LTM-13 where %s nobody is held up, one line says so, and secrets are refused all the same',
    (_, file, text, why) => {
      const project = makeCommitted();
      forge(project, 'hooks', 'install');
      const remote = makeFolder();
      run(remote, 'git', ['init', '-q', '--bare']);
      project.git('remote', 'add', 'origin', remote);
      const push = () => run(project.dir, 'git', ['push', '-q', 'origin', 'HEAD']);
      project.write(file, text);
      const odd = MESSAGE.replace('[SX9-123]', '[no-id]');
      const said = commit(project, {}, odd);
      expect([said.exitCode, said.stderr]).toEqual([
        0,
        expect.stringMatching(/^forge: only secrets were looked for: [^\n]*\n$/),
      ]);
      expect(said.stderr).toMatch(why);
      expect(push()).toMatchObject({
        exitCode: 0,
        stderr: expect.stringMatching(/^forge: messages were not looked at: [^\n]*\n$/),
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
    },
  );

  it('GIT-01 GIT-03 cleans a message up by the settings of the git that commits, whatever stands in the environment', () => {
    const project = makeCommitted();
    forge(project, 'hooks', 'install');
    const text = MESSAGE.replace('Rationale for the change', '; dropped');
    const strip = ['-c', 'commit.cleanup=strip', '-c', 'core.commentChar=;'];
    const env = { FORGE_SHIM: '1', FORGE_MESSAGE_SETTINGS: 'core.commentchar %' };
    const made = (...args: string[]) =>
      run(project.dir, 'git', [...args, 'commit', '-q', '--allow-empty', '-F', '-'], { input: text, env });
    expect(made(...strip)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('"## Why" says nothing'),
    });
    expect(made()).toMatchObject({ exitCode: 0, stderr: '' });
    project.git('config', 'core.commentChar', ';');
    project.git('config', 'commit.cleanup', 'strip');
    expect(made()).toMatchObject({ exitCode: 1 });
  });

  it('GIT-03 in a linked worktree and from a subfolder', () => {
    const project = makeCommitted();
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
  });
});

describe('forge hooks beside others', () => {
  it('GIT-03 B-46 is refused beside own scripts without a word, and lives in them on request', () => {
    const project = makeCommitted();
    writeOwn(project, '.git/hooks/commit-msg');
    writeOwn(project, '.git/hooks/pre-push', '#!/usr/bin/env bash\n');
    const remote = makeFolder();
    run(remote, 'git', ['init', '-q', '--bare']);
    project.git('remote', 'add', 'origin', remote);
    const before = hookFiles(project);
    const refusal = forge(project, 'hooks', 'install');
    expect(refusal.exitCode).toBe(3);
    expect(refusal.stderr).toBe(
      "forge: Nothing was installed: .git/hooks/commit-msg, .git/hooks/pre-push would get a marked block of forge's.\n  → forge hooks install --into scripts\n",
    );
    expect(hookFiles(project)).toEqual(before);
    expect(forge(project, 'hooks', 'install', '--into', 'scripts').exitCode).toBe(0);
    const log = join(makeFolder(), 'log');
    expect(commit(project, { OWN_LOG: log })).toMatchObject({ exitCode: 0 });
    expect(readFileSync(log, 'utf8')).toBe('own commit-msg 1\n');
    const push = () => run(project.dir, 'git', ['push', '-q', 'origin', 'HEAD'], { env: { OWN_LOG: log } });
    project.git('commit', '-q', '--no-verify', '--allow-empty', '-m', 'no protocol');
    expect(push()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('nothing was pushed') });
    forge(project, 'config', 'set', 'commit.enforce', 'warn');
    expect(push()).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('pushed, although') });
    expect(readFileSync(log, 'utf8')).toMatch(/own pre-push 2\n\S+ [0-9a-f]+ refs\/heads/);
    forge(project, 'hooks', 'uninstall');
    expect(hookFiles(project)).toMatchObject(before);
    expect(existsSync(join(project.dir, '.git/hooks/post-merge'))).toBe(false);
  });

  it('GIT-03 B-46 refuses what is no shell script, and a folder that other repositories share', () => {
    const project = makeCommitted();
    writeOwn(project, '.git/hooks/commit-msg', '#!/usr/bin/env python3\n');
    const python = forge(project, 'hooks', 'install', '--into', 'scripts');
    expect(python.exitCode).toBe(3);
    expect(python.stderr).toContain('Nothing was installed: .git/hooks/commit-msg is no shell script.');
    rmSync(join(project.dir, '.git/hooks/commit-msg'));
    const shared = makeFolder();
    project.git('config', 'core.hooksPath', shared);
    const elsewhere = forge(project, 'hooks', 'install', '--yes');
    expect(elsewhere.exitCode).toBe(3);
    expect(elsewhere.stderr).toContain('which belongs to more than this repository');
    expect(Object.keys(snapshot(shared))).toEqual([]);
  });

  it('GIT-03 B-46 a folder of hooks in the repository', () => {
    const project = makeCommitted();
    writeOwn(project, '.githooks/commit-msg');
    project.git('config', 'core.hooksPath', '.githooks');
    const before = hookFiles(project);
    expect(forge(project, 'hooks', 'install').exitCode).toBe(3);
    expect(forge(project, 'hooks', 'install', '--into', 'scripts').exitCode).toBe(0);
    const log = join(makeFolder(), 'log');
    commit(project, { OWN_LOG: log });
    expect(readFileSync(log, 'utf8')).toContain('own commit-msg 1\n');
    expect(project.read('.forge/git/commits.log')).toContain('Brief description');
    forge(project, 'hooks', 'uninstall');
    expect(hookFiles(project)).toEqual(before);
  });

  it('GIT-03 B-46 hooks of git’s settings, which git 2.54 runs: they stay, and are told of', () => {
    const project = makeCommitted();
    const set = (...args: string[]) => project.git('config', ...args);
    set('--add', 'hook.My Linter.event', 'pre-commit');
    set('--add', 'hook.My Linter.event', 'commit-msg');
    set('hook.My Linter.command', 'lint --all');
    set('hook.own.event', 'pre-push');
    set('hook.own.command', 'sh .git/forge/hook pre-push');
    set('hook.off.event', 'commit-msg');
    set('hook.off.command', 'x');
    set('hook.off.enabled', 'false');
    set('hook.elsewhere.event', 'pre-commit');
    set('hook.elsewhere.command', 'x');
    set('hook.again.event', 'commit-msg');
    set('--add', 'hook.again.event', '');
    set('hook.again.command', 'x');
    set('hook.no-command.event', 'commit-msg');
    const before = project.read('.git/config');
    const beside = [
      { name: 'My Linter', scope: 'local', events: ['commit-msg'], runs_forge: false },
      { name: 'own', scope: 'local', events: ['pre-push'], runs_forge: true },
    ];
    for (const command of ['install', 'status', 'uninstall'])
      expect(JSON.parse(forge(project, 'hooks', command, '--json').stdout)).toMatchObject({ beside });
    expect(project.read('.git/config')).toBe(before);
    forge(project, 'hooks', 'install');
    const shown = forge(project, 'hooks', 'status').stdout;
    expect(shown).toContain(
      '·  hook.My Linter (local setting) has commit-msg too: git 2.54 and newer run both\n',
    );
    expect(forge(project, 'doctor').stdout).toContain("git config --local --remove-section 'hook.own'");
    expect(commit(project)).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('GIT-03 B-46 husky: its hooks run, and forge’s in them', (context) => {
    const husky = peer('husky', '9.1.7');
    if (husky === null) return context.skip();
    const project = makeCommitted();
    run(project.dir, process.execPath, [join(husky, 'bin.js')]);
    expect(project.git('config', 'core.hooksPath')).toBe('.husky/_');
    project.write('.husky/commit-msg', 'echo "own commit-msg $#" >>"$OWN_LOG"');
    project.write('.husky/pre-commit', 'echo "own pre-commit" >>"$OWN_LOG"\n');
    const before = hookFiles(project);
    const refusal = forge(project, 'hooks', 'install');
    expect(refusal.stderr).toContain('→ forge hooks install --into husky');
    expect(hookFiles(project)).toEqual(before);
    expect(forge(project, 'hooks', 'install', '--into', 'husky')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('commit them, too'),
    });
    const log = join(makeFolder(), 'log');
    expect(commit(project, { OWN_LOG: log })).toMatchObject({ exitCode: 0 });
    expect(readFileSync(log, 'utf8')).toBe('own pre-commit\nown commit-msg 1\n');
    expect(project.read('.forge/git/commits.log')).toContain('Brief description');
    forge(project, 'hooks', 'uninstall');
    expect(hookFiles(project)).toEqual(before);
  });

  it('GIT-03 B-46 lefthook: its commands run, and forge’s as one of them', (context) => {
    const lefthook = peer('lefthook', '2.2.2');
    if (lefthook === null) return context.skip();
    const project = makeCommitted();
    project.write(
      'lefthook.yml',
      'commit-msg:\n  commands:\n    own:\n      run: echo "own commit-msg" >>"$OWN_LOG"\nprepare-commit-msg:\n  commands:\n    own:\n      run: "true"\n',
    );
    const program = join(lefthook, 'bin', 'index.js');
    const env = { LEFTHOOK_BIN: join(dirname(lefthook), '.bin', 'lefthook') };
    expect(run(project.dir, process.execPath, [program, 'install'], { env }).exitCode).toBe(0);
    project.write('.git/info/exclude', 'own-file');
    const before = hookFiles(project);
    expect(forge(project, 'hooks', 'install').stderr).toContain('→ forge hooks install --into lefthook');
    expect(forge(project, 'hooks', 'install', '--prepare', '--into', 'lefthook').exitCode).toBe(0);
    // Of this checkout alone: git passes over it, so it stands in nobody's way.
    expect(changedPaths(project)).toEqual(['?? lefthook.yml']);
    project.git('add', '-A');
    project.git('commit', '-q', '--no-verify', '-m', 'lefthook');
    expect(forge(project, 'checkpoint', 'create', 'A', '--verify', 'true').stderr).not.toContain(
      'not as HEAD',
    );
    expect(forge(project, 'hooks', 'install', '--prepare', '--into', 'lefthook').exitCode).toBe(0);
    expect(project.read('.git/info/exclude').match(/lefthook-local/g)).toHaveLength(1);
    const log = join(makeFolder(), 'log');
    expect(commit(project, { ...env, OWN_LOG: log })).toMatchObject({ exitCode: 0 });
    expect(readFileSync(log, 'utf8')).toBe('own commit-msg\n');
    expect(project.read('.forge/git/commits.log')).toContain('Brief description');
    const edited = {
      ...env,
      OWN_LOG: log,
      GIT_EDITOR: 'sed -i "1s/.*/[FORGE] Filled in/; s/^ ## Wh.*/&\\n- it/"',
    };
    const made = run(project.dir, 'git', ['commit', '--allow-empty'], { env: edited });
    expect([made.exitCode, project.git('log', '-1', '--format=%B')]).toEqual([
      0,
      expect.stringMatching(
        /^\[FORGE\] Filled in\n\n ## What\n- it\n(?:.*\n)+ ## Backtrace\n- Parent: [0-9a-f]{7} /,
      ),
    ]);
    forge(project, 'hooks', 'uninstall');
    expect(existsSync(join(project.dir, 'lefthook-local.yml'))).toBe(false);
    expect(hookFiles(project)).toMatchObject(before);
  });
});
