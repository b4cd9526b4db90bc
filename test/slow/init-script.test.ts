import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { composeScript } from '../../src/init/init.js';
import { partsFor, STACKS, TOOLCHAINS } from '../../src/init/rules.js';
import { runBinary } from '../support/forge.js';
import { makeFolder, makePlainProject, type Project, projectAt, run } from '../support/project.js';
import { hasTool, whichTool } from '../support/tools.js';

function initialised(project: Project, packageJson?: Record<string, unknown>): Project {
  if (packageJson) project.write('package.json', JSON.stringify(packageJson));
  expect(runBinary(project.dir, ['init', '--yes']).exitCode).toBe(0);
  return project;
}

const bootstrap = (project: Project, args: string[] = [], from = project.dir) =>
  run(from, 'sh', [project.path('.forge', 'init.sh'), ...args]);

/** PATH with what every system has, git and `more`. */
function barePath(...more: string[]): string {
  const folder = makeFolder();
  const names = 'sh dirname tr mkdir rmdir rm cksum find sort sed tail grep date cat git'.split(' ');
  for (const name of [...names, ...more]) symlinkSync(whichTool(name) as string, join(folder, name));
  return folder;
}

describe('init.sh', () => {
  it.each(['a project', `it's "quoted" $(touch x) \`y\`\nÜberschrift 日本`])(
    'LAY-03 runs twice and from anywhere, in the path %j',
    (name) => {
      const project = projectAt(`${makeFolder()}/${name}`);
      const test = "node -e \"require('fs').appendFileSync('ran', process.cwd() + String.fromCharCode(10))\"";
      project.write('package.json', '{}');
      initialised(project, { name: 'a', scripts: { test } });
      for (const from of [project.dir, '/']) {
        const { exitCode, stdout, stderr } = bootstrap(project, [], from);
        expect(exitCode, stderr).toBe(0);
        expect(stdout.trimEnd().split('\n').at(-1)).toBe('init: ready');
      }
      // Without git nobody can tell that nothing changed, so it is proved each time.
      expect(project.read('ran')).toBe(`${project.dir}\n${project.dir}\n`);
    },
  );

  it('LAY-03 does nothing when nothing changed, and all of it with --fresh or after a change', () => {
    const project = makePlainProject();
    project.git('init', '-q');
    project.write('.gitignore', 'ran\n');
    const test = "node -e \"require('fs').appendFileSync('ran', 'x')\"";
    initialised(project, { name: 'a', scripts: { test } });
    project.git('add', '.');
    project.git('commit', '-q', '-m', 'Begin');
    const ran = (args: string[] = []): number => {
      expect(bootstrap(project, args)).toMatchObject({ exitCode: 0, stderr: '' });
      return project.read('ran').length;
    };
    expect([ran(), ran(), ran()]).toEqual([1, 1, 1]);
    expect(bootstrap(project).stdout).toBe('init: node: nothing changed\ninit: ready\n');
    expect(ran(['--fresh'])).toBe(2);
    project.write('odd "name"\n.js', '1');
    expect([ran(), ran()]).toEqual([3, 3]);
    // The same size, and the same second.
    project.write('odd "name"\n.js', '2');
    expect([ran(), ran()]).toEqual([4, 4]);
    project.write('.forge/memory/short-term/progress.txt', 'forge at work\n');
    expect(ran()).toBe(4);
    // A repository within: git does not say what is in it.
    project.git('init', '-q', 'inner');
    expect([ran(), ran()]).toEqual([5, 6]);
    expect(bootstrap(project, ['--all'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--fresh'),
    });
  });

  it('LAY-03 fails with one clear line, and the end of the output, until it is fixed', () => {
    const project = initialised(makePlainProject(), {
      name: 'a',
      scripts: { test: `node -e "for (let i = 1; i < 99; i++) console.log('line ' + i); process.exit(3)"` },
    });
    for (let i = 0; i < 2; i++) {
      const { exitCode, stdout, stderr } = bootstrap(project);
      expect(exitCode).toBe(1);
      expect(stdout).not.toContain('ready');
      const [first, ...rest] = stderr.trimEnd().split('\n');
      expect(first).toMatch(/^init: failed: node: npm run test \(exit 3; .*\.forge\/local\/init\/log\)$/);
      expect(rest).toHaveLength(20);
      const shown = rest.join('\n');
      expect(shown).toMatch(/^ {2}\| line 79\n(?: {2}\| line \d\d\n)+ {2}\| line 98$/);
    }
    expect(project.read('.forge/local/init/log')).toContain('line 1\n');
    project.write('package.json', '{ "scripts": { "test": "node -e 0" } }');
    expect(bootstrap(project).exitCode).toBe(0);
  });

  it('LAY-03 a package.json that is broken, empty or huge is one line, not a stack', () => {
    const project = initialised(makePlainProject(), { name: 'a' });
    const stderr = (text: string): string => {
      project.write('package.json', text);
      const outcome = bootstrap(project);
      expect(outcome.exitCode).toBe(1);
      return outcome.stderr;
    };
    for (const text of ['{"name": ', '', 'null', '\u0000'])
      expect(stderr(text)).toMatch(/^init: failed: node: package\.json: .+\n$/);
    project.write('package.json', `\uFEFF{ "name": "a",\r\n "x": "${'x'.repeat(5_000_000)}" }\r\n`);
    expect(bootstrap(project)).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('LAY-03 names a missing tool, and how to get it', () => {
    const project = makePlainProject();
    const wanted: [file: string, line: RegExp][] = [
      ['package.json', /node is not on PATH; .*nodejs\.org/],
      ['requirements.txt', /python is not on PATH; .*python\.org/],
      ['Cargo.toml', /cargo is not on PATH; .*rustup/],
      ['go.mod', /go is not on PATH; .*go\.dev/],
      ['uv.lock', /uv is not on PATH; uv\.lock needs it/],
      ['poetry.lock', /poetry is not on PATH; poetry\.lock needs it/],
    ];
    const path = barePath();
    for (const [file, line] of wanted) {
      project.write(file, '');
      rmSync(project.path('.forge'), { recursive: true, force: true });
      runBinary(project.dir, ['init', '--yes']);
      const { exitCode, stderr } = run(project.dir, 'sh', ['.forge/init.sh'], { env: { PATH: path } });
      expect(exitCode).toBe(1);
      expect(stderr.split('\n')).toEqual([expect.stringMatching(line), '']);
      rmSync(project.path(file));
    }
    const withNode = barePath('node');
    for (const manager of ['pnpm', 'yarn', 'bun']) {
      project.write('package.json', `{ "packageManager": "${manager}@1.0.0", "dependencies": { "a": "1" } }`);
      rmSync(project.path('.forge'), { recursive: true, force: true });
      runBinary(project.dir, ['init', '--yes']);
      const { stderr } = run(project.dir, 'sh', ['.forge/init.sh'], { env: { PATH: withNode } });
      expect(stderr).toMatch(new RegExp(`^init: failed: node: ${manager} is not on PATH; install it: .+\n$`));
    }
  });

  it('LAY-03 each part is set up in its folder, and the one that fails is named', () => {
    const project = makePlainProject();
    const touch = "node -e \"require('fs').writeFileSync('ran', '')\"";
    for (const folder of ["web app's", 'api'])
      project.write(`${folder}/package.json`, JSON.stringify({ scripts: { test: touch } }));
    expect(runBinary(project.dir, ['init', '--yes']).exitCode).toBe(0);
    // A quote in a name is nothing for a script that people read.
    expect(project.read('.forge/init.sh')).not.toContain("web app's");
    mkdirSync(project.path('web app'));
    project.write('web app/package.json', JSON.stringify({ scripts: { test: touch } }));
    rmSync(project.path('.forge/init.sh'));
    expect(runBinary(project.dir, ['init', '--yes']).exitCode).toBe(0);
    expect(bootstrap(project)).toMatchObject({ exitCode: 0, stderr: '' });
    expect([project.has('web app/ran'), project.has('api/ran'), project.has('ran')]).toEqual([
      true,
      true,
      false,
    ]);

    project.write('api/package.json', '{ "scripts": { "test": "exit 9" } }');
    const { exitCode, stderr } = bootstrap(project);
    expect([exitCode, stderr.split('\n')[0]]).toEqual([
      1,
      expect.stringContaining('failed: node in api: npm run test'),
    ]);
    rmSync(project.path('api'), { recursive: true });
    expect(bootstrap(project).stderr).toMatch(/^init: failed: node in api: the folder is gone; .*\n$/);
  });

  it('LAY-03 installs what the lock file names before the smoke test', () => {
    const project = makePlainProject();
    project.write('dep/package.json', '{ "name": "dep", "version": "1.0.0", "main": "index.js" }');
    project.write('dep/index.js', 'module.exports = 42;');
    initialised(project, {
      name: 'a',
      dependencies: { dep: 'file:./dep' },
      scripts: { smoke: 'node -e "process.exit(require(\'dep\') - 42)"', test: 'exit 1' },
    });
    expect(
      run(project.dir, 'npm', ['install', '--package-lock-only', '--offline', '--silent']).exitCode,
    ).toBe(0);
    const { exitCode, stdout, stderr } = bootstrap(project);
    expect(exitCode, stderr).toBe(0);
    expect(stdout).toMatch(/^init: node: npm ci .*\ninit: node: npm run smoke\ninit: ready\n$/);
    // What is gone is installed again.
    rmSync(project.path('node_modules'), { recursive: true });
    expect(bootstrap(project).stdout).toContain('npm ci');
  });

  it('LAY-03 has nothing to do for a project without a stack, and is executable', () => {
    const project = initialised(makePlainProject());
    const { exitCode, stdout } = run(project.dir, project.path('.forge', 'init.sh'), []);
    expect([exitCode, stdout]).toEqual([0, 'init: nothing to install\ninit: ready\n']);
  });

  it('LAY-03 reports if it cannot store its state, and follows no symlink out of the project', () => {
    const project = makePlainProject();
    project.git('init', '-q');
    initialised(project);
    rmSync(project.path('.forge/local'), { recursive: true, force: true });
    project.write('.forge/local', 'a file');
    const wanted = /^init: failed: .*local\/init is not a folder of its own, or cannot be written to\n$/;
    expect(bootstrap(project)).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(wanted) });
    rmSync(project.path('.forge/local'));
    const elsewhere = makeFolder();
    symlinkSync(elsewhere, project.path('.forge/local'));
    expect(bootstrap(project)).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(wanted) });
    expect(readdirSync(join(elsewhere, 'init'))).toEqual([]);
  });

  it.skipIf(!hasTool('shellcheck'))('LAY-03 has no line that shellcheck complains of, in any stack', () => {
    const folder = makeFolder();
    const found = TOOLCHAINS.map((stack) => ({ stack, folder: `a b/${stack}`, by: '' }));
    for (const stack of STACKS) {
      const project = projectAt(folder);
      project.write('init.sh', composeScript(stack, partsFor(stack, found)));
      chmodSync(project.path('init.sh'), 0o755);
      const { exitCode, stdout } = run(folder, 'shellcheck', ['-s', 'sh', 'init.sh']);
      expect([stack, exitCode, stdout]).toEqual([stack, 0, '']);
    }
  });

  it.skipIf(!hasTool('shellcheck'))('GIT-03 nor has the script of git’s hooks', () => {
    const script = fileURLToPath(new URL('../../templates/hooks/hook.sh', import.meta.url));
    expect(run(makeFolder(), 'shellcheck', [script])).toMatchObject({ exitCode: 0, stdout: '' });
  });
});

const SCRIPT = '.forge/init.sh';

/** A project whose proof is this shell line. */
function proving(smoke: string, project = makePlainProject()): Project {
  project.write('package.json', JSON.stringify({ name: 'a', scripts: { smoke } }));
  expect(runBinary(project.dir, ['init', '--yes']).exitCode).toBe(0);
  return project;
}

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
