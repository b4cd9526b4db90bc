import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { judgeSession } from '../../src/session/end.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { FOCUS, makeForge, PROGRESS, SESSION } from '../support/forge-project.js';
import { logOf } from '../support/memory.js';
import { recordAll, times } from '../support/patterns.js';
import type { Project } from '../support/project.js';

interface Candidate {
  id: string;
  pattern: string;
  seen: number;
}
interface Ended {
  cycle?: { cycle: number; classification: string | null; evaluation?: object };
  candidates: Candidate[];
}

const withTest = async (command = 'true'): Promise<Project> => {
  const project = await makeForge();
  await forgeJson(project, ['feature', 'add', 'A', 'Login works', '--test', command, '--no-run']);
  return project;
};

/** One session; `verified`: forge runs the feature's test in it. */
async function session(project: Project, verified: boolean, ...end: string[]): Promise<Ended> {
  await forgeJson(project, ['session', 'start']);
  if (verified) await runForge(project, ['feature', 'verify', 'A']);
  return forgeJson<Ended>(project, ['session', 'end', '--no-commit', ...end]);
}

const tier = async (project: Project, name: 'execution' | 'evaluation'): Promise<object[]> =>
  (await logOf(project, name)).map(({ record }) => record).filter((record) => record.kind === 'cycle');

