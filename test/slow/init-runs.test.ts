import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runBinary } from '../support/forge.js';
import { makeFolder, makePlainProject, type Project, projectAt, run } from '../support/project.js';
import { hasTool } from '../support/tools.js';

const SCRIPT = '.forge/init.sh';

/** A project whose proof is this shell line. */
function proving(smoke: string, project = makePlainProject()): Project {
  project.write('package.json', JSON.stringify({ name: 'a', scripts: { smoke } }));
  expect(runBinary(project.dir, ['init', '--yes']).exitCode).toBe(0);
  return project;
}

const bootstrap = (project: Project, args: string[] = []) => run(project.dir, 'sh', [SCRIPT, ...args]);

describe('init.sh, who starts it', () => {
  it('LAY-03 does not mistake another folder for its project', () => {
    const above = projectAt(makeFolder());
    const project = proving('pwd >>ran', projectAt(`${above.dir}/it's mine`));
    for (const line of [`. ${SCRIPT}`, `sh <${SCRIPT}`, `cp ${SCRIPT} x && sh x`])
      expect(run(project.dir, 'sh', ['-c', line])).toMatchObject({
        exitCode: 1,
        stdout: '',
        stderr: 'init: failed: this is not a folder with a .forge/init.sh; run it as: sh .forge/init.sh\n',
      });
    expect(existsSync(above.path('.forge'))).toBe(false);
  });

  it('LAY-03 B-06 shows text from package.json without moving the cursor', () => {
    const project = projectAt(makeFolder());
    project.write('a\u001b[2J.js', '1;\n');
    project.write('package.json', JSON.stringify({ main: 'a\u001b[2J.js' }));
    expect(runBinary(project.dir, ['init', '--yes']).exitCode).toBe(0);
    expect(bootstrap(project)).toMatchObject({
      exitCode: 0,
      stdout: 'init: node: no dependencies\ninit: node: node --check ./a?[2J.js\ninit: ready\n',
    });
  });
});

describe('init.sh, started by itself', () => {
  it('LAY-03 one that its own step starts again fails instead of waiting for ever', () => {
    const project = proving(`sh ${SCRIPT}`);
    expect(bootstrap(project)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('init: failed: a step of this script started it again\n'),
    });
  });
});

describe('init.sh for python', () => {
  it.skipIf(!hasTool('python3', ['-c', 'import ensurepip, venv, tomllib']))(
    'LAY-03 takes from pyproject.toml no options for pip',
    () => {
      const project = makePlainProject();
      project.write('pyproject.toml', '[project]\ndependencies = ["--index-url=http://x"]');
      expect(runBinary(project.dir, ['init', '--yes']).exitCode).toBe(0);
      const { exitCode, stdout, stderr } = bootstrap(project);
      const problem = "init: failed: python: pyproject.toml: this is no package: '--index-url=http://x'\n";
      expect([exitCode, stderr]).toEqual([1, problem]);
      expect(stdout).not.toContain('pip');
    },
  );

  it.skipIf(!hasTool('python3', ['-c', 'import ensurepip, venv']))(
    'LAY-03 mends a virtual environment that was left without pip',
    () => {
      const project = makePlainProject();
      project.write('requirements.txt', '');
      expect(runBinary(project.dir, ['init', '--yes']).exitCode).toBe(0);
      expect(run(project.dir, 'python3', ['-m', 'venv', '--without-pip', '.venv']).exitCode).toBe(0);
      expect(bootstrap(project)).toMatchObject({ exitCode: 0, stderr: '' });
    },
  );
});
