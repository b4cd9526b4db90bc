import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { Agent, type Listed, type Started } from '../support/e2e-agents.js';
import { BIN } from '../support/forge.js';
import { PROGRESS, SESSION } from '../support/forge-project.js';
import type { Project } from '../support/project.js';
import { makeForgeRepository } from '../support/typed.js';

/** As if the last forge command here had been run that long ago. */
function letPass(project: Project, seconds: number): void {
  const { at } = project.json<{ at: number }>('.git/forge/activity');
  project.write('.git/forge/activity', JSON.stringify({ at: at - seconds * 1000 }));
}

describe('two agents in one worktree', () => {
  it('SES-09 lets one of two concurrent starts win', async () => {
    const project = makeForgeRepository();
    const agents = [new Agent(project), new Agent(project)];

    const outcomes = await Promise.all(agents.map((agent) => agent.run('session', 'start', '--json')));

    expect(outcomes.map(({ exitCode }) => exitCode).sort()).toEqual([0, 3]);
    const winner = agents[outcomes.findIndex(({ exitCode }) => exitCode === 0)];
    expect(project.json<{ holder: { pid: number } }>(SESSION).holder.pid).toBe(winner?.pid);
    expect(project.read(PROGRESS).match(/Started/g)).toHaveLength(1);
  });

  it('SES-09 SES-07 knows an agent whose every command is a new shell, and refuses another such one', async () => {
    const project = makeForgeRepository();
    const [ada, bob] = [new Agent(project, true), new Agent(project, true)];
    const { session } = await ada.json<Started>('session', 'start', '--task', 'Port the parser');
    expect(project.json<{ holder: { pid: number } }>(SESSION).holder.pid).toBe(ada.pid);

    const again = await ada.json<Started>('session', 'start', '--task', 'Write the lexer');

    expect(again.session).toMatchObject({ id: session.id, state: 'running' });
    expect(again.focus.task).toBe('Write the lexer');
    expect((await bob.error('session', 'start')).code).toBe('session.held');
    await ada.kill();
    expect((await bob.run('session', 'start')).stderr).toContain(`process ${ada.pid} is gone`);
  });

  it('SES-09 knows an agent whose shell runs each command in a copy of itself', async () => {
    const project = makeForgeRepository();
    const start = (task: string): string => `( "$@" session start --task ${task} --json; true ) & wait\n`;
    const { stdout } = spawnSync('sh', ['-s', process.execPath, BIN], {
      cwd: project.dir,
      input: start('parser') + start('lexer'),
      encoding: 'utf8',
    });
    const [first, again] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Started);
    expect(again?.session).toMatchObject({ id: first?.session.id, state: 'running' });
    expect(again?.focus.task).toBe('lexer');
  });

  it('SES-09 SES-07 lets another agent take over: the old session is archived as interrupted and offered', async () => {
    const project = makeForgeRepository();
    const [ada, bob] = [new Agent(project), new Agent(project)];
    const { session } = await ada.json<Started>('session', 'start');
    await ada.run('progress', 'add', 'half done');
    await ada.run('progress', 'next', 'do the other half');

    const taken = await bob.run('session', 'start', '--take-over');

    expect(taken).toMatchObject({ exitCode: 0 });
    expect(taken.stderr).toContain(`--resume ${session.id}`);
    expect(taken.stdout).toContain('do the other half');
    const { sessions, active } = await bob.json<Listed>('session', 'list');
    expect(sessions).toMatchObject([{ id: session.id, status: 'interrupted', next: 'do the other half' }]);
    expect(active?.holder).toBe('you');
    expect((await ada.error('session', 'start')).code).toBe('session.held');
  });
});

describe('a dead holder', () => {
  it('SES-07 is interrupted at the next start, with the reason; offered and resumed', async () => {
    const project = makeForgeRepository();
    const ada = new Agent(project);
    const { session } = await ada.json<Started>('session', 'start', '--task', 'Port the parser');
    await ada.run('focus', 'set', '--file', 'src/parser.js');
    await ada.run('progress', 'add', 'read the grammar');
    await ada.run('progress', 'next', 'write the lexer');
    await ada.kill();
    const bob = new Agent(project);

    const next = await bob.run('session', 'start');
    expect(next.exitCode).toBe(0);
    expect(next.stderr).toContain(`Session ${session.id} was interrupted (process ${ada.pid} is gone)`);
    expect(next.stdout).toContain(`forge start --resume ${session.id}`);

    const resumed = await bob.json<Started>('session', 'start', '--resume', session.id);
    expect(resumed.session).toMatchObject({ state: 'started', resumed_from: session.id });
    expect(resumed.focus).toMatchObject({ task: 'Port the parser', files: ['src/parser.js'] });
    expect(resumed.briefing.text).toContain('write the lexer');
    expect(project.read(PROGRESS)).toMatch(/\nNEXT: write the lexer\n$/);
    const shown = await bob.run('session', 'show', session.id);
    expect(shown.stdout).toContain('read the grammar');
    const row = (await bob.json<Listed>('session', 'list')).sessions.find(({ id }) => id === session.id);
    expect(row?.resumed_by).toBe(resumed.session.id);
    await bob.run('session', 'end', '--no-commit');
    expect(await bob.error('session', 'start', '--resume', 'latest')).toMatchObject({
      exitCode: 2,
      code: 'session.none_to_resume',
    });
  });

  it('SES-07 counts as gone immediately after a reboot, or if its pid is another process now', async () => {
    const project = makeForgeRepository();
    const ada = new Agent(project);
    for (const change of [{ boot: 'another-boot' }, { pid: process.pid, started: '1' }]) {
      await ada.json<Started>('session', 'start');
      await ada.run('progress', 'add', 'half of it');
      const record = project.json<{ holder: object }>(SESSION);
      project.write(SESSION, JSON.stringify({ ...record, holder: { ...record.holder, ...change } }));
      letPass(project, 'boot' in change ? 0 : 700);

      const again = await ada.json<Started>('session', 'start');

      expect(again.session.state).toBe('started');
      expect(again.warnings.join()).toContain('was interrupted');
      await ada.run('session', 'end', '--no-commit');
    }
  });
});
