import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Fleet, Selection, StartedSession } from '../../src/index.js';
import { sessionName } from '../../src/session/rules.js';
import { ada, at, bob } from '../support/agents.js';
import { claim, clones, held, trees } from '../support/claims.js';
import { expectError, forgeError, forgeJson, runForge } from '../support/forge.js';
import { hasNats, startNats } from '../support/nats-server.js';
import type { Project } from '../support/project.js';

describe('claims on one machine', () => {
  it('EVT-03 without NATS one worktree holds a task, and forge next skips it in the other', async () => {
    const [project, other] = await trees();
    expect(await claim(project, 'f-1')).toMatchObject({ task: 'F-1', held_by: 'machine', seconds: 3600 });
    expect(await forgeError(other, ['claim', 'F-1'])).toMatchObject({
      ...{ ...held, message: expect.stringContaining('F-1 is held by') },
      hint: expect.stringContaining('forge next'),
    });
    const { task, candidates } = await forgeJson<Selection>(other, ['next']);
    expect(task?.id).toBe('F-2');
    expect(candidates.find(({ id }) => id === 'F-1')?.blocked_by).toHaveLength(1);
    expect((await forgeJson<Selection>(project, ['next'])).task?.id).toBe('F-1');
    expect((await forgeJson<Fleet>(other, 'fleet')).rows).toMatchObject([{ task: 'F-1', health: 'working' }]);
    await expectError(other, ['release', 'F-1'], '3 claim.none');
    await forgeJson(project, ['release', 'F-1']);
    expect(await claim(other, 'F-1')).toMatchObject({ task: 'F-1' });
  });

  it('EVT-03 a claim and the fleet name the person, the folder and this worktree', async () => {
    const [project, other] = await trees();
    project.git('config', 'user.name', 'Ada Lovelace');
    await forgeJson(project, ['start', '--task', 'x']);
    await claim(project, 'F-1');
    const folder = basename(project.dir);
    const { message } = await forgeError(other, ['claim', 'F-1']);
    expect(message).toMatch(new RegExp(`^F-1 is held by Ada Lovelace, .*branch main, folder ${folder} on `));
    const shown = async (where: Project) => (await runForge(where, ['fleet'])).stdout;
    expect(await shown(other)).toMatch(new RegExp(`working +Ada Lovelace .* ${folder} .* main +F-1 `));
    project.git('switch', '-qc', 'fix');
    expect(await shown(project)).toMatch(/working +you .* fix +F-1 /);
    await forgeJson(project, ['end']);
    expect(await shown(project)).toMatch(/idle +you .* F-1 /);
  });

  it('EVT-03 a task that the session of another worktree has in focus is refused', async () => {
    const [project, other] = await trees();
    const { session } = await forgeJson<StartedSession>(project, ['start', 'F-1'], { world: at(ada, 0) });
    for (const args of [
      ['claim', 'F-1'],
      ['start', 'f-1'],
      ['focus', 'set', '--task', 'F-1'],
    ]) {
      const { message, ...error } = await forgeError(other, args, { world: at(bob, 5) });
      expect(error).toMatchObject(held);
      expect(message).toBe(`F-1 is held by session ${sessionName(session.id)} in ${project.dir}.`);
    }
    // The same agent, which works in both.
    expect(await forgeError(other, ['claim', 'F-1'], { world: at(ada, 6) })).toMatchObject(held);
    await claim(project, 'F-2');
    const { rows } = await forgeJson<Fleet>(other, 'fleet');
    expect(rows.map(({ task }) => task).sort()).toEqual(['F-1: Do F-1', 'F-2']);
    const health = async (liveness: 'alive' | 'gone') => {
      const fleet = await forgeJson<Fleet>(other, 'fleet', { world: at(bob, 7, liveness) });
      return fleet.rows.find(({ task }) => task === 'F-1: Do F-1')?.health;
    };
    expect([await health('alive'), await health('gone')]).toEqual(['working', 'idle']);
    expect(await forgeError(project, ['release', 'f-1'])).toMatchObject({
      ...{ exitCode: 3, code: 'claim.none', hint: 'forge focus clear' },
      message: '"f-1" is not claimed; the session here has it in focus.',
    });
    await forgeJson(project, ['focus', 'clear'], { world: at(ada, 7) });
    expect(await claim(other, 'F-1', { world: at(bob, 8) })).toMatchObject({ task: 'F-1' });
    expect(await forgeError(project, ['release', 'F-1'])).toMatchObject({ hint: 'forge fleet' });
  });

  it.each([
    [['claim', 'NOPE-1'], { code: 'task.unknown', hint: 'forge ls\nforge linear list' }],
    [['claim', 'LOCAL-77'], { code: 'task.unknown', hint: 'forge ls\nforge linear list' }],
    [['claim', 'F-1', '--for', 'ever'], { code: 'claim.duration' }],
    [['claim', 'F-1', '--for', '99d'], { code: 'claim.duration' }],
  ])('EVT-03 %j is refused with %j', async (args, error) => {
    const [project] = await clones();
    expect(await forgeError(project, args)).toMatchObject({ exitCode: 2, ...error });
  });
});

