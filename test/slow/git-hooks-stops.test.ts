import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { change, makeFlow, message } from '../support/flows.js';
import { runBinary } from '../support/forge.js';
import { makeFolder, run } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';

describe('every way to a commit, with the hooks installed', () => {
  it('GIT-01 B-50 --no-verify bypasses the hook, and the push finds the commit', () => {
    const flow = makeFlow({ 'core.commentChar': ';' });
    change(flow);
    expect(flow.git('commit', '-q', '-m', 'no protocol')).toMatchObject({ exitCode: 1 });
    expect(readFileSync(flow.project.path('.git/COMMIT_EDITMSG'), 'utf8')).toBe('no protocol\n');
    expect(flow.git('commit', '-q', '--no-verify', '-m', 'no protocol')).toMatchObject({ exitCode: 0 });
    const remote = makeFolder();
    run(remote, 'git', ['init', '-q', '--bare']);
    flow.project.git('remote', 'add', 'origin', remote);
    const refused = flow.git('push', '-q', 'origin', 'HEAD');
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain('no protocol');
    expect(run(remote, 'git', ['for-each-ref']).stdout).toBe('');
  });

  it('GIT-01 B-51 a secret in a message: exit 5 without the value; NUL, 5 MB, no UTF-8', () => {
    const { project } = makeFlow({ 'core.commentChar': ';' });
    const check = (text: string | Buffer) => {
      writeFileSync(project.path('.git/COMMIT_EDITMSG'), text);
      return runBinary(project.dir, ['hook', 'commit-msg', '.git/COMMIT_EDITMSG']);
    };
    const key = SAMPLES.secret();
    const secret = check(message(`Use ${key}`));
    expect(secret.exitCode).toBe(5);
    expect(secret.stderr).toContain('contains a secret');
    expect(secret.stderr).not.toContain(key);
    expect(check(message('a\0b'))).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('NUL') });
    expect(check(Buffer.concat([Buffer.from(message('a')), Buffer.from([0xff, 0xfe])]))).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('not valid UTF-8'),
    });
    expect(check(`${message('Long')}${'long line of text\n'.repeat(300_000)}`).exitCode).toBeLessThan(2);
    expect(check('')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(check('; only remarks\n')).toMatchObject({ exitCode: 0 });
  });

  it('GIT-03 B-49 a hook that times out or is killed lets the commit through and reports it', () => {
    const flow = makeFlow({ 'core.commentChar': ';' });
    const { project } = flow;
    // A git that never answers stands in front of the real one, for what the hook asks alone.
    const folder = makeFolder();
    writeFileSync(join(folder, 'git'), `#!/bin/sh\necho $$ >>'${folder}/pids'\nexec sleep 1000\n`, {
      mode: 0o755,
    });
    onTestFinished(() => {
      for (const pid of readFileSync(join(folder, 'pids'), 'utf8').trim().split('\n'))
        process.kill(Number(pid));
    });
    project.write('.git/COMMIT_EDITMSG', 'no protocol\n');
    const slow = runBinary(project.dir, ['hook', 'commit-msg', '.git/COMMIT_EDITMSG'], {
      env: { PATH: `${folder}:${process.env.PATH}` },
    });
    expect(slow).toMatchObject({
      exitCode: 0,
      stderr: 'forge: commit-msg took longer than 10 s; nothing was checked\n',
    });

    const script = project.path('.git/forge/hook');
    const killed = readFileSync(script, 'utf8').replace(
      /^forge_program=.*$/m,
      `forge_program='${folder}/killed.js'`,
    );
    writeFileSync(join(folder, 'killed.js'), "process.kill(process.pid, 'SIGKILL');\n");
    writeFileSync(script, killed);
    const commit = flow.git('commit', '-q', '--allow-empty', '-m', 'no protocol');
    expect(commit.exitCode).toBe(0);
    expect(commit.stderr).toMatch(/forge: its commit-msg hook failed \(exit 137\), so nothing was checked/);
    expect(existsSync(project.path('.git/index.lock'))).toBe(false);
    expect(existsSync(project.path('.forge/local/lock'))).toBe(false);
  });

  it('GIT-03 B-48 in a submodule and under the environment of an outer git', () => {
    const { project } = makeFlow({ 'core.commentChar': ';' });
    const inner = join(project.dir, 'inner');
    mkdirSync(inner);
    run(inner, 'git', ['init', '-q']);
    const made = run(inner, 'git', ['commit', '-q', '--allow-empty', '-m', 'its own rules']);
    expect(made.exitCode).toBe(0);
    project.write('.git/COMMIT_EDITMSG', message('Fine'));
    const before = project.git('status', '--porcelain');
    const leaked = {
      GIT_DIR: join(inner, '.git'),
      GIT_INDEX_FILE: join(inner, '.git/index'),
      GIT_WORK_TREE: inner,
    };
    const checked = runBinary(project.dir, ['hook', 'commit-msg', '.git/COMMIT_EDITMSG'], { env: leaked });
    expect(checked).toMatchObject({ exitCode: 0, stderr: '' });
    expect(project.git('status', '--porcelain')).toBe(before);
  });
});
