import { describe, expect, it } from 'vitest';
import { ada, at, bob, host, start } from '../support/agents.js';
import { agent, forgeError, forgeJson, runForge, startBinary } from '../support/forge.js';
import { makeForge, PROGRESS, SESSION, snapshot } from '../support/forge-project.js';
import { makeFolder, projectAt } from '../support/project.js';

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

  it('SES-09 agents that write at the same time lose no line', async () => {
    const project = await makeForge();
    await forgeJson(project, ['session', 'start']);
    const texts = Array.from({ length: 8 }, (_, i) => `line ${i}`);
    const codes = await Promise.all(
      texts.map(
        (text) =>
          new Promise((done) => startBinary(project.dir, ['progress', 'add', text]).on('close', done)),
      ),
    );
    expect(codes).toEqual(texts.map(() => 0));
    const lines = project
      .read(PROGRESS)
      .split('\n')
      .filter((line) => line.includes('] line '));
    expect(lines.map((line) => line.slice(8)).sort()).toEqual(texts);
  });

  it('SES-09 two worktrees of one repository never block each other, nor share an id', async () => {
    const project = await makeForge();
    const linked = projectAt(`${makeFolder()}/linked`);
    project.git('worktree', 'add', '-q', linked.dir, '-b', 'side');
    await runForge(linked, ['init']);
    const [one, two] = [await start(project, at(ada, 0)), await start(linked, at(bob, 1))];
    expect([one.session.id, two.session.id]).toEqual(['2026-03-01-session-001', '2026-03-01-session-002']);
    await forgeJson(project, ['progress', 'add', 'in main'], { world: at(ada, 2) });
    await forgeJson(linked, ['progress', 'add', 'in linked'], { world: at(bob, 2) });
    expect([project.read(PROGRESS).includes('in linked'), linked.read(PROGRESS).includes('in main')]).toEqual(
      [false, false],
    );
    project.git('worktree', 'remove', '--force', linked.dir);
  });
});
