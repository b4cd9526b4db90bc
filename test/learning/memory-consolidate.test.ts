import { describe, expect, it } from 'vitest';
import { forgeJson, runForge } from '../support/forge.js';
import { ISSUES, makeForge } from '../support/forge-project.js';
import { verify } from '../support/memory.js';
import { contest, copyTo, cycle, knowledgeOf, P, promote, recordAll, times } from '../support/patterns.js';
import { commitAll } from '../support/project.js';

describe('forge memory consolidate', () => {
  it('LTM-08 runs with the tenth evaluated cycle, never in between', async () => {
    const project = await makeForge();
    for (let i = 1; i < 10; i++) {
      const { consolidation } = await recordAll(project, [cycle()]);
      expect(consolidation).toMatchObject({ ran: false, due_in: 10 - i, promoted: [] });
    }
    expect(await forgeJson(project, ['memory', 'consolidate'])).toMatchObject({
      due: false,
      due_in: 1,
      ran: false,
    });
    expect(await knowledgeOf(project)).toEqual([]);
    const { consolidation } = await recordAll(project, [cycle()]);
    expect(consolidation).toMatchObject({
      ran: true,
      due_in: 10,
      promoted: [{ pattern: P, scope: 'execution' }],
    });
    const [knowledge, run] = await knowledgeOf(project);
    expect(knowledge?.record).toMatchObject({
      kind: 'knowledge',
      pattern: P,
      evidence_cycles: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
      confidence: 'high',
      scope: 'execution',
    });
    const promoted = [knowledge?.record.knowledge_id];
    const shown = await runForge(project, ['memory', 'show', String(promoted[0]).slice(0, 12)]);
    expect(shown.stdout).toContain(String(knowledge?.id));
    const rest = { covers: [expect.any(String)], contested: [], reinstated: [], rejected: 0 };
    expect(run?.record).toMatchObject({
      kind: 'consolidation',
      cycles: 10,
      last_cycle: 10,
      promoted,
      ...rest,
    });
    const log = async () => (await runForge(project, 'memory log --tier knowledge')).stdout.trimEnd();
    expect(await log()).toMatch(/consolidation {2}1 promoted$/);
    await recordAll(project, times(10));
    expect(await log()).toMatch(/consolidation {2}nothing new$/);
    expect((await verify(project)).status).toBe('intact');
  });

  it('LTM-08 covers a batch larger than a window at once, and reports when the next is due', async () => {
    const project = await makeForge();
    const { consolidation } = await recordAll(project, times(25));
    expect(consolidation).toMatchObject({ ran: true, due_in: 10 });
    expect(await promote(project)).toMatchObject({
      due: false,
      due_in: 10,
      known: [{ pattern: P, status: 'valid' }],
    });
  });

  it('LTM-08 two clones that consolidated the same window merge into one piece of knowledge', async () => {
    const project = await makeForge();
    await recordAll(project, times(9));
    commitAll(project);
    const copy = copyTo(project, 'other');
    const [here, there] = [await recordAll(project, [cycle()]), await recordAll(copy, [cycle()])];
    expect([here.consolidation.ran, there.consolidation.ran]).toEqual([true, true]);
    for (const each of [project, copy]) commitAll(each);
    project.git('pull', '-q', '--no-rebase', copy.dir, 'other');
    const { known, due_in } = await promote(project);
    expect(known.map(({ pattern, status }) => [pattern, status])).toEqual([[P, 'valid']]);
    expect(due_in).toBe(10);
    expect((await verify(project)).status).toBe('intact');
  });

  it('LTM-08 two clones plan the same, byte for byte, in any merge direction', async () => {
    const project = await makeForge();
    await recordAll(project, times(5));
    commitAll(project);
    const copy = copyTo(project, 'other');
    await recordAll(project, [...times(2, { pattern: 'here' }), ...times(1, { holds: false })]);
    await recordAll(copy, [...times(1, { pattern: 'here' }), ...times(3, { pattern: 'there' })]);
    for (const each of [project, copy]) commitAll(each);
    const third = copyTo(copy, 'third');
    project.git('pull', '-q', '--no-rebase', copy.dir, 'other');
    third.git('pull', '-q', '--no-rebase', '--no-ff', project.dir, 'main');
    copy.git('pull', '-q', '--rebase', project.dir, 'main');
    const plans = [];
    for (const each of [project, copy, third]) plans.push(JSON.stringify(await promote(each)));
    expect(new Set(plans).size).toBe(1);
    expect(JSON.parse(plans[0] as string)).toMatchObject({
      due: true,
      promoted: [{ pattern: 'here' }, { pattern: 'there' }],
    });
  });

  it('LTM-09 contests contradicted knowledge, opens a task for forge next, and reinstates it after clean cycles', async () => {
    const project = await makeForge();
    await recordAll(project, times(10));
    const { consolidation } = await contest(project);
    expect(consolidation.contested).toMatchObject([{ pattern: P }]);
    expect((await promote(project, P)).known).toMatchObject([{ status: 'contested' }]);
    const [unit] = project.json<{ issues: { linear_id: string; title: string; type: string }[] }>(
      ISSUES,
    ).issues;
    expect(unit).toMatchObject({ type: 'investigation', title: expect.stringContaining(P) });
    const next = await forgeJson<{ task: { id: string } }>(project, ['next']);
    expect(next.task.id).toBe(unit?.linear_id);
    expect((await knowledgeOf(project)).map(({ kind }) => kind)).toContain('knowledge');
    const back = await recordAll(project, times(10));
    expect(back.consolidation.reinstated).toMatchObject([{ pattern: P }]);
    expect((await promote(project, P)).known).toMatchObject([{ status: 'valid' }]);
    expect(project.json<{ issues: object[] }>(ISSUES).issues).toEqual([]);
    expect(project.json(`.forge/linear/history/${unit?.linear_id}.json`)).toMatchObject({ state: 'done' });
  });
});
