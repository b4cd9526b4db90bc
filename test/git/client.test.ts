import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { gitIn } from '../../src/git/client.js';
import { makeFolder, makeRepository } from '../support/project.js';

/** A folder for PATH with a program that takes the place of git. */
function fakeGit(script: string): NodeJS.ProcessEnv {
  const folder = makeFolder();
  writeFileSync(join(folder, 'git'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { PATH: `${folder}:${process.env.PATH}` };
}

describe.each([
  ['simple-git', true],
  ['a child process', false],
])('git through %s', (_name, porcelain) => {
  it('returns output, messages and the exit code', async () => {
    const { dir } = makeRepository();
    const git = gitIn(dir, process.env);
    const options = { porcelain };
    expect(await git(['hash-object', '--stdin'], { ...options, input: 'x' })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^[0-9a-f]{40}\n$/),
    });
    expect(await git(['rev-parse', '--verify', 'nothing'], options)).toEqual({
      code: 128,
      stdout: '',
      stderr: 'fatal: Needed a single revision\n',
    });
    expect(await git(['rev-parse', '-q', '--verify', 'no'], options)).toEqual({
      code: 1,
      stdout: '',
      stderr: '',
    });
  });

  it('accepts variables and settings that start programs, and passes none of them on', async () => {
    const { dir } = makeRepository();
    const names = ['EDITOR', 'VISUAL', 'PAGER', 'GIT_EDITOR', 'GIT_PAGER', 'GIT_DIR', 'GIT_SSH_COMMAND'];
    const env = { ...process.env, SSH_ASKPASS: 'x', ...Object.fromEntries(names.map((name) => [name, 'x'])) };
    const extra = {
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'filter.a=b.clean',
      GIT_CONFIG_VALUE_0: '',
    };
    const { stdout } = await gitIn(dir, env)(['var', '-l'], { porcelain, env: extra });
    expect(stdout).toMatch(/^core\.hookspath=\/dev\/null$/m);
    expect(stdout).toMatch(/^filter\.a=b\.clean=$/m);
    expect(stdout).toMatch(/^GIT_EDITOR=:$/m);
    expect(stdout).not.toMatch(/=x$/m);
  });

  it('fails with exit 6 when git is missing', async () => {
    const { dir } = makeRepository();
    const missing = gitIn(dir, { PATH: makeFolder() })(['version'], { porcelain });
    await expect(missing).rejects.toMatchObject({ code: 'git.missing', exit: 6 });
  });

  it('fails with exit 6 if git times out, even if a child process holds the pipe', async () => {
    const { dir } = makeRepository();
    const begin = Date.now();
    const slow = gitIn(dir, fakeGit('sleep 20 & exec sleep 20'))(['version'], { porcelain, timeout: 100 });
    await expect(slow).rejects.toMatchObject({ code: 'git.timeout', exit: 6 });
    expect(Date.now() - begin).toBeLessThan(15_000);
  });
});
