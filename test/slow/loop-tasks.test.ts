import { describe, expect, it } from 'vitest';
import { cycle, loop, ready as onlyA, sh } from '../support/cycles.js';
import { forgeJson, runBinary, runForge } from '../support/forge.js';
import { HUMAN } from '../support/memory.js';
import { commitAll, makeFolder, type Project, projectAt } from '../support/project.js';

/** Tasks A and B, each done by a file of its name. */
async function ready(): Promise<Project> {
  const project = await onlyA('test -f A');
  await forgeJson(project, ['feature', 'add', '--no-run', 'B', 'b', '--test', 'test -f B']);
  return project;
}

/** The project with committed memory, and a second worktree of it on the branch `other`. */
async function worktrees(): Promise<[Project, Project]> {
  const project = await ready();
  commitAll(project);
  const other = projectAt(`${makeFolder()}/other`);
  project.git('worktree', 'add', '-q', '-b', 'other', other.dir);
  await runForge(other, ['trust', '--yes'], HUMAN);
  return [project, other];
}

const VAIN = 'too many cycles in a row failed or made no feature pass';
const tasksOf = (results: readonly { task: string }[]): string[] => results.map(({ task }) => task);

describe('a loop', () => {
  it('GOV-02 puts a task that failed twice behind the others, and names it at the end', async () => {
    const project = await ready();
    const { results, end, exit } = await loop(project, sh('test $FORGE_TASK = A || touch $FORGE_TASK'));
    expect(tasksOf(results)).toEqual(['A', 'A', 'B', 'A', 'A', 'A']);
    expect([end.stopped_by, exit]).toEqual(['max_failures', 1]);
    expect(end.reason).toBe(`${VAIN}; not passing yet: A`);
  });

  it('GOV-02 takes an issue after the features with tests', async () => {
    const project = await ready();
    await forgeJson(project, ['linear', 'new', 'Something to think about']);
    const { results } = await loop(
      project,
      sh('test $FORGE_TASK = A || test $FORGE_TASK = B && touch $FORGE_TASK'),
    );
    expect(tasksOf(results).slice(0, 2)).toEqual(['A', 'B']);
    expect(tasksOf(results)[2]).toMatch(/^LOCAL-/);
  });

  it('GOV-02 takes tasks in turn that all fail, and a task in focus is no exception', async () => {
    const project = await ready();
    await forgeJson(project, ['focus', 'set', '--task', 'B: b']);
    const { results, end } = await loop(project, ['--max-failures', '7', '--', 'false']);
    expect(tasksOf(results)).toEqual(['B', 'B', 'A', 'A', 'B', 'A', 'B']);
    expect(end.reason).toBe(`${VAIN}; not passing yet: A, B`);
  });

  it('GOV-02 remembers from loop to loop which tasks failed twice', async () => {
    const project = await ready();
    await forgeJson(project, ['feature', 'add', '--no-run', 'C', 'c', '--test', 'test -f C']);
    expect(tasksOf((await loop(project, ['--max-cycles', '2', '--', 'false'])).results)).toEqual(['A', 'A']);
    const { results, end } = await loop(project, sh('test $FORGE_TASK = A || touch $FORGE_TASK'));
    expect(tasksOf(results).slice(0, 3)).toEqual(['B', 'C', 'A']);
    expect(end.reason).toBe(`${VAIN}; not passing yet: A`);
  });

  it('GOV-02 FEA-05 leaves a feature whose tests never failed to a person', async () => {
    const project = await onlyA('test -f A');
    await runForge(project, ['feature', 'add', 'Z', 'z', '--test', 'true']);
    const { results, end } = await loop(project, sh('touch A'));
    // Once, because its run at the start counts for nothing.
    expect(tasksOf(results)).toEqual(['A', 'Z']);
    expect(end.reason).toBe(
      'nothing is left to do; not passing yet: Z (blocked by its proof (for a person: forge feature confirm Z))',
    );
  });

  it('GOV-02 runs a test that passed before once more when it fails', async () => {
    const project = await ready();
    const flaky = 'sh -c "test ! -f flip || { rm flip; exit 1; }"';
    await forgeJson(project, ['feature', 'add', '--no-run', 'F', 'f', '--test', flaky]);
    await forgeJson(project, ['done', 'F']);
    const result = await cycle(project, ['--task', 'A', ...sh('touch A flip')]);
    expect(result).toMatchObject({ classification: 'SUCCESS', report: { regression_flags: [] } });
    expect(result.warnings).toContain('F: its test failed, and passed when it was run again');
  });

  it('GOV-02 forge tells how the last loop ended, and what was not committed', async () => {
    const project = await ready();
    const where = async () => (await runForge(project, [])).stdout;
    expect(await where()).not.toMatch(/^Loop/m);
    await forgeJson(project, ['config', 'set', 'cycle.commit', 'true'], HUMAN);
    commitAll(project);
    const key = ['AKIA', 'Z7QK3MVXN5RT2WLP'].join('');
    const { results } = await loop(project, ['--max-cycles', '1', ...sh(`echo ${key} > keys; touch A`)]);
    expect(results[0]?.warnings.join()).toMatch(/The cycle is not committed: .*keys/);
    expect(await where()).toMatch(
      /^Loop +1 cycle \(1 SUCCESS\), ended (?:just now|.* ago): the requested number of cycles was run/m,
    );
    runBinary(project.dir, ['loop', ...sh('kill -9 $PPID')]);
    expect(await where()).toMatch(/^Loop +1 cycle /m);
    runBinary(project.dir, ['loop', ...sh('if [ -f one ]; then kill -9 $PPID; else touch one; fi')]);
    expect(await where()).toMatch(
      /^Loop +killed after 1 cycle \(1 FAILURE\): forge loop --resume -- COMMAND$/m,
    );
  });

  it('GOV-02 says what is left and why', async () => {
    const project = await ready();
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
    const project = await ready();
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