describe('a session as a cycle', () => {
  it('SES-06 promotes a lesson that three sessions worded differently, tested in 3 cycles', async () => {
    const project = await withTest();
    const first = await session(project, true, '--learned', 'Tests need -x');
    const [{ id } = { id: '' }] = first.candidates;
    expect(first).toMatchObject({
      cycle: { cycle: 1, classification: 'SUCCESS' },
      candidates: [{ id: expect.stringMatching(/^C-\d{6}$/), pattern: 'Tests need -x', seen: 1 }],
    });

    // The briefing shows what there is to confirm, and does not repeat it as a learning.
    const started = await runForge(project, ['session', 'start']);
    expect(started.stdout).toContain(`${id}: Tests need -x, seen 1 time`);
    expect(started.stdout.match(/Tests need -x/g)).toHaveLength(1);
    await runForge(project, ['feature', 'verify', 'A']);
    const words = ['--learned', 'pytest wants the option -x', '--confirm', id];
    const second = await runForge(project, ['session', 'end', '--no-commit', ...words]);
    expect(second.stdout).toContain(`  ${id}: Tests need -x, seen 2 times`);

    await session(project, true, '--learned', 'never run tests without -x', '--confirm', id.toLowerCase());
    await recordAll(project, times(7));
    expect(await forgeJson(project, ['memory', 'promote', 'tests need -x'])).toMatchObject({
      known: [
        { pattern: 'Tests need -x', status: 'valid', tested: 3, reported: 0, evidence_cycles: [1, 2, 3] },
      ],
    });
    const briefing = await runForge(project, ['briefing']);
    expect(briefing.stdout).toContain('Tests need -x (execution, tested in 3 cycles)');
    expect(briefing.stdout).not.toContain(id);
  });

  it('SES-06 its tenth evaluated session consolidates, and memory report covers the week', async () => {
    const project = await withTest();
    const [{ id } = { id: '' }] = (await session(project, true, '--learned', 'Tests need -x')).candidates;
    await session(project, true, '--confirm', id);
    await session(project, true, '--confirm', id);
    await recordAll(project, times(6));
    await forgeJson(project, ['session', 'start']);
    await runForge(project, ['feature', 'verify', 'A']);
    const { stdout } = await runForge(project, ['session', 'end', '--no-commit']);
    expect(stdout).toMatch(/^ {2}cycle {4}10 SUCCESS\n {2}promoted Tests need -x$/m);
    const report = await forgeJson(project, ['memory', 'report']);
    expect(report).toMatchObject({
      knowledge_promoted: true,
      counts: { cycles: 10, evaluated: 10 },
      cycles: expect.arrayContaining([expect.objectContaining({ cycle: 1, task_id: 'A', exit_code: 0 })]),
    });
  });

  it('SES-06 with nothing verified there is no verdict: nothing learned records nothing, a failure is a cycle, a learning waits', async () => {
    const project = await withTest();
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['progress', 'add', 'read the code']);
    expect(await forgeJson(project, ['session', 'end'])).not.toHaveProperty('cycle');
    expect([await tier(project, 'execution'), await tier(project, 'evaluation')]).toEqual([[], []]);
    expect(await session(project, false, '--failed', 'mocking the clock')).toMatchObject({
      cycle: { cycle: 1, classification: null },
      candidates: [],
    });
    const first = await session(project, false, '--learned', 'Tests need -x');
    expect(first.cycle).toMatchObject({ classification: null });
    const [{ id } = { id: '' }] = first.candidates;
    const second = await session(project, false, '--confirm', id);
    expect(second.candidates).toMatchObject([{ id, seen: 2 }]);
    // Neither counts towards the ten of a consolidation, nor as evidence.
    expect(await forgeJson(project, ['memory', 'promote'])).toMatchObject({
      due_in: 10,
      rejected: [{ pattern: 'Tests need -x', candidate: id, observed: 2, qualified: 0 }],
    });
    expect(await forgeJson(project, ['memory', 'report'])).toMatchObject({
      counts: { cycles: 3, evaluated: 0 },
    });
  });

  it('SES-06 the end says why its cycle is a FAILURE', async () => {
    const project = await withTest('test ! -e broken');
    const line = async () => {
      await forgeJson(project, ['session', 'start']);
      await runForge(project, ['feature', 'verify', 'A']);
      return /^ {2}cycle +\d+ (.*)$/m.exec((await runForge(project, ['end'])).stdout)?.[1];
    };
    expect(await line()).toBe('SUCCESS');
    project.write('broken', '');
    expect(await line()).toBe('FAILURE: A no longer passes');
    expect(await line()).toBe('FAILURE: no verified feature passes');
  });

  it('SES-06 a regressed feature makes the session a FAILURE; a missing tool leaves no verdict', async () => {
    const project = await withTest('test ! -e broken');
    await session(project, true);
    project.write('broken', '');
    expect(await session(project, true, '--learned', 'Tests need -x')).toMatchObject({
      cycle: { classification: 'FAILURE', regression_flags: ['A'] },
    });
    expect((await tier(project, 'evaluation')).at(-1)).toMatchObject({
      environment_valid: true,
      regression_flags: ['A'],
      quality_signals: { features_verified: 1, features_passing: 0 },
      evidence: [{ feature: 'A', argv: ['test', '!', '-e', 'broken'], exit_code: 1, tree: null }],
    });
    await forgeJson(project, ['feature', 'edit', 'A', '--test', 'no-such-program']);
    expect(await session(project, true)).not.toHaveProperty('cycle');
  });

  it('SES-06 the last run of each feature in this session decides', () => {
    const run = (feature: string, exit_code: number, more: object = {}): object => ({
      ...{ feature, status: exit_code === 0 ? 'passing' : 'failing', exit_code, command: 'true' },
      ...{ duration_ms: 1, output_bytes: 0, output_sha256: '0'.repeat(64), ...more },
    });
    const judge = (...records: object[]) =>
      judgeSession(
        records.map((record) => ({ record: { session: 's', ...record } as never })),
        's',
      );
    const verified = (...runs: object[]): object => ({ kind: 'verification', runs });
    const regression = { kind: 'regression', feature: 'A' };
    const missing = run('B', 127, { not_run: 'uv: command not found' });
    for (const [records, classification, environment_valid] of [
      [[verified(run('A', 1)), verified(run('A', 0), run('B', 0))], 'SUCCESS', true],
      [[verified(run('A', 0), run('B', 1))], 'PARTIAL_SUCCESS', true],
      [[verified(run('A', 1))], 'FAILURE', true],
      [[regression, verified(run('A', 1), run('B', 0))], 'FAILURE', true],
      [[regression, verified(run('A', 0))], 'SUCCESS', true],
      [[verified(run('A', 0), missing)], 'SUCCESS', false],
    ] as const)
      expect(judge(...records)).toMatchObject({ classification, environment_valid });
    expect(judge(verified(missing))).toBeNull();
    expect(judge({ ...verified(run('A', 0)), session: 'other' })).toBeNull();
  });

  it('SES-06 after an end that was interrupted behind its record, the next end records the cycle once', async () => {
    const project = await withTest();
    await forgeJson(project, ['session', 'start']);
    await runForge(project, ['feature', 'verify', 'A']);
    const before = new Map([SESSION, PROGRESS, FOCUS].map((path) => [path, project.read(path)]));
    const words = ['session', 'end', '--learned', 'x', '--no-commit'];
    const { archive } = await forgeJson<{ archive: string }>(project, words);
    rmSync(project.path(archive));
    rmSync(project.path('.git/forge/kept'), { recursive: true });
    for (const [path, text] of before) project.write(path, text);
    const again = await forgeJson<{ archive: string }>(project, words);
    expect([again.archive, project.has(archive)]).toEqual([archive, true]);
    expect(await tier(project, 'execution')).toHaveLength(1);
    expect(await tier(project, 'evaluation')).toHaveLength(1);
    const { learnings } = await forgeJson<{ learnings: object[] }>(project, ['knowledge', 'list']);
    expect(learnings).toHaveLength(1);
  });

  it('GOV-05 --confirm refuses an unknown or ambiguous id, and the session continues', async () => {
    const project = await withTest();
    await forgeJson(project, ['session', 'start']);
    for (const id of ['C-1', 'nonsense'])
      expect(await forgeError(project, ['session', 'end', '--confirm', id])).toMatchObject({
        code: 'candidate.unknown',
        exit: 2,
      });
    expect((await forgeJson<{ active: object | null }>(project, 'session status')).active).not.toBeNull();
  });
});
