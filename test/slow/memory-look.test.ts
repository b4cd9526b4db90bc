import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { planLines } from '../../src/ledger/rules/segment.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeForge, makePlainForge } from '../support/forge-project.js';
import { commit, fixedOf, linesOf, logOf, putLines, record, segmentsOf } from '../support/memory.js';

describe('looking at memory', () => {
  it('LTM-01 log shows the last records of all tiers by time, or of one; show shows one whole', async () => {
    const project = await makePlainForge();
    expect((await runForge(project, ['memory', 'log'])).stdout).toMatch(
      /^Nothing is recorded yet\. Start with: forge memory record/,
    );
    for (let i = 0; i < 25; i++) await record(project, '--classification', i % 2 ? 'SUCCESS' : 'FAILURE');
    await runForge(project, ['note', 'add', 'a note']);
    const { records } = await forgeJson<{ records: { tier: string; n: number; at: string }[] }>(project, [
      'memory',
      'log',
    ]);
    expect(records).toHaveLength(20);
    expect(records.map(({ at }) => at)).toEqual(records.map(({ at }) => at).sort());
    expect(records.at(-1)).toMatchObject({ tier: 'notes', n: 2 });
    const last = await forgeJson<{ records: { n: number }[] }>(project, [
      'memory',
      'log',
      '--tier',
      'execution',
      '--limit',
      '3',
    ]);
    expect(last.records.map(({ n }) => n)).toEqual([24, 25, 26]);
    const { stdout } = await runForge(project, ['memory', 'log', '--tier', 'evaluation', '--limit', '1']);
    expect(stdout).toMatch(
      /^[0-9a-f]{12} {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}evaluation {2}26 {2}cycle {2}A FAILURE\n$/,
    );
    for (const limit of ['0', '-1', '1e3', '100001'])
      expect((await forgeError(project, ['memory', 'log', '--limit', limit])).exitCode).toBe(2);
    const [{ id } = { id: '' }] = await logOf(project, 'notes');
    expect((await runForge(project, ['memory', 'show', id])).stdout).toMatch(
      new RegExp(`^${id}\\n\\{\\n[^]*"text": "a note"\\n\\}\\n$`),
    );
  });

  it('LTM-04 nothing is said to be gone that was folded and is not committed yet', async () => {
    const project = await makeForge();
    await record(project);
    commit(project);
    await forgeJson(project, ['memory', 'fold']);
    expect(project.git('status', '--short')).toContain(' D .forge/memory/execution.d/');
    expect(await forgeJson(project, ['note', 'list'])).toMatchObject({ notes: [], warnings: [] });
    const { stdout } = await runForge(project, ['memory', 'report']);
    expect(stdout).toMatch(/^Memory report: 1 cycle\b/);
  });

  it.each([
    ['all of memory', ['.forge/memory'], [7, 7]],
    ['the fixed file', [fixedOf('notes')], [1, 1]],
    ['the segments', ['.forge/memory/execution.d', '.forge/memory/notes.d'], [2, 2]],
    ['another ledger', ['.forge/memory/execution.d'], [0, 0]],
  ])('LTM-04 log and note list say so when %s that git has is gone', async (_, paths, missing) => {
    const project = await makeForge();
    await record(project);
    await runForge(project, ['note', 'add', 'kept']);
    commit(project);
    for (const path of paths) rmSync(project.path(path), { recursive: true });
    for (const [i, call] of [
      ['memory', 'log', '--tier', 'notes'],
      ['note', 'list'],
    ].entries()) {
      const { warnings } = await forgeJson<{ warnings: string[] }>(project, call);
      const count = missing[i] as number;
      const said =
        count === 0 ? [] : [expect.stringMatching(new RegExp(`^${count} memory files? that git has`))];
      expect(warnings).toEqual(said);
      const { stderr, exitCode } = await runForge(project, call);
      expect(exitCode).toBe(0);
      expect(stderr.includes('more: forge memory verify')).toBe(count > 0);
    }
  });

  it.each([
    ['an id that is too short', 'abcde', 'record.id'],
    ['a path', '../../etc', 'record.id'],
    ['no record', 'f'.repeat(64), 'record.unknown'],
  ])('B-02 show: %s is exit 2', async (_, id, code) => {
    const project = await makePlainForge();
    expect(await forgeError(project, ['memory', 'show', id])).toMatchObject({
      exitCode: 2,
      code,
      hint: 'forge memory log',
    });
  });

  it('B-02 an id that means two records is ambiguous', async () => {
    const project = await makePlainForge();
    // Two of these 9,000 share their first 6 digits with near certainty.
    const [genesis = ''] = linesOf(project, fixedOf('notes'));
    const { ledger } = JSON.parse(genesis) as { ledger: string };
    const bodies = Array.from({ length: 12_000 }, (_, i) => ({
      kind: 'note',
      text: `${i}`,
      at: '2026-03-01T10:00:00.000Z',
    }));
    const { lines } = planLines('notes', { ledger, heads: [], maxN: 1 }, null, bodies);
    putLines(project, fixedOf('notes'), [genesis, ...lines.map(({ line }) => line)]);
    const seen = new Set<string>();
    const twice = lines
      .map(({ id }) => id.slice(0, 6))
      .find((start) => seen.has(start) || !seen.add(start)) as string;
    expect(await forgeError(project, ['memory', 'show', twice])).toMatchObject({
      exitCode: 2,
      code: 'record.ambiguous',
      message: `${twice} means 2 records; give more digits.`,
    });
    expect(await forgeError(project, ['note', 'show', twice])).toMatchObject({
      exitCode: 2,
      code: 'note.unknown',
      message: `"${twice}" means 2 notes.`,
    });
    const { records } = await forgeJson<{ records: { n: number }[] }>(project, [
      'memory',
      'log',
      '--limit',
      '2',
    ]);
    expect(records.map(({ n }) => n)).toEqual([12_000, 12_001]);
  });

  it('LTM-11 stats: how much of what, and what to do', async () => {
    const project = await makeForge();
    await record(project, '--classification', 'SUCCESS');
    const stats = await forgeJson<Record<string, unknown>>(project, ['memory', 'stats']);
    expect(stats).toMatchObject({
      status: 'intact',
      color: 'green',
      growth: 'normal',
      pending: 0,
      next: [],
      archives: { count: 0, bytes: 0 },
    });
    expect(stats.tiers).toEqual(
      ['execution', 'evaluation', 'knowledge', 'audit', 'notes'].map((tier, i) => ({
        tier,
        records: i < 2 ? 2 : 1,
        bytes: expect.any(Number),
        segments: i < 2 ? 1 : 0,
        heads: 1,
      })),
    );
    expect((await runForge(project, ['memory', 'stats'])).stdout).toMatch(
      /^● memory is intact, \d+ B live\n {2}execution {3}2 records {2}\d+ B {2}1 segment {3}1 head\n/,
    );
    putLines(project, segmentsOf(project, 'execution')[0] as string, []);
    const bad = await forgeJson(project, ['memory', 'stats']);
    expect(bad).toMatchObject({ status: 'corrupted', color: 'red', next: ['forge memory verify'] });
    rmSync(project.path('.forge/memory'), { recursive: true });
    const gone = await forgeJson<{ tiers: { segments: number }[] }>(project, ['memory', 'stats']);
    expect(gone.tiers.map(({ segments }) => segments)).toEqual([0, 0, 0, 0, 0]);
  });
});
