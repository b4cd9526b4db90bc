import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commit, forge, hookFiles, makeCommitted } from '../support/e2e-hooks.js';
import { peer } from '../support/peers.js';
import { makeFolder, type Project, run } from '../support/project.js';

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

describe('forge hooks beside others', () => {
  it('GIT-03 B-46 is refused beside own scripts, and adds itself to them on request', () => {
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
      'forge: Nothing was installed: forge would add a marked block to .git/hooks/commit-msg, .git/hooks/pre-push.\n  → forge hooks install --yes\n',
    );
    expect(hookFiles(project)).toEqual(before);
    expect(forge(project, 'hooks', 'install', '--yes').exitCode).toBe(0);
    const log = join(makeFolder(), 'log');
    expect(commit(project, { OWN_LOG: log })).toMatchObject({ exitCode: 0 });
    expect(readFileSync(log, 'utf8')).toBe('own commit-msg 1\n');
    const push = () => run(project.dir, 'git', ['push', '-q', 'origin', 'HEAD'], { env: { OWN_LOG: log } });
    project.git('commit', '-q', '--no-verify', '--allow-empty', '-m', 'no protocol');
    expect(push()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('nothing was pushed') });
    forge(project, 'config', 'set', 'commit.enforce', 'warn');
    expect(push()).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('pushed with problems') });
    expect(readFileSync(log, 'utf8')).toMatch(/own pre-push 2\n\S+ [0-9a-f]+ refs\/heads/);
    forge(project, 'hooks', 'uninstall');
    expect(hookFiles(project)).toMatchObject(before);
    expect(existsSync(join(project.dir, '.git/hooks/post-merge'))).toBe(false);
  });

  it('GIT-03 B-46 a folder of hooks in the repository', () => {
    const project = makeCommitted();
    writeOwn(project, '.githooks/commit-msg');
    project.git('config', 'core.hooksPath', '.githooks');
    const before = hookFiles(project);
    expect(forge(project, 'hooks', 'install').exitCode).toBe(3);
    expect(forge(project, 'hooks', 'install', '--yes').exitCode).toBe(0);
    const log = join(makeFolder(), 'log');
    commit(project, { OWN_LOG: log });
    expect(readFileSync(log, 'utf8')).toContain('own commit-msg 1\n');
    expect(project.read('.forge/git/commits.log')).toContain('Change it');
    forge(project, 'hooks', 'uninstall');
    expect(hookFiles(project)).toEqual(before);
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
    expect(refusal.stderr).toContain('→ forge hooks install --yes');
    expect(hookFiles(project)).toEqual(before);
    expect(forge(project, 'hooks', 'install', '--yes')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('Commit the files of the project'),
    });
    const log = join(makeFolder(), 'log');
    expect(commit(project, { OWN_LOG: log })).toMatchObject({ exitCode: 0 });
    expect(readFileSync(log, 'utf8')).toBe('own pre-commit\nown commit-msg 1\n');
    expect(project.read('.forge/git/commits.log')).toContain('Change it');
    forge(project, 'hooks', 'uninstall');
    expect(hookFiles(project)).toEqual(before);
  });

  it('GIT-03 B-46 lefthook: its commands run, and forge’s lines as one of them', (context) => {
    const lefthook = peer('lefthook', '2.2.2');
    if (lefthook === null) return context.skip();
    const project = makeCommitted();
    const own = 'echo "own commit-msg" >>"$OWN_LOG"';
    const hooks = ['commit-msg', 'post-commit', 'post-checkout', 'post-merge', 'pre-push'];
    const command = (hook: string): string => `${hook}:\n  commands:\n    own:\n      run: ${own}\n`;
    project.write('lefthook.yml', hooks.map(command).join(''));
    const program = join(lefthook, 'bin', 'index.js');
    const env = { LEFTHOOK_BIN: join(dirname(lefthook), '.bin', 'lefthook') };
    expect(run(project.dir, process.execPath, [program, 'install'], { env }).exitCode).toBe(0);
    const before = hookFiles(project);
    const { exitCode, stderr } = forge(project, 'hooks', 'install', '--yes');
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining('add this to lefthook-local.yml')]);
    expect(hookFiles(project)).toEqual(before);
    // The lines after the message and its hint are the content of the file.
    project.write('lefthook-local.yml', stderr.split('\n').slice(2).join('\n'));
    expect(forge(project, 'hooks', 'install').exitCode).toBe(0);
    const log = join(makeFolder(), 'log');
    expect(commit(project, { ...env, OWN_LOG: log })).toMatchObject({ exitCode: 0 });
    expect(readFileSync(log, 'utf8')).toContain('own commit-msg\n');
    expect(project.read('.forge/git/commits.log')).toContain('Change it');
    expect(commit(project, { ...env, OWN_LOG: log }, 'no protocol').exitCode).toBe(1);
    // Without the script, the lines pass.
    forge(project, 'hooks', 'uninstall');
    expect(commit(project, { ...env, OWN_LOG: log }, 'no protocol').exitCode).toBe(0);
  });
});
