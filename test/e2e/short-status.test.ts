import { chmodSync, existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FEATURES, makeForge, PASSING_FEATURE, putFeatures } from '../cli/project.js';
import { BIN, forgeJson, runBinary } from '../support/forge.js';
import { makePlainProject, type Project, run } from '../support/project.js';

const short = (project: Pick<Project, 'dir'>, env: NodeJS.ProcessEnv = {}) =>
  runBinary(project.dir, ['status', '--short'], { env });
const line = (project: Project): string => short(project).stdout;

/** A git that notes each of its calls. */
function countingGit(): { env: NodeJS.ProcessEnv; calls(): number } {
  const tools = makePlainProject();
  const real = run(tools.dir, 'sh', ['-c', 'command -v git']).stdout.trim();
  tools.write('bin/git', `#!/bin/sh\necho call >> ${tools.path('calls')}\nexec ${real} "$@"\n`);
  chmodSync(tools.path('bin', 'git'), 0o755);
  return {
    env: { PATH: `${tools.path('bin')}:${process.env.PATH}` },
    calls: () => {
      const count = existsSync(tools.path('calls'))
        ? readFileSync(tools.path('calls'), 'utf8').trimEnd().split('\n').length
        : 0;
      rmSync(tools.path('calls'), { force: true });
      return count;
    },
  };
}

/** Later than any tick of the clock that the files were written in. */
const pause = (): Promise<void> => new Promise((done) => setTimeout(done, 60));

