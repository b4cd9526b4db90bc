import { describe, expect, it } from 'vitest';
import { knowledgeId } from '../../src/learning/pattern.js';
import { recordId } from '../../src/ledger/rules/record.js';
import { forgeError, forgeJson } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { HUMAN, linesOf, logOf, putLines, segmentOf, verify } from '../support/memory.js';
import type { Project } from '../support/project.js';
import { knowledgeOf, P, promote, recordAll, times } from '../support/promotions.js';

describe('knowledge that nobody earned', () => {
  /** Adds a record to the knowledge ledger past forge, with its links as they should be. */
  function smuggle(project: Project, change: object): void {
    const file = segmentOf(project, 'knowledge');
    const last = linesOf(project, file).at(-1) as string;
    const { n, tier } = JSON.parse(last) as { n: number; tier: string };
    const links = { v: 1, tier, n: n + 1, prev: recordId(last), seen: [] };
    const at = '2026-03-01T10:00:00.000Z';
    const body = {
      at,
      session: null,
      actor: 'supervisor',
      kind: 'knowledge',
      confidence: 'high',
      created_at: at,
    };
    putLines(project, file, [...linesOf(project, file), JSON.stringify({ ...links, ...body, ...change })]);
  }

  const forged = (pattern: string, evidence: readonly string[]) => ({
    knowledge_id: knowledgeId('execution', pattern),
    pattern,
    scope: 'execution',
    evidence_cycles: [1, 2, 3],
    evidence,
  });

  it.each([
    ['too little evidence', (ids: string[]) => forged('trust me', ids.slice(0, 2))],
    ['evidence of something else', (ids: string[]) => forged('trust me', ids)],
    ['failed cycles as evidence', (ids: string[]) => forged('fails', ids)],
    [
      'the id of something else',
      (ids: string[]) => ({ ...forged(P, ids), knowledge_id: knowledgeId('execution', 'x') }),
    ],
  ])('LTM-06 LTM-04 verify finds a promotion with %s, and a repair declares it void', async (_, make) => {
    const project = await makeForge();
    await recordAll(project, [...times(7), ...times(3, { pattern: 'fails', classification: 'FAILURE' })]);
    const failed = (await logOf(project, 'evaluation')).filter(
      ({ record }) => record.classification === 'FAILURE',
    );
    smuggle(project, make(failed.map(({ id }) => id)));
    const { status, problems } = await verify(project);
    expect([status, problems.map(({ code, line }) => [code, line])]).toEqual([
      'corrupted',
      [['unearned', 3]],
    ]);
    await forgeJson(project, ['memory', 'repair', '--reason', 'forged'], HUMAN);
    expect((await verify(project)).status).toBe('intact');
    expect((await promote(project)).known.map(({ pattern }) => pattern)).toEqual([P]);
  });
});

describe('forge memory override', () => {
  it('LTM-06 promote runs what is due; a dry run and a builder are shown what it would do', async () => {
    const project = await makeForge();
    await forgeJson(project, ['memory', 'override', 'freeze', '--reason', 'a bad week'], HUMAN);
    await recordAll(project, times(10));
    expect(await promote(project)).toMatchObject({ due: true, ran: false, waits: expect.any(String) });
    await forgeJson(project, ['memory', 'override', 'unfreeze', '--reason', 'over'], HUMAN);
    const before = await knowledgeOf(project);
    expect(await promote(project, '-n')).toMatchObject({ due: true, ran: false });
    const builder = { env: { FORGE_ROLE: 'builder' } };
    expect(await forgeJson(project, ['memory', 'promote'], builder)).toMatchObject({ due: true, ran: false });
    expect(await knowledgeOf(project)).toEqual(before);
    expect(await promote(project)).toMatchObject({ ran: true, promoted: [{ pattern: P }] });
    expect((await knowledgeOf(project)).length).toBeGreaterThan(before.length);
    expect(await promote(project)).toMatchObject({ due: false, ran: false, due_in: 10 });
  });

  it('LTM-14 freezes consolidation until a human ends that; recording goes on', async () => {
    const project = await makeForge();
    await forgeJson(project, ['memory', 'override', 'freeze', '--reason', 'a bad week'], HUMAN);
    const { consolidation } = await recordAll(project, times(12));
    expect(consolidation).toMatchObject({ ran: false, waits: expect.stringContaining('frozen') });
    const refused = await forgeError(project, ['memory', 'consolidate']);
    expect(refused).toMatchObject({ exit: 3, code: 'consolidation.waits' });
    await forgeJson(project, ['memory', 'override', 'unfreeze', '--reason', 'over'], HUMAN);
    expect(await forgeJson(project, ['memory', 'consolidate'])).toMatchObject({ ran: true });
    const audit = await logOf(project, 'audit');
    expect(audit.map(({ record }) => [record.action, record.reason, record.by])).toEqual([
      ['freeze', 'a bad week', 'terminal'],
      ['unfreeze', 'over', 'terminal'],
    ]);
  });

  it('LTM-14 invalidates knowledge for good, until a human says it again', async () => {
    const project = await makeForge();
    await recordAll(project, times(10));
    const before = project.read('.forge/memory/knowledge.jsonl');
    // As `memory log` names it.
    const [logged] = (await logOf(project, 'knowledge')).filter(({ kind }) => kind === 'knowledge');
    const named = logged?.id.slice(0, 12) ?? '';
    await forgeJson(project, ['memory', 'override', 'invalidate', named, '--reason', 'it was luck'], HUMAN);
    await recordAll(project, times(10));
    const { known, rejected } = await promote(project, P);
    expect(known).toMatchObject([{ status: 'invalid' }]);
    expect(rejected).toMatchObject([{ failed: ['invalidated'] }]);
    await forgeJson(project, ['memory', 'override', 'append', P, '--reason', 'no luck at all'], HUMAN);
    expect((await promote(project, P)).known).toMatchObject([{ status: 'valid', kind: 'knowledge' }]);
    expect(project.read('.forge/memory/knowledge.jsonl')).toBe(before);
  });

  it("LTM-07 LTM-14 a human's correction has no evidence and names its audit record", async () => {
    const project = await makeForge();
    const { audit } = await forgeJson<{ audit: { id: string } }>(
      project,
      ['memory', 'override', 'append', 'Use the mirror', '--scope', 'environment', '--reason', 'the office'],
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
  ])('B-103 LTM-14 %s is refused without a human, without a reason, and to a builder', async (_, words) => {
    const project = await makeForge();
    await recordAll(project, times(10));
    const call = ['memory', 'override', ...words];
    const agent = await forgeError(project, [...call, '--reason', 'because']);
    expect(agent).toMatchObject({ exit: 3, code: 'human.required' });
    const silent = await forgeError(project, call, HUMAN);
    expect(silent).toMatchObject({ exit: 2, code: 'reason.missing' });
    const builder = { ...HUMAN, env: { FORGE_ROLE: 'builder' } };
    expect(await forgeError(project, [...call, '--reason', 'because'], builder)).toMatchObject({
      exit: 3,
      code: 'role.denied',
    });
    expect((await knowledgeOf(project)).filter(({ kind }) => kind !== 'knowledge')).toHaveLength(1);
  });
});
