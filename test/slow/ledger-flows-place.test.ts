import { execFileSync } from 'node:child_process';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { firstWord, startChild } from '../support/child.js';
import { forgeJson } from '../support/forge.js';
import {
  containers,
  type Desk,
  eachFlow,
  expectFlow,
  expectSettled,
  type Flows,
  makeDesk,
} from '../support/ledgers.js';
import { containerOf, JOURNAL } from '../support/memory.js';
import { commitAll, run } from '../support/project.js';

/** Records that are not committed are stashed; what is in a stash is not lost and not here either. */
async function stashed(desk: Desk, ...options: string[]): Promise<void> {
  await desk.record();
  desk.git('stash', 'push', '-q', ...options);
  const { status, notes } = await desk.verify();
  expect(status).toBe('intact');
  if (options.includes('-u')) expect(notes.join()).toContain('in stash, not in this tree');
}

function flipByte(path: string): void {
  const bytes = readFileSync(path);
  bytes[100] = (bytes[100] as number) ^ 1;
  writeFileSync(path, bytes);
}

const commitAt = (desk: Desk, date: string) =>
  run(desk.dir, 'git', ['commit', '-qm', 'Work', '--allow-empty'], { env: { GIT_COMMITTER_DATE: date } });

/** `count` commits with a record each. */
async function commits(desk: Desk, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await desk.record(`T-${i}`);
    desk.commit();
  }
}

const FLOWS: Flows = {
  kept: {
    'stash push -u, appends meanwhile, and pop': async (desk) => {
      await stashed(desk, '-u');
      await desk.record();
      desk.commit();
      desk.git('stash', 'pop', '-q');
    },
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
    'a commit that a branch keeps, reset and recorded after': async (desk) => {
      await commits(desk, 1);
      desk.git('branch', 'kept');
      desk.git('reset', '-q', '--hard', 'HEAD~1');
      desk.ids.length = 0;
      await desk.record();
      expect((await desk.verify()).notes.join()).toContain('in refs/heads/kept, not in this tree');
    },
  },
  restored: {
    'stash drop': async (desk) => {
      await stashed(desk, '-u');
      desk.git('stash', 'drop', '-q');
    },
    'a branch that is renamed and then reset': async (desk) => {
      await desk.record();
      desk.commit();
      await desk.verify();
      desk.git('branch', '-m', 'trunk');
      await desk.verify();
      desk.git('reset', '-q', '--hard', 'HEAD~1');
    },
    'a branch that is deleted, with a damaged journal': async (desk) => {
      desk.git('switch', '-qc', 'idea');
      await desk.record();
      desk.commit();
      desk.git('switch', '-q', 'main');
      flipByte(desk.path(JOURNAL));
      await desk.verify();
      desk.git('branch', '-qD', 'idea');
    },
    'clean, after a full disk cut a line of the journal short': async (desk) => {
      await desk.record();
      desk.commit();
      await desk.verify();
      const journal = desk.read(JOURNAL);
      desk.write(JOURNAL, journal + journal.slice(0, 200));
      await desk.record();
      desk.git('clean', '-qfd');
    },
    'clean after a redaction, for the records beside it': async (desk) => {
      const [secret = ''] = await desk.note('The old name');
      await desk.note();
      await forgeJson(desk, ['memory', 'redact', secret, '--reason', 'a test'], { terminal: true });
      desk.ids.shift();
      desk.git('clean', '-qfd');
    },
    'a commit on a detached HEAD that no branch keeps': async (desk) => {
      desk.git('switch', '-q', '--detach');
      await desk.record();
      desk.commit();
      await desk.verify();
      desk.git('switch', '-q', 'main');
    },
    'clean -fdx while a writer holds the lock': async (desk) => {
      await desk.record();
      const writer = startChild('hold', desk.path('.forge/local/lock'));
      expect(await firstWord(writer)).toBe('held');
      desk.git('clean', '-qfdx');
      // The lock went with the rest; that writer is told so before it writes (exit 3 lock.lost).
      await desk.record();
      writer.kill('SIGKILL');
    },
    'an interactive rebase that drops a commit': async (desk) => {
      desk.git('switch', '-qc', 'feature');
      await commits(desk, 2);
      desk.git('switch', '-q', 'main');
      await commits(desk, 1);
      desk.git('switch', '-q', 'feature');
      await desk.verify();
      desk.git('-c', 'sequence.editor=sed -i 1d', 'rebase', '-q', '-i', 'main');
    },
    'reset --soft, then --hard': async (desk) => {
      await commits(desk, 2);
      desk.git('reset', '-q', '--soft', 'HEAD~1');
      await desk.verify();
      await desk.record();
      desk.git('add', '-A');
      desk.git('reset', '-q', '--hard');
    },
    'a branch squashed or picked into the index, verified, deleted and reset': async (desk) => {
      desk.git('switch', '-qc', 'feature');
      await commits(desk, 1);
      desk.git('switch', '-q', 'main');
      desk.git('merge', '-q', '--squash', 'feature');
      await desk.verify();
      desk.git('branch', '-qD', 'feature');
      desk.git('reset', '-q', '--hard');
    },
    'a reset --hard, and the next record at once': async (desk) => {
      await commits(desk, 2);
      await desk.verify();
      desk.git('reset', '-q', '--hard', 'HEAD~1');
      await desk.record();
    },
    'a reset --hard, and a new branch right there': async (desk) => {
      await commits(desk, 2);
      await desk.verify();
      desk.git('reset', '-q', '--hard', 'HEAD~1');
      desk.git('switch', '-qc', 'anew');
    },
    'filter-branch over memory itself': async (desk) => {
      await commits(desk, 3);
      await desk.verify();
      const filter = 'git rm -rq --cached --ignore-unmatch .forge/memory/ledger';
      desk.git('filter-branch', '-f', '--index-filter', filter, 'HEAD');
      expect((await desk.verify()).notes.join()).toContain('in refs/original/refs/heads/main');
      desk.git('update-ref', '-d', 'refs/original/refs/heads/main');
    },
  },
  removed: {
    'a branch whose memory is thrown away by hand in the merge': async (desk) => {
      desk.git('switch', '-qc', 'feature');
      await desk.record('THEIRS');
      desk.commit();
      desk.git('switch', '-q', 'main');
      await desk.record('OURS');
      desk.commit();
      desk.git('merge', '-q', '--no-commit', '--no-ff', 'feature');
      desk.git('rm', '-rqf', '.forge/memory');
      desk.git('checkout', '-q', 'main', '--', '.forge');
      desk.git('commit', '-q', '--no-edit');
    },
    'the removal of a file by somebody whose clock was wrong': async (desk) => {
      await desk.record();
      desk.commit();
      desk.git('rm', '-q', ...containers(desk).filter((path) => !path.includes('/init-')));
      commitAt(desk, '2040-01-01T00:00:00Z');
      for (let day = 1; day < 10; day++) commitAt(desk, `2020-01-0${day}T00:00:00Z`);
    },
  },
};

