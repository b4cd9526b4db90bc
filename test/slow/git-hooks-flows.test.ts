import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { change, commit, type Flow, makeFlow, message } from '../support/flows.js';
import { runBinary } from '../support/forge.js';
import { makeFolder, run } from '../support/project.js';

/** Every way to a commit that git has: what it stores in the end follows the protocol, and nobody is stopped half-way. */

/** Two branches that both changed a file, each with a commit in the protocol. */
function diverge(flow: Flow, name = 'a.txt'): void {
  const { project } = flow;
  project.git('switch', '-qc', 'side');
  commit(flow, 'Side', name);
  project.git('switch', '-q', 'trunk');
  commit(flow, 'Trunk');
}

const resolve = (flow: Flow): void => change(flow, 'a.txt', 'both\n');

const rebase = (todo: string): string[] => ['-c', `sequence.editor=${todo}`, 'rebase', '-q', '-i', 'HEAD~2'];

/** `unsafe`: with git's own comment character git takes the headings away where it runs no hook; a range check finds that. */
const FLOWS: Record<string, { run: (flow: Flow) => void; unsafe?: true }> = {
  'commit -F': { run: (flow) => commit(flow) },
  'commit -m': {
    run: (flow) => {
      change(flow);
      flow.git('commit', '-q', '-m', message('By -m'));
    },
  },
  'commit in an editor': {
    run: (flow) => {
      change(flow);
      flow.git('commit', '-q');
    },
  },
  'commit -v': {
    run: (flow) => {
      change(flow, 'a.txt', '## Why\nnot this one\n');
      flow.git('commit', '-q', '-v');
    },
  },
  'commit -t': {
    run: (flow) => {
      change(flow);
      flow.project.write('.git/template', '\n');
      flow.git('commit', '-q', '-t', '.git/template');
    },
  },
  'amend --no-edit': {
    run: (flow) => {
      commit(flow);
      change(flow);
      flow.git('commit', '-q', '--amend', '--no-edit');
    },
  },
  'amend in an editor': {
    run: (flow) => {
      commit(flow);
      flow.keep('commit', '-q', '--amend');
    },
  },
  'rebase, reword': {
    run: (flow) => {
      commit(flow);
      commit(flow, 'Two');
      flow.keep(...rebase('sed -i s/^pick/reword/'));
    },
  },
  'rebase, squash': {
    unsafe: true,
    run: (flow) => {
      commit(flow);
      commit(flow, 'Two');
      flow.write(...rebase('sed -i 2s/^pick/squash/'));
    },
  },
  'rebase, squash, both messages kept': {
    unsafe: true,
    run: (flow) => {
      commit(flow);
      commit(flow, 'Two');
      flow.keep(...rebase('sed -i 2s/^pick/squash/'));
    },
  },
  'rebase, fixup': {
    run: (flow) => {
      commit(flow);
      commit(flow, 'Two');
      flow.keep(...rebase('sed -i 2s/^pick/fixup/'));
    },
  },
  'fixup! and autosquash': {
    run: (flow) => {
      commit(flow);
      change(flow, 'b.txt');
      expect(flow.git('commit', '-q', '--fixup', 'HEAD')).toMatchObject({ exitCode: 0 });
      flow.keep('-c', 'sequence.editor=:', 'rebase', '-q', '-i', '--autosquash', 'HEAD~2');
    },
  },
  'rebase, pick': {
    run: (flow) => {
      diverge(flow, 'b.txt');
      flow.project.git('switch', '-q', 'side');
      flow.keep('rebase', '-q', 'trunk');
    },
  },
  'rebase --apply': {
    run: (flow) => {
      diverge(flow, 'b.txt');
      flow.project.git('switch', '-q', 'side');
      flow.keep('rebase', '-q', '--apply', 'trunk');
    },
  },
  'rebase with a conflict, --continue': {
    unsafe: true,
    run: (flow) => {
      diverge(flow);
      flow.project.git('switch', '-q', 'side');
      expect(flow.keep('rebase', '-q', 'trunk').exitCode).not.toBe(0);
      resolve(flow);
      flow.keep('rebase', '--continue');
    },
  },
  'cherry-pick': {
    run: (flow) => {
      diverge(flow, 'b.txt');
      flow.keep('cherry-pick', 'side');
    },
  },
  'cherry-pick -x': {
    run: (flow) => {
      diverge(flow, 'b.txt');
      flow.keep('cherry-pick', '-x', 'side');
    },
  },
  'cherry-pick with a conflict, --continue': {
    run: (flow) => {
      diverge(flow);
      flow.keep('cherry-pick', 'side');
      resolve(flow);
      flow.keep('cherry-pick', '--continue');
    },
  },
  'cherry-pick with a conflict, commit': {
    run: (flow) => {
      diverge(flow);
      flow.keep('cherry-pick', 'side');
      resolve(flow);
      flow.keep('commit', '-q');
    },
  },
  revert: {
    run: (flow) => {
      commit(flow);
      flow.keep('revert', '--no-edit', 'HEAD');
    },
  },
  'format-patch and am': {
    run: (flow) => {
      const { project } = flow;
      diverge(flow, 'b.txt');
      const patch = project.git('format-patch', '-1', 'side', '--keep-subject', '-o', '.git/patches');
      flow.keep('am', '-q', '--keep', patch);
    },
  },
  'merge -F': {
    run: (flow) => {
      diverge(flow, 'b.txt');
      flow.project.write('.git/other', message('Merge'));
      flow.keep('merge', '-q', '--no-ff', '-F', '.git/other', 'side');
    },
  },
  merge: {
    run: (flow) => {
      diverge(flow, 'b.txt');
      flow.keep('merge', '-q', '--no-ff', '--no-edit', 'side');
    },
  },
  'merge with a conflict': {
    run: (flow) => {
      diverge(flow);
      flow.keep('merge', '-q', 'side');
      resolve(flow);
      flow.git('commit', '-q');
    },
  },
  'a linked worktree': {
    run: (flow) => {
      const side = join(makeFolder(), 'side');
      flow.project.git('worktree', 'add', '-q', side, '-b', 'linked');
      writeFileSync(join(side, 'c.txt'), 'c\n');
      run(side, 'git', ['add', '.']);
      run(side, 'git', ['commit', '-q', '-F', '-'], { input: message('In a worktree') });
      flow.project.git('merge', '-q', '--ff-only', 'linked');
    },
  },
};

