import { describe, expect, it } from 'vitest';
import { forgeJson } from '../support/forge.js';
import { ISSUES, makeForge } from '../support/forge-project.js';
import { HUMAN, verify } from '../support/memory.js';
import { contest, copyTo, P, promote, recordAll, times } from '../support/patterns.js';
import type { Project } from '../support/project.js';
import { commitAll } from '../support/project.js';

interface Unit {
  linear_id: string;
  type?: string;
}

const unitsOf = (project: Project): Unit[] => project.json<{ issues: Unit[] }>(ISSUES).issues;
const next = async (project: Project): Promise<string | undefined> =>
  (await forgeJson<{ task: { id: string } | null }>(project, ['next'])).task?.id;

async function contested(): Promise<{ project: Project; unit: Unit; issues: string }> {
  const project = await makeForge();
  await recordAll(project, times(10));
  await contest(project);
  const [unit] = unitsOf(project);
  if (!unit) throw new Error('no investigation was opened');
  expect(await next(project)).toBe(unit.linear_id);
  return { project, unit, issues: project.read(ISSUES) };
}

const isDone = (project: Project, { linear_id }: Unit): void =>
  expect(project.json(`.forge/linear/history/${linear_id}.json`)).toMatchObject({ state: 'done' });

describe('an investigation of knowledge that is no longer contested', () => {
  it('LTM-09 LTM-14 ends with a reset of the knowledge', async () => {
    const { project, unit } = await contested();
    await forgeJson(project, ['memory', 'override', 'reset', 'knowledge', '--reason', 'anew'], HUMAN);
    expect(await next(project)).toBeUndefined();
    expect((await promote(project)).known).toEqual([]);
    await forgeJson(project, ['session', 'start']);
    expect(unitsOf(project)).toEqual([]);
    isDone(project, unit);
  });

  it('LTM-09 is ignored after a merge with a human invalidation', async () => {
    const project = await makeForge();
    await recordAll(project, times(10));
    commitAll(project);
    const other = copyTo(project, 'other');
    await forgeJson(project, ['memory', 'override', 'invalidate', P, '--reason', 'luck'], HUMAN);
    await contest(other);
    const [unit] = unitsOf(other);
    for (const each of [project, other]) commitAll(each);
    project.git('pull', '-q', '--no-rebase', other.dir, 'other');
    expect((await promote(project, P)).known).toMatchObject([{ status: 'invalid' }]);
    expect(project.has(`.forge/linear/active.d/${unit?.linear_id}.json`)).toBe(true);
    expect(await next(project)).toBeUndefined();
    const { briefing } = await forgeJson<{ briefing: { text: string } }>(project, ['session', 'start']);
    expect(briefing.text).not.toContain('INVESTIGATE-');
    expect(unitsOf(project)).toEqual([]);
    isDone(project, unit as Unit);
    expect((await verify(project)).status).toBe('intact');
  });

  it.each([
    ['the next consolidation', (project: Project) => recordAll(project, times(10, { pattern: 'new' }))],
    [
      'the next override',
      (project: Project) =>
        forgeJson(project, ['memory', 'override', 'append', 'Use it', '--reason', 'so it is'], HUMAN),
    ],
    ['the next session', (project: Project) => forgeJson(project, ['session', 'start'])],
  ])('LTM-09 is ignored after a kill, and %s closes it', async (_, act) => {
    const { project, unit, issues } = await contested();
    expect((await recordAll(project, times(10))).consolidation.reinstated).toMatchObject([{ pattern: P }]);
    // As it stood between the records and the work that they settle.
    const own = { linear_id: 'TEAM-1', title: 'Look into it', type: 'investigation' };
    const left = JSON.parse(issues) as { issues: object[] };
    project.write(ISSUES, JSON.stringify({ ...left, issues: [...left.issues, own] }));
    expect(await next(project)).toBe('TEAM-1');
    await act(project);
    expect(unitsOf(project)).toEqual([own]);
    isDone(project, unit);
  });
});
