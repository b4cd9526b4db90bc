import { describe, expect, it } from 'vitest';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { changedPaths, makeRepository, type Project } from '../support/project.js';

const BUILDER = { env: { FORGE_ROLE: 'builder' } };

async function ready(): Promise<Project> {
  const project = makeRepository();
  await forgeJson(project, ['init', '--yes']);
  await forgeJson(project, ['feature', 'add', 'FORGE-001', 'Login works', '--test', 'npm test']);
  await forgeJson(project, ['session', 'start']);
  project.git('add', '.forge');
  project.git('commit', '-q', '-m', 'Set up');
  return project;
}

describe('FORGE_ROLE=builder', () => {
  it('B-07 LTM-12 refuses knowledge, trust and settings with exit 3 and writes nothing', async () => {
    const project = await ready();
    const denied = [
      ['knowledge', 'add', 'invariant', 'x'],
      ['knowledge', 'remove', '0123456789'],
      ['config', 'set', 'briefing.budget', '500'],
      ['trust', '--revoke'],
      ['session', 'end', '--learned', 'x'],
      ['session', 'end', '--failed', 'x'],
    ];
    for (const args of denied) {
      const error = await forgeError(project, args, BUILDER);
      expect([error.exitCode, error.code], args.join(' ')).toEqual([3, 'role.denied']);
    }
    expect(changedPaths(project)).toEqual([]);
    expect((await forgeJson<{ active: unknown }>(project, ['session', 'status'])).active).not.toBeNull();
  });

  it('lets a builder read, write progress and focus, and verify features', async () => {
    const project = await ready();
    const allowed = [
      ['briefing'],
      ['next'],
      ['knowledge', 'list'],
      ['config', 'list'],
      ['trust', '--show'],
      ['progress', 'add', 'wired the form'],
      ['progress', 'next', 'logout'],
      ['focus', 'set', '--phase', 'BUILD'],
      ['feature', 'verify', 'FORGE-001'],
    ];
    for (const args of allowed)
      expect((await runForge(project, args, BUILDER)).exitCode, args.join(' ')).toBe(0);
  });
});

describe('FORGE_ROLE', () => {
  it.each(['bulider', 'builder,', 'admin'])(
    'B-07 LTM-12 %s is no role: exit 2, nothing is written',
    async (role) => {
      const project = await ready();
      for (const args of [
        ['knowledge', 'add', 'invariant', 'x'],
        ['config', 'set', 'briefing.budget', '500'],
        ['memory', 'record', '--task', 'A', '--exit-code', '0'],
        ['memory', 'verify'],
        ['note', 'add', 'x'],
        ['session', 'start'],
      ]) {
        const error = await forgeError(project, args, { env: { FORGE_ROLE: role } });
        expect([args, error.exitCode, error.code]).toEqual([args, 2, 'role.unknown']);
        expect(error.message).toBe(`FORGE_ROLE: found "${role}", allowed: builder | supervisor.`);
      }
      expect(changedPaths(project)).toEqual([]);
    },
  );

  it.each(['', ' ', 'supervisor', 'Supervisor'])('"%s" may write', async (role) => {
    const project = await ready();
    const args = ['knowledge', 'add', 'invariant', 'x'];
    expect((await runForge(project, args, { env: { FORGE_ROLE: role } })).exitCode).toBe(0);
  });
});
