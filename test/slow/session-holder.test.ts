import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { SessionOverview, StartedSession } from '../../src/index.js';
import { ada, at, bob, host, start } from '../support/agents.js';
import { Agent } from '../support/e2e-agents.js';
import { agent, BIN, forgeError, forgeJson, runForge } from '../support/forge.js';
import { FOCUS, makeForge, PROGRESS, SESSION, SESSIONS, snapshot } from '../support/forge-project.js';
import { ask } from '../support/kfrs.js';
import { makeForgeRepository } from '../support/typed.js';

describe('two agents in one worktree', () => {
  it('SES-09 the same holder gets its running session back, as often as it asks', async () => {
    const project = await makeForge();
    const first = await start(project, at(ada, 0));
    const before = [project.read(PROGRESS), project.read(SESSION)];
    const again = await start(project, at(ada, 500));
    expect([again.session.id, again.session.state]).toEqual([first.session.id, 'running']);
    expect([project.read(PROGRESS), project.read(SESSION)]).toEqual(before);
    // A hook names the agent: then its process may be another one each time.
    const hook = agent('hook', { agent: 'session-7' });
    await runForge(project, ['session', 'discard'], { world: at(ada, 501) });
    await start(project, at(hook, 502));
    expect((await start(project, at(agent('other', { agent: 'session-7' }), 503))).session.state).toBe(
      'running',
    );
  });

  it('SES-09 another agent is refused, gets the holder’s name, and may join or take over', async () => {
    const project = await makeForge();
    const { session } = await start(project, at(ada, 0));
    await forgeJson(project, ['progress', 'add', 'by ada'], { world: at(ada, 1) });
    const before = snapshot(project.dir);
    const error = await forgeError(project, ['session', 'start'], { world: at(bob, 60) });
    expect(error).toMatchObject({
      exitCode: 3,
      code: 'session.held',
      session: session.id,
      holder: { pid: ada().pid, host },
    });
    expect(error.message).toContain(`process ${ada().pid} is running`);
    // Only a person takes a session over.
    expect(error.hint).toBe('forge start --join   # work in it too; ask the user first');
    const { hint } = await forgeError(project, ['session', 'start'], { world: at(bob, 60), terminal: true });
    expect(hint).toMatch(/--join.*\n.*--take-over/);
    expect(snapshot(project.dir)).toEqual(before);

    const joined = await start(project, at(bob, 61), '--join');
    expect([joined.session.id, joined.session.state]).toEqual([session.id, 'joined']);
    await forgeJson(project, ['progress', 'add', 'by bob'], { world: at(bob, 62) });
    expect((await start(project, at(bob, 63))).session.state).toBe('running');
    expect((await start(project, at(ada, 64))).session.state).toBe('running');
    expect(project.read(PROGRESS)).toMatch(/by ada\n.*by bob\n$/);

    const eve = await start(project, at(agent('eve'), 65), '--take-over');
    expect(eve.session.id).toBe('2026-03-01-session-002');
    expect((await runForge(project, ['session', 'show', session.id])).stdout).toMatch(
      /interrupted[\s\S]*by ada[\s\S]*by bob/,
    );
  });

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
    const { session } = await ada.json<StartedSession>('session', 'start', '--task', 'Port the parser');
    expect(project.json<{ holder: { pid: number } }>(SESSION).holder.pid).toBe(ada.pid);

    const again = await ada.json<StartedSession>('session', 'start', '--task', 'Write the lexer');

    expect(again.session).toMatchObject({ id: session.id, state: 'running' });
    expect(again.focus.task).toBe('Write the lexer');
    expect((await bob.error('session', 'start')).code).toBe('session.held');
    await ada.kill();
    expect((await bob.run('session', 'start')).stdout).toContain('was interrupted');
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
      .map((line) => JSON.parse(line) as StartedSession);
    expect(again?.session).toMatchObject({ id: first?.session.id, state: 'running' });
    expect(again?.focus.task).toBe('lexer');
  });
});

/** A shell of the same person: each evening it is closed, and each morning there is another one. */
const shell = (name: string) => agent(name, { terminal: true });
const DAY = 24 * 60;

