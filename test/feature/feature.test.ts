import { describe, expect, it } from 'vitest';
import { fixedClock, forgeError, forgeJson, runForge } from '../support/forge.js';
import {
  differences,
  FEATURES,
  featureFile,
  makeForge,
  putFeatures,
  type StoredFeature,
  snapshot,
  storedFeature,
} from '../support/forge-project.js';

describe('forge feature', () => {
  it('FEA-01 adds, lists, shows, edits and removes', async () => {
    const project = await makeForge();
    const world = fixedClock();
    const flags = [
      '--test',
      'node -e 0',
      '--test',
      'true',
      '--blocked-by',
      'Z',
      '--priority',
      '2',
      '--issue',
      'SX9-1',
    ];
    await forgeJson(project, ['feature', 'add', 'FORGE-001', 'Login works', ...flags, '--no-run'], { world });
    expect(storedFeature(project, 'FORGE-001')).toEqual({
      id: 'FORGE-001',
      name: 'Login works',
      status: 'not_implemented',
      created_at: '2026-03-01T10:00:00.000Z',
      tests: ['node -e 0', 'true'],
      priority: 2,
      linear_issue: 'SX9-1',
      blocked_by: 'Z',
    });
    await forgeJson(project, ['feature', 'add', 'FORGE-002', '-'], { world, stdin: 'From stdin\n' });
    expect((await runForge(project, ['feature', 'list'])).stdout).toBe(
      'FORGE-001  not_implemented  Login works\nFORGE-002  not_implemented  From stdin\n',
    );
    const edit = [
      '--status',
      'in_progress',
      '--name',
      'Login',
      '--priority',
      '1',
      '--issue',
      'none',
      '--blocked-by',
      'none',
    ];
    await forgeJson(project, ['feature', 'edit', 'FORGE-001', ...edit]);
    const { stdout } = await runForge(project, ['feature', 'show', 'FORGE-001']);
    expect(stdout).toMatch(/^FORGE-001 {2}Login\nstatus +in_progress\ntests +node -e 0 true\npriority +1\n$/);
    expect(await forgeJson(project, ['feature', 'show', 'FORGE-001'])).toEqual(
      storedFeature(project, 'FORGE-001'),
    );
    expect((await runForge(project, ['feature', 'remove', 'FORGE-002'])).stdout).toBe(
      'removed FORGE-002  From stdin\n',
    );
    expect(project.json<{ features: StoredFeature[] }>(FEATURES).features.map(({ id }) => id)).toEqual([
      'FORGE-001',
    ]);
    expect((await forgeError(project, ['feature', 'show', 'FORGE-002'])).exitCode).toBe(2);
  });

  it('FEA-01 knows its five statuses and no other', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'A', 'a']);
    for (const status of ['in_progress', 'failing', 'blocked', 'not_implemented']) {
      await forgeJson(project, ['feature', 'edit', 'A', '--status', status]);
      expect(storedFeature(project, 'A')?.status).toBe(status);
    }
    const error = await forgeError(project, ['feature', 'edit', 'A', '--status', 'done']);
    expect(error).toMatchObject({ exitCode: 2, field: 'status' });
    expect(error.message).toMatch(/"done".*not_implemented.*in_progress.*failing.*passing.*blocked/);
  });

  it('FEA-01 writes blocked_by back in the form it had', async () => {
    const project = await makeForge();
    putFeatures(project, [
      { id: 'NULL', name: 'n', status: 'failing', blocked_by: null },
      { id: 'ONE', name: 'o', status: 'failing', blocked_by: 'NULL' },
      { id: 'LIST', name: 'l', status: 'failing', blocked_by: ['NULL'] },
      { id: 'NONE', name: 'x', status: 'failing' },
    ]);
    for (const id of ['NULL', 'ONE', 'LIST', 'NONE'])
      await forgeJson(project, ['feature', 'edit', id, '--priority', '3']);
    expect(['NULL', 'ONE', 'LIST', 'NONE'].map((id) => storedFeature(project, id)?.blocked_by)).toEqual([
      undefined,
      'NULL',
      ['NULL'],
      undefined,
    ]);
    await forgeJson(project, ['feature', 'edit', 'LIST', '--blocked-by', 'ONE']);
    await forgeJson(project, ['feature', 'edit', 'ONE', '--blocked-by', 'NONE']);
    expect([storedFeature(project, 'LIST')?.blocked_by, storedFeature(project, 'ONE')?.blocked_by]).toEqual([
      ['ONE'],
      'NONE',
    ]);
    await forgeJson(project, ['feature', 'edit', 'ONE', '--blocked-by', 'NONE', '--blocked-by', 'NULL']);
    await forgeJson(project, ['feature', 'edit', 'LIST', '--blocked-by', 'none']);
    expect([storedFeature(project, 'LIST')?.blocked_by, storedFeature(project, 'ONE')?.blocked_by]).toEqual([
      [],
      ['NONE', 'NULL'],
    ]);
  });

  it('FEA-01 refuses a circle and names it; a deep net is no circle', async () => {
    const project = await makeForge();
    putFeatures(project, [
      { id: 'A', name: 'a', status: 'failing', blocked_by: 'B' },
      { id: 'B', name: 'b', status: 'failing', blocked_by: ['C'] },
      { id: 'C', name: 'c', status: 'failing' },
    ]);
    const before = project.read(featureFile('C'));
    for (const [id, blocker] of [
      ['C', 'A'],
      ['A', 'A'],
    ]) {
      const error = await forgeError(project, [
        'feature',
        'edit',
        id as string,
        '--blocked-by',
        blocker as string,
      ]);
      expect(error).toMatchObject({ exitCode: 2, code: 'feature.cycle', field: 'blocked_by' });
      expect(error.message).toContain('→');
    }
    expect(project.read(featureFile('C'))).toBe(before);
    // 2^40 ways lead through this one: going all of them would never end.
    const layer = (n: number): object[] =>
      [0, 1].map((side) => ({
        id: `N${n}-${side}`,
        name: 'n',
        status: 'failing',
        blocked_by: n === 0 ? null : [`N${n - 1}-0`, `N${n - 1}-1`],
      }));
    putFeatures(project, Array.from({ length: 40 }, (_, n) => layer(n)).flat());
    await forgeJson(project, ['feature', 'edit', 'N39-0', '--priority', '1']);
  });

  it('FEA-01 does not remove what others wait for', async () => {
    const project = await makeForge();
    putFeatures(project, [
      { id: 'A', name: 'a', status: 'failing' },
      { id: 'B', name: 'b', status: 'failing', blocked_by: 'A' },
    ]);
    expect(await forgeError(project, ['feature', 'remove', 'A'])).toMatchObject({
      exitCode: 3,
      code: 'feature.needed',
      hint: expect.stringContaining('forge feature edit B'),
    });
    expect(storedFeature(project, 'A')).toBeDefined();
  });

  it('FEA-01 --dry-run shows the change and writes nothing, approvals neither', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'A', 'a']);
    const before = [snapshot(project.dir), snapshot(process.env.HOME as string)];
    for (const args of [
      ['add', 'B', 'b', '--test', 'true'],
      ['edit', 'A', '--test', 'false'],
      ['remove', 'A'],
      ['import', '-'],
    ]) {
      const { exitCode, stderr } = await runForge(project, ['feature', ...args, '-n'], { stdin: '- one\n' });
      expect([args, exitCode, stderr]).toEqual([
        args,
        0,
        expect.stringMatching(/nothing was written.*features\.json/),
      ]);
    }
    expect(differences(before[0] as never, snapshot(project.dir))).toEqual([]);
    expect(differences(before[1] as never, snapshot(process.env.HOME as string))).toEqual([]);
  });
});
