import { rmSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { makeFolder, type Project, projectAt, run } from '../support/project.js';
import { BACKEND, hasVenv, KINDS, type Kind, node } from '../support/stacks.js';
import { toolEnv } from '../support/tools.js';
import { typed } from '../support/typed.js';

function put(project: Project, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) project.write(path, text);
}

/** A repository with this project, locked, committed, and with forge in it. */
function made(kind: Kind): Project {
  const project = projectAt(`${makeFolder()}/a project`);
  put(project, kind.files);
  const [program, ...args] = kind.lock ?? [];
  if (program !== undefined) {
    const env = { ...toolEnv(), ...kind.env };
    const { exitCode, stdout, stderr } = run(project.dir, program, args, { env });
    expect(exitCode, stdout + stderr).toBe(0);
    rmSync(project.path('node_modules'), { recursive: true, force: true });
  }
  project.git('init', '-q');
  typed(project, ['init', '--yes']);
  project.git('add', '.');
  project.git('commit', '-q', '-m', 'Begin');
  return project;
}

function bootstrap(project: Project, env: NodeJS.ProcessEnv = {}) {
  return run('/', 'sh', [project.path('.forge/init.sh')], { env: { ...toolEnv(), CI: 'true', ...env } });
}

const linesOf = (name: string, steps: Kind['steps']): unknown[] =>
  steps.map((step) =>
    typeof step === 'string'
      ? `init: ${name}: ${step}`
      : expect.stringMatching(new RegExp(`^init: ${name}: ${step.source}$`)),
  );

describe('init.sh in real projects', () => {
  for (const [title, [can, kind]] of Object.entries(KINDS))
    it.skipIf(!can)(`LAY-03 installs, proves, and knows when nothing changed: ${title}`, () => {
      const project = made(kind);
      const first = bootstrap(project, kind.env);
      expect(first.stderr).toBe('');
      expect(first.stdout.trimEnd().split('\n')).toEqual([...linesOf(kind.stack, kind.steps), 'init: ready']);
      // What was installed and built is nobody's to commit; a lock file that was not there may be.
      expect(project.git('status', '--porcelain').replace('?? Cargo.lock', '')).toBe('');
      const nothing = `init: ${kind.stack}: nothing changed\ninit: ready\n`;
      expect(bootstrap(project, kind.env)).toMatchObject({ exitCode: 0, stdout: nothing, stderr: '' });

      put(project, kind.broken);
      const { exitCode, stdout, stderr } = bootstrap(project, kind.env);
      expect([exitCode, stderr.split('\n')[0]]).toEqual([
        1,
        expect.stringMatching(`^init: failed: ${kind.stack}: `),
      ]);
      // Only the proof again: what it depends on did not change.
      expect(stdout.trimEnd().split('\n')).toEqual(linesOf(kind.stack, kind.steps.slice(-1)));
      for (const path of Object.keys(kind.broken)) project.write(path, kind.files[path] as string);
      expect(bootstrap(project, kind.env)).toMatchObject({ exitCode: 0, stderr: '' });
    });

  it.skipIf(!hasVenv)('LAY-03 collects the tests if pytest is installed; no tests is no failure', () => {
    const project = projectAt(`${makeFolder()}/a project`);
    // No pytest can be fetched here: one that ends as it is told.
    const stand = 'import sys\nif __name__ == "__main__":\n    sys.exit(int(open("exit").read()))\n';
    project.write(
      'wheel.py',
      `${BACKEND.replaceAll('app', 'pytest')}\nwheel(".", {"pytest.py": ${JSON.stringify(stand)}})\n`,
    );
    expect(run(project.dir, 'python3', ['wheel.py'], { env: toolEnv() })).toMatchObject({ exitCode: 0 });
    project.write('requirements.txt', './pytest-1.0-py3-none-any.whl\n');
    typed(project, ['init', '--yes']);
    const answers = (exit: string): number | null => {
      project.write('exit', exit);
      return bootstrap(project).exitCode;
    };
    expect([answers('0'), answers('5'), answers('2')]).toEqual([0, 0, 1]);
    expect(bootstrap(project).stderr).toMatch(/^init: failed: python: pytest --collect-only \(exit 2/);
    // A virtual environment whose Python is gone is made again.
    rmSync(project.path('.venv/bin/python'));
    symlinkSync('/nowhere/python', project.path('.venv/bin/python'));
    project.write('exit', '0');
    expect(bootstrap(project)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('venv --clear'),
    });
  });

  it('LAY-03 killed in the middle of installing, it installs again', () => {
    const project = made(node([], ['npm', 'install', '--package-lock-only', '--offline']));
    project.write('.npmrc', 'foreground-scripts=true\n');
    const json = project.json<{ scripts: object }>('package.json');
    const scripts = { ...json.scripts, preinstall: 'test ! -e stop || kill -9 $PPID' };
    project.write('package.json', JSON.stringify({ ...json, scripts }));
    project.write('stop', '');
    expect(bootstrap(project).exitCode).not.toBe(0);
    rmSync(project.path('stop'));
    expect(bootstrap(project)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('npm ci') });
  });
});
