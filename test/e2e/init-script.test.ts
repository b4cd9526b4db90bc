import { describe, expect, it } from 'vitest';
import { runBinary } from '../support/forge.js';
import { makeFolder, makePlainProject, type Project, projectAt, run } from '../support/project.js';

function initialised(project: Project, packageJson?: Record<string, unknown>): Project {
  if (packageJson) project.write('package.json', JSON.stringify(packageJson));
  expect(runBinary(project.dir, ['init', '--yes']).exitCode).toBe(0);
  return project;
}

const bootstrap = (project: Project, from = project.dir) =>
  run(from, 'sh', [project.path('.forge', 'init.sh')]);

describe('init.sh', () => {
  it('LAY-03 passes for a Node project whose test passes, twice and from anywhere, spaces in the path included', () => {
    const project = projectAt(`${makeFolder()}/a project`);
    project.write('package.json', '{}');
    initialised(project, { name: 'a', scripts: { test: 'node -e "console.log(process.cwd())"' } });
    for (const from of [project.dir, '/']) {
      const { exitCode, stdout, stderr } = bootstrap(project, from);
      expect(exitCode, stderr).toBe(0);
      expect(stdout).toContain(project.dir);
    }
    expect(run(project.dir, 'git', ['--version']).exitCode).toBe(0);
  });

  it('LAY-03 fails with one clear line when the smoke test fails', () => {
    const project = initialised(makePlainProject(), {
      name: 'a',
      scripts: { test: 'node -e "process.exit(3)"' },
    });
    const { exitCode, stderr } = bootstrap(project);
    expect(exitCode).not.toBe(0);
    expect(stderr).toMatch(/^init: failed: .*npm run test$/m);
  });

  it('LAY-03 installs what the lock file names before the smoke test', () => {
    const project = makePlainProject();
    project.write('dep/package.json', '{ "name": "dep", "version": "1.0.0", "main": "index.js" }');
    project.write('dep/index.js', 'module.exports = 42;');
    initialised(project, {
      name: 'a',
      dependencies: { dep: 'file:./dep' },
      scripts: { smoke: 'node -p "require(\'dep\')"' },
    });
    expect(
      run(project.dir, 'npm', ['install', '--package-lock-only', '--offline', '--silent']).exitCode,
    ).toBe(0);
    const { exitCode, stdout, stderr } = bootstrap(project);
    expect(exitCode, stderr).toBe(0);
    expect(stdout).toContain('42');
  });

  it('LAY-03 has nothing to do for a project without a stack, and is executable', () => {
    const project = initialised(makePlainProject());
    expect(run(project.dir, project.path('.forge', 'init.sh'), []).exitCode).toBe(0);
  });
});
