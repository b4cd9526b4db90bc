import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BIN, runBinary } from '../support/forge.js';
import { snapshot } from '../support/forge-project.js';
import { makeFolder, type Project, run } from '../support/project.js';
import { makeForgeRepository } from '../support/typed.js';

const hooks = ({ dir }: Project, ...args: string[]) => runBinary(dir, ['hooks', ...args]);
const tryBad = ({ dir }: Project, folder = '.') =>
  run(join(dir, folder), 'git', ['commit', '-q', '--allow-empty', '-m', 'no protocol']);

function writeHook({ dir }: Project, path: string, text: string | Buffer): string {
  const file = join(dir, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, 0o755);
  return file;
}

describe('forge hooks in any hooks folder', () => {
  it('GIT-03 B-46 restores a hook that is not UTF-8 byte for byte', () => {
    const project = makeForgeRepository();
    const own = Buffer.from('#!/bin/sh\n# gr\xfc\xdfe\nexit 0\n', 'latin1');
    const file = writeHook(project, '.git/hooks/commit-msg', own);
    expect(hooks(project, 'install', '--yes').exitCode).toBe(0);
    expect(tryBad(project).exitCode).toBe(1);
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
    hooks(project, 'install');
    mkdirSync(join(project.dir, '.husky/_'), { recursive: true });
    project.git('config', 'core.hooksPath', '.husky/_');
    expect(hooks(project, 'status').stdout).toMatch(/not installed.*\n\nforge hooks install\n$/s);
    const { stdout } = runBinary(project.dir, ['doctor']);
    expect(stdout).toContain("git's hooks are not installed");
    expect(hooks(project, 'install', '--yes').exitCode).toBe(0);
    const [, typed = ''] = /type\s+(git add \.forge && forge commit .*)/.exec(stdout) ?? [];
    const words = typed.replace('forge commit', `"${process.execPath}" "${BIN}" commit`);
    expect(run(project.dir, 'sh', ['-c', words])).toMatchObject({ exitCode: 0 });
  });

  it('GIT-03 B-47 status names a missing Node, forge or script', () => {
    const project = makeForgeRepository();
    hooks(project, 'install');
    expect(JSON.parse(hooks(project, 'status', '--json').stdout).gone).toEqual([]);
    const path = '.git/forge/hook';
    const text = project.read(path);
    project.write(path, text.replace(/^forge_node=.*/m, "forge_node='/gone/node'"));
    expect(hooks(project, 'status').stdout).toContain('/gone/node is missing here');
    rmSync(join(project.dir, path));
    expect(JSON.parse(hooks(project, 'status', '--json').stdout).gone).toEqual([join(project.dir, path)]);
    hooks(project, 'install');
    expect(project.read(path)).toBe(text);
  });

  it('GIT-01 GIT-03 a refused text is found from a subfolder too', () => {
    const project = makeForgeRepository();
    hooks(project, 'install');
    mkdirSync(join(project.dir, 'sub'));
    const { stderr } = tryBad(project, 'sub');
    const file = /git commit -v -e -F (\S+)/.exec(stderr)?.[1] as string;
    expect(readFileSync(resolve(project.dir, 'sub', file), 'utf8')).toBe('no protocol\n');
  });
});
