import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { forgeJson, startBinary } from '../support/forge.js';
import {
  cloneDesk,
  type Desk,
  eachFlow,
  expectFlow,
  expectSettled,
  type Flows,
  idsHere,
  makeDesk,
  makeServer,
  restoredHere,
} from '../support/ledgers.js';
import { type Project, run } from '../support/project.js';

/** Records on a branch and on `main`, each committed; `main` is checked out. */
async function apart(desk: Desk, branch = 'feature'): Promise<void> {
  desk.git('switch', '-qc', branch, 'main');
  await desk.record('THEIRS');
  await desk.note();
  desk.commit();
  desk.git('switch', '-q', 'main');
  await desk.record('OURS');
  await desk.note();
  desk.commit();
}

const merging =
  (...options: string[]) =>
  async (desk: Desk): Promise<void> => {
    await apart(desk);
    desk.git('merge', '-q', '--no-edit', ...options, 'feature');
  };

const MERGES: Flows = {
  kept: {
    'a merge': merging('--no-ff'),
    'a squash, and the same branch merged again': async (desk) => {
      await apart(desk);
      desk.git('merge', '-q', '--squash', 'feature');
      desk.git('commit', '-qm', 'Squashed');
      desk.git('switch', '-q', 'feature');
      await desk.record('MORE');
      desk.commit();
      desk.git('switch', '-q', 'main');
      desk.git('merge', '-q', '--no-edit', 'feature');
    },
    '-X ours': merging('-X', 'ours'),
    '-X theirs': merging('-X', 'theirs'),
    'a conflict in the code, resolved by --ours': async (desk) => {
      for (const branch of ['feature', 'main']) {
        desk.git('switch', '-q', ...(branch === 'main' ? [] : ['-c']), branch);
        await desk.record(branch);
        desk.write('src/app.js', `export const answer = '${branch}';\n`);
        desk.commit();
      }
      expect(() => desk.git('merge', '-q', '--no-edit', 'feature')).toThrow();
      expect(desk.git('diff', '--name-only', '--diff-filter=U')).toBe('src/app.js');
      desk.git('checkout', '-q', '--ours', '.');
      desk.git('add', '-A');
      desk.git('commit', '-q', '--no-edit');
    },
  },
  removed: {
    '-s ours, which drops the branch': merging('-s', 'ours'),
    'a branch whose memory is thrown away by hand in the merge': async (desk) => {
      await apart(desk);
      desk.git('merge', '-q', '--no-commit', '--no-ff', 'feature');
      desk.git('rm', '-rqf', '.forge/memory');
      desk.git('checkout', '-q', 'main', '--', '.forge');
      desk.git('commit', '-q', '--no-edit');
    },
  },
};

describe('merges', () => {
  it.each(eachFlow(MERGES))('LTM-17 LTM-21 keeps both histories through %s', expectFlow);

  it('LTM-17 merges two branches with 50 records each, and names both heads in the next record', async () => {
    const desk = await makeDesk();
    await desk.start();
    desk.git('switch', '-qc', 'feature');
    await desk.records(50);
    desk.commit();
    desk.git('switch', '-q', 'main');
    await desk.records(50);
    desk.commit();
    desk.git('merge', '-q', '--no-edit', 'feature');

    await expectSettled(desk);
    const [next = ''] = await desk.record();
    const show = ['memory', 'show', next];
    const { record } = await forgeJson<{ record: { seen: string[]; n: number } }>(desk, show);
    expect(record.seen).toHaveLength(2);
    expect(record.n).toBeGreaterThan(101);
    expect(await restoredHere(desk)).toBe(0);
  });
});

/** What a forge on the web does with a pull request: in a bare repository. */
function mergeThere(server: Project, from: string, how: 'merge' | 'squash' = 'merge'): void {
  const merged = run(server.dir, 'git', ['merge-tree', '--write-tree', 'main', from]);
  expect(merged, `${from}: ${merged.stdout}`).toMatchObject({ exitCode: 0 });
  const parents = how === 'merge' ? ['-p', 'main', '-p', from] : ['-p', 'main'];
  const commit = server.git('commit-tree', merged.stdout.trim(), ...parents, '-m', `Merge ${from}`);
  server.git('update-ref', 'refs/heads/main', commit);
}

/** A branch with records, pushed. */
async function branch(desk: Desk, name: string, from: string): Promise<void> {
  desk.git('switch', '-qc', name, from);
  await desk.records(2);
  desk.commit();
  desk.git('push', '-q', 'origin', name);
}

async function hosted(): Promise<{ server: Project; desk: Desk }> {
  const server = makeServer(await makeDesk());
  const desk = cloneDesk(server);
  await desk.start();
  return { server, desk };
}