describe.skipIf(!hasNats)('claims with NATS', () => {
  it('EVT-03 of two clones one gets the task; released, the other may have it', async () => {
    const [server, [first, second]] = [await startNats(), await clones()];
    const { env } = server;
    const both = await Promise.all(
      [first, second].map((project) => runForge(project, ['claim', 'F-1', '--json'], { env })),
    );
    expect(both.map(({ exitCode }) => exitCode).sort()).toEqual([0, 3]);
    const [winner, loser] = both[0]?.exitCode === 0 ? [first, second] : [second, first];
    expect((await forgeJson<Selection>(loser, ['next'], { env })).task?.id).toBe('F-2');
    expect((await forgeJson<Selection>(winner, ['next'], { env })).task?.id).toBe('F-1');
    await forgeJson(winner, ['release', 'F-1'], { env });
    expect(await claim(loser, 'F-1', { env })).toMatchObject({ held_by: 'server' });
  });

  it('EVT-03 forge fleet shows host, session, branch, task and the last event of every clone', async () => {
    const [server, [first, second]] = [await startNats(), await clones()];
    const { env } = server;
    await forgeJson(first, ['start', 'F-1'], { env });
    await forgeJson(second, ['start', 'F-2'], { env });
    await forgeJson(second, ['note', 'add', 'x'], { env });
    const { rows, source } = await forgeJson<Fleet>(first, ['fleet'], { env });
    expect(source).toBe('server');
    expect(rows).toHaveLength(2);
    expect(rows.find(({ task }) => task === 'F-2')).toMatchObject({
      ...{ branch: 'main', health: 'working', last: { type: 'learning' } },
      session: expect.stringMatching(/session-001/),
      lease_seconds: expect.any(Number),
    });
    expect(rows.map(({ own, folder }) => [own, folder])).toEqual(
      rows.map(({ task }) => (task === 'F-1' ? [true, basename(first.dir)] : [false, basename(second.dir)])),
    );
    await claim(second, 'F-2', { env });
    await forgeJson(second, ['end'], { env });
    const { rows: after } = await forgeJson<Fleet>(first, ['fleet'], { env });
    expect(after.find(({ task }) => task === 'F-2')).toMatchObject({ health: 'idle' });
    await forgeJson(second, ['release', 'F-2'], { env });
    expect((await forgeJson<Fleet>(first, ['fleet'], { env })).rows).toHaveLength(1);
    const { stdout } = await runForge(first, ['fleet'], { env });
    expect(stdout).toMatch(/HEALTH +WHO +HOST +FOLDER +SESSION +BRANCH +TASK +SINCE +LAST EVENT/);
  });
});
