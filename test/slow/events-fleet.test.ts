import type { ChildProcess } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Fleet } from '../../src/index.js';
import { forgeJson, startBinary } from '../support/forge.js';
import { putFeatures } from '../support/forge-project.js';
import { hasNats, startCluster, twoClones } from '../support/nats-server.js';
import { makeFolder, type Project, projectAt } from '../support/project.js';

const IDS = ['F-1', 'F-2', 'F-3', 'F-4', 'F-5', 'F-6'];

/** Each clone has the same features. A task is done by a file of its name. */
async function workers(): Promise<[Project, Project]> {
  const both = await twoClones();
  for (const project of both) {
    putFeatures(project, []);
    for (const id of IDS)
      await forgeJson(project, ['feature', 'add', '--no-run', id, id, '--test', `test -f ${id}`]);
    await forgeJson(project, ['config', 'set', 'events.lease_seconds', '5']);
  }
  return both;
}

function startLoop(project: Project, env: NodeJS.ProcessEnv, script: string, ...args: string[]) {
  const child = startBinary(project.dir, ['loop', ...args, '--', 'sh', '-c', script], env);
  onTestFinished(() => void child.kill('SIGKILL'));
  const out = { child, text: '', code: undefined as number | null | undefined };
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (out.text += chunk));
  child.on('close', (code) => (out.code = code));
  return out;
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
    expect(new Set(started().map((name) => name.split('.')[0])).size, a.text + b.text).toBe(2);
    const fleet = await forgeJson<Fleet>(first, ['fleet'], { env });
    expect(fleet.rows.map(({ task, health }) => [task, health]).sort()).toEqual([
      ['F-1', 'working'],
      ['F-2', 'working'],
    ]);
    // One node goes away in the middle, and comes back.
    await servers[2]?.kill();
    // Killed in mid-task: its task is free after the lease, and the other loop does it.
    const [killed = ''] = started().filter((name) => name.includes('.a.'));
    a.child.kill('SIGKILL');
    shared.git('init', '-q');
    const { rmSync } = await import('node:fs');
    rmSync(shared.path('hold.b'));
    await expect.poll(() => b.code, { timeout: 240_000 }).toBe(0);
    await servers[2]?.start();
    const task = killed.split('.')[0] as string;
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
    await expect.poll(() => alone.code, { timeout: 240_000 }).toBe(0);
    expect(alone.text).toContain('Claims hold on this machine only');
  });
});
