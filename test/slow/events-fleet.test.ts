import type { ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Fleet } from '../../src/index.js';
import { expectError, forgeJson, runForge, startBinary } from '../support/forge.js';
import { putFeatures } from '../support/forge-project.js';
import { hasNats, startCluster, startNats, twoClones } from '../support/nats-server.js';
import { follow, makeFolder, type Project, projectAt } from '../support/project.js';

const IDS = ['F-1', 'F-2', 'F-3', 'F-4', 'F-5', 'F-6'];

/** Each clone has the same features. A task is done by a file of its name. */
async function workers(ids = IDS): Promise<[Project, Project]> {
  const both = await twoClones();
  for (const project of both) {
    putFeatures(project, []);
    for (const id of ids)
      await forgeJson(project, ['feature', 'add', '--no-run', id, id, '--test', `test -f ${id}`]);
    await forgeJson(project, ['config', 'set', 'events.lease_seconds', '5']);
  }
  return both;
}

function startLoop(project: Project, env: NodeJS.ProcessEnv, script: string, ...args: string[]) {
  const child = startBinary(project.dir, ['loop', ...args, '--', 'sh', '-c', script], env);
  const said = follow(child);
  return { child, text: () => said.stdout + said.stderr };
}

/** A loop that is in the middle of its only task until the file `hold` is gone, and another clone. */
async function midTask() {
  const [server, [first, second]] = [await startNats(), await workers(['F-1'])];
  const { env } = server;
  first.write('hold', '');
  const script = 'touch begun; while [ -e hold ]; do sleep 0.1; done; touch "$FORGE_TASK"';
  const loop = startLoop(first, env, script);
  await expect.poll(() => first.has('begun')).toBe(true);
  return { server, env, loop, first, second };
}

const ended = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

describe.skipIf(!hasNats)('two checkouts with a cluster', () => {
  it('EVT-03 share work: no task is done twice, a killed loop frees its task, and no server stops nothing', async () => {
    const [servers, [first, second]] = [await startCluster(), await workers()];
    const env = { ...servers[0]?.env };
    const shared = projectAt(makeFolder());
    // Each start of a task leaves a file of its own in the shared folder.
    const work = (name: string) =>
      `touch "${shared.dir}/$FORGE_TASK.${name}.$$"; while [ -e "${shared.dir}/hold.${name}" ]; do sleep 0.1; done; touch "$FORGE_TASK"`;
    const started = (): string[] =>
      readdirSync(shared.dir)
        .filter((name) => name.startsWith('F-'))
        .sort();
    shared.write('hold.a', '');
    shared.write('hold.b', '');
    const a = startLoop(first, env, work('a'));
    const b = startLoop(second, env, work('b'));
    await expect.poll(() => started().length).toBe(2);
    expect(new Set(started().map((name) => name.split('.')[0])).size, a.text() + b.text()).toBe(2);
    const fleet = await forgeJson<Fleet>(first, ['fleet'], { env });
    expect(fleet.rows.map(({ task, health }) => [task, health]).sort()).toEqual([
      ['F-1', 'working'],
      ['F-2', 'working'],
    ]);
    // One node goes away in the middle, and comes back.
    await servers[2]?.kill();
    // Killed in mid-task: its task is free after the lease, and the other one does it.
    const [killed = ''] = started().filter((name) => name.includes('.a.'));
    a.child.kill('SIGKILL');
    shared.git('init', '-q');
    rmSync(shared.path('hold.b'));
    await expect.poll(() => b.child.exitCode, { timeout: 240_000 }).toBe(0);
    await servers[2]?.start();
    const task = killed.split('.')[0] as string;
    // The other loop may have been done before the lease ended. Then the next one takes the task.
    const isDone = async (): Promise<boolean> => {
      if (existsSync(second.path(task))) return true;
      const next = startLoop(second, env, work('b'));
      await expect.poll(() => next.child.exitCode, { timeout: 60_000 }).toBe(0);
      return existsSync(second.path(task));
    };
    await expect.poll(isDone, { timeout: 240_000, interval: 1000 }).toBe(true);
    for (const id of IDS) {
      const times = started().filter((name) => name.startsWith(`${id}.`));
      expect([id, times.length]).toEqual([id, id === task ? 2 : 1]);
      expect(existsSync(second.path(id))).toBe(true);
    }
    expect(ended(a.child)).toBe(true);
    // Without any server the loop works on by itself.
    for (const server of servers) await server.kill();
    rmSync(shared.path('hold.a'));
    const alone = startLoop(first, env, work('alone'), '--max-cycles', '2');
    await expect.poll(() => alone.child.exitCode, { timeout: 240_000 }).toBe(0);
    expect(alone.text()).toContain('Claims hold in the worktrees of this repository only');
  });

  it('EVT-03 a loop that was cut off until another took its task records nothing', async () => {
    const { env, loop, first, second } = await midTask();
    loop.child.kill('SIGSTOP');
    await expect
      .poll(async () => (await runForge(second, ['claim', 'F-1'], { env })).exitCode, { interval: 500 })
      .toBe(0);
    loop.child.kill('SIGCONT');
    rmSync(first.path('hold'));
    // The remaining task is held elsewhere, so the loop ends by itself.
    await expect.poll(() => loop.child.exitCode, { timeout: 60_000 }).toBe(0);
    expect(first.has('F-1')).toBe(true);
    expect(loop.text()).toContain('Your claim on F-1 is lost: it is held by');
    expect(loop.text()).toContain('not passing yet: F-1 (blocked by ');
    const { records } = await forgeJson<{ records: object[] }>(first, 'memory log --tier execution');
    expect(records).toEqual([]);
  });

  it('EVT-03 a partition that ends within the lease costs nothing', async () => {
    const { server, env, loop, first, second } = await midTask();
    server.signal('SIGSTOP');
    const { stdout } = await runForge(second, ['claim', 'F-1'], { env });
    expect(stdout).toContain('in the worktrees of this repository');
    server.signal('SIGCONT');
    // Its holder is back first, or it takes the claim that the other one has on its own machine only.
    rmSync(first.path('hold'));
    await expect.poll(() => loop.child.exitCode, { timeout: 120_000 }).toBe(0);
    expect(loop.text()).toContain('SUCCESS');
    await expectError(second, 'done F-1', '3 claim.lost', { env });
  });
});
