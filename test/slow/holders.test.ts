import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { Agent, type Started } from '../support/e2e-agents.js';
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
});

describe('a dead holder', () => {
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
