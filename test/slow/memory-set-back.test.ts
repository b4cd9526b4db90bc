import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { forgeError, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { fixedOf, HALT, linesOf, putLines, record, segmentOf, typeHint, verify } from '../support/memory.js';
import type { Project } from '../support/project.js';

const EXECUTION = fixedOf('execution');

/** Two commits that bring records, the first of which another one's work conflicts with. */
async function makeHistory(): Promise<Project> {
  const project = await makeForge();
  for (const text of ['one', 'two', 'three']) {
    await record(project);
    if (text === 'one') await runForge(project, ['memory', 'fold']);
    project.write('work.txt', text);
    project.git('add', '-A');
    project.git('commit', '-qm', text);
  }
  return project;
}

const tryGit = (project: Project, ...args: string[]): void => {
  try {
    project.git(...args);
  } catch {
    // A conflict is what is wanted.
  }
};

/** Memory is as HEAD has it, and takes records. */
async function expectWritable(project: Project): Promise<void> {
  expect(project.has(HALT)).toBe(false);
  expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0, problems: [] });
  await record(project);
}

describe('what git was asked for is no damage', () => {
  it('LTM-04 LTM-05 in the middle of a revert records go on; when it is aborted nothing is left of it', async () => {
    const project = await makeHistory();
    tryGit(project, 'revert', '--no-edit', 'HEAD~1');
    expect(project.has('.git/REVERT_HEAD')).toBe(true);
    const { status, notes } = await verify(project);
    expect(status).toBe('intact');
    expect(notes).toContain('a revert is in progress: 1 execution record not here now, and safe');
    await record(project);
    project.git('revert', '--abort');
    await expectWritable(project);
  });

  it('LTM-05 `git revert -n` is the middle of a revert too', async () => {
    const project = await makeHistory();
    project.git('revert', '-n', 'HEAD');
    expect((await verify(project)).status).toBe('intact');
    project.git('revert', '--abort');
    await expectWritable(project);
  });

  /** How whole files come to lack what HEAD has, by a person's own wish. */
  const WISHES: [what: string, wish: (project: Project) => void, message: RegExp][] = [
    [
      'restore --source',
      (project) => project.git('restore', '--source=HEAD~1', '.forge/memory'),
      /taken away/,
    ],
    ['rm', (project) => project.git('rm', '-rq', '.forge/memory'), /taken away/],
    ['a hand', (project) => rmSync(project.path('.forge/memory'), { recursive: true }), /taken away/],
    [
      'checkout of an older fixed file',
      (project) =>
        project.git(
          'checkout',
          '-q',
          `${project.git('log', '--format=%H', '--', EXECUTION).trim().split('\n').at(-1)}`,
          '--',
          EXECUTION,
        ),
      /set back to what commit [0-9a-f]{12} has/,
    ],
  ];

  it.each(WISHES)(
    'LTM-04 LTM-05 after %s writing waits, without a halt, and the hint ends it',
    async (_, wish, message) => {
      const project = await makeHistory();
      wish(project);
      const { exitCode, problems } = await verify(project);
      expect(exitCode).toBe(4);
      expect(problems.length).toBeGreaterThan(0);
      for (const problem of problems) {
        expect(problem).toMatchObject({ code: 'set_back', message: expect.stringMatching(message) });
        expect(problem.hint).toMatch(/^git restore -SW \.forge\//);
      }
      const error = await forgeError(project, ['session', 'start']);
      expect(error).toMatchObject({ exitCode: 4, code: 'memory.corrupted', hint: problems[0]?.hint });
      expect(project.has(HALT)).toBe(false);
      for (const { hint } of problems) await typeHint(project, hint);
      await expectWritable(project);
    },
  );

  it('LTM-05 bytes that no commit has are damage, staged or not, and halt', async () => {
    for (const staged of [false, true]) {
      const project = await makeHistory();
      const lines = linesOf(project, EXECUTION);
      putLines(project, EXECUTION, lines.slice(1));
      if (staged) project.git('add', '-A');
      // Only an operation that is not finished may stage what no commit has.
      expect((await verify(project)).problems).toMatchObject([{ code: 'removed', file: EXECUTION }]);
      expect(project.has(HALT)).toBe(true);
    }
  });

  it('LTM-05 an edit is damage though another file is set back', async () => {
    const project = await makeHistory();
    await runForge(project, ['note', 'add', 'a']);
    await runForge(project, ['note', 'add', 'b']);
    const file = segmentOf(project, 'notes');
    project.git('add', '-A');
    project.git('commit', '-qm', 'four');
    putLines(project, file, linesOf(project, file).slice(1));
    project.git('rm', '-q', '--cached', EXECUTION);
    rmSync(project.path(EXECUTION));
    const codes = (await verify(project)).problems.map(({ tier, code }) => [tier, code]);
    expect(codes).toContainEqual(['notes', 'removed']);
    expect(codes).toContainEqual(['execution', 'set_back']);
    expect(project.has(HALT)).toBe(true);
  });
});

describe('a commit that git has forgotten', () => {
  it('LTM-04 a reset, with the reflog and the objects purged, is said: the last verification knows the heads', async () => {
    const project = await makeForge();
    await record(project);
    project.git('add', '-A');
    project.git('commit', '-qm', 'one');
    const before = await verify(project);
    const head = before.tiers.find(({ tier }) => tier === 'execution')?.heads[0] ?? '';
    project.git('reset', '-q', '--hard', 'HEAD~1');
    project.git('reflog', 'expire', '--expire=now', '--all');
    project.git('gc', '-q', '--prune=now');
    const { exitCode, problems } = await verify(project);
    expect([exitCode, problems.map(({ tier, code }) => [tier, code])]).toEqual([
      4,
      [['execution', 'anchor']],
    ]);
    expect(problems[0]?.message).toContain(head.slice(0, 12));
    await typeHint(project, problems[0]?.hint ?? '');
    await expectWritable(project);
  });
});

describe('what came back without what it follows', () => {
  it('LTM-04 LTM-16 is not cut when a commit drops the rest: that comes back too', async () => {
    const project = await makeForge();
    await record(project);
    await record(project);
    const file = segmentOf(project, 'execution');
    const [first = '', second = ''] = linesOf(project, file);
    // Once the first was committed and the second taken and put back.
    putLines(project, file, [first]);
    const back = '.forge/memory/execution.d/restored-0123abcd.jsonl';
    putLines(project, back, [second]);
    project.git('add', '-A');
    project.git('commit', '-qm', 'one');
    expect(await verify(project)).toMatchObject({ status: 'intact' });
    project.git('rm', '-q', file);
    project.git('rm', '-q', '--cached', back);
    project.git('commit', '-qm', 'three');
    const { problems } = await verify(project);
    expect(problems.map(({ code, restorable }) => [code, restorable])).toEqual([['dropped', true]]);
    await record(project);
    await expectWritable(project);
  });
});
