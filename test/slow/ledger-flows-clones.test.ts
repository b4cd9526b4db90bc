import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { forgeJson } from '../support/forge.js';
import { SESSION } from '../support/forge-project.js';
import {
  cloneDesk,
  type Desk,
  deskAt,
  expectIntact,
  expectSettled,
  makeDesk,
  makeServer,
  restoredHere,
  segments,
} from '../support/ledgers.js';
import { makeFolder, makeRepository, type Project, projectAt } from '../support/project.js';

/** Two clones of one server, each in a session, on `main`. */
async function twoClones(...options: string[]): Promise<[Desk, Desk, Project]> {
  const server = makeServer(await makeDesk());
  server.git('config', 'uploadpack.allowFilter', 'true');
  const one = cloneDesk(server);
  const two = cloneDesk({ dir: `file://${server.dir}` }, ...options);
  for (const desk of [one, two]) await desk.start();
  return [one, two, server];
}

/** A record and a commit, pushed if the other was not quicker. */
async function work(desk: Desk, push = true): Promise<string[]> {
  const ids = [...(await desk.record()), ...(await desk.note())];
  desk.commit();
  if (push) desk.git('push', '-q', 'origin', 'HEAD');
  return ids;
}

const PULLS = {
  pull: ['pull', '-q', '--no-rebase', '--no-edit'],
  'pull --rebase': ['pull', '-q', '--rebase'],
} as const;

