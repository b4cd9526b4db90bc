import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { at, start } from '../support/agents.js';
import { agent, forgeError, forgeJson, runForge } from '../support/forge.js';
import { FOCUS, makeForge, SESSION, SESSIONS } from '../support/forge-project.js';
import { ask } from '../support/kfrs.js';

/** A shell of the same person: each evening it is closed, and each morning there is another one. */
const shell = (name: string) => agent(name, { terminal: true });
const DAY = 24 * 60;

describe('a person who closes the shell and comes back', () => {
  it('SES-07 SES-09 continues the session in the next shell, with its log and without a warning', async () => {
    const project = await makeForge();
    const { session } = await start(project, at(shell('monday'), 0), '--task', 'Port the parser');
    await forgeJson(project, ['log', 'read the grammar'], { world: at(shell('monday'), 5) });
    const world = at(shell('tuesday'), DAY, 'gone');
    const { stdout, stderr, exitCode } = await runForge(project, ['start'], { world, terminal: true });
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`Session ${session.id} goes on`);
    for (const line of ['Task: Port the parser', '[10:05] read the grammar']) expect(stdout).toContain(line);
    expect(project.json<{ holder: object }>(SESSION).holder).toEqual(shell('tuesday')());
    expect(
      (await start(project, at(shell('wednesday'), 2 * DAY, 'gone'), '--resume', 'latest')).session.state,
    ).toBe('running');
  });

  it('KFR-09 shows an open question in the briefing, even with another task or after a long time', async () => {
    const project = await makeForge();
    const { session } = await start(project, at(shell('monday'), 0), '--task', 'Port the parser');
    await ask(project, 'which cookie?', { world: at(shell('monday'), 1) });
    const words = ['start', '--task', 'Write the docs'];
    const world = at(shell('friday'), 30 * DAY, 'gone');
    const { stdout, stderr, exitCode } = await runForge(project, words, { world, terminal: true });
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('The session goes on with its task')]);
    expect(stdout).toMatch(
      /which cookie\?[\s\S]*\nThe Working Memory update tool here is the command: forge kfr patch\n/,
    );
    expect((await forgeJson<{ active: { id: string } }>(project, ['session', 'status'])).active.id).toBe(
      session.id,
    );
  });

  it('SES-07 ends it quietly before another task', async () => {
    const project = await makeForge();
    const first = await start(project, at(shell('monday'), 0), '--task', 'Port the parser');
    await forgeJson(project, ['log', 'read the grammar'], { world: at(shell('monday'), 5) });
    const words = ['start', '--task', 'Write the docs'];
    const next = await runForge(project, words, { world: at(shell('tuesday'), DAY, 'gone'), terminal: true });
    expect([next.exitCode, next.stderr, project.json<{ task: string }>(FOCUS).task]).toEqual([
      0,
      '',
      'Write the docs',
    ]);
    const { sessions } = await forgeJson<{ sessions: { status: string; id: string }[] }>(
      project,
      'session list',
    );
    expect(sessions.map(({ status }) => status)).toEqual(['ended']);
    expect((await runForge(project, ['session', 'show', first.session.id])).stdout).toContain(
      'read the grammar',
    );
  });

  it('SES-14 leaves no archive of an earlier session in which nothing happened', async () => {
    const project = await makeForge();
    await start(project, at(shell('monday'), 0), '--task', 'Port the parser');
    const words = ['--task', 'Write the docs'];
    expect((await start(project, at(shell('sunday'), 6 * DAY, 'gone'), ...words)).session.id).toMatch(
      /03-07-session-001$/,
    );
    expect(readdirSync(project.path(SESSIONS)).filter((name) => name.endsWith('.json'))).toEqual([]);
  });

  it('SES-09 keeps the session of a shell that is still open', async () => {
    const project = await makeForge();
    await start(project, at(shell('one'), 0), '--task', 'Port the parser');
    await start(project, at(shell('two'), 6 * DAY), '--task', 'Write the docs');
    expect(project.json<{ task: string }>(FOCUS).task).toBe('Port the parser');
    const { code, message } = await forgeError(project, ['start'], { world: at(agent('claude'), 6 * DAY) });
    expect([code, message]).toEqual([
      'session.held',
      expect.stringContaining(' belongs to a person at a terminal'),
    ]);
  });
});

describe('a session without a task', () => {
  it('SES-05 takes the first feature that is added as its task, and says so', async () => {
    const project = await makeForge();
    await start(project, at(shell('monday'), 0));
    const { stderr } = await runForge(project, ['feature', 'add', 'F-1', 'Login', '--no-run']);
    expect([project.json<{ task: string }>(FOCUS).task, stderr]).toEqual([
      'F-1: Login',
      expect.stringContaining('F-1 is the task now'),
    ]);
    const again = await runForge(project, ['feature', 'add', 'F-2', 'Logout', '--no-run']);
    expect([project.json<{ task: string }>(FOCUS).task, again.stderr]).toEqual([
      'F-1: Login',
      expect.not.stringContaining('is the task now'),
    ]);
  });
});
