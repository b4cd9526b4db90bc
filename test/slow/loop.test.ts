import { describe, expect, it } from 'vitest';
import { openForge } from '../../src/index.js';
import { loop, sh, statuses, storedCycles } from '../support/cycles.js';
import { forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { LEDGER } from '../support/memory.js';
import type { Project } from '../support/project.js';

/** Features A and B, each done by a file of its name. */
async function ready(...ids: string[]): Promise<Project> {
  const project = await makeForge();
  for (const id of ids)
    await forgeJson(project, ['feature', 'add', '--no-run', id, id, '--test', `test -f ${id}`]);
  return project;
}

describe('forge loop', () => {
  it('GOV-02 works through the open features and exits with 0', async () => {
    const project = await ready('A', 'B');
    const { results, end, exit } = await loop(project, sh('touch $FORGE_TASK'));
    expect(results.map(({ task, classification }) => [task, classification])).toEqual([
      ['A', 'SUCCESS'],
      ['B', 'SUCCESS'],
    ]);
    const stopped_by = 'nothing_left';
    const counts = { cycles: 2, by_classification: { SUCCESS: 2 } };
    expect(end).toEqual({ ...counts, stopped_by, reason: 'nothing is left to do' });
    expect(exit).toBe(0);
    const again = await loop(project, sh('touch ran'));
    expect(again).toMatchObject({ results: [], end: { stopped_by }, exit: 0 });
    expect(project.has('ran')).toBe(false);
  });

  it('GOV-02 exits with 0 at --max-cycles, and with 1 after --max-failures in a row', async () => {
    const project = await ready('A');
    const two = await loop(project, ['--max-cycles', '2', '--', 'true']);
    expect([two.results.length, two.end.stopped_by, two.exit]).toEqual([2, 'max_cycles', 0]);
    const three = await loop(project, ['--', 'false']);
    expect([three.results.length, three.end.stopped_by, three.exit]).toEqual([3, 'max_failures', 1]);
    const one = await loop(project, ['--max-failures', '1', '--', 'false']);
    expect([one.results.length, one.exit]).toEqual([1, 1]);
    const bare = await ready();
    expect((await loop(bare, ['--max-cycles', '2', '--', 'true'])).results.length).toBe(2);
    expect((await loop(bare, ['--', 'true'])).results.length).toBe(0);
    expect((await storedCycles(project)).length).toBe(6);
  });

  it('GOV-02 ends without a limit where no feature can begin to pass, and says why', async () => {
    const project = await ready();
    await forgeJson(project, ['feature', 'add', 'docs', 'write docs']);
    const docs = await loop(project, ['--', 'true']);
    expect([docs.results.length, docs.end.stopped_by, docs.exit]).toEqual([3, 'max_failures', 1]);
    expect(docs.end.reason).toMatch(/or made no feature pass; not passing yet: docs$/);
    const bare = await ready();
    await forgeJson(bare, ['focus', 'set', '--task', 'think']);
    expect((await loop(bare, ['--', 'true'])).results.length).toBe(3);
    expect((await loop(bare, ['--max-cycles', '4', '--', 'true'])).results.length).toBe(4);
  });

  it('GOV-02 reports a cycle and sleeps before the next, and starts none after --max-time', async () => {
    const project = await ready('A');
    const begun = performance.now();
    const told: string[] = [];
    const options = { command: ['true'], max_cycles: 2, sleep_seconds: 1 };
    await openForge(project.dir).loop(options, {
      onCycle: (result) => told.push(`cycle, sleep ${statuses(result).sleep}`),
      onStageEnd: ({ name }) => name === 'sleep' && told.push(name),
    });
    expect(performance.now() - begun).toBeGreaterThan(1000);
    expect(told).toEqual(['cycle, sleep ok', 'sleep', 'cycle, sleep skipped']);
    const timed = await loop(project, ['--max-time', '2', '--sleep', '5', '--', 'true']);
    expect([timed.results.length, timed.end.stopped_by, timed.exit]).toEqual([1, 'max_time', 0]);
  });

  it('GOV-02 --resume continues with the counts; without it they start at 0', async () => {
    const project = await ready('A');
    await loop(project, ['--max-cycles', '2', '--', 'false']);
    const resumed = await loop(project, ['--resume', '--max-cycles', '9', '--', 'false']);
    // Failures in a row start at 0, or it would stop at once.
    expect([resumed.results.length, resumed.end]).toEqual([
      3,
      expect.objectContaining({ cycles: 5, stopped_by: 'max_failures', by_classification: { FAILURE: 5 } }),
    ]);
    const fresh = await loop(project, ['--max-cycles', '2', '--', 'false']);
    expect(fresh.end).toMatchObject({ cycles: 2, stopped_by: 'max_cycles' });
    const left = await loop(project, ['--resume', '--max-cycles', '3', '--max-failures', '9', '--', 'false']);
    expect([left.results.length, left.end.cycles]).toEqual([1, 3]);
  });

  it('GOV-02 exits with 4 when memory is halted, with its counts', async () => {
    const project = await ready('A');
    await runForge(project, ['memory', 'record', '--task', 'A', '--exit-code', '0']);
    const { end, exit } = await loop(
      project,
      sh(`sed -i 's/"task_id":"A"/"task_id":"B"/' ${LEDGER}/*.jsonl`),
    );
    expect([end.cycles, end.stopped_by, end.error?.exit, exit]).toEqual([1, 'error', 4, 4]);
  });

  it('GOV-02 prints each cycle and the reason for the end', async () => {
    const project = await ready('A');
    const { stdout, stderr, exitCode } = await runForge(project, ['loop', ...sh('echo at work; touch A')]);
    expect(stdout).toMatch(/^Cycle 1 SUCCESS: A\n {2}exit 0, 1\/1 features passing/);
    expect(stdout).toMatch(/\n1 cycle \(1 SUCCESS\): nothing is left to do\.\n$/);
    expect(stderr).toMatch(/^execution +ok/m);
    expect(stderr).toContain('  | at work\n');
    expect(exitCode).toBe(0);
  });
});