/** Commits since the beginning that do not follow the protocol, and what git was left in the middle of. */
function outcome({ project }: Flow): { wrong: string[]; made: number; open: string[] } {
  const begin = project.git('rev-list', '--max-parents=0', '--all').split('\n')[0] as string;
  const first = project.git('rev-list', '--reverse', `${begin}..HEAD`).split('\n')[0] as string;
  const { stdout } = runBinary(project.dir, ['commit', 'check', '--range', `${first}..HEAD`, '--json']);
  const { commits } = JSON.parse(stdout) as {
    commits: { subject: string; problems: { message: string }[] }[];
  };
  return {
    wrong: commits
      .filter(({ problems }) => problems.length > 0)
      .map(({ subject, problems }) => `${subject}: ${problems[0]?.message}`),
    made: commits.length,
    open: ['rebase-merge', 'rebase-apply', 'MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD'].filter((name) =>
      existsSync(project.path('.git', name)),
    ),
  };
}

describe('every way to a commit, with the hooks installed', () => {
  it.each(Object.entries(FLOWS))(
    'GIT-01 GIT-03 B-51 %s: with a comment character of its own',
    (_, { run: walk }) => {
      const flow = makeFlow(true);
      walk(flow);
      const { wrong, made, open } = outcome(flow);
      expect({ wrong, open }).toEqual({ wrong: [], open: [] });
      expect(made).toBeGreaterThan(0);
    },
  );

  it.each(Object.entries(FLOWS))('GIT-01 GIT-03 %s: with git’s own', (_, { run: walk, unsafe }) => {
    const flow = makeFlow(false);
    walk(flow);
    const { wrong, made, open } = outcome(flow);
    expect({ wrong: wrong.length > 0, open }).toEqual({ wrong: unsafe === true, open: [] });
    expect(made).toBeGreaterThan(0);
  });
});
