import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addRemote, commit, forge, hookFiles, makeCommitted } from '../support/e2e-hooks.js';
import { snapshot } from '../support/forge-project.js';
import { peer } from '../support/peers.js';
import { makeFolder, type Project, projectAt, run } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';
import { makeForgeRepository } from '../support/typed.js';

/** A hook of the person's own that says that it ran, and what it read. */
function writeOwn(project: Project, path: string, shebang = '#!/bin/sh\n'): void {
  const read = 'cat >>"$OWN_LOG" 2>/dev/null </dev/stdin || :';
  project.write(path, `${shebang}echo "own $(basename "$0") $#" >>"$OWN_LOG"\n${read}\nexit 0\n`);
  chmodSync(project.path(path), 0o755);
}

describe('forge hooks beside others', () => {
  it.each([
    ['.git/hooks', 'commit-msg pre-push'],
    ['.githooks', 'commit-msg post-checkout post-commit post-merge pre-push'],
  ])(
    'GIT-03 B-46 is refused beside own scripts in %s, and adds itself to them on request',
    (folder, names) => {
      const project = makeCommitted();
      if (folder === '.githooks') project.git('config', 'core.hooksPath', folder);
      writeOwn(project, `${folder}/commit-msg`);
      writeOwn(project, `${folder}/pre-push`, '#!/usr/bin/env bash\n');
      addRemote(project);
      const before = hookFiles(project);
      const paths = names.split(' ').map((name) => `${folder}/${name}`);
      const refusal = forge(project, 'hooks', 'install');
      expect(refusal.exitCode).toBe(3);
      expect(refusal.stderr).toBe(
        `forge: Nothing was installed: forge would add a marked block to ${paths.join(', ')}.\n  → forge hooks install --yes\n`,
      );
      expect(hookFiles(project)).toEqual(before);
      expect(forge(project, 'hooks', 'install', '--yes').exitCode).toBe(0);
      const log = join(makeFolder(), 'log');
      expect(commit(project, { OWN_LOG: log })).toMatchObject({ exitCode: 0 });
      expect(readFileSync(log, 'utf8')).toBe('own commit-msg 1\n');
      expect(project.read('.forge/git/commits.log')).toContain('Brief description');
      const push = () => run(project.dir, 'git', ['push', '-q', 'origin', 'HEAD'], { env: { OWN_LOG: log } });
      project.git('commit', '-q', '--no-verify', '--allow-empty', '-m', 'no protocol');
      expect(push()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('nothing was pushed') });
      forge(project, 'config', 'set', 'commit.enforce', 'warn');
      expect(push()).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('pushed with problems') });
      expect(readFileSync(log, 'utf8')).toMatch(/own pre-push 2\n\S+ [0-9a-f]+ refs\/heads/);
      forge(project, 'hooks', 'uninstall');
      expect(hookFiles(project)).toEqual(before);
    },
  );

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
    expect(project.read('.forge/git/commits.log')).toContain('Brief description');
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
    expect(project.read('.forge/git/commits.log')).toContain('Brief description');
    expect(commit(project, { ...env, OWN_LOG: log }, 'no protocol').exitCode).toBe(1);
    // Without the script, the lines pass.
    forge(project, 'hooks', 'uninstall');
    expect(commit(project, { ...env, OWN_LOG: log }, 'no protocol').exitCode).toBe(0);
  });
});

const hooks = (project: Project, ...args: string[]) => forge(project, 'hooks', ...args);

