import { describe, expect, it } from 'vitest';
import { cloneDesk, type Desk, expectSettled, makeDesk, makeServer } from '../support/ledgers.js';
import { type Project, run } from '../support/project.js';

/** What a forge on the web does with a pull request: in a bare repository. */
function mergeThere(server: Project, from: string, how: 'merge' | 'squash' = 'merge'): void {
  const merged = run(server.dir, 'git', ['merge-tree', '--write-tree', 'main', from]);
  expect(merged, `${from}: ${merged.stdout}`).toMatchObject({ exitCode: 0 });
  const parents = how === 'merge' ? ['-p', 'main', '-p', from] : ['-p', 'main'];
  const commit = server.git('commit-tree', merged.stdout.trim(), ...parents, '-m', `Merge ${from}`);
  server.git('update-ref', 'refs/heads/main', commit);
}

/** A branch with records, pushed. */
async function branch(desk: Desk, name: string, from: string): Promise<string[]> {
  desk.git('switch', '-qc', name, from);
  const ids = await desk.records(2);
  desk.commit();
  desk.git('push', '-q', 'origin', name);
  return ids;
}

async function hosted(): Promise<{ server: Project; desk: Desk }> {
  const server = makeServer(await makeDesk());
  const desk = cloneDesk(server);
  await desk.start();
  return { server, desk };
}

/** A session on `main`, pushed. */
async function sessionOnMain(desk: Desk): Promise<string[]> {
  desk.git('switch', '-q', 'main');
  desk.git('pull', '-q', '--ff-only');
  await desk.start();
  const ids = await desk.record();
  await desk.end();
  desk.git('push', '-q', 'origin', 'main');
  return ids;
}

describe('merges on a server', () => {
  it('LTM-17 stacked branches, the lower one squashed and a session on main in between', async () => {
    const { server, desk } = await hosted();
    const ids = await branch(desk, 'lower', 'main');
    ids.push(...(await branch(desk, 'upper', 'lower')));
    mergeThere(server, 'lower', 'squash');
    ids.push(...(await sessionOnMain(desk)));
    mergeThere(server, 'upper');

    ids.push(...(await sessionOnMain(desk)));
    await expectSettled(desk, ids);
  });

  it('LTM-17 a branch that merged main and continues', async () => {
    const { server, desk } = await hosted();
    const ids = await branch(desk, 'long', 'main');
    mergeThere(server, 'long');
    ids.push(...(await sessionOnMain(desk)));
    desk.git('switch', '-q', 'long');
    desk.git('merge', '-q', '--no-edit', 'main');
    ids.push(...(await desk.record()));
    desk.commit();
    desk.git('push', '-q', 'origin', 'long');
    mergeThere(server, 'long');

    ids.push(...(await sessionOnMain(desk)));
    await expectSettled(desk, ids);
  });

  it('LTM-17 a fork whose own main went on', async () => {
    const { server, desk } = await hosted();
    const forked = cloneDesk(server);
    await forked.start();
    const ids = await forked.record();
    await forked.end();
    await forked.start();
    forked.git('switch', '-qc', 'patch');
    ids.push(...(await forked.records(2)));
    forked.commit();
    await forked.end();
    forked.git('push', '-q', server.dir, 'patch');
    ids.push(...(await sessionOnMain(desk)));
    mergeThere(server, 'patch');

    ids.push(...(await sessionOnMain(desk)));
    await expectSettled(desk, ids);
  });
});
