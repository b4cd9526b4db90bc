import { cpSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { knowledgeId } from '../../src/domain/learning/pattern.js';
import { recordId } from '../../src/domain/ledger/ledger.js';
import type { Consolidated, Promoted } from '../../src/index.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeFolder, type Project, projectAt } from '../support/project.js';
import { HUMAN, linesOf, logOf, putLines, type Recorded, segmentOf, verify } from './memory.js';
import { ISSUES, makeForge } from './project.js';

const P = 'Retry the install once';

interface Change {
  pattern?: string;
  holds?: boolean;
  classification?: string;
  environment_valid?: boolean;
}

/** One evaluated cycle that shows a pattern; clean unless it is said otherwise. */
function cycle({ pattern = P, holds = true, ...rest }: Change = {}): object {
  const patterns = [{ pattern, scope: 'execution', holds }];
  return {
    task_id: 'A',
    exit_code: 0,
    classification: 'SUCCESS',
    environment_valid: true,
    patterns,
    ...rest,
  };
}

const recordAll = (
  project: Project,
  cycles: readonly object[],
): Promise<Recorded & { consolidation: Consolidated }> =>
  forgeJson(project, ['memory', 'record', '-'], {
    stdin: cycles.map((each) => JSON.stringify(each)).join('\n'),
  });

const times = (count: number, change?: Change): object[] =>
  Array.from({ length: count }, () => cycle(change));
/** The answer, also where the exit code says that a pattern fails a condition. */
async function promote(project: Project, ...args: string[]): Promise<Promoted> {
  return JSON.parse((await runForge(project, ['memory', 'promote', ...args, '--json'])).stdout);
}
const knowledgeOf = (project: Project) => logOf(project, 'knowledge');

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
    expect(run?.record).toMatchObject({ kind: 'consolidation', cycles: 10, last_cycle: 10 });
    expect((await verify(project)).status).toBe('intact');
  });

  it('LTM-08 counts cycles that were evaluated: those without an evaluation, and a key twice, do not', async () => {
    const project = await makeForge();
    await recordAll(project, times(8));
    await forgeJson(project, ['memory', 'record', '--task', 'A', '--exit-code', '0']);
    const keyed = { ...cycle(), idempotency_key: 'k-1' };
    await recordAll(project, [keyed]);
    const { consolidation } = await recordAll(project, [keyed]);
    expect(consolidation).toMatchObject({ ran: false, due_in: 1 });
  });

  it('LTM-08 covers a batch that is longer than a window at once, and says when the next is due', async () => {
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
    project.git('add', '-A');
    project.git('commit', '-qm', 'memory');
    const copy = projectAt(makeFolder());
    cpSync(project.dir, copy.dir, { recursive: true });
    copy.git('checkout', '-qb', 'other');
    const [here, there] = [await recordAll(project, [cycle()]), await recordAll(copy, [cycle()])];
    expect([here.consolidation.ran, there.consolidation.ran]).toEqual([true, true]);
    for (const each of [project, copy]) {
      each.git('add', '-A');
      each.git('commit', '-qm', 'memory');
    }
    project.git('pull', '-q', '--no-rebase', copy.dir, 'other');
    const { known, due_in } = await promote(project);
    expect(known.map(({ pattern, status }) => [pattern, status])).toEqual([[P, 'valid']]);
    expect(due_in).toBe(10);
    expect((await verify(project)).status).toBe('intact');
  });

  it('LTM-08 two clones that worked on plan the same, byte for byte, whichever takes in the other', async () => {
    const project = await makeForge();
    await recordAll(project, times(5));
    project.git('add', '-A');
    project.git('commit', '-qm', 'memory');
    const copy = projectAt(makeFolder());
    cpSync(project.dir, copy.dir, { recursive: true });
    copy.git('checkout', '-qb', 'other');
    await recordAll(project, [...times(2, { pattern: 'here' }), ...times(1, { holds: false })]);
    await recordAll(copy, [...times(1, { pattern: 'here' }), ...times(3, { pattern: 'there' })]);
    for (const each of [project, copy]) {
      each.git('add', '-A');
      each.git('commit', '-qm', 'memory');
    }
    const third = projectAt(makeFolder());
    cpSync(copy.dir, third.dir, { recursive: true });
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

  it('LTM-06 names the failing condition of each pattern, and exits 1 for one that was asked for', async () => {
    const project = await makeForge();
    await recordAll(project, [
      ...times(2),
      ...times(3, { pattern: 'fails', classification: 'FAILURE' }),
      ...times(3, { pattern: 'elsewhere', environment_valid: false }),
    ]);
    const { rejected, due_in } = await promote(project);
    expect(due_in).toBe(2);
    expect(rejected.map(({ pattern, failed }) => [pattern, failed])).toEqual([
      [P, ['observed']],
      ['fails', ['classification']],
      ['elsewhere', ['environment_valid']],
    ]);
    const { exitCode, stdout } = await runForge(project, ['memory', 'promote', 'FAILS.']);
    expect([exitCode, stdout]).toEqual([
      1,
      expect.stringContaining('a cycle was no SUCCESS or PARTIAL_SUCCESS'),
    ]);
    const unknown = await forgeError(project, ['memory', 'promote', 'never seen']);
    expect(unknown).toMatchObject({ exit: 2, code: 'pattern.unknown' });
  });

  it('LTM-09 contests what is contradicted, opens work that forge next sees, and lets clean cycles bring it back', async () => {
    const project = await makeForge();
    await recordAll(project, times(10));
    const { consolidation } = await recordAll(project, [
      ...times(9, { pattern: 'other' }),
      cycle({ holds: false, classification: 'FAILURE' }),
    ]);
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

  it('LTM-09 keeps the history of each investigation of the same knowledge', async () => {
    const project = await makeForge();
    await recordAll(project, times(10));
    const opened: string[] = [];
    for (let turn = 1; turn <= 3; turn++) {
      await recordAll(project, [
        ...times(9, { pattern: 'other' }),
        cycle({ holds: false, classification: 'FAILURE' }),
      ]);
      opened.push(project.json<{ issues: { created_at: string }[] }>(ISSUES).issues[0]?.created_at ?? '');
      await recordAll(project, times(10));
    }
    const id = `INVESTIGATE-${knowledgeId('execution', P).slice(0, 8).toUpperCase()}`;
    const kept = ['', '-2', '-3'].map((end) =>
      project.json<{ created_at: string; state: string }>(`.forge/linear/history/${id}${end}.json`),
    );
    expect(kept.map(({ created_at, state }) => [created_at, state])).toEqual(
      opened.map((at) => [at, 'done']),
    );
  });
});

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
