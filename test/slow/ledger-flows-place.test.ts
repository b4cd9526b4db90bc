import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { firstWord, startChild } from '../support/child.js';
import {
  containers,
  type Desk,
  eachFlow,
  expectFlow,
  expectSettled,
  type Flows,
  idsHere,
  makeDesk,
} from '../support/ledgers.js';
import { containerOf, JOURNAL } from '../support/memory.js';

/** Records that are not committed are stashed; what is in a stash is not lost and not here either. */
async function stashed(desk: Desk, ...options: string[]): Promise<string[]> {
  const ids = await desk.record();
  desk.git('stash', 'push', '-q', ...options);
  const { status, notes } = await desk.verify();
  expect(status).toBe('intact');
  if (options.includes('-u')) expect(notes.join()).toContain('in stash, not in this tree');
  return ids;
}

const PLACES: Flows = {
  kept: {
    'stash push -u and pop': async (desk) => {
      const ids = await stashed(desk, '-u');
      desk.git('stash', 'pop', '-q');
      return ids;
    },
    'stash push without -u, which leaves new files alone': async (desk) => {
      desk.write('src/app.js', 'export const answer = 43;\n');
      return stashed(desk);
    },
    'stash push -u, appends meanwhile, and pop': async (desk) => {
      const ids = await stashed(desk, '-u');
      ids.push(...(await desk.record()));
      desk.commit();
      desk.git('stash', 'pop', '-q');
      return ids;
    },
    'a switch to an older commit and back': async (desk) => {
      const ids = await desk.record();
      desk.commit();
      desk.git('switch', '-q', '--detach', 'HEAD~1');
      await expectSettled(desk, []);
      ids.push(...(await desk.record()));
      desk.git('switch', '-q', 'main');
      return ids;
    },
    'a branch from an old commit': async (desk) => {
      const ids = await desk.record();
      desk.commit();
      desk.git('switch', '-qc', 'old', 'HEAD~1');
      await expectSettled(desk, []);
      ids.push(...(await desk.record()));
      desk.commit();
      desk.git('merge', '-q', '--no-edit', 'main');
      return ids;
    },
    'a branch that is renamed': async (desk) => {
      const ids = await desk.record();
      desk.git('branch', '-m', 'trunk');
      ids.push(...(await desk.record()));
      desk.commit();
      return ids;
    },
    'a bisect that is left open': async (desk) => {
      const ids = await desk.record();
      desk.commit();
      desk.commit();
      desk.git('bisect', 'start', 'HEAD', 'HEAD~2');
      expect(await desk.verify()).toMatchObject({ status: 'intact', problems: [] });
      ids.push(...(await desk.record()));
      desk.git('bisect', 'reset');
      return ids;
    },
    'a flipped byte in the journal': async (desk) => {
      const ids = await desk.record();
      const bytes = readFileSync(desk.path(JOURNAL));
      bytes[100] = (bytes[100] as number) ^ 1;
      writeFileSync(desk.path(JOURNAL), bytes);
      return ids;
    },
    'time that goes backwards': async (desk) => {
      const ids = await desk.record();
      for (const year of [2001, 1999, 2030]) {
        const now = (): Date => new Date(`${year}-01-01T00:00:00.000Z`);
        ids.push(...(await desk.record('T-3', { world: { now } })));
        desk.commit();
      }
      return ids;
    },
  },
  restored: {
    'stash drop': async (desk) => {
      const ids = await stashed(desk, '-u');
      desk.git('stash', 'drop', '-q');
      return ids;
    },
    'a branch that is renamed and then reset': async (desk) => {
      const ids = await desk.record();
      desk.commit();
      await desk.verify();
      desk.git('branch', '-m', 'trunk');
      await desk.verify();
      desk.git('reset', '-q', '--hard', 'HEAD~1');
      return ids;
    },
    'a commit on a detached HEAD that no branch keeps': async (desk) => {
      desk.git('switch', '-q', '--detach');
      const ids = await desk.record();
      desk.commit();
      await desk.verify();
      desk.git('switch', '-q', 'main');
      return ids;
    },
    'clean -fdx': async (desk) => {
      const ids = [...(await desk.record()), ...(await desk.note())];
      desk.git('clean', '-qfdx');
      expect(ids.filter((id) => idsHere(desk).has(id))).toEqual([]);
      await desk.start();
      return ids;
    },
    'clean -fdx while a writer holds the lock': async (desk) => {
      const ids = await desk.record();
      const writer = startChild('hold', desk.path('.forge/local/lock'));
      expect(await firstWord(writer)).toBe('held');
      desk.git('clean', '-qfdx');
      // The lock went with the rest; that writer is told so before it writes (exit 3 lock.lost).
      ids.push(...(await desk.record()));
      writer.kill('SIGKILL');
      return ids;
    },
    'clean -fdx, and the next record at once': async (desk) => {
      const ids = await desk.record();
      desk.git('clean', '-qfdx');
      return [...ids, ...(await desk.record())];
    },
    'rm --cached, then clean': async (desk) => {
      const ids = await desk.record();
      desk.git('add', '-A');
      desk.git('rm', '-rq', '--cached', '.forge/memory/ledger');
      desk.git('clean', '-qfd');
      desk.git('reset', '-q', '--hard');
      return ids;
    },
  },
  removed: {
    'the removal of a file by git rm': async (desk) => {
      const ids = await desk.record();
      desk.commit();
      desk.git('rm', '-q', ...containers(desk).filter((path) => !path.includes('/init-')));
      desk.git('commit', '-qm', 'Tidy up');
      return ids;
    },
  },
};

describe('effects of git on the working tree', () => {
  it.each(eachFlow(PLACES))('LTM-16 LTM-21 loses nothing to %s', expectFlow);

  it('LTM-16 never changes a file that git add took during a write', async () => {
    const desk = await makeDesk();
    await desk.start();
    const ids = await desk.record();
    const path = containerOf(desk);
    const whole = readFileSync(desk.path(path));
    // As git would have read it halfway through the write of one line more.
    writeFileSync(desk.path(path), whole.subarray(0, whole.length - 10));
    desk.git('add', '-A');
    desk.git('commit', '-qm', 'In the middle');
    truncateSync(desk.path(path), 0);
    writeFileSync(desk.path(path), whole);
    await desk.start();

    ids.push(...(await desk.record()));
    expect(readFileSync(desk.path(path))).toEqual(whole);
    expect(containers(desk)).toHaveLength(3);
    desk.commit('The rest');
    await expectSettled(desk, ids);
  });
});