describe('forge hooks in any hooks folder', () => {
  it('GIT-03 B-46 restores a hook that is not UTF-8 byte for byte', () => {
    const project = makeForgeRepository();
    const own = Buffer.from('#!/bin/sh\n# gr\xfc\xdfe\nexit 0\n', 'latin1');
    const file = project.path('.git/hooks/commit-msg');
    writeFileSync(file, own, { mode: 0o755 });
    expect(hooks(project, 'install', '--yes').exitCode).toBe(0);
    expect(commit(project, {}, 'no protocol').exitCode).toBe(1);
    hooks(project, 'uninstall');
    expect(readFileSync(file).equals(own)).toBe(true);
  });

  it('GIT-03 B-46 does not write through a symlink that leaves the repository', () => {
    const project = makeForgeRepository();
    const shared = makeFolder();
    const file = join(shared, 'commit-msg');
    writeFileSync(file, '#!/bin/sh\nexit 0\n', { mode: 0o755 });
    symlinkSync(file, join(project.dir, '.git/hooks/commit-msg'));
    const before = snapshot(shared);
    const refusal = { exitCode: 3, stderr: expect.stringContaining('belongs to more than this repository') };
    expect(hooks(project, 'install', '--yes')).toMatchObject(refusal);
    rmSync(join(project.dir, '.git/hooks'), { recursive: true });
    symlinkSync(shared, join(project.dir, '.git/hooks'));
    expect(hooks(project, 'install', '--yes')).toMatchObject(refusal);
    expect(snapshot(shared)).toEqual(before);
  });

  it('GIT-03 B-46 finds husky below the top, and removes hooks installed before husky', () => {
    const project = makeForgeRepository();
    expect(hooks(project, 'install').exitCode).toBe(0);
    mkdirSync(join(project.dir, 'web/.husky/_'), { recursive: true });
    project.git('config', 'core.hooksPath', 'web/.husky/_');
    expect(hooks(project, 'status').stdout).toContain('not installed');
    expect(hooks(project, 'install', '--yes').exitCode).toBe(0);
    expect(project.read('web/.husky/commit-msg')).toContain('forge/hook');
    hooks(project, 'uninstall');
    expect(Object.keys(snapshot(join(project.dir, 'web'))).filter((path) => /msg/.test(path))).toEqual([]);
    expect(
      Object.keys(snapshot(join(project.dir, '.git/hooks'))).filter((path) => !/sample/.test(path)),
    ).toEqual([]);
  });

  it('GIT-03 doctor reports that husky took over, and its command fixes the hooks', () => {
    const project = makeForgeRepository();
    mkdirSync(join(project.dir, '.husky/_'), { recursive: true });
    hooks(project, 'install');
    project.git('config', 'core.hooksPath', '.husky/_');
    expect(hooks(project, 'status').stdout).toMatch(/not installed.*\n\nforge hooks install\n$/s);
    const { stdout } = forge(project, 'doctor');
    expect(stdout).toContain("git's hooks are not installed");
    expect(hooks(project, 'install', '--yes').exitCode).toBe(0);
    const [, typed = ''] = /type\s+(git add \.forge && forge commit .*)/.exec(stdout) ?? [];
    expect(run(project.dir, 'sh', ['-c', typed])).toMatchObject({ exitCode: 0 });
  });

  it('GIT-03 B-47 status names a missing script', () => {
    const project = makeForgeRepository();
    hooks(project, 'install');
    expect(JSON.parse(hooks(project, 'status', '--json').stdout).gone).toEqual([]);
    const path = '.git/forge/hook';
    const text = project.read(path);
    rmSync(join(project.dir, path));
    expect(JSON.parse(hooks(project, 'status', '--json').stdout).gone).toEqual([join(project.dir, path)]);
    hooks(project, 'install');
    expect(project.read(path)).toBe(text);
  });

  it('GIT-01 GIT-03 a refused text is found from a subfolder too', () => {
    const project = makeForgeRepository();
    hooks(project, 'install');
    mkdirSync(join(project.dir, 'sub'));
    const { stderr } = commit(projectAt(project.path('sub')), {}, 'no protocol');
    const file = /git commit -v -e -F (\S+)/.exec(stderr)?.[1] as string;
    expect(readFileSync(resolve(project.dir, 'sub', file), 'utf8')).toBe('no protocol\n');
    project.write('sub/key', SAMPLES.secret());
    project.git('add', 'sub');
    expect(commit(projectAt(project.path('sub'))).stderr).toContain(
      `forge guard scan ${project.path('sub/key')}\n`,
    );
  });
});
