import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { identify } from '../../src/core/world.js';
import type { CycleResult } from '../../src/index.js';
import { cycle, MARK, readyToKeep, refusal, sh, storedCycles } from '../support/cycles.js';
import { runBinary, runForge, startBinary } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { type Project, writeHook } from '../support/project.js';

const until = (check: () => boolean): Promise<void> => expect.poll(check, { interval: 5 }).toBe(true);

/** Whether a process waits for something; where the system does not tell, it does. */
function waits(pid: number | undefined): boolean {
  try {
    return /^\d+ \(.*\) S/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}

/** Kills a cycle while one of git's hooks, which waits for that, runs in its commit. */
async function killIn(project: Project, hook: string): Promise<void> {
  writeHook(project, hook, 'touch .git/here\nwhile [ ! -f .git/go ]; do sleep 0.02; done');
  const child = startBinary(project.dir, ['cycle', ...sh('touch done')]);
  const ended = once(child, 'close');
  // Git reads the message behind this hook: forge has handed over all of it by then.
  await until(() => project.has('.git/here') && waits(child.pid));
  child.kill('SIGKILL');
  await once(child, 'exit').catch(() => undefined);
  project.write('.git/go', '');
  await ended;
  await until(() => !project.has('.git/index.lock'));
}

const subjects = (project: Project): string[] =>
  project
    .git('log', '--format=%s')
    .split('\n')
    .filter((text) => text.includes('Login works'));

function next(project: Project, command = 'true'): CycleResult {
  const { stdout, stderr } = runBinary(project.dir, ['cycle', '--json', '--task', 'X', '--', command]);
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as CycleResult;
}

const classifications = async (project: Project): Promise<string[]> =>
  (await storedCycles(project)).map(({ evaluation }) => evaluation.classification);

describe('a cycle that is killed after its record', () => {
  it.each(['pre-commit', 'post-commit'])(
    'GOV-04 in %s, where git goes on alone: neither record nor commit is made twice',
    async (hook) => {
      const project = await readyToKeep('commit', 'checkpoint');
      await killIn(project, hook);
      await until(() => subjects(project).length === 1);
      expect(next(project).warnings.join()).not.toMatch(/interrupted/);
      expect(await classifications(project)).toEqual(['SUCCESS', 'PARTIAL_SUCCESS']);
      expect(subjects(project).length).toBe(1);
      expect(project.has(MARK)).toBe(false);
    },
  );

  it('GOV-04 before the commit: the next cycle that passes commits the work', async () => {
    const project = await readyToKeep('commit', 'checkpoint');
    await killIn(project, 'pre-commit');
    await until(() => subjects(project).length === 1);
    project.git('update-ref', 'HEAD', 'HEAD~1');
    project.git('reset', '-q');
    expect(next(project).report?.commit).not.toBeNull();
    expect(project.git('ls-files', 'done')).toBe('done');
    expect(await classifications(project)).toEqual(['SUCCESS', 'PARTIAL_SUCCESS']);
  });

  it('GOV-04 LTM-16 before its record: it failed, and nothing is committed for it', async () => {
    const project = await readyToKeep('commit', 'checkpoint');
    await killIn(project, 'pre-commit');
    await until(() => subjects(project).length === 1);
    const mark = project.json<{ key: string }>(MARK);
    project.git('update-ref', 'HEAD', 'HEAD~1');
    project.git('reset', '-q', '--hard');
    project.git('clean', '-qfd', '.forge/memory');
    project.write(MARK, JSON.stringify({ ...mark, key: '0'.repeat(16) }));
    expect(next(project).warnings.join()).toMatch(/recorded now, as FAILURE/);
  });
});

/** The mark of a cycle whose process was killed before the record. */
function leaveMark(project: Project, change: object = {}): void {
  const gone = { ...identify(process.pid), pid: 4_000_000, started: '1' };
  const own = { schema_version: '1.0', key: '0123456789abcdef', holder: gone };
  const work = { started_at: '2026-03-01T10:00:00.000Z', task_id: 'A', stage: 'execution', stages: [] };
  project.write(MARK, JSON.stringify({ ...own, ...work, ...change }));
}

const violated = { task_id: 'A', exit_code: 0, classification: 'GOVERNANCE_VIOLATION' };

describe('the mark of a cycle', () => {
  it('LTM-16 reports how each interrupted cycle is recorded', async () => {
    const project = await makeForge();
    const next = async () => (await cycle(project, ['--', 'true'])).warnings;
    leaveMark(project);
    expect(await next()).toEqual(['Cycle 1 was interrupted. It is recorded now, as FAILURE.']);
    leaveMark(project, { stage: 'memory', key: 'f'.repeat(16), input: violated });
    expect(await next()).toEqual(['Cycle 3 was interrupted. It is recorded now, as GOVERNANCE_VIOLATION.']);
  });

  it('B-06 GOV-03 is escaped in messages', async () => {
    const project = await makeForge();
    const holder = identify(process.ppid);
    leaveMark(project, { holder, task_id: `A\n✓ all is well\n${'x'.repeat(300)}` });
    const { stderr } = await runForge(project, ['cycle', '--', 'true']);
    expect(stderr).not.toMatch(/^✓/m);
    expect((await refusal(project, ['cycle', '--', 'true'])).message).toMatch(
      /^A cycle has been running here .*task A ✓ all is well x+…\): .*nothing was run\.$/,
    );
    leaveMark(project, { holder: { ...holder, host: 'far\naway' } });
    expect((await refusal(project, ['cycle', '--', 'true'])).message).toContain('another host (far away)');
  });
});
