import type { ChildProcess } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { MARK, ready, refusal, sh, storedCycles, trust } from '../support/cycles.js';
import { forgeJson, runBinary, startBinary } from '../support/forge.js';
import { isAlive } from '../support/kills.js';
import { follow, type Project } from '../support/project.js';

const until = (check: () => boolean): Promise<void> => expect.poll(check, { interval: 5 }).toBe(true);

const stageOf = (project: Project): string => {
  try {
    return project.json<{ stage: string }>(MARK).stage;
  } catch {
    return '';
  }
};

/** Numbers of processes that a script wrote down. */
const pidsOf = (project: Project): number[] =>
  project.has('pid') ? project.read('pid').trim().split(' ').filter(Boolean).map(Number) : [];

const STAY = 'test -f quick || { sleep 1000 & echo $$ $! > pid; echo it runs; wait; }';

/** What a command does until the test writes the file `go`. */
const WAIT = 'while ! test -f go; do sleep 0.05; done';

/** Ctrl-C when that has been shown; resolves when forge has noticed. */
async function interrupt(child: ChildProcess, after: string): Promise<void> {
  const said = follow(child);
  await until(() => said.stderr.includes(after));
  child.kill('SIGINT');
  await until(() => said.stderr.includes('Interrupted: this cycle is finished and recorded.'));
}

/** A project in which a cycle stays in one stage for long. */
const SLOW: Record<string, (project: Project) => Promise<string[]>> = {
  environment: async (project) => {
    project.write('.forge/init.sh', `#!/bin/sh\n${STAY}\n`);
    await trust(project);
    return ['true'];
  },
  execution: async () => ['sh', '-c', STAY],
  evaluation: async (project) => {
    await forgeJson(project, ['feature', 'edit', 'A', '--no-run', '--test', `sh -c '${STAY}'`]);
    return ['true'];
  },
};

describe('an interrupted cycle', () => {
  it.each(Object.keys(SLOW))(
    'GOV-01 GOV-03 by SIGKILL in %s: the next ends what still runs, and records it as FAILURE, once, with the stages it reached',
    async (stage) => {
      const project = await ready();
      const command = (await SLOW[stage]?.(project)) as string[];
      const child = startBinary(project.dir, ['cycle', '--', ...command]);
      const said = follow(child);
      // Both processes have written their numbers.
      const runs = (): boolean => pidsOf(project).length === 2;
      // Output that arrived here shows that forge follows the command.
      await until(() => stageOf(project) === stage && runs() && said.stderr.includes('it runs'));
      const { key } = project.json<{ key: string }>(MARK);
      child.kill('SIGKILL');
      await said.ended;
      project.write('quick', '');
      const next = runBinary(project.dir, ['cycle', '--', ...command]);
      expect(next.stderr).toMatch(/Cycle 1 was interrupted\. It is recorded now, as FAILURE\./);
      await until(() => !pidsOf(project).some(isAlive));
      const [first, second, ...more] = await storedCycles(project);
      expect([more, second?.execution.cycle]).toEqual([[], 2]);
      expect(first?.execution).toMatchObject({ key, exit_code: null });
      expect(first?.execution.stages.at(-1)).toMatchObject({
        name: stage,
        status: 'failed',
        note: 'interrupted',
      });
      expect(first?.evaluation.classification).toBe('FAILURE');
      expect(project.has(MARK)).toBe(false);
    },
  );

  it('GOV-02 in the sleep of a loop loses nothing; --resume continues', async () => {
    const project = await ready();
    const child = startBinary(project.dir, ['loop', '--max-cycles', '2', '--sleep', '1000', '--', 'true']);
    const { ended } = follow(child);
    await until(
      () => project.has('.git/forge/loop.json') && /"cycles": 1/.test(project.read('.git/forge/loop.json')),
    );
    child.kill('SIGKILL');
    await ended;
    const { stdout } = runBinary(project.dir, 'loop --json --resume --max-cycles 2 -- true');
    expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) as string)).toMatchObject({ cycles: 2 });
    expect((await storedCycles(project)).length).toBe(2);
  });
});

describe('signals', () => {
  it('GOV-02 the first Ctrl-C finishes and records the cycle, and the loop exits with 130', async () => {
    const project = await ready();
    const work = sh(`echo started; trap "" INT; ${WAIT}; touch done`);
    const child = startBinary(project.dir, ['loop', '--max-failures', '9', ...work]);
    const { ended } = follow(child);
    await interrupt(child, '| started');
    project.write('go', '');
    const { exitCode, stdout } = await ended;
    expect(stdout).toMatch(/^Cycle 1 SUCCESS: A/);
    expect(stdout).toMatch(/1 cycle \(1 SUCCESS\): interrupted\.\n$/);
    expect(exitCode).toBe(130);
    expect((await storedCycles(project)).length).toBe(1);
  });

  it.each([
    ['the second Ctrl-C', 'SIGINT'],
    ['SIGTERM', 'SIGTERM'],
  ] as const)('GOV-02 %s ends the command and what it started; the cycle is recorded', async (_, signal) => {
    const project = await ready();
    const script = 'sleep 1000 & echo $! > pid; echo started; wait';
    const child = startBinary(project.dir, ['cycle', ...sh(script)]);
    const { ended } = follow(child);
    if (signal === 'SIGINT') await interrupt(child, '| started');
    else await until(() => project.has('pid') && project.read('pid') !== '');
    child.kill(signal);
    const { exitCode, stdout } = await ended;
    expect(exitCode).toBe(130);
    expect(stdout).toMatch(/^Cycle 1 FAILURE: A\n {2}no exit code \(sh: stopped\),/);
    await until(() => !isAlive(Number(project.read('pid'))));
    expect((await storedCycles(project))[0]?.execution.stages.at(-2)).toMatchObject({
      name: 'execution',
      note: 'sh: stopped',
    });
    expect(project.has(MARK)).toBe(false);
  });
});

describe('two cycles at once', () => {
  it('GOV-01 are refused in one worktree; other worktrees and records work', async () => {
    const project = await ready();
    const child = startBinary(project.dir, ['cycle', ...sh(`touch started; ${WAIT}; touch done`)]);
    const { ended } = follow(child);
    await until(() => project.has('started'));
    const { exitCode, code, message } = await refusal(project, ['cycle', '--', 'touch', 'ran']);
    expect([exitCode, code]).toEqual([3, 'cycle.held']);
    expect(message).toContain(`process ${child.pid} is running`);
    expect(message).toContain('execution, task A');
    await forgeJson(project, 'memory record --task X --exit-code 0 --classification SUCCESS');
    project.write('go', '');
    expect((await ended).exitCode).toBe(0);
    expect(project.has('ran')).toBe(false);
    expect((await storedCycles(project)).length).toBe(2);
  });
});