describe('a person who closes the shell and comes back', () => {
  it('SES-07 SES-09 SES-05 KFR-09 goes on in the next shell, with its log; takes another task, but not with a question open', async () => {
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
    await start(project, at(shell('thursday'), 3 * DAY, 'gone'), '--task', 'Write the docs');
    expect(project.json<{ task: string }>(FOCUS).task).toBe('Write the docs');
    await ask(project, 'which cookie?', { world: at(shell('thursday'), 3 * DAY) });
    const friday = { world: at(shell('friday'), 30 * DAY, 'gone'), terminal: true };
    const asked = await runForge(project, ['start', '--task', 'Sleep'], friday);
    expect([asked.exitCode, asked.stderr]).toEqual([
      0,
      expect.stringContaining('The session goes on with its task'),
    ]);
    expect(asked.stdout).toMatch(
      /which cookie\?[\s\S]*\nThe Working Memory update tool here is the command: forge kfr patch\n/,
    );
    expect((await forgeJson<SessionOverview>(project, ['session', 'status'])).active?.id).toBe(session.id);
    const { code, message } = await forgeError(project, ['start'], { world: at(agent('claude'), 36 * DAY) });
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

/** Ada's session with work in it, and with what comes next. */
async function makeHalfDone(...args: string[]) {
  const project = await makeForge();
  const { session } = await start(project, at(ada, 0), ...args);
  await forgeJson(project, ['progress', 'add', 'half of it'], { world: at(ada, 1) });
  await forgeJson(project, ['progress', 'next', 'the other half'], { world: at(ada, 1) });
  return { project, session };
}

describe('an abandoned session', () => {
  it('SES-07 is interrupted as soon as its holder has exited', async () => {
    const { project, session } = await makeHalfDone('--task', 'The work');
    const text = project.read(PROGRESS);
    // Being refused keeps no session alive.
    for (const minute of [6, 14.9])
      expect(await forgeError(project, ['session', 'start'], { world: at(bob, minute) })).toMatchObject({
        exitCode: 3,
        message: expect.stringMatching(/is running/),
      });
    const next = await start(project, at(bob, 14.9, 'gone'));
    expect(next.session.id).toBe('2026-03-01-session-002');
    expect(next.briefing.text).toMatch(`forge start --resume ${session.id}`);
    const [folder = ''] = Object.keys(snapshot(project.path(SESSIONS))).filter((path) =>
      path.startsWith(session.id),
    );
    const archive = project.json<{ progress: string[] }>(`${SESSIONS}/${folder}`);
    expect(archive.progress.join('\n')).toBe(text);
    expect(archive).toMatchObject({ status: 'interrupted', ended_at: null });
  });

  it('SES-14 SES-07 leaves no archive and no offer if nothing was done in it', async () => {
    const project = await makeForge();
    await start(project, at(ada, 0));
    const next = await start(project, at(bob, 15, 'gone'));
    expect([next.session.id, next.warnings]).toEqual(['2026-03-01-session-002', []]);
    expect(readdirSync(project.path(SESSIONS)).filter((name) => name[0] !== '.')).toEqual([]);
  });

  it('SES-07 without its record: the work is kept, and no other session takes it over', async () => {
    const { project } = await makeHalfDone();
    const text = project.read(PROGRESS);
    rmSync(project.path(SESSION));
    const next = await start(project, at(bob, 20));
    const [folder = '', ...others] = readdirSync(project.path(SESSIONS)).filter((name) => name[0] !== '.');
    expect(others).toEqual([]);
    expect(next.warnings.join()).toContain(
      `Progress without a session was found; it is kept as ${folder.slice(0, -5)}.`,
    );
    const archive = project.json<{ progress: string[] }>(`${SESSIONS}/${folder}`);
    expect(archive.progress.join('\n')).toBe(text);
    expect(archive).toMatchObject({
      id: folder.slice(0, -5),
      status: 'interrupted',
      started_at: expect.any(String),
      ended_at: null,
      next: 'the other half',
    });
    expect(project.read(PROGRESS)).not.toContain('half');
  });

  it('SES-07 on another host is interrupted only after an hour', async () => {
    const far = await makeForge();
    await start(far, at(agent('far', { host: 'elsewhere' }), 0));
    for (const minute of [30, 59])
      expect(
        (await forgeError(far, ['session', 'start'], { world: at(bob, minute, 'unknown') })).message,
      ).toContain('elsewhere');
    expect((await start(far, at(bob, 60, 'unknown'))).session.id).toBe('2026-03-01-session-002');
  });

  it('SES-07 --resume picks up its task and next step, once', async () => {
    const { project, session } = await makeHalfDone('--task', 'The work');
    await forgeJson(project, ['focus', 'set', '--file', 'a.js', '--phase', 'BUILD'], { world: at(ada, 1) });
    expect((await start(project, at(ada, 3), '--resume', 'latest')).session.state).toBe('running');
    const resumed = await start(project, at(bob, 30, 'gone'), '--resume', 'latest');
    expect(resumed.session).toMatchObject({ id: '2026-03-01-session-002', resumed_from: session.id });
    expect(project.json(FOCUS)).toMatchObject({ task: 'The work', files: ['a.js'], phase: 'BUILD' });
    expect(project.read(PROGRESS)).toMatch(
      /\] half of it\n\[10:30\] Resumed 2026-03-01-session-001\n\nNEXT: the other half\n$/,
    );
    const { sessions } = await forgeJson<{ sessions: object[] }>(project, ['session', 'list']);
    expect(sessions).toMatchObject([
      { id: session.id, status: 'interrupted', resumed_by: resumed.session.id },
    ]);
    expect((await runForge(project, ['session', 'list'])).stdout).toMatch(/-session-001 +resumed /);
    await forgeJson(project, ['session', 'end', '--no-commit'], { world: at(bob, 31) });
    for (const [id, code] of [
      ['latest', 'session.none_to_resume'],
      ['2026-03-01-session-002', 'session.not_interrupted'],
      [session.id, 'session.not_interrupted'],
    ])
      expect(
        await forgeError(project, ['session', 'start', '--resume', id as string], { world: at(bob, 32) }),
      ).toMatchObject({ exitCode: 2, code });
  });

  it('SES-07 a discarded one is no longer offered', async () => {
    const { project, session } = await makeHalfDone();
    await start(project, at(bob, 30, 'gone'));
    await forgeJson(project, ['session', 'end', '--no-commit'], { world: at(bob, 31) });
    const offer = `forge start --resume ${session.id}`;
    expect((await forgeJson<{ next: string[] }>(project, [])).next).toContain(offer);
    await forgeJson(project, ['session', 'discard', session.id]);
    expect((await forgeJson<{ next: string[] }>(project, [])).next).not.toContain(offer);
    expect((await runForge(project, ['session', 'show', session.id])).stdout).toContain('discarded');
  });
});
