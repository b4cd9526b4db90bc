import { existsSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BIN, forgeJson, runBinary } from '../support/forge.js';
import { featureFile, makeForge, PASSING_FEATURE, putFeatures } from '../support/forge-project.js';
import { LEDGER } from '../support/memory.js';
import { makePlainProject, type Project, run } from '../support/project.js';

const short = (project: Pick<Project, 'dir'>, env: NodeJS.ProcessEnv = {}) =>
  runBinary(project.dir, ['status', '--short'], { env });
const line = (project: Project): string => short(project).stdout;

/** Later than any tick of the clock that the files were written in. */
const pause = (): Promise<void> => new Promise((done) => setTimeout(done, 60));

describe('forge status --short as a process', () => {
  it('VIS-01 follows every change', async () => {
    const project = await makeForge();
    await pause();
    const steps: [what: string, change: () => unknown, told: string][] = [
      ['nothing', () => {}, 'forge ●····\n'],
      ['a feature', () => forgeJson(project, 'feature add --no-run A a --test true'), 'forge ●····\n'],
      ['it passes', () => forgeJson(project, 'feature verify A'), 'forge ●·●··\n'],
      ['a session', () => forgeJson(project, 'session start --task "A: a"'), 'forge ●●●·· A\n'],
      [
        'damage',
        () => project.write('.forge/memory/short-term/progress.txt', Buffer.from([0xff])),
        'forge ●○●·· A\n',
      ],
      ['mended', () => project.write('.forge/memory/short-term/progress.txt', ''), 'forge ●◐●·· A\n'],
      ['a line', () => forgeJson(project, 'progress add x'), 'forge ●●●·· A\n'],
      ['a checkpoint', () => forgeJson(project, 'checkpoint create'), 'forge ●●●●· A\n'],
      ['a new file', () => project.write('new.txt', 'new\n'), 'forge ●●●◐· A\n'],
      ['gone again', () => rmSync(project.path('new.txt')), 'forge ●●●●· A\n'],
      ['its tag gone', () => project.git('tag', '-d', 'checkpoint/A-v1'), 'forge ●●●◐· A\n'],
      ['an issue', () => forgeJson(project, 'feature edit A --issue SX9-1'), 'forge ●●●◐◐ A\n'],
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

  it('VIS-01 is red for a ledger that was edited, and fails with --exit-code', async () => {
    const project = await makeForge();
    await pause();
    expect([line(project), line(project)]).toEqual(Array(2).fill('forge ●····\n'));
    const path = project.git('ls-files', `${LEDGER}/init-*.jsonl`);
    project.write(path, project.read(path).replace('"n":1', '"n":7'));
    await pause();
    expect([line(project), line(project)]).toEqual(Array(2).fill('forge ○····\n'));
    expect(runBinary(project.dir, ['status', '--short', '--exit-code']).exitCode).toBe(1);
  });

  it('VIS-01 sees a file that was written in place with its size and its time kept', async () => {
    const project = await makeForge();
    putFeatures(project, [PASSING_FEATURE]);
    const path = project.path(featureFile('A'));
    const write = (text: string): void => {
      writeFileSync(path, text);
      utimesSync(path, 1_700_000_000, 1_700_000_000);
    };
    const passing = project.read(featureFile('A'));
    write(passing);
    await pause();
    expect([line(project), line(project)]).toEqual(Array(2).fill('forge ●·●··\n'));
    write(passing.replace('"passing"', '"failing"'));
    expect(line(project)).toBe('forge ●·○··\n');
  });

  it('VIS-01 B-09 prints nothing outside a forge or to a closed pipe; respects FORGE_DIR and a deleted folder', async () => {
    const project = await makeForge();
    const elsewhere = makePlainProject();
    expect(short(elsewhere)).toMatchObject({ stdout: '', stderr: '', exitCode: 0 });
    expect(short(elsewhere, { FORGE_DIR: project.dir }).stdout).toBe('forge ●····\n');
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
});