describe('clones', () => {
  it.each(Object.entries(PULLS))('LTM-17 two clones on one branch meet by %s', async (_name, pull) => {
    const [one, two] = await twoClones();
    const ids = await work(one);
    ids.push(...(await work(two, false)));
    two.git(...pull);
    two.git('push', '-q');
    ids.push(...(await work(one, false)));
    one.git(...pull);

    await expectSettled(one, ids);
    two.git(...pull);
    await expectSettled(two, ids.slice(0, 6));
    expect([await restoredHere(one), await restoredHere(two)]).toEqual([0, 0]);
  });

  it.each(Object.entries(PULLS))(
    'LTM-17 two clones that both folded on main meet by %s',
    async (_name, pull) => {
      const [one, two] = await twoClones();
      const ids: string[] = [];
      for (const desk of [one, two]) {
        ids.push(...(await desk.records(3)), ...(await desk.note()));
        await desk.end();
      }
      one.git('push', '-q');
      two.git(...pull);

      await expectSettled(two, ids);
      ids.push(...(await two.record()));
      await two.end();
      expect(segments(two, 'execution')).toEqual([]);
      two.git('push', '-q');
      one.git(...pull);
      await expectSettled(one, ids);
    },
  );

  it('LTM-17 pulls over records that are not committed, folds and all', async () => {
    const [one, two] = await twoClones();
    const ids = await two.record();
    ids.push(...(await work(one)));
    await one.end();
    one.git('push', '-q');
    two.git('pull', '-q', '--no-rebase');
    await expectSettled(two, ids);
  });

  it('LTM-17 keeps each worktree to itself until they are merged', async () => {
    const desk = await makeDesk();
    const trees = ['one', 'two'].map((name) => {
      const tree = deskAt(join(makeFolder(), name));
      desk.git('worktree', 'add', '-q', tree.dir);
      return tree;
    });
    const ids: string[] = [];
    for (const tree of [desk, ...trees]) {
      await tree.start();
      const own = [...(await tree.record()), ...(await tree.note())];
      tree.commit();
      await expectIntact(tree, own);
      ids.push(...own);
    }
    desk.git('merge', '-q', '--no-edit', 'one', 'two');
    await expectSettled(desk, ids);
    desk.git('worktree', 'remove', trees[0]?.dir ?? '');
    await expectSettled(desk, ids);
  });

  it.each([
    ['shallow', ['--depth', '1'], 'shallow'],
    ['partial', ['--filter=blob:none'], ''],
    ['treeless', ['--filter=tree:0'], ''],
  ])('LTM-17 a %s clone verifies, appends and pushes', async (_name, options, note) => {
    const [one, two] = await twoClones();
    const ids = [...(await work(one)), ...(await work(one))];
    one.git('rm', '-q', ...segments(one, 'notes'));
    one.git('commit', '-qm', 'Dropped by a revert');
    await one.start();
    one.commit();
    one.git('push', '-q');
    const server = one.git('remote', 'get-url', 'origin');
    const three = cloneDesk({ dir: `file://${server}` }, ...options);
    await expectSettled(three, ids);
    expect((await three.verify()).notes.join()).toContain(note);
    ids.push(...(await work(three)));
    two.git('pull', '-q', '--no-rebase');
    await expectSettled(two, ids);
  });

  it('LTM-17 a sparse checkout says what it leaves out, and appends to it', async () => {
    const [one, two] = await twoClones();
    const ids = await work(one);
    two.git('sparse-checkout', 'set', '--no-cone', '/*', '!/.forge/memory/evaluation.d/');
    two.git('pull', '-q');
    await expectSettled(two, []);
    expect((await two.verify()).notes.join()).toContain('leaves out');
    ids.push(...(await two.record()));
    two.git('add', '-A', '--sparse');
    two.git('commit', '-qm', 'Sparse');
    two.git('sparse-checkout', 'disable');
    await expectSettled(two, ids);
  });

  it('LTM-03 LTM-17 a copied folder and its original never write one segment', async () => {
    const [one, two] = await twoClones();
    const ids = await one.record();
    const copy = deskAt(join(makeFolder(), 'copy'));
    cpSync(one.dir, copy.dir, { recursive: true });
    await copy.start();
    ids.push(...(await work(copy)));
    ids.push(...(await work(one, false)));
    one.git(...PULLS.pull);
    one.git('push', '-q');

    await expectSettled(one, ids);
    two.git('pull', '-q');
    await expectSettled(two, ids);
  });

  it('LTM-17 two machines with the same session id merge', async () => {
    const [one, two] = await twoClones();
    const { id } = one.json<{ id: string }>(SESSION);
    const other = two.json<{ id: string }>(SESSION).id;
    for (const file of [SESSION, '.git/forge/session-ids.json'])
      writeFileSync(two.path(file), readFileSync(two.path(file), 'utf8').replace(other, id));
    const ids = [...(await work(one)), ...(await work(two, false))];
    expect(segments(two, 'notes')[0]).toContain(id);
    two.git(...PULLS.pull);
    await expectSettled(two, ids);
  });

  it('LTM-01 LTM-17 both sides init, and share one ledger', async () => {
    const origin = makeRepository();
    const desks = ['one', 'two'].map((name) => {
      const dir = join(makeFolder(), name);
      projectAt(makeFolder()).git('clone', '-q', origin.dir, dir);
      return deskAt(dir);
    }) as [Desk, Desk];
    const ids: string[] = [];
    for (const desk of desks) {
      await forgeJson(desk, ['init', '--name', 'sample']);
      await desk.start();
      ids.push(...(await work(desk, false)));
    }
    desks[1].git('pull', '-q', '--no-rebase', '--no-edit', desks[0].dir, 'main');
    await expectSettled(desks[1], ids);
  });

  it('LTM-10 LTM-17 one side compacts while the other appends', async () => {
    const [one, two] = await twoClones();
    const ids = await one.records(1010);
    one.commit();
    one.git('push', '-q');
    two.git('pull', '-q');
    ids.push(...(await work(two, false)));
    const { archived } = await forgeJson<{ archived: number }>(one, ['memory', 'compact']);
    expect(archived).toBe(10);
    one.commit('Compacted');
    one.git('push', '-q');
    two.git(...PULLS.pull);
    await expectSettled(two, ids);
    expect(await restoredHere(two)).toBe(0);
  });
});
