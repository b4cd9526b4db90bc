import { describe, expect, it } from 'vitest';
import { knowledgeId } from '../../src/learning/pattern.js';
import { recordId } from '../../src/ledger/rules/record.js';
import { forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { HALT, HUMAN, linesOf, logOf, putLines, segmentOf, verify } from '../support/memory.js';
import { commitAll, copyTo, P, promote, recordAll, times } from '../support/patterns.js';
import type { Project } from '../support/project.js';

const Q = 'Trust me';
const NOWHERE = ['a', 'b', 'c'].map((digit) => digit.repeat(64));

/** Adds a record to the knowledge ledger past forge, with its links as they should be. */
function smuggle(project: Project, change: Record<string, unknown>): void {
  const file = segmentOf(project, 'knowledge');
  const last = linesOf(project, file).at(-1) as string;
  const { n, tier } = JSON.parse(last) as { n: number; tier: string };
  const at = '2026-03-01T10:00:00.000Z';
  const links = { v: 1, tier, n: n + 1, prev: recordId(last), seen: [] };
  const body = { at, session: null, actor: 'supervisor', confidence: 'high', created_at: at };
  putLines(project, file, [...linesOf(project, file), JSON.stringify({ ...links, ...body, ...change })]);
}

const about = (pattern: string, kind = 'knowledge'): Record<string, unknown> => ({
  kind,
  knowledge_id: knowledgeId('execution', pattern),
  pattern,
  scope: 'execution',
  evidence_cycles: kind === 'knowledge' ? [1, 2, 3] : [],
});

const override = (project: Project, ...words: string[]) =>
  forgeJson<{ audit: { id: string } }>(
    project,
    ['memory', 'override', ...words, '--reason', 'it is so'],
    HUMAN,
  );

async function learned(): Promise<Project> {
  const project = await makeForge();
  await recordAll(project, times(10));
  return project;
}

const statusOf = async (project: Project, pattern: string) =>
  (await promote(project)).known.find((known) => known.pattern === pattern)?.status;

const provenIn = async (project: Project, ...call: string[]): Promise<string> => {
  const { stdout } = await runForge(project, [...call, '--json']);
  const said = JSON.parse(stdout) as {
    sections?: { key: string; items: string[] }[];
    briefing?: { sections: { key: string; items: string[] }[] };
  };
  const sections = said.sections ?? said.briefing?.sections ?? [];
  return sections.find(({ key }) => key === 'proven')?.items.join('\n') ?? '';
};

/** Everything that tells people what is proven, and that memory goes on. */
async function expectUnproven(project: Project, pattern: string): Promise<void> {
  const { status, problems, exitCode } = await verify(project);
  expect([status, exitCode, problems.map(({ code, tier }) => [code, tier])]).toEqual([
    'unproven',
    1,
    [['unproven', 'knowledge']],
  ]);
  for (const call of [['briefing'], ['session', 'start'], ['briefing']]) {
    const said = await provenIn(project, ...call);
    expect([said.includes(P), said.includes(pattern)]).toEqual([pattern !== P, false]);
  }
  expect(await statusOf(project, pattern)).toBe('unproven');
  await forgeJson(project, ['note', 'add', 'memory goes on']);
  expect(project.has(HALT)).toBe(false);
}

describe('knowledge whose evidence is not here', () => {
  it('LTM-06 LTM-04 that names evaluations which exist nowhere is not called proven, and halts nothing', async () => {
    const project = await learned();
    // What was verified before is remembered: nobody reads all of it again at the next start.
    await forgeJson(project, ['session', 'start']);
    smuggle(project, { ...about(Q), evidence: NOWHERE });
    expect(await provenIn(project, 'briefing')).not.toContain(Q);
    await expectUnproven(project, Q);
  });

  it("LTM-14 LTM-04 a correction that no override of the audit ledger made is nobody's word", async () => {
    const project = await learned();
    smuggle(project, { ...about(Q, 'correction'), audit: '0'.repeat(64), evidence: [] });
    await expectUnproven(project, Q);
    await override(project, 'append', Q);
    expect([(await verify(project)).status, await statusOf(project, Q)]).toEqual(['intact', 'valid']);
  });

  it('LTM-14 an invalidation that no override made takes nothing away, and a correction ends none', async () => {
    const project = await learned();
    smuggle(project, {
      kind: 'invalidated',
      knowledge_id: knowledgeId('execution', P),
      audit: '0'.repeat(64),
    });
    expect([await statusOf(project, P), (await verify(project)).status]).toEqual(['valid', 'unproven']);
    await forgeJson(project, ['memory', 'repair', '--reason', 'nobody said so'], HUMAN);
    expect([await statusOf(project, P), (await verify(project)).status]).toEqual(['valid', 'intact']);
    const other = await learned();
    const { audit } = await override(other, 'append', Q);
    await override(other, 'invalidate', Q);
    const settles = (await logOf(other, 'knowledge')).filter(({ kind }) => kind === 'invalidated');
    const ids = settles.map(({ id }) => id);
    for (const named of ['0'.repeat(64), audit.id])
      smuggle(other, { ...about(Q, 'correction'), audit: named, evidence: [], settles: ids });
    expect(await statusOf(other, Q)).toBe('invalid');
  });

  it.each([
    ['append', (id: string) => ({ ...about(Q, 'correction'), audit: id, evidence: [] })],
    ['invalidated', (id: string) => ({ ...about(P, 'invalidated'), audit: id })],
  ])('LTM-14 LTM-04 %s that names the audit record of something else is damage', async (_, make) => {
    const project = await learned();
    const { audit } = await override(project, 'freeze');
    smuggle(project, make(audit.id));
    const { status, problems } = await verify(project);
    expect([status, problems.map(({ code }) => code)]).toEqual(['corrupted', ['unearned']]);
    await forgeJson(project, ['memory', 'repair', '--reason', 'forged'], HUMAN);
    expect((await verify(project)).status).toBe('intact');
  });

  it('LTM-06 three evaluations of one cycle are evidence of one cycle', async () => {
    const project = await learned();
    const file = segmentOf(project, 'evaluation');
    const [first = ''] = linesOf(project, file).slice(-1);
    let last = first;
    const ids: string[] = [];
    for (let i = 1; i <= 3; i++) {
      const line = JSON.parse(last) as { n: number };
      const patterns = [{ pattern: Q, scope: 'execution', holds: true }];
      last = JSON.stringify({ ...line, n: line.n + 1, prev: recordId(last), seen: [], patterns });
      putLines(project, file, [...linesOf(project, file), last]);
      ids.push(recordId(last));
    }
    smuggle(project, { ...about(Q), evidence: ids });
    const { status, problems } = await verify(project);
    expect([status, problems.map(({ code, message }) => [code, message])]).toEqual([
      'corrupted',
      [['unearned', 'this knowledge was not earned: its evidence is of 1 cycle; 3 are needed']],
    ]);
  });

  it('LTM-06 LTM-16 a picked commit brings knowledge without its evidence: proven once that is here too', async () => {
    const project = await makeForge();
    const other = copyTo(project, 'other');
    await recordAll(other, times(10));
    other.git('add', '.forge/memory/knowledge.d', '.forge/memory/knowledge.jsonl');
    other.git('commit', '-qm', 'What was learned');
    const picked = other.git('rev-parse', 'HEAD');
    commitAll(other);
    project.git('fetch', '-q', other.dir, 'other');
    project.git('cherry-pick', picked);
    await expectUnproven(project, P);
    commitAll(project);
    expect(await provenIn(project, 'briefing')).not.toContain(P);
    project.git('merge', '-q', '--no-edit', 'FETCH_HEAD');
    expect(await provenIn(project, 'briefing')).toContain(P);
    expect([(await verify(project)).exitCode, await statusOf(project, P)]).toEqual([0, 'valid']);
  });

  it('LTM-06 of redacted and archived evidence nothing is missing, and a reset ends the doubt', async () => {
    const project = await learned();
    const [evaluation] = await logOf(project, 'evaluation');
    await forgeJson(project, ['memory', 'redact', evaluation?.id ?? '', '--reason', 'private'], HUMAN);
    commitAll(project);
    await forgeJson(project, ['memory', 'compact']);
    expect([(await verify(project)).exitCode, await statusOf(project, P)]).toEqual([0, 'valid']);
    await override(project, 'append', 'More');
    smuggle(project, { ...about(Q), evidence: NOWHERE });
    expect((await verify(project)).status).toBe('unproven');
    commitAll(project);
    await override(project, 'reset', 'knowledge');
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
  });
});
