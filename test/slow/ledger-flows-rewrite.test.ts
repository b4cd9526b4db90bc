import { describe, expect, it } from 'vitest';
import { type Desk, eachFlow, expectFlow, type Flows } from '../support/ledgers.js';

/** `count` commits with a record each. */
async function commits(desk: Desk, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await desk.record(`T-${i}`);
    desk.commit();
  }
}

/** Two commits on `feature`, which is checked out, and one on `main`. */
async function diverged(desk: Desk): Promise<void> {
  desk.git('switch', '-qc', 'feature');
  await commits(desk, 2);
  desk.git('switch', '-q', 'main');
  await commits(desk, 1);
  desk.git('switch', '-q', 'feature');
}

const REWRITES: Flows = {
  kept: {
    'a rebase --autostash with records not committed': async (desk) => {
      await diverged(desk);
      await desk.record();
      desk.git('add', '-A');
      desk.git('rebase', '-q', '--autostash', 'main');
    },
    'a cherry-pick of a range, and the branch merged after it': async (desk) => {
      desk.git('switch', '-qc', 'feature');
      await commits(desk, 3);
      desk.git('switch', '-q', 'main');
      await commits(desk, 1);
      desk.git('cherry-pick', 'feature~2..feature');
      desk.git('merge', '-q', '--no-edit', 'feature');
    },
    'a commit that a branch keeps, reset and recorded after': async (desk) => {
      await commits(desk, 1);
      desk.git('branch', 'kept');
      desk.git('reset', '-q', '--hard', 'HEAD~1');
      desk.ids.length = 0;
      await desk.record();
      expect((await desk.verify()).notes.join()).toContain('in refs/heads/kept, not in this tree');
    },
    'filter-branch over the code': async (desk) => {
      await commits(desk, 3);
      await desk.verify();
      const filter = 'git rm -q --cached --ignore-unmatch src/app.js';
      desk.git('filter-branch', '-f', '--index-filter', filter, 'HEAD');
    },
  },
  restored: {
    'an interactive rebase that drops a commit': async (desk) => {
      await diverged(desk);
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
    'a branch that is deleted by force after it was verified': async (desk) => {
      desk.git('switch', '-qc', 'feature');
      await commits(desk, 1);
      await desk.verify();
      desk.git('switch', '-q', 'main');
      desk.git('branch', '-qD', 'feature');
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
    'a revert of a commit with records': async (desk) => {
      await commits(desk, 2);
      desk.git('revert', '--no-edit', 'HEAD~1');
    },
  },
};

describe('rewritten history', () => {
  // It waits for seconds otherwise, so that people can read it.
  process.env.FILTER_BRANCH_SQUELCH_WARNING = '1';

  it.each(eachFlow(REWRITES))('LTM-17 LTM-21 loses nothing to %s', expectFlow);
});
