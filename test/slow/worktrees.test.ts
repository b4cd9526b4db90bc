import { cpSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Agent, type Listed, type Started } from '../support/e2e-agents.js';
import { PROGRESS, SESSION } from '../support/forge-project.js';
import { changedPaths, makeFolder, type Project, projectAt } from '../support/project.js';
import { makeForgeRepository, typed, typedError, typedJson, workAndEnd } from '../support/typed.js';

describe('worktrees, clones and copies', () => {
  it('SES-02 SES-09 never blocks another worktree, and never repeats a number', async () => {
    const project = makeForgeRepository();
    workAndEnd(project);
    const trees = [project];
    for (const name of ['one', 'two', 'three']) {
      const tree = projectAt(join(makeFolder(), name));
      project.git('worktree', 'add', '-q', tree.dir);
      trees.push(tree);
    }

    const agents = trees.map((tree) => new Agent(tree));
    const started = await Promise.all(agents.map((agent) => agent.json<Started>('session', 'start')));

    const names = started.map(({ session }) => session.id.slice('YYYY-MM-DD-'.length)).sort();
    expect(names).toEqual(['session-002', 'session-003', 'session-004', 'session-005']);
    await Promise.all(agents.map((agent) => agent.json('progress', 'add', 'at the same time')));
    for (const tree of trees) expect(tree.read(PROGRESS).match(/at the same time/g)).toHaveLength(1);
    await Promise.all(agents.map((agent) => agent.json('session', 'end')));
    for (const tree of trees) expect(changedPaths(tree)).toEqual([]);
  });

  it('SES-10 two agents in two worktrees get two tasks', async () => {
    const project = makeForgeRepository();
    for (const id of ['F-1', 'F-2']) typed(project, ['feature', 'add', '--no-run', id, `Task ${id}`]);
    project.git('add', '.forge');
    project.git('commit', '-qm', 'Forge');
    const beside = projectAt(join(makeFolder(), 'beside'));
    project.git('worktree', 'add', '-q', beside.dir);
    const [one, two] = [new Agent(project), new Agent(beside)];
    expect((await one.json<Started>('session', 'start')).focus.task).toBe('F-1: Task F-1');
    const { focus, session } = await two.json<Started>('session', 'start');
    expect([focus.task, session.state]).toEqual(['F-2: Task F-2', 'started']);
    const { candidates } = await one.json<{ candidates: { id: string; blocked_by: string[] }[] }>('next');
    expect(candidates).toMatchObject([
      { id: 'F-1', blocked_by: [] },
      { id: 'F-2', blocked_by: [`session ${session.id} in ${beside.dir}`] },
    ]);
    await two.json('session', 'end');
    expect(await one.json<object>('next')).toMatchObject({
      candidates: [{ id: 'F-1' }, { id: 'F-2', blocked_by: [] }],
    });
  });

  it('SES-02 merges the archives of two clones with the same date and number, and distinguishes them', () => {
    const origin = makeForgeRepository();
    origin.git('add', '.forge');
    origin.git('commit', '-qm', 'Forge');
    const [one, two] = ['one', 'two'].map((name) => projectAt(join(makeFolder(), name))) as [
      Project,
      Project,
    ];
    const ended = [one, two].map((clone) => {
      origin.git('clone', '-q', origin.dir, clone.dir);
      return workAndEnd(clone);
    });
    const [name] = new Set(ended.map(({ session }) => session.id));
    expect(ended.map(({ session }) => session.id)).toEqual([name, name]);

    two.git('pull', '-q', '--no-rebase', '--no-edit', one.dir, 'main');

    expect(changedPaths(two)).toEqual([]);
    const { sessions } = typedJson<Listed>(two, ['session', 'list']);
    const stored = ended.map(({ archive }) => basename(archive, '.json')).sort();
    expect(sessions.map(({ id }) => id).sort()).toEqual(stored);
    expect(stored.every((id) => id.startsWith(`${name}-`))).toBe(true);
    expect(typedError(two, ['session', 'show', name ?? '']).message).toContain(stored.join(', '));
    for (const id of stored) expect(typed(two, ['session', 'show', id])).toContain('wired the form');
    expect(workAndEnd(two).session.id).toMatch(/-session-002$/);
  });

  it('SES-07 SES-13 a copied folder has its own copy of the session, and work in it does not affect the original', () => {
    const project = makeForgeRepository();
    const { session } = typedJson<Started>(project, ['session', 'start']);
    typed(project, ['progress', 'add', 'before the copy']);
    const copy = projectAt(join(makeFolder(), 'copy'));
    cpSync(project.dir, copy.dir, { recursive: true });
    const original = [project.read(SESSION), project.read(PROGRESS)];

    expect(typed(copy, ['session', 'status'])).not.toContain(project.dir);
    typed(copy, ['progress', 'add', 'in the copy']);
    typed(copy, ['session', 'end']);

    expect(typed(copy, ['session', 'show', session.id])).toContain('before the copy');
    expect([project.read(SESSION), project.read(PROGRESS)]).toEqual(original);
    expect(typedJson<Started>(project, ['session', 'start']).session).toMatchObject({
      id: session.id,
      state: 'running',
    });
  });
});
