import { existsSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { BIN, forgeJson, runBinary, runForge } from '../support/forge.js';
import {
  differences,
  featureFile,
  makeForge,
  PASSING_FEATURE,
  putFeatures,
  snapshot,
} from '../support/forge-project.js';
import { containerOf, LEDGER, record, recordMany } from '../support/memory.js';
import { makePlainProject, type Project, run } from '../support/project.js';
import { component } from '../support/statuses.js';

describe('forge status and the ledgers', () => {
  it('VIS-01 B-25 LTM-05 an edited ledger is red with the place, a halt with its reason; status changes nothing', async () => {
    const project = await makeForge();
    await record(project);
    project.write(containerOf(project), project.read(containerOf(project)).replace('"n":2', '"n":7'));
    const before = snapshot(project.dir);
    const red = { color: 'red', fix: ['forge memory verify'] };
    const place = expect.stringContaining(containerOf(project));
    expect(await component(project, 'long-term')).toMatchObject({ ...red, reasons: [place] });
    expect(differences(before, snapshot(project.dir))).toEqual([]);
    await runForge(project, ['memory', 'verify']);
    const halted = expect.stringMatching(/^memory is halted: /);
    expect(await component(project, 'long-term')).toMatchObject({ ...red, reasons: [halted] });
    expect((await runForge(project, ['status', '--short'])).stdout).toBe('forge ○····\n');
  });

  it('VIS-01 LTM-04 many lost records are yellow, as memory verify leaves them to a person', async () => {
    const project = await makeForge();
    await recordMany(project, 21);
    project.git('clean', '-qfdx', '.forge/memory');
    const told = await component(project, 'long-term');
    expect([told.color, told.fix]).toEqual(['yellow', ['forge memory verify']]);
    expect(told.reasons[0]).toMatch(/^2\d records written here disappeared; none was restored$/);
  });
});

describe('operations that take more than a second', () => {
  afterEach(() => void vi.restoreAllMocks());

  it.each([['status'], ['session', 'start'], ['memory', 'consolidate']])(
    'VIS-01 LTM-04 %s %s: a bar on stderr while memory is read, gone before the answer; none without a terminal',
    async (...args) => {
      let slow = 0;
      // Each look at the clock is more than half a second after the one before.
      vi.spyOn(performance, 'now').mockImplementation(() => (slow += 600));
      const run = async (terminal: boolean): Promise<{ stdout: string; stderr: string }> => {
        const project = await makeForge();
        for (let i = 0; i < 3; i++) {
          await record(project);
          project.git('add', '-A');
        }
        rmSync(project.path('.git/forge/cache/containers.json'), { force: true });
        return runForge(project, args, { terminal });
      };
      const seen = await run(true);
      expect(seen.stderr).toMatch(/\rreading memory █*░* \d+%/);
      expect(seen.stderr.slice(seen.stderr.lastIndexOf('\r'))).toContain('\r\u001b[K');
      expect(seen.stdout).not.toContain('\r');
      expect((await run(false)).stderr).not.toContain('\r');
    },
  );
});

const short = (project: Pick<Project, 'dir'>, env: NodeJS.ProcessEnv = {}) =>
  runBinary(project.dir, ['status', '--short'], { env });
const line = (project: Project): string => short(project).stdout;

/** Later than any tick of the clock that the files were written in. */
const pause = (): Promise<void> => new Promise((done) => setTimeout(done, 60));

function editFirst(project: Project): void {
  const path = project.git('ls-files', `${LEDGER}/init-*.jsonl`);
  project.write(path, project.read(path).replace('"n":1', '"n":7'));
}

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
      ['an issue', () => forgeJson(project, 'feature edit A --issue SX9-1'), 'forge ●●●◐● A\n'],
      [
        'settings',
        () => project.write('.forge/config.toml', 'schema_version = 1\n[features]\ntest_command = "x {}"\n'),
        'forge ●●○◐● A\n',
      ],
      ['an edited ledger', () => editFirst(project), 'forge ○●○◐● A\n'],
    ];
    for (const [what, change, told] of steps) {
      await change();
      await pause();
      expect([what, line(project), line(project)]).toEqual([what, told, told]);
    }
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