/** Git 2.46 and newer can keep refs in another format. */
const version = execFileSync('git', ['version'], { encoding: 'utf8' });
const [major = 0, minor = 0] = (version.match(/\d+/g) ?? []).map(Number);

describe('effects of git on the working tree', () => {
  // It waits for seconds otherwise, so that people can read it.
  process.env.FILTER_BRANCH_SQUELCH_WARNING = '1';

  it.each(eachFlow(FLOWS))('LTM-16 LTM-17 LTM-21 loses nothing to %s', expectFlow);

  it.skipIf(major * 100 + minor < 246)('LTM-16 finds older stashes with reftable too', async () => {
    const desk = await makeDesk();
    desk.git('refs', 'migrate', '--ref-format=reftable');
    await stashed(desk, '-u');
    await stashed(desk, '-u');
    expect(await desk.verify()).toMatchObject({ status: 'intact', restored: [] });
    desk.git('stash', 'pop', '-q');
    desk.git('stash', 'pop', '-q');
    await expectSettled(desk);
  });

  it('LTM-16 never changes a file that git add took during a write', async () => {
    const desk = await makeDesk();
    await desk.start();
    await desk.record();
    const path = containerOf(desk);
    const whole = readFileSync(desk.path(path));
    // As git would have read it halfway through the write of one line more.
    writeFileSync(desk.path(path), whole.subarray(0, whole.length - 10));
    commitAll(desk, 'In the middle');
    truncateSync(desk.path(path), 0);
    writeFileSync(desk.path(path), whole);
    await desk.start();

    await desk.record();
    expect(readFileSync(desk.path(path))).toEqual(whole);
    expect(containers(desk)).toHaveLength(3);
    desk.commit('The rest');
    await expectSettled(desk);
  });
});
