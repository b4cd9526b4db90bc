import { describe, expect, it } from 'vitest';
import { expectError, fixedClock, forgeError, forgeJson, runForge } from '../support/forge.js';
import { differences, FOCUS, makeForge, snapshot } from '../support/forge-project.js';
import { changedPaths } from '../support/project.js';

describe('forge focus', () => {
  it('SES-05 writes the shape of the RFC, with the skill', async () => {
    const project = await makeForge();
    const world = fixedClock();
    // As RFC-9060 §3.2 has it, without a version.
    const { schema_version: _, skill: __, ...sample } = project.json(FOCUS);
    project.write(FOCUS, JSON.stringify({ ...sample, task: 'Wire NATS', phase: 'PLAN' }));
    expect(await forgeJson(project, ['focus', 'show'])).toMatchObject({ task: 'Wire NATS' });
    const set = ['--task', 'Wire ATLAS', '--issue', 'SX9-123', '--file', 'a.rs', '--file', 'b c.rs'];
    const more = ['--phase', 'BUILD', '--blocker', 'no key', '--skill', 'code-generation'];
    const focus = await forgeJson(project, ['focus', 'set', ...set, ...more], { world });
    expect(project.json(FOCUS)).toEqual({
      schema_version: '1.0',
      task: 'Wire ATLAS',
      linear_issue: 'SX9-123',
      files: ['a.rs', 'b c.rs'],
      phase: 'BUILD',
      blockers: ['no key'],
      skill: 'code-generation',
      started_at: '2026-03-01T10:00:00.000Z',
    });
    expect(focus).toEqual(project.json(FOCUS));
    expect(await forgeJson(project, ['focus', 'show'])).toEqual(focus);
    const { stdout } = await runForge(project, ['focus', 'show']);
    for (const word of ['Wire ATLAS', 'SX9-123', 'a.rs, b c.rs', 'BUILD', 'no key', 'code-generation'])
      expect(stdout).toContain(word);
    expect(changedPaths(project)).toEqual([]);
  });

  it('SES-05 changes the given fields and keeps the rest for the same task; another task starts afresh', async () => {
    const project = await makeForge();
    const world = fixedClock();
    await forgeJson(project, 'focus set --task one --file a --issue SX9-1 --skill qa-review', { world });
    world.set('2026-03-01T11:00:00.000Z');
    await forgeJson(project, 'focus set --task one --blocker x --issue none', { world });
    expect(project.json(FOCUS)).toMatchObject({
      task: 'one',
      phase: 'PLAN',
      linear_issue: null,
      files: ['a'],
      blockers: ['x'],
      skill: 'qa-review',
      started_at: '2026-03-01T10:00:00.000Z',
    });
    await forgeJson(project, 'focus set --skill none --issue SX9-1 --phase QA', { world });
    expect(project.json(FOCUS)).toMatchObject({ task: 'one', skill: null, phase: 'QA' });
    await forgeJson(project, ['focus', 'set', '--task', 'two', '--file', 'b'], { world });
    expect(project.json(FOCUS)).toMatchObject({
      task: 'two',
      linear_issue: null,
      files: ['b'],
      phase: 'PLAN',
      blockers: [],
      started_at: '2026-03-01T11:00:00.000Z',
    });
  });

  it('SES-05 B-18 clear leaves no task, and unknown fields of a newer forge stay through set and clear', async () => {
    const project = await makeForge();
    project.write(FOCUS, JSON.stringify({ ...project.json(FOCUS), schema_version: '1.4', mood: { a: [1] } }));
    await forgeJson(project, ['focus', 'set', '--task', 'one']);
    await forgeJson(project, ['focus', 'set', '--task', 'two']);
    expect(project.json(FOCUS)).toMatchObject({ schema_version: '1.4', task: 'two', mood: { a: [1] } });
    await forgeJson(project, ['focus', 'clear']);
    expect(project.json(FOCUS)).toMatchObject({
      schema_version: '1.4',
      task: null,
      files: [],
      mood: { a: [1] },
    });
    expect((await runForge(project, ['focus', 'show'])).stdout).toBe('No task is set.\n');
  });

  it('SES-05 --dry-run, an empty change and bad values write nothing', async () => {
    const project = await makeForge();
    await forgeJson(project, ['focus', 'set', '--task', 'one']);
    const before = snapshot(project.dir);
    expect((await forgeJson<{ task: string }>(project, 'focus set --task two -n')).task).toBe('two');
    expect((await forgeJson<{ task: null }>(project, ['focus', 'clear', '-n'])).task).toBeNull();
    await expectError(project, ['focus', 'set'], '2 focus.nothing');
    for (const flags of [
      ['--task', ''],
      ['--task', 'a\nb'],
      ['--phase', 'P'.repeat(101)],
      ['--file', ' '],
      ['--blocker', ''],
      ['--issue', '../x'],
      ['--skill', 'a/b'],
    ])
      expect([flags, (await forgeError(project, ['focus', 'set', ...flags])).exitCode]).toEqual([flags, 2]);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

  it('SES-05 reads the task from stdin; files that were set before the first task stay', async () => {
    const project = await makeForge();
    await forgeJson(project, ['focus', 'set', '--file', 'a']);
    await forgeJson(project, ['focus', 'set', '--task', '-'], { stdin: 'from stdin\n' });
    expect(project.json(FOCUS)).toMatchObject({ task: 'from stdin', files: ['a'] });
  });

  it('SES-05 KFR-09 takes an added feature whose blockers pass; with an open question proposes no other task', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'A', 'First', '--test', 'test -f a', '--no-run']);
    project.write('a', '');
    await forgeJson(project, ['session', 'start', '--task', 'first']);
    await runForge(project, ['feature', 'confirm', 'A'], { terminal: true });
    await runForge(project, ['done', 'A']);
    await forgeJson(project, ['focus', 'clear']);
    await forgeJson(project, ['feature', 'add', 'B', 'Second', '--blocked-by', 'A', '--test', 'false']);
    expect((await forgeJson<{ task: string }>(project, ['focus', 'show'])).task).toBe('B: Second');
    await forgeJson(project, ['focus', 'set', '--task', 'elsewhere']);
    const next = async () => (await forgeJson<{ next: string[] }>(project, [])).next.join();
    expect(await next()).toContain('forge focus set B');
    await forgeJson(project, ['kfr', 'patch', '--add', 'OpenQuestion:which?']);
    expect(await next()).not.toContain('forge focus set');
  });

  it('SES-05 names a file from the top folder, however it was typed', async () => {
    const project = await makeForge();
    project.write('src/a.ts', '');
    for (const [folder, name, file] of [
      ['.', './src/a.ts', 'src/a.ts'],
      ['.', project.path('src/a.ts'), 'src/a.ts'],
      ['src', 'a.ts', 'src/a.ts'],
      ['src', 'new.ts', 'new.ts'],
    ] as const) {
      const set = ['-C', project.path(folder), 'focus', 'set', '--file', name];
      expect(await forgeJson(project, set)).toMatchObject({ files: [file] });
    }
  });

  it('SES-05 a feature that gets another name keeps it in the focus, with its files', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'A', 'Log in']);
    await forgeJson(project, ['start', 'A']);
    await forgeJson(project, ['focus', 'set', '--file', 'src/login.ts']);
    await forgeJson(project, ['feature', 'edit', 'a', '--name', 'Sign in']);
    const { stdout } = await runForge(project, ['focus', 'show']);
    expect(stdout).toMatch(/^task +A: Sign in\n[\s\S]*src\/login\.ts/);
    expect((await runForge(project, ['briefing'])).stdout).toContain('Task: A: Sign in');
    await forgeJson(project, ['focus', 'set', '--task', 'elsewhere']);
    await forgeJson(project, ['feature', 'edit', 'A', '--name', 'Enter']);
    expect((await forgeJson<{ task: string }>(project, ['focus', 'show'])).task).toBe('elsewhere');
  });
});
