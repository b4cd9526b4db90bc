import { spawn } from 'node:child_process';

import { describe, expect, it } from 'vitest';
import { atTerminal } from '../support/e2e-terminal.js';
import { BIN } from '../support/forge.js';
import { follow, run } from '../support/project.js';
import { makeForgeRepository, typed } from '../support/typed.js';

const FILE = '.forge/memory/long-term/architecture.md';

/** A project whose editor is this script, named as a person names theirs. */
function withEditor(script: string, variable = 'VISUAL') {
  const project = makeForgeRepository();
  project.write(FILE, '## Invariants\n\n- one\n');
  project.write('.git/ed.sh', script);
  const unset = { GIT_EDITOR: undefined, VISUAL: undefined, EDITOR: undefined };
  const env = { ...unset, [variable]: `sh ${project.path('.git/ed.sh')}` };
  return { project, place: { dir: project.dir, env } };
}

describe.skipIf(process.platform !== 'linux')('forge architecture edit at a terminal', () => {
  it('KNO-03 opens the editor that git would: VISUAL, EDITOR, or core.editor before them', async () => {
    for (const variable of ['VISUAL', 'EDITOR']) {
      const { project, place } = withEditor('test -t 0 && test -t 1 && echo "- two" >>"$1"\n', variable);
      const { shown, exitCode } = await atTerminal(place, ['architecture', 'edit']);
      expect([exitCode, shown]).toEqual([0, expect.stringContaining('2 invariants for every briefing')]);
      // What the person typed is approved by that.
      expect(typed(project, ['briefing'])).toMatch(
        /approved by a human\n {2}two\n[\s\S]*a person approves them .*\n {2}one\n/,
      );
    }
    const { project, place } = withEditor('exit 9\n');
    project.git('config', 'core.editor', "sed -i 's/one/three/'");
    expect((await atTerminal(place, ['architecture', 'edit'])).exitCode).toBe(0);
    expect(project.read(FILE)).toBe('## Invariants\n\n- three\n');
  });

  it('KNO-03 is killed with nothing lost: the text is in the file', async () => {
    const { project, place } = withEditor('echo "- two" >>"$1"\nkill -9 $(cat .git/forge.pid)\nsleep 0.2\n');
    const child = spawn(
      'script',
      ['-qec', `echo $$ >.git/forge.pid; exec "${process.execPath}" "${BIN}" architecture edit`, '/dev/null'],
      {
        cwd: project.dir,
        env: { ...process.env, ...place.env, SHELL: '/bin/sh', TERM: 'xterm' },
        stdio: 'pipe',
      },
    );
    expect(await new Promise((done) => child.on('close', done))).toBe(137);
    expect(project.read(FILE)).toBe('## Invariants\n\n- one\n- two\n');
    project.write('.git/ed.sh', 'true\n');
    expect((await atTerminal(place, ['architecture', 'edit'])).exitCode).toBe(0);
    expect(project.read(FILE)).toBe('## Invariants\n\n- one\n- two\n');
  });

  it('KNO-03 two concurrent editors work in the same file', async () => {
    const { project, place } = withEditor('echo "- by $$" >>"$1"; sleep 0.3\n');
    const both = await Promise.all([1, 2].map(() => atTerminal(place, ['architecture', 'edit'])));
    expect(both.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect(project.read(FILE)).toMatch(/^## Invariants\n\n- one\n- by \d+\n- by \d+\n$/);
  });
});

describe('forge architecture show', () => {
  it('KNO-03 exits quietly if its output is closed, also in a worktree', async () => {
    const { project } = withEditor('');
    project.write(FILE, `${'Words.\n'.repeat(200_000)}## Invariants\n- one\n`);
    project.git('add', '.');
    project.git('commit', '-qm', 'all');
    project.git('worktree', 'add', '-q', project.path('.git', 'wt'), 'HEAD');
    const other = project.path('.git', 'wt');
    expect(run(other, process.execPath, [BIN, 'briefing']).stdout).toContain('  one\n');
    run(project.dir, 'git', ['worktree', 'remove', '--force', other]);
    const child = spawn(process.execPath, [BIN, 'architecture', 'show'], { cwd: project.dir });
    child.stdout.destroy();
    expect(await follow(child).ended).toMatchObject({ exitCode: 0, stderr: '' });
  });
});
