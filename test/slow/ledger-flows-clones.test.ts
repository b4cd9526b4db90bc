import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectError, forgeJson, runForge } from '../support/forge.js';
import { SESSION } from '../support/forge-project.js';
import {
  cloneDesk,
  containers,
  type Desk,
  deskAt,
  expectIntact,
  expectSettled,
  idsHere,
  makeDesk,
  makeServer,
  repair,
  restoredHere,
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
async function work(desk: Desk, push = true): Promise<void> {
  await desk.record();
  await desk.note();
  desk.commit();
  if (push) desk.git('push', '-q', 'origin', 'HEAD');
}

const idsOf = (...desks: Desk[]): string[] => desks.flatMap(({ ids }) => ids);

const PULLS = {
  pull: ['pull', '-q', '--no-rebase', '--no-edit'],
  'pull --rebase': ['pull', '-q', '--rebase'],
} as const;

describe('clones', () => {
  it('LTM-17 keeps each worktree to itself until they are merged', async () => {
    const desk = await makeDesk();
    const trees = ['one', 'two'].map((name) => {
      const tree = deskAt(join(makeFolder(), name));
      desk.git('worktree', 'add', '-q', tree.dir);
      return tree;
    });
    for (const tree of [desk, ...trees]) {
      await tree.start();
      await work(tree, false);
      await expectIntact(tree, tree.ids);
    }
    desk.git('merge', '-q', '--no-edit', 'one', 'two');
    await expectSettled(desk, idsOf(desk, ...trees));
    desk.git('worktree', 'remove', trees[0]?.dir ?? '');
    await expectSettled(desk, idsOf(desk, ...trees));
  });

  it.each([
    ['shallow', ['--depth', '1'], 'shallow'],
    ['partial', ['--filter=blob:none'], ''],
    ['treeless', ['--filter=tree:0'], ''],
  ])('LTM-17 a %s clone verifies, appends and pushes', async (_name, options, note) => {
    const [one, two] = await twoClones();
    for (let i = 0; i < 2; i++) await work(one);
    const server = one.git('remote', 'get-url', 'origin');
    const three = cloneDesk({ dir: `file://${server}` }, ...options);
    await expectSettled(three, one.ids);
    expect((await three.verify()).notes.join()).toContain(note);
    await work(three);
    two.git('pull', '-q', '--no-rebase');
    await expectSettled(two, idsOf(one, three));
  });

  it('LTM-17 a sparse checkout misses nothing, and appends to it', async () => {
    const [one, two] = await twoClones();
    await work(one);
    two.git('sparse-checkout', 'set', '--no-cone', '/*', '!/.forge/memory/ledger/');
    two.git('pull', '-q');
    await expectSettled(two, []);
    expect(idsHere(two).size).toBe(0);
    await two.record();
    two.git('add', '-A', '--sparse');
    two.git('commit', '-qm', 'Sparse');
    two.git('sparse-checkout', 'disable');
    await expectSettled(two, idsOf(one, two));
  });

  it.each(Object.entries(PULLS))('LTM-17 two machines with one session id meet by %s', async (_, pull) => {
    const [one, two] = await twoClones();
    const { id } = one.json<{ id: string }>(SESSION);
    const other = two.json<{ id: string }>(SESSION).id;
    for (const file of [SESSION, '.git/forge/session-ids.json'])
      writeFileSync(two.path(file), readFileSync(two.path(file), 'utf8').replace(other, id));
    await work(one);
    await work(two, false);
    expect(containers(two).filter((path) => path.includes(id))).toHaveLength(1);
    two.git(...pull);
    await expectSettled(two, idsOf(one, two));
  });

  it('LTM-01 LTM-17 both sides init, and share one ledger', async () => {
    const origin = makeRepository();
    const desks = ['one', 'two'].map((name) => {
      const dir = join(makeFolder(), name);
      projectAt(makeFolder()).git('clone', '-q', origin.dir, dir);
      return deskAt(dir);
    }) as [Desk, Desk];
    for (const desk of desks) {
      await forgeJson(desk, ['init', '--name', 'sample']);
      await desk.start();
      await work(desk, false);
    }
    desks[1].git('pull', '-q', '--no-rebase', '--no-edit', desks[0].dir, 'main');
    await expectSettled(desks[1], idsOf(...desks));
  });

  it('LTM-17 LTM-19 one side redacts while the other appends, and one there as well', async () => {
    const [one, two] = await twoClones();
    const [first = ''] = await one.note('swordfish');
    await one.record();
    one.commit();
    one.git('push', '-q');
    two.git('pull', '-q');
    const [second = ''] = await two.note('plover');
    await work(two, false);
    const kept = idsOf(one, two).filter((id) => id !== first && id !== second);
    for (const [desk, id] of [
      [one, first],
      [two, second],
    ] as const) {
      await forgeJson(desk, ['memory', 'redact', id, '--reason', 'x'], { terminal: true });
      desk.commit();
    }
    one.git('push', '-q');
    two.git(...PULLS.pull);
    await expectSettled(two, kept);
    two.git('push', '-q');
    one.git('pull', '-q');
    await expectSettled(one, kept);
    for (const desk of [one, two])
      expect(containers(desk).filter((path) => /swordfish|plover/.test(desk.read(path)))).toEqual([]);
  });

  it('LTM-21 a record of another writer that went with its branch is a note at most', async () => {
    const [one, two] = await twoClones();
    one.git('switch', '-qc', 'rejected');
    await work(one);
    two.git('fetch', '-q');
    two.git('switch', '-q', 'rejected');
    await expectSettled(two, []);
    two.git('switch', '-q', 'main');
    two.git('branch', '-qD', 'rejected');
    two.git('push', '-q', 'origin', ':rejected');
    await expectSettled(two, []);
    expect(await restoredHere(two)).toBe(0);
  });

  it('LTM-21 a published record that was reverted waits for a person, whose answer counts in every clone', async () => {
    const [one, two] = await twoClones();
    one.git('switch', '-qc', 'rejected');
    await work(one);
    await one.verify();
    one.git('switch', '-q', 'main');
    one.git('branch', '-qD', 'rejected');
    one.git('push', '-q', 'origin', ':rejected');
    const { status, notes } = await one.verify();
    expect([status, notes.join()]).toEqual([
      'intact',
      expect.stringMatching(/3 records written here disappeared; none was restored/),
    ]);
    await repair(one, '--discard', 'rejected');
    expect((await one.verify()).notes.join()).not.toContain('disappeared');
    expect(idsHere(one)).not.toContain(one.ids[0]);
    one.commit();
    one.git('push', '-q');
    two.git('pull', '-q');
    await expectSettled(two, []);
  });

  it('LTM-21 a removal by a commit is settled once for all clones: by its commit or by an id', async () => {
    const [one, two] = await twoClones();
    await work(one);
    one.git('revert', '--no-edit', 'HEAD');
    one.git('push', '-q');
    two.git('pull', '-q');
    for (const desk of [one, two]) {
      const { exitCode } = await runForge(desk, ['memory', 'verify']);
      expect([exitCode, (await desk.verify()).problems[0]?.message]).toEqual([
        1,
        expect.stringMatching(
          /^commit ([0-9a-f]{7}) \(Revert "Work"\) removed 3 records; git show --diff-merges=separate --stat \1 -- .forge shows/,
        ),
      ]);
    }
    await repair(one, '--discard', one.ids[0]?.slice(0, 12) ?? '');
    expect((await one.verify()).problems[0]?.ids).toEqual(one.ids.slice(1));
    await repair(one, '--discard', one.git('rev-parse', 'HEAD'));
    one.commit();
    one.git('push', '-q');
    two.git('pull', '-q');
    for (const desk of [one, two]) await expectSettled(desk, []);
    const unknown = ['memory', 'repair', '--reason', 'x', '--discard', 'nowhere'];
    await expectError(one, unknown, '2 discard.unknown', { terminal: true });
  });

  it('LTM-21 records of another clone that a repair put back are known here', async () => {
    const [one, two] = await twoClones();
    await work(one);
    one.git('revert', '--no-edit', 'HEAD');
    one.git('push', '-q');
    two.git('pull', '-q');
    await repair(two);
    expect((await two.verify()).notes.join()).not.toContain('forge did not write');
    await expectSettled(two, one.ids);
  });
});
