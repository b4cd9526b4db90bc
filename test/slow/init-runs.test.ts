import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runBinary } from '../support/forge.js';
import { follow, makeFolder, makePlainProject, type Project, projectAt, run } from '../support/project.js';
import { hasTool, whichTool } from '../support/tools.js';

const SCRIPT = '.forge/init.sh';

/** A project whose proof is this shell line. */
function proving(smoke: string, project = makePlainProject()): Project {
  project.write('package.json', JSON.stringify({ name: 'a', scripts: { smoke } }));
  expect(runBinary(project.dir, ['init', '--yes']).exitCode).toBe(0);
  return project;
}

const bootstrap = (project: Project, args: string[] = []) => run(project.dir, 'sh', [SCRIPT, ...args]);

function start(
  project: Project,
  shell: string[],
  onOutput: (all: string) => void = () => {},
): Promise<[code: number | null, out: string]> {
  const [command = 'sh', ...args] = shell;
  const child = spawn(command, [...args, SCRIPT, '--fresh'], { cwd: project.dir });
  const said = follow(child);
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', () => onOutput(said.stdout + said.stderr));
  return said.ended.then(({ exitCode, stdout, stderr }) => [exitCode, stdout + stderr]);
}

const kept = (project: Project): string[] => readdirSync(project.path('.forge/local/init')).sort();

const SHELLS = [['sh'], ['dash'], ['busybox', 'sh'], ['bash', '--posix']].filter(
  ([name = '']) => whichTool(name) !== null,
);

describe('init.sh, who starts it', () => {
  it('LAY-03 finds its project through symlinks, and does not mistake another folder for it', () => {
    const above = projectAt(makeFolder());
    const project = proving('pwd >>ran', projectAt(`${above.dir}/it's mine`));
    symlinkSync(SCRIPT, project.path('setup'));
    mkdirSync(above.path('bin'));
    symlinkSync("../it's mine/setup", above.path('bin', 'ready'));
    for (const [from, script] of [
      [project.dir, 'setup'],
      ['/', project.path('setup')],
      [above.dir, 'bin/ready'],
    ] as const)
      expect(run(from, 'sh', [script])).toMatchObject({ exitCode: 0, stderr: '' });
    expect(project.read('ran')).toBe(`${project.dir}\n`.repeat(3));

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

describe('init.sh, one run at a time', () => {
  it.each(SHELLS)('LAY-03 three at once take turns: %s %s', async (...shell) => {
    // The first goes on when another one waits for it.
    const project = proving('mkdir busy && { while ! test -e go; do sleep 0.05; done; } && rmdir busy');
    const onOutput = (out: string): void => {
      if (/waiting for another run of this script \(process \d+\)/.test(out)) project.write('go', '');
    };
    const runs = await Promise.all([1, 2, 3].map(() => start(project, shell.filter(Boolean), onOutput)));
    for (const [code, out] of runs) expect([code, out]).toEqual([0, expect.stringContaining('init: ready')]);
    expect(kept(project)).toEqual(['1', 'log']);
  });

  it('LAY-03 a killed or failed run does not block the next one', () => {
    const project = proving('test -e go || { test -e fail && exit 3; kill -9 $FORGE_INIT_RUN; }');
    expect(bootstrap(project).exitCode).not.toBe(0);
    expect(kept(project)).toContain('lock');
    project.write('fail', '');
    expect(bootstrap(project)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('(exit 3;') });
    expect(kept(project)).toEqual(['1', 'log']);
    project.write('go', '');
    expect(bootstrap(project).exitCode).toBe(0);
    // Killed after it had made the lock, before it had put its number there.
    mkdirSync(project.path('.forge/local/init/lock'));
    expect(bootstrap(project).exitCode).toBe(0);
    expect(kept(project)).toEqual(['1', 'log']);
  });

  it.skipIf(!hasTool('ps', ['-o', 'args=', '-p', '1']))(
    'LAY-03 the number of one that was killed may be that of another program by now',
    () => {
      const project = proving('true');
      project.write(join('.forge/local/init/lock', String(process.pid)), 'init.sh\n');
      expect(bootstrap(project).exitCode).toBe(0);
      expect(kept(project)).toEqual(['1', 'log']);
    },
  );

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
    'LAY-03 takes from pyproject.toml packages alone: no options for pip, no letters of a word',
    () => {
      const project = makePlainProject();
      project.write('pyproject.toml', '');
      expect(runBinary(project.dir, ['init', '--yes']).exitCode).toBe(0);
      for (const [text, problem] of [
        ['[project]\ndependencies = ["--index-url=http://x"]', "this is no package: '--index-url=http://x'"],
        ['[dependency-groups]\ndev = "six"', 'dev is no list'],
        ['project = 3', 'project is no table'],
      ] as const) {
        project.write('pyproject.toml', text);
        const { exitCode, stdout, stderr } = bootstrap(project);
        expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/^init: failed: python: .*\n$/)]);
        expect([stderr, stdout]).toEqual([
          expect.stringContaining(problem),
          expect.not.stringMatching('pip'),
        ]);
      }
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