/** A session on `main`, pushed. */
async function sessionOnMain(desk: Desk): Promise<void> {
  desk.git('switch', '-q', 'main');
  desk.git('pull', '-q', '--ff-only');
  await desk.start();
  await desk.record();
  await desk.end();
  desk.git('push', '-q', 'origin', 'main');
}

describe('merges on a server', () => {
  it('LTM-17 stacked branches, the lower one squashed and a session on main in between', async () => {
    const { server, desk } = await hosted();
    await branch(desk, 'lower', 'main');
    await branch(desk, 'upper', 'lower');
    mergeThere(server, 'lower', 'squash');
    await sessionOnMain(desk);
    mergeThere(server, 'upper');

    await sessionOnMain(desk);
    await expectSettled(desk);
  });
});

interface Recorded {
  execution: { id: string };
  evaluation: { id: string };
}
const RECORD = ['memory', 'record', '--task', 'T-1', '--exit-code', '0', '--classification', 'SUCCESS'];

/**
 * Processes of their own that record one cycle after the other, and what they acknowledged. Where git takes files away
 * all the time a command may give up (exit 4 or 6; exit 3 where git took the lock): nothing is acknowledged
 * then, and nothing halts.
 */
async function appendThere(
  { dir, has, read }: Desk,
  count: number,
  { mayRefuse = false, isEnough = (): boolean => true } = {},
): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < 2 * count || !isEnough()) {
    const child = startBinary(dir, [...RECORD, '--signal', 'tests=pass', '--json']);
    const [out, said] = await Promise.all([
      text(child.stdout as NodeJS.ReadableStream),
      text(child.stderr as NodeJS.ReadableStream),
      once(child, 'close'),
    ]);
    // The other one may hold the lock for longer than it waits on a slow machine.
    if (said.includes('lock.held')) continue;
    // git clean took the lock too.
    if (mayRefuse && said.includes('lock.lost')) continue;
    expect(mayRefuse ? [0, 4, 6] : [0], said).toContain(child.exitCode);
    expect(has('.git/forge/halt.json') ? read('.git/forge/halt.json') : '').toBe('');
    if (child.exitCode !== 0) continue;
    const { execution, evaluation } = JSON.parse(out) as Recorded;
    ids.push(execution.id, evaluation.id);
  }
  return ids;
}

/** Does something again and again until the writers have finished. */
async function meanwhile(writers: Promise<string[]>[], again: () => Promise<void>): Promise<string[]> {
  let running = true;
  const done = Promise.allSettled(writers).finally(() => {
    running = false;
  });
  while (running) await again();
  await done;
  return (await Promise.all(writers)).flat();
}

describe('git and readers while others append', () => {
  it('LTM-04 LTM-16 verifies while two others append', async () => {
    const desk = await makeDesk();
    await desk.start();
    let verified = 0;
    const isEnough = (): boolean => verified > 2;
    const writers = [1, 2].map(() => appendThere(desk, 4, { isEnough }));
    const ids = await meanwhile(writers, async () => {
      expect(await desk.verify()).toMatchObject({ status: 'intact', problems: [], restored: [] });
      verified++;
    });
    await expectSettled(desk, ids);
    expect(await restoredHere(desk)).toBe(0);
  });

  it('LTM-16 loses nothing when git cleans, commits and stashes while two others append', async () => {
    const desk = await makeDesk();
    await desk.start();
    const acts = [
      () => desk.git('clean', '-qfdx'),
      () => desk.commit(),
      () => desk.git('stash', 'push', '-q', '-u'),
      () => desk.git('gc', '-q'),
    ];
    let turn = 0;
    const writers = [1, 2].map(() => appendThere(desk, 4, { mayRefuse: true }));
    const ids = await meanwhile(writers, async () => {
      acts[turn++ % acts.length]?.();
      await new Promise((done) => setTimeout(done, 100));
    });
    desk.git('stash', 'clear');
    await expectSettled(desk, ids);
  });

  it('LTM-05 restores nothing during a rebase, and everything after it', async () => {
    const desk = await makeDesk();
    await desk.start();
    for (const branch of ['feature', 'main']) {
      if (branch === 'feature') desk.git('switch', '-qc', branch);
      else desk.git('switch', '-q', branch);
      desk.write('src/app.js', `export const answer = '${branch}';\n`);
      await desk.record();
      desk.commit();
    }
    desk.git('switch', '-q', 'feature');
    await desk.verify();
    expect(() => desk.git('rebase', '-q', 'main')).toThrow();
    const { notes, problems } = await desk.verify();
    expect({ problems, notes }).toMatchObject({ problems: [] });
    await desk.record();
    desk.git('rebase', '--abort');
    await expectSettled(desk, desk.ids.slice(0, 2));
    expect(desk.ids.slice(4).filter((id) => !idsHere(desk).has(id))).toEqual([]);
  });
});
