import { describe, expect, it } from 'vitest';
import { ada, at, bob, host, start } from '../support/agents.js';
import { agent, forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeForge, PROGRESS, SESSION, snapshot } from '../support/forge-project.js';

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
    expect(error.hint).toMatch(/--join.*\n.*--take-over/);
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

  it('SES-07 keeps when forge was last used here, to five seconds', async () => {
    const project = await makeForge();
    const used = async (seconds: number): Promise<number> => {
      await forgeJson(project, ['progress', 'add', 'a line'], { world: at(ada, seconds / 60) });
      const now = Date.parse('2026-03-01T10:00:00.000Z');
      return (project.json<{ at: number }>('.git/forge/activity').at - now) / 1000;
    };
    await start(project, at(ada, 0));
    // The last one: the clock was set back.
    const times = [60, 63, 66, 69, 72, 30];
    const kept: number[] = [];
    for (const seconds of times) kept.push(await used(seconds));
    expect(kept).toEqual([60, 60, 66, 66, 72, 30]);
  });
});
