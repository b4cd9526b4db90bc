import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeFlow, message } from '../support/flows.js';
import { runBinary } from '../support/forge.js';
import { makeFolder, run } from '../support/project.js';

describe('every way to a commit, with the hooks installed', () => {
  it('GIT-01 leaves a message of nothing, or of remarks alone, to git', () => {
    const { project } = makeFlow({ 'core.commentChar': ';' });
    for (const text of ['', '; only remarks\n']) {
      project.write('.git/COMMIT_EDITMSG', text);
      const checked = runBinary(project.dir, ['hook', 'commit-msg', '.git/COMMIT_EDITMSG']);
      expect(checked).toMatchObject({ exitCode: 0, stderr: '' });
    }
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
