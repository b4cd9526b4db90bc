import { describe, expect, it } from 'vitest';
import { expectError, forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { HUMAN, logOf } from '../support/memory.js';
import { contest, knowledgeOf, P, promote, recordAll, times } from '../support/patterns.js';

describe('forge memory override', () => {
  it('LTM-06 LTM-14 a human freezes consolidation, while recording continues; promote runs what is due after it', async () => {
    const project = await makeForge();
    await forgeJson(project, ['memory', 'override', 'freeze', '--reason', 'a bad week'], HUMAN);
    const { consolidation } = await recordAll(project, times(10));
    const waits = expect.stringContaining('frozen');
    expect(consolidation).toMatchObject({ ran: false, waits });
    expect(await promote(project)).toMatchObject({ due: true, ran: false, waits });
    await expectError(project, ['memory', 'consolidate'], '3 consolidation.waits');
    await forgeJson(project, ['memory', 'override', 'unfreeze', '--reason', 'over'], HUMAN);
    const audit = await logOf(project, 'audit');
    expect(audit.map(({ record }) => [record.action, record.reason, record.by])).toEqual([
      ['freeze', 'a bad week', 'terminal'],
      ['unfreeze', 'over', 'terminal'],
    ]);
    const before = await knowledgeOf(project);
    expect(await promote(project, '-n')).toMatchObject({ due: true, ran: false });
    const builder = { env: { FORGE_ROLE: 'builder' } };
    expect(await forgeJson(project, ['memory', 'promote'], builder)).toMatchObject({ due: true, ran: false });
    expect(await knowledgeOf(project)).toEqual(before);
    expect(await promote(project)).toMatchObject({ ran: true, promoted: [{ pattern: P }] });
    expect((await knowledgeOf(project)).length).toBeGreaterThan(before.length);
    expect(await promote(project)).toMatchObject({ due: false, ran: false, due_in: 10 });
    await forgeJson(project, ['memory', 'override', 'freeze', '--reason', 'once more'], HUMAN);
    await recordAll(project, times(10));
    await forgeJson(project, ['memory', 'override', 'unfreeze', '--reason', 'over'], HUMAN);
    expect(await forgeJson(project, ['memory', 'consolidate'])).toMatchObject({ ran: true });
  });

  it('LTM-09 promote and report show the evidence, and contested knowledge under a separate heading', async () => {
    const project = await makeForge();
    const run = { argv: ['npm', 'test'], exit_code: 0, duration_ms: 1, tree: null };
    const evidence = [{ ...run, output_bytes: 0, output_sha256: '0'.repeat(64) }];
    const tested = times(3, { pattern: 'Tests need -x' }).map((cycle) => ({ ...cycle, evidence }));
    await recordAll(project, tested);
    expect((await runForge(project, ['briefing'])).stdout).toContain(
      'Tests need -x, seen 3 times, to be promoted',
    );
    await recordAll(project, times(7));
    const { known } = await promote(project);
    expect(known.map(({ pattern, tested, reported }) => [pattern, tested, reported])).toEqual([
      ['Tests need -x', 3, 0],
      [P, 0, 7],
    ]);
    const said = async (command: string): Promise<string> =>
      (await runForge(project, ['memory', command])).stdout;
    for (const command of ['promote', 'report']) {
      const text = await said(command);
      expect(text).toMatch(/Tests need -x +tested in 3 cycles/);
      expect(text).toMatch(/Retry the install once +reported 7 times/);
      expect(text).not.toMatch(/Contested|proven/);
    }
    await contest(project);
    for (const command of ['promote', 'report'])
      expect(await said(command)).toMatch(
        /Contested[^\n]*do not rely on[^\n]*\n +contested +execution +Retry/,
      );
  });

  it('LTM-14 invalidates knowledge permanently, until a human adds it again', async () => {
    const project = await makeForge();
    await recordAll(project, times(10));
    const before = await knowledgeOf(project);
    // As `memory log` names it.
    const [logged] = (await logOf(project, 'knowledge')).filter(({ kind }) => kind === 'knowledge');
    const named = logged?.id.slice(0, 12) ?? '';
    await forgeJson(project, ['memory', 'override', 'invalidate', named, '--reason', 'it was luck'], HUMAN);
    await recordAll(project, times(10));
    const knowledge = String(logged?.record.knowledge_id);
    const { known, rejected } = await promote(project, knowledge.slice(0, 12));
    expect(known).toMatchObject([{ status: 'invalid' }]);
    expect(rejected).toMatchObject([{ failed: ['invalidated'] }]);
    await forgeJson(project, ['memory', 'override', 'append', P, '--reason', 'no luck at all'], HUMAN);
    expect((await promote(project, P)).known).toMatchObject([{ status: 'valid', kind: 'knowledge' }]);
    expect((await knowledgeOf(project)).slice(0, before.length)).toEqual(before);
  });

  it('LTM-14 rejects a candidate, so that it is neither shown nor promoted', async () => {
    const project = await makeForge();
    await recordAll(project, times(2));
    const id = /C-\d{6}/.exec((await runForge(project, ['briefing'])).stdout)?.[0] as string;
    const asked = await runForge(project, ['memory', 'promote', id]);
    expect([asked.exitCode, asked.stdout]).toEqual([1, expect.stringContaining(`${P}  seen in 2 cycles`)]);
    const { hint } = await forgeError(project, ['knowledge', 'remove', id.toLowerCase()]);
    expect(hint).toContain(`forge memory override invalidate ${id} --reason "TEXT"`);
    await forgeJson(
      project,
      ['memory', 'override', 'invalidate', id.toLowerCase(), '--reason', 'it was luck'],
      HUMAN,
    );
    expect((await runForge(project, ['briefing'])).stdout).not.toContain(P);
    await recordAll(project, times(8));
    const { known, promoted, rejected } = await promote(project);
    expect([known, promoted]).toMatchObject([[{ pattern: P, status: 'invalid' }], []]);
    expect(rejected).toMatchObject([{ pattern: P, failed: ['invalidated'] }]);
  });

  it("LTM-07 LTM-14 a human's correction has no evidence and names its audit record", async () => {
    const project = await makeForge();
    const { audit } = await forgeJson<{ audit: { id: string } }>(
      project,
      'memory override append "Use the mirror" --scope environment --reason "the office"',
      HUMAN,
    );
    const [correction] = await knowledgeOf(project);
    expect(correction?.record).toMatchObject({
      kind: 'correction',
      pattern: 'Use the mirror',
      scope: 'environment',
      evidence_cycles: [],
      evidence: [],
      audit: audit.id,
    });
  });

  it.each([
    ['append', ['append', 'text']],
    ['invalidate', ['invalidate', P]],
    ['freeze', ['freeze']],
    ['unfreeze', ['unfreeze']],
  ])('B-103 LTM-14 %s is refused without a human, and without a reason', async (_, words) => {
    const project = await makeForge();
    await recordAll(project, times(10));
    const call = ['memory', 'override', ...words];
    const agent = await forgeError(project, [...call, '--reason', 'because']);
    expect(agent).toMatchObject({ exit: 3, code: 'human.required' });
    const silent = await forgeError(project, call, HUMAN);
    expect(silent).toMatchObject({ exit: 2, code: 'reason.missing' });
    expect((await knowledgeOf(project)).filter(({ kind }) => kind !== 'knowledge')).toHaveLength(1);
  });
});