describe('forge status --short as a process', () => {
  it('VIS-01 tells the same from memory as anew, and follows all that changes', async () => {
    const project = await makeForge();
    await pause();
    const steps: [what: string, change: () => unknown, told: string][] = [
      ['nothing', () => {}, 'forge ●●●◐●\n'],
      [
        'a feature',
        () => forgeJson(project, ['feature', 'add', 'A', 'a', '--test', 'true']),
        'forge ●●○◐●\n',
      ],
      ['it passes', () => forgeJson(project, ['feature', 'verify', 'A']), 'forge ●●●◐●\n'],
      ['a session', () => forgeJson(project, ['session', 'start', '--goal', 'A: a']), 'forge ●●●◐● A\n'],
      [
        'damage',
        () => project.write('.forge/memory/short-term/progress.txt', Buffer.from([0xff])),
        'forge ●○●◐● A\n',
      ],
      ['mended', () => project.write('.forge/memory/short-term/progress.txt', ''), 'forge ●◐●◐● A\n'],
      ['a line', () => forgeJson(project, ['progress', 'add', 'x']), 'forge ●●●◐● A\n'],
      ['a checkpoint', () => forgeJson(project, ['checkpoint', 'create']), 'forge ●●●●● A\n'],
      ['a new file', () => project.write('new.txt', 'new\n'), 'forge ●●●◐● A\n'],
      ['gone again', () => rmSync(project.path('new.txt')), 'forge ●●●●● A\n'],
      ['its tag gone', () => project.git('tag', '-d', 'checkpoint/A-v1'), 'forge ●●●◐● A\n'],
      ['an issue', () => forgeJson(project, ['feature', 'edit', 'A', '--issue', 'SX9-1']), 'forge ●●●◐◐ A\n'],
      [
        'settings',
        () => project.write('.forge/config.toml', 'schema_version = 1\n[features]\ntest_command = "x {}"\n'),
        'forge ●●○◐◐ A\n',
      ],
    ];
    for (const [what, change, told] of steps) {
      await change();
      await pause();
      expect([what, line(project), line(project)]).toEqual([what, told, told]);
    }
  });

  it('VIS-01 is red for a ledger that was edited, whatever was told before, and fails with --exit-code', async () => {
    const project = await makeForge();
    await pause();
    expect([line(project), line(project)]).toEqual(Array(2).fill('forge ●●●◐●\n'));
    const path = '.forge/memory/execution.jsonl';
    project.write(path, project.read(path).replace('"n":1', '"n":7'));
    await pause();
    expect([line(project), line(project)]).toEqual(Array(2).fill('forge ○●●◐●\n'));
    expect(runBinary(project.dir, ['status', '--short', '--exit-code']).exitCode).toBe(1);
  });

  it('VIS-01 sees a file that was written in place with its size and its time kept', async () => {
    const project = await makeForge();
    putFeatures(project, [PASSING_FEATURE]);
    const path = project.path(FEATURES);
    const write = (text: string): void => {
      writeFileSync(path, text);
      utimesSync(path, 1_700_000_000, 1_700_000_000);
    };
    const passing = project.read(FEATURES);
    write(passing);
    await pause();
    expect([line(project), line(project)]).toEqual(Array(2).fill('forge ●●●◐●\n'));
    write(passing.replace('"passing"', '"failing"'));
    expect(line(project)).toBe('forge ●●○◐●\n');
  });

  it('VIS-01 is a small bundle, without what reads commands and schemas', () => {
    const bundle = readFileSync(join(dirname(BIN), '..', 'dist', 'cli', 'short-status.cjs'), 'utf8');
    expect(bundle.length).toBeLessThan(64 * 1024);
    expect(bundle).not.toMatch(/commander|ZodMini/);
  });

  it('VIS-01 asks git once, and nothing else is started, while HEAD and the files are the same', async () => {
    const project = await makeForge();
    await forgeJson(project, ['checkpoint', 'create', 'A', '--verify', 'true']);
    project.git('switch', '-q', '-c', 'topic');
    project.git('update-ref', 'refs/remotes/origin/main', 'HEAD~');
    await pause();
    const { env, calls } = countingGit();
    expect(short(project, env).stdout).toBe('forge ●●●●●\n');
    expect(calls()).toBeGreaterThan(1);
    expect(short(project, env).stdout).toBe('forge ●●●●●\n');
    expect(calls()).toBe(1);
  });

  it('VIS-01 the age of an entry turns the colour although no file changes', async () => {
    const project = await makeForge();
    const before = Date.now();
    await forgeJson(project, ['session', 'start']);
    await pause();
    expect([line(project), line(project)]).toEqual(Array(2).fill('forge ●●●◐●\n'));
    const memory = project.json<{ until: number }>('.git/forge/prompt.json');
    const minutes = (since: number): number => (memory.until - since) / 60_000;
    expect([minutes(before) > 58, minutes(Date.now()) <= 61]).toEqual([true, true]);
    project.write(
      '.git/forge/prompt.json',
      JSON.stringify({ ...memory, until: Date.now() - 1, task: 'OLD' }),
    );
    expect(line(project)).toBe('forge ●●●◐●\n');
  });

  it('VIS-01 B-06 what is remembered may be anything: it is asked anew', async () => {
    const project = await makeForge();
    await pause();
    const told = line(project);
    const path = '.git/forge/prompt.json';
    const memory = project.json<Record<string, unknown>>(path);
    for (const other of [
      '',
      'null',
      '[]',
      JSON.stringify({ ...memory, colors: null }),
      JSON.stringify({ ...memory, colors: { git: 'green' } }),
      JSON.stringify({ ...memory, task: { a: 1 } }),
      JSON.stringify({ ...memory, task: '$(touch x) \u001b]0;title\u0007' }),
      JSON.stringify({ ...memory, at: Date.now() + 1e9 }),
      JSON.stringify({ ...memory, until: null }),
    ]) {
      project.write(path, other);
      expect([other, line(project)]).toEqual([other, told]);
      // And then known again.
      expect([other, project.json(path)]).toEqual([other, { ...memory, at: expect.any(Number) }]);
    }
  });

  it('VIS-01 B-09 says nothing outside a forge and to a closed pipe; FORGE_DIR and a deleted folder are heeded', async () => {
    const project = await makeForge();
    const elsewhere = makePlainProject();
    expect(short(elsewhere)).toMatchObject({ stdout: '', stderr: '', exitCode: 0 });
    expect(short(elsewhere, { FORGE_DIR: project.dir }).stdout).toBe('forge ●●●◐●\n');
    for (const command of ['status --short', 'status', '', '--version']) {
      const piped = `node "${BIN}" ${command} | true; echo "\${PIPESTATUS[0]}"`;
      expect(run(project.dir, 'bash', ['-c', piped])).toMatchObject({ stdout: '0\n', stderr: '' });
    }
    // On Linux, a disk that is full.
    for (const command of existsSync('/dev/full') ? ['status --short', 'status', '--version'] : []) {
      const full = run(project.dir, 'bash', ['-c', `node "${BIN}" ${command} > /dev/full`]);
      expect([command, full.exitCode, full.stderr.split('\n').length]).toEqual([command, 6, 2]);
    }
    const gone = `mkdir x && cd x && rmdir ../x && node "${BIN}" status --short`;
    expect(run(elsewhere.dir, 'bash', ['-c', gone]).exitCode).toBe(2);
  });

  it('VIS-01 B-68 a Turkish locale changes no id, flag or byte', async () => {
    const project = await makeForge();
    const env = { LC_ALL: 'tr_TR.UTF-8', LANG: 'tr_TR.UTF-8', LANGUAGE: 'tr' };
    const forge = (...args: string[]) => runBinary(project.dir, args, { env });
    expect(forge('feature', 'add', 'INIT-1', 'Init').exitCode).toBe(0);
    expect(forge('feature', 'add', 'init-1', 'Twin').exitCode).toBe(2);
    expect(forge('feature', 'edit', 'INIT-1', '--issue', 'II-1', '--priority', '1').exitCode).toBe(0);
    const texts = [['status'], ['feature', 'list'], ['next'], []];
    for (const args of texts)
      expect(forge(...args).stdout).toBe(runBinary(project.dir, args, { env: { LC_ALL: 'C' } }).stdout);
  });
});
