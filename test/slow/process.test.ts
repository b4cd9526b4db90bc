import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ProcessOptions, runProcess } from '../../src/core/process.js';
import { HANG, makeFolder } from '../support/project.js';

const env = { PATH: process.env.PATH as string };
const options = (cwd: string, change: Partial<ProcessOptions> = {}): ProcessOptions => ({
  cwd,
  env,
  timeoutMs: HANG,
  ...change,
});
const shell = (script: string): string[] => ['sh', '-c', script];

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return /^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}

/** Process numbers that a script wrote into `pids`. */
const pidsIn = (folder: string): number[] =>
  readFileSync(join(folder, 'pids'), 'utf8').trim().split('\n').map(Number);

describe('runProcess', () => {
  it('keeps the exit code, the end of the output, and its digest', async () => {
    const shown: string[] = [];
    const folder = makeFolder();
    const run = await runProcess(
      shell('cat; printf "%s" "$ONLY$HOME"; echo problem >&2; exit 7'),
      options(folder, {
        input: 'briefing\n',
        env: { ...env, ONLY: 'this' },
        onOutput: (text) => shown.push(text),
      }),
    );
    expect(run).toMatchObject({ exit_code: 7, output: { bytes: 21 } });
    expect(run.ended).toBeUndefined();
    expect(shown.join('')).toContain('briefing\nthis');
    const long = await runProcess(shell('yes abcdefg | head -c 100000'), options(folder));
    const all = 'abcdefg\n'.repeat(12_500);
    expect(long.output).toEqual({
      tail: all.slice(-4096),
      bytes: 100_000,
      sha256: createHash('sha256').update(all).digest('hex'),
    });
  });

  it('tolerates a command that never reads its input', async () => {
    const run = await runProcess(
      shell('exec 0<&-; exit 0'),
      options(makeFolder(), { input: 'x'.repeat(1_000_000) }),
    );
    expect(run.exit_code).toBe(0);
  });

  it.each([
    ['no-such-program', 'not found'],
    ['./plain', 'not executable'],
  ])('reports that %s is %s', async (program, ended) => {
    const folder = makeFolder();
    await runProcess(shell('echo x > plain'), options(folder));
    expect(await runProcess([program], options(folder))).toMatchObject({ exit_code: null, ended });
  });

  it('B-92 ends the whole group at the time limit, although it ignores SIGTERM and forks', async () => {
    const folder = makeFolder();
    const script = `trap '' TERM; echo $$ >> pids; sh -c "trap '' TERM; echo \\$\\$ >> pids; while :; do sleep 1; done" & (sh -c 'echo $$ >> pids; sleep 1000' &) ; while :; do sleep 1; done`;
    const run = await runProcess(shell(script), options(folder, { timeoutMs: 500 }));
    expect(run).toMatchObject({ exit_code: null, ended: 'stopped after 0.5 s' });
    expect(run.duration_ms).toBeGreaterThan(5000);
    const pids = pidsIn(folder);
    expect(pids.length).toBe(3);
    await expect.poll(() => pids.every(isGone)).toBe(true);
  });

  it('B-92 gives a command time to handle SIGTERM', async () => {
    const folder = makeFolder();
    const stop = new AbortController();
    const onOutput = (): void => stop.abort();
    const script = `trap 'echo saved > saved; exit 0' TERM; echo ready; while :; do sleep 0.1; done`;
    const run = await runProcess(shell(script), options(folder, { stop: stop.signal, onOutput }));
    expect(run).toMatchObject({ exit_code: null, ended: 'stopped' });
    expect(existsSync(join(folder, 'saved'))).toBe(true);
  });

  it('B-92 does not wait for a process that left the group and keeps the pipe open', async () => {
    const folder = makeFolder();
    const run = await runProcess(
      shell(
        'setsid sh -c "echo \\$\\$ > pids; exec sleep 1000" & while ! test -s pids; do sleep 0.02; done; echo done',
      ),
      options(folder),
    );
    expect(run).toMatchObject({ exit_code: 0, output: { tail: 'done\n' } });
    for (const pid of pidsIn(folder)) process.kill(pid, 'SIGKILL');
  });

  it('B-92 reads a flood of output and shows its beginning', async () => {
    const megabytes = process.env.FORGE_SOAK ? 1024 : 64;
    let shown = 0;
    const onOutput = (text: string): void => {
      shown += text.length;
    };
    const before = process.memoryUsage().rss;
    const command = ['head', '-c', String(megabytes * 2 ** 20), '/dev/zero'];
    const run = await runProcess(command, options(makeFolder(), { onOutput }));
    expect([run.exit_code, run.output.bytes]).toEqual([0, megabytes * 2 ** 20]);
    expect(shown).toBeLessThan(2 ** 21);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 2 ** 20);
  });
});
