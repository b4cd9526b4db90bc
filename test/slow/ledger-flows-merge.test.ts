import { describe, expect, it } from 'vitest';
import { forgeJson } from '../support/forge.js';
import {
  type Desk,
  eachFlow,
  expectFlow,
  expectSettled,
  type Flows,
  makeDesk,
  restoredHere,
} from '../support/ledgers.js';

/** Records on a branch and on `main`, each committed; `main` is checked out. */
async function apart(desk: Desk, branch = 'feature'): Promise<string[]> {
  desk.git('switch', '-qc', branch, 'main');
  const theirs = [...(await desk.record('THEIRS')), ...(await desk.note())];
  desk.commit();
  desk.git('switch', '-q', 'main');
  const ours = [...(await desk.record('OURS')), ...(await desk.note())];
  desk.commit();
  return [...ours, ...theirs];
}

const merging =
  (...options: string[]) =>
  async (desk: Desk): Promise<string[]> => {
    const ids = await apart(desk);
    desk.git('merge', '-q', '--no-edit', ...options, 'feature');
    return ids;
  };

const MERGES: Flows = {
  kept: {
    'a fast-forward': async (desk) => {
      desk.git('switch', '-qc', 'feature');
      const ids = await desk.record();
      desk.commit();
      desk.git('switch', '-q', 'main');
      desk.git('merge', '-q', '--ff-only', 'feature');
      return ids;
    },
    'a merge': merging('--no-ff'),
    'an octopus': async (desk) => {
      const ids = [...(await apart(desk, 'one')), ...(await apart(desk, 'two'))];
      desk.git('merge', '-q', '--no-edit', 'one', 'two');
      expect(desk.git('rev-list', '--parents', '-1', 'HEAD').split(' ')).toHaveLength(4);
      return ids;
    },
    'a squash, and the same branch merged again': async (desk) => {
      const ids = await apart(desk);
      desk.git('merge', '-q', '--squash', 'feature');
      desk.git('commit', '-qm', 'Squashed');
      desk.git('switch', '-q', 'feature');
      const more = await desk.record('MORE');
      desk.commit();
      desk.git('switch', '-q', 'main');
      desk.git('merge', '-q', '--no-edit', 'feature');
      return [...ids, ...more];
    },
    '-X ours': merging('-X', 'ours'),
    '-X theirs': merging('-X', 'theirs'),
    'a conflict in the code, resolved by --ours': async (desk) => {
      const ids: string[] = [];
      for (const branch of ['feature', 'main']) {
        desk.git('switch', '-q', ...(branch === 'main' ? [] : ['-c']), branch);
        ids.push(...(await desk.record(branch)));
        desk.write('src/app.js', `export const answer = '${branch}';\n`);
        desk.commit();
      }
      expect(() => desk.git('merge', '-q', '--no-edit', 'feature')).toThrow();
      expect(desk.git('diff', '--name-only', '--diff-filter=U')).toBe('src/app.js');
      desk.git('checkout', '-q', '--ours', '.');
      desk.git('add', '-A');
      desk.git('commit', '-q', '--no-edit');
      return ids;
    },
  },
  removed: {
    '-s ours, which drops the branch': merging('-s', 'ours'),
    'a branch whose memory is thrown away by hand in the merge': async (desk) => {
      const ids = await apart(desk);
      desk.git('merge', '-q', '--no-commit', '--no-ff', 'feature');
      desk.git('rm', '-rqf', '.forge/memory');
      desk.git('checkout', '-q', 'main', '--', '.forge');
      desk.git('commit', '-q', '--no-edit');
      return ids;
    },
  },
};

describe('merges', () => {
  it.each(eachFlow(MERGES))('LTM-17 LTM-21 keeps both histories through %s', expectFlow);

  it('LTM-17 merges two branches with 50 records each, and names both heads in the next record', async () => {
    const desk = await makeDesk();
    await desk.start();
    desk.git('switch', '-qc', 'feature');
    const theirs = await desk.records(50);
    desk.commit();
    desk.git('switch', '-q', 'main');
    const ours = await desk.records(50);
    desk.commit();
    desk.git('merge', '-q', '--no-edit', 'feature');

    await expectSettled(desk, [...ours, ...theirs]);
    const [next = ''] = await desk.record();
    const { record } = await forgeJson<{ record: { seen: string[]; n: number } }>(desk, [
      'memory',
      'show',
      next,
    ]);
    expect(record.seen).toHaveLength(2);
    expect(record.n).toBeGreaterThan(101);
    expect(await restoredHere(desk)).toBe(0);
  });
});
