import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openForge } from '../../src/index.js';
import { cycle, loop, sh, statuses, storedCycles } from '../support/cycles.js';
import { forgeJson, runBinary, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { HUMAN, LEDGER } from '../support/memory.js';
import { commitAll, makeFolder, type Project, projectAt } from '../support/project.js';

/** Features, each done by a file of its name. */
async function ready(...ids: string[]): Promise<Project> {
  const project = await makeForge();
  for (const id of ids)
    await forgeJson(project, ['feature', 'add', '--no-run', id, id, '--test', `test -f ${id}`]);
  return project;
}

/** The project with committed memory, and a second worktree of it on the branch `other`. */
async function worktrees(): Promise<[Project, Project]> {
  const project = await ready('A', 'B');
  commitAll(project);
  const other = projectAt(`${makeFolder()}/other`);
  project.git('worktree', 'add', '-q', '-b', 'other', other.dir);
  await runForge(other, ['trust', '--yes'], HUMAN);
  return [project, other];
}

const VAIN = 'too many cycles in a row failed or made no feature pass';
const tasksOf = (results: readonly { task: string }[]): string[] => results.map(({ task }) => task);

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

  it('GOV-02 in the library a signal ends the running command, and the loop', async () => {
    const project = await ready('A');
    const end = new AbortController();
    const ended = await openForge(project.dir).loop(
      { command: ['sh', '-c', 'echo begun; sleep 1000'] },
      { signal: end.signal, onOutput: () => end.abort() },
    );
    expect(ended).toMatchObject({ cycles: 1, stopped_by: 'interrupted' });
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

describe('the tasks of a loop', () => {
  it('GOV-02 puts a task that failed twice behind the others, and names it at the end', async () => {
    const project = await ready('A', 'B');
    const { results, end, exit } = await loop(project, sh('test $FORGE_TASK = A || touch $FORGE_TASK'));
    expect(tasksOf(results)).toEqual(['A', 'A', 'B', 'A', 'A', 'A']);
    expect([end.stopped_by, exit]).toEqual(['max_failures', 1]);
    expect(end.reason).toBe(`${VAIN}; not passing yet: A`);
  });

  it('GOV-02 takes an issue after the features with tests', async () => {
    const project = await ready('A', 'B');
    await forgeJson(project, ['linear', 'new', 'Something to think about']);
    const { results } = await loop(
      project,
      sh('test $FORGE_TASK = A || test $FORGE_TASK = B && touch $FORGE_TASK'),
    );
    expect(tasksOf(results).slice(0, 2)).toEqual(['A', 'B']);
    expect(tasksOf(results)[2]).toMatch(/^LOCAL-/);
  });

  it('GOV-02 takes tasks in turn that all fail, and a task in focus is no exception', async () => {
    const project = await ready('A', 'B');
    await forgeJson(project, ['focus', 'set', '--task', 'B: B']);
    const { results, end } = await loop(project, ['--max-failures', '7', '--', 'false']);
    expect(tasksOf(results)).toEqual(['B', 'B', 'A', 'A', 'B', 'A', 'B']);
    expect(end.reason).toBe(`${VAIN}; not passing yet: A, B`);
  });

  it('GOV-02 remembers from loop to loop which tasks failed twice', async () => {
    const project = await ready('A', 'B');
    await forgeJson(project, ['feature', 'add', '--no-run', 'C', 'c', '--test', 'test -f C']);
    expect(tasksOf((await loop(project, ['--max-cycles', '2', '--', 'false'])).results)).toEqual(['A', 'A']);
    const { results, end } = await loop(project, sh('test $FORGE_TASK = A || touch $FORGE_TASK'));
    expect(tasksOf(results).slice(0, 3)).toEqual(['B', 'C', 'A']);
    expect(end.reason).toBe(`${VAIN}; not passing yet: A`);
  });

  it('GOV-02 FEA-05 leaves a feature whose tests never failed to a person', async () => {
    const project = await ready('A');
    await runForge(project, ['feature', 'add', 'Z', 'z', '--test', 'true']);
    const { results, end } = await loop(project, sh('touch A'));
    // Once, because its run at the start counts for nothing.
    expect(tasksOf(results)).toEqual(['A', 'Z']);
    expect(end.reason).toBe(
      'nothing is left to do; not passing yet: Z (blocked by its proof (for a person: forge feature confirm Z))',
    );
  });

  it('GOV-02 runs a test that passed before once more when it fails', async () => {
    const project = await ready('A', 'B');
    const flaky = 'sh -c "test ! -f flip || { rm flip; exit 1; }"';
    await forgeJson(project, ['feature', 'add', '--no-run', 'F', 'f', '--test', flaky]);
    await forgeJson(project, ['done', 'F']);
    const result = await cycle(project, ['--task', 'A', ...sh('touch A flip')]);
    expect(result).toMatchObject({ classification: 'SUCCESS', report: { regression_flags: [] } });
    expect(result.warnings).toContain('F: its test failed, and passed when it was run again');
  });

  it('GOV-02 forge tells how the last loop ended, and what was not committed', async () => {
    const project = await ready('A', 'B');
    const where = async () => (await runForge(project, [])).stdout;
    expect(await where()).not.toMatch(/^Loop/m);
    await forgeJson(project, ['config', 'set', 'cycle.commit', 'true'], HUMAN);
    commitAll(project);
    const key = ['AKIA', 'Z7QK3MVXN5RT2WLP'].join('');
    const { results } = await loop(project, ['--max-cycles', '1', ...sh(`echo ${key} > keys; touch A`)]);
    expect(results[0]?.warnings.join()).toMatch(/The cycle is not committed: .*keys/);
    expect(await where()).toMatch(
      /^Loop +1 cycle \(1 SUCCESS\), ended (?:just now|.* ago): the requested number of cycles was run; not passing yet: B$/m,
    );
    project.write('B', '');
    await forgeJson(project, ['done', 'B']);
    expect(await where()).toMatch(/^Loop .*: the requested number of cycles was run$/m);
    rmSync(project.path('B'));
    await runForge(project, ['done', 'B']);
    runBinary(project.dir, ['loop', ...sh('kill -9 $PPID')]);
    expect(await where()).toMatch(/^Loop +1 cycle /m);
    runBinary(project.dir, ['loop', ...sh('if [ -f one ]; then kill -9 $PPID; else touch one; fi')]);
    expect(await where()).toMatch(
      /^Loop +killed after 1 cycle \(1 FAILURE\): forge loop --resume -- COMMAND$/m,
    );
  });

  it('GOV-02 says what is left and why', async () => {
    const project = await ready('A', 'B');
    await forgeJson(project, ['feature', 'edit', 'B', '--status', 'blocked'], HUMAN);
    await forgeJson(project, ['feature', 'add', '--no-run', 'C', 'c', '--blocked-by', 'B']);
    const { end, exit } = await loop(project, sh('touch A'));
    expect([end.stopped_by, exit]).toEqual(['nothing_left', 0]);
    expect(end.reason).toBe(
      'nothing is left to do; not passing yet: C (blocked by B), B (blocked by its status)',
    );
  });
});

describe('what a night leaves', () => {
  it('GOV-04 commits nothing while a feature fails that passes in HEAD', async () => {
    const project = await ready('A', 'B');
    await forgeJson(project, ['config', 'set', 'cycle.commit', 'true'], HUMAN);
    expect((await cycle(project, sh('touch A'))).report?.commit).toBeTruthy();
    await forgeJson(project, ['feature', 'add', '--no-run', 'C', 'c', '--test', 'test -f C'], HUMAN);
    expect((await cycle(project, ['--task', 'B', ...sh('rm A')])).classification).toBe('REGRESSION');
    const head = project.git('rev-parse', 'HEAD');
    const worse = await cycle(project, ['--task', 'C', ...sh('touch C')]);
    expect(worse).toMatchObject({ classification: 'SUCCESS', report: { commit: null } });
    expect(worse.warnings.join()).toContain('what passes in HEAD fails now: A');
    expect(project.git('rev-parse', 'HEAD')).toBe(head);
    const fixed = await cycle(project, ['--task', 'A', ...sh('touch A')]);
    expect(fixed.report?.commit).toBeTruthy();
    expect(project.git('show', '--name-only', '--format=', 'HEAD')).toContain('C');
  });
});

describe('loops in two worktrees', () => {
  it('EVT-03 do not take the same task, and forge fleet shows both', async () => {
    const [first, second] = await worktrees();
    const wait = 'touch started; while ! test -f go; do sleep 0.02; done; touch $FORGE_TASK';
    const running = cycle(first, sh(wait));
    await expect.poll(() => first.has('started')).toBe(true);
    const fleet = await forgeJson<{ rows: object[] }>(second, ['fleet']);
    expect(fleet.rows).toEqual([expect.objectContaining({ task: 'A', branch: 'main', health: 'working' })]);
    const { results, end } = await loop(second, sh('touch $FORGE_TASK'));
    expect(tasksOf(results)).toEqual(['B']);
    expect(end.reason).toMatch(
      /^nothing is left to do; not passing yet: A \(blocked by Ada Tester, branch main, folder \S+ on \S+\)$/,
    );
    first.write('go', '');
    expect(await running).toMatchObject({ task: 'A', classification: 'SUCCESS' });
  });

  it('EVT-03 leave a finished task alone until it is merged, also after more cycles', async () => {
    const [first, second] = await worktrees();
    expect(await cycle(first, sh('touch A'))).toMatchObject({ task: 'A', classification: 'SUCCESS' });
    await cycle(first, ['--task', 'none', '--', 'true']);
    const { results, end } = await loop(second, sh('touch $FORGE_TASK'));
    expect(tasksOf(results)).toEqual(['B']);
    expect(end.reason).toMatch(
      /^nothing is left to do; not passing yet: A \(blocked by Ada Tester, branch main, folder \S+ on \S+, which finished it \(pull or merge it, or: forge claim A\)\)$/,
    );
    commitAll(first);
    commitAll(second);
    second.git('merge', '-q', '-m', 'Merge', 'main');
    expect((await loop(second, sh('touch no'))).end.reason).toBe('nothing is left to do');
    // A regression there becomes a task there.
    expect((await cycle(second, ['--task', 'none', ...sh('rm A')])).report?.regression_flags).toEqual(['A']);
    expect(tasksOf((await loop(second, sh('touch A'))).results)).toEqual(['A']);
  });

  it('EVT-03 a person may ask for a task that was finished elsewhere', async () => {
    const [first, second] = await worktrees();
    await cycle(first, sh('touch A'));
    expect(await cycle(second, ['--task', 'A', ...sh('touch A')])).toMatchObject({
      classification: 'SUCCESS',
    });
  });
});
