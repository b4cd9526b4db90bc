import { describe, expect, it } from 'vitest';
import type { Selection } from '../../src/index.js';
import { forgeJson, runForge } from '../support/forge.js';
import { differences, ISSUES, makeForge, putFeatures, snapshot } from '../support/forge-project.js';
import type { Project } from '../support/project.js';

const feature = (id: string, change: { status?: string; [field: string]: unknown } = {}): object => ({
  id,
  name: `the ${id}`,
  status: 'not_implemented',
  ...change,
  ...(change.status === 'passing' ? { verified_at: '2026-01-01T00:00:00.000Z' } : {}),
});

function setUp(project: Project, features: object[], issues: object[] = []): void {
  putFeatures(project, features);
  project.write(ISSUES, JSON.stringify({ schema_version: '1.0', issues }));
}

/** In the order of SES-10, best first, which is not that of their ids: by them alone the last one would be the first. */
const RANKED: object[] = [
  feature('L-LINKED-PROGRESS', { status: 'in_progress', linear_issue: 'SX9-1' }),
  feature('K-LINKED-NEW', { linear_issue: 'SX9-1' }),
  feature('J-PROGRESS', { status: 'in_progress' }),
  feature('H-FAILING', { status: 'failing', priority: 4 }),
  feature('G-URGENT', { priority: 1, created_at: '2026-02-01T00:00:00.000Z' }),
  feature('F-OLD', { priority: 2, created_at: '2026-01-01T00:00:00.000Z' }),
  feature('E-YOUNG', { priority: 2, created_at: '2026-01-02T00:00:00.000Z' }),
  feature('C-UNRANKED', { created_at: '2026-01-02T00:00:00.000Z' }),
  feature('D-UNRANKED', { created_at: '2026-01-02T00:00:00.000Z' }),
  // A link to an inactive issue does not count.
  feature('B-DATELESS', { linear_issue: 'SX9-99' }),
  feature('Z-BLOCKED', { status: 'in_progress', priority: 1, blocked_by: 'E-YOUNG' }),
  feature('A-HELD', { status: 'blocked', priority: 1 }),
];
const ISSUE = { linear_id: 'SX9-1', title: 'carried by features' };

describe('forge next', () => {
  it('SES-10 orders by the rules, not by the order in the file, and explains the choice and each candidate', async () => {
    const project = await makeForge();
    const names = RANKED.map((row) => (row as { id: string }).id);
    const done = feature('DONE', { status: 'passing' });
    setUp(project, [...RANKED, done], [ISSUE]);
    const first = await forgeJson<Selection>(project, ['next']);
    expect(first.candidates.map(({ id }) => id)).toEqual(names);
    expect(first.task?.id).toBe('L-LINKED-PROGRESS');
    setUp(project, [done, ...RANKED].reverse(), [ISSUE]);
    expect(await forgeJson<Selection>(project, ['next'])).toEqual(first);
    const { task, reason, candidates } = first;
    const why = Object.fromEntries(candidates.map((candidate) => [candidate.id, candidate.reason]));
    expect(reason).toBe(task?.reason);
    expect(why['L-LINKED-PROGRESS']).toBe('unblocked, active issue SX9-1, in progress');
    expect(why['G-URGENT']).toBe('unblocked, not implemented, priority 1');
    expect(why['Z-BLOCKED']).toBe('blocked by E-YOUNG');
    expect(why['A-HELD']).toBe('blocked by its status');
    const { stdout } = await runForge(project, ['next']);
    expect(stdout).toMatch(
      /^L-LINKED-PROGRESS: the L-LINKED-PROGRESS\n {2}why: unblocked, active issue SX9-1, in progress\n/,
    );
    expect(stdout).toMatch(/F-OLD +the F-OLD +unblocked, not implemented, priority 2/);
  });

  it('SES-10 FEA-05 chooses a feature whose test has never failed after the others', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'A', 'Slug works', '--test', 'true']);
    expect((await forgeJson<Selection>(project, ['next'])).task?.id).toBe('A');
    await forgeJson(project, ['feature', 'add', 'B', 'Camel works', '--test', 'false']);
    const { task, candidates } = await forgeJson<Selection>(project, ['next']);
    expect([task?.id, candidates.at(-1)?.reason]).toEqual(['B', 'unblocked, not implemented, unproven']);
  });

  it('SES-10 never chooses blocked work', async () => {
    const project = await makeForge();
    setUp(project, [feature('A', { blocked_by: ['B', 'GONE'] }), feature('B', { status: 'passing' })]);
    const next = await forgeJson<Selection>(project, ['next']);
    expect([next.task, next.source]).toEqual([null, null]);
    // An unknown blocker blocks too; a passing one does not.
    expect(next.candidates[0]?.blocked_by).toEqual(['GONE']);
    expect((await runForge(project, ['next'])).stdout).toMatch(
      /^Nothing to do now: everything left is blocked; A waits for GONE/,
    );
    setUp(project, [feature('A', { blocked_by: ['GONE'] }), feature('C', { blocked_by: ['A'] })]);
    expect((await forgeJson<Selection>(project, ['next'])).reason).toBe(
      'everything left is blocked; A waits for GONE; C waits for A',
    );
    setUp(project, [feature('A', { blocked_by: null }), feature('B', { status: 'passing' })]);
    expect((await forgeJson<Selection>(project, ['next'])).task?.id).toBe('A');
  });

  it('SES-10 reports when there is nothing to do, and only reads', async () => {
    const project = await makeForge();
    expect((await runForge(project, ['next'])).stdout).toMatch(
      /no features and no active issues yet\.\n {2}forge feature add "Login works" /,
    );
    setUp(project, [feature('A', { status: 'passing' })]);
    const before = snapshot(project.dir);
    expect((await runForge(project, ['next'])).stdout).toMatch(/every feature is passing/);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });
});
