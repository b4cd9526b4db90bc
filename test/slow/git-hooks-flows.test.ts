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

const FLOWS: Record<string, (flow: Flow) => void> = {
  'commit -F': (flow) => commit(flow),
  'commit -m': (flow) => {
    change(flow);
    flow.git('commit', '-q', '-m', message('By -m'));
  },
  'commit in an editor': (flow) => {
    change(flow);
    flow.git('commit', '-q');
  },
  'commit -v': (flow) => {
    change(flow, 'a.txt', '## Why\nnot this one\n');
    flow.git('commit', '-q', '-v');
  },
  'commit -t': (flow) => {
    change(flow);
    flow.project.write('.git/template', '\n');
    flow.git('commit', '-q', '-t', '.git/template');
  },
  'amend --no-edit': (flow) => {
    commit(flow);
    change(flow);
    flow.git('commit', '-q', '--amend', '--no-edit');
  },
  'amend in an editor': (flow) => {
    commit(flow);
    flow.keep('commit', '-q', '--amend');
  },
  'rebase, reword': (flow) => {
    commit(flow);
    commit(flow, 'Two');
    flow.keep(...rebase('sed -i s/^pick/reword/'));
  },
  'rebase, squash': (flow) => {
    commit(flow);
    commit(flow, 'Two');
    flow.write(...rebase('sed -i 2s/^pick/squash/'));
  },
  'rebase, squash, both messages kept': (flow) => {
    commit(flow);
    commit(flow, 'Two');
    flow.keep(...rebase('sed -i 2s/^pick/squash/'));
  },
  'fixup! and autosquash': (flow) => {
    commit(flow);
    change(flow, 'b.txt');
    expect(flow.git('commit', '-q', '--fixup', 'HEAD')).toMatchObject({ exitCode: 0 });
    flow.keep('-c', 'sequence.editor=:', 'rebase', '-q', '-i', '--autosquash', 'HEAD~2');
  },
  'rebase, pick': (flow) => {
    diverge(flow, 'b.txt');
    flow.project.git('switch', '-q', 'side');
    flow.keep('rebase', '-q', 'trunk');
  },
  'rebase --apply': (flow) => {
    diverge(flow, 'b.txt');
    flow.project.git('switch', '-q', 'side');
    flow.keep('rebase', '-q', '--apply', 'trunk');
  },
  'rebase with a conflict, --continue': (flow) => {
    diverge(flow);
    flow.project.git('switch', '-q', 'side');
    expect(flow.keep('rebase', '-q', 'trunk').exitCode).not.toBe(0);
    resolve(flow);
    flow.keep('rebase', '--continue');
  },
  'cherry-pick': (flow) => {
    diverge(flow, 'b.txt');
    flow.keep('cherry-pick', 'side');
  },
  'cherry-pick -x': (flow) => {
    diverge(flow, 'b.txt');
    flow.keep('cherry-pick', '-x', 'side');
  },
  'cherry-pick with a conflict, --continue': (flow) => {
    diverge(flow);
    flow.keep('cherry-pick', 'side');
    resolve(flow);
    flow.keep('cherry-pick', '--continue');
  },
  'cherry-pick with a conflict, commit': (flow) => {
    diverge(flow);
    flow.keep('cherry-pick', 'side');
    resolve(flow);
    flow.keep('commit', '-q');
  },
  revert: (flow) => {
    commit(flow);
    flow.keep('revert', '--no-edit', 'HEAD');
  },
  'format-patch and am': (flow) => {
    const { project } = flow;
    diverge(flow, 'b.txt');
    const patch = project.git('format-patch', '-1', 'side', '--keep-subject', '-o', '.git/patches');
    flow.keep('am', '-q', '--keep', patch);
  },
  'merge -F': (flow) => {
    diverge(flow, 'b.txt');
    flow.project.write('.git/other', message('Merge'));
    flow.keep('merge', '-q', '--no-ff', '-F', '.git/other', 'side');
  },
  merge: (flow) => {
    diverge(flow, 'b.txt');
    flow.keep('merge', '-q', '--no-ff', '--no-edit', 'side');
  },
  'merge with a conflict': (flow) => {
    diverge(flow);
    flow.keep('merge', '-q', 'side');
    resolve(flow);
    flow.git('commit', '-q');
  },
  'a linked worktree': (flow) => {
    const side = join(makeFolder(), 'side');
    flow.project.git('worktree', 'add', '-q', side, '-b', 'linked');
    writeFileSync(join(side, 'c.txt'), 'c\n');
    run(side, 'git', ['add', '.']);
    run(side, 'git', ['commit', '-q', '-F', '-'], { input: message('In a worktree') });
    flow.project.git('merge', '-q', '--ff-only', 'linked');
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

const [ONE, BOTH, CONFLICT] = [
  'rebase, squash',
  'rebase, squash, both messages kept',
  'rebase with a conflict, --continue',
];

/** With the ways whose message git changes where it runs no hook. A range check finds those. */
const SETTINGS: [name: string, settings: Record<string, string>, changed: string[]][] = [
  ['git as it comes', {}, [ONE, BOTH, CONFLICT]],
  ['another comment character', { 'core.commentChar': ';' }, []],
  ['cleanup=strip', { 'commit.cleanup': 'strip' }, [ONE]],
  ['cleanup=whitespace', { 'commit.cleanup': 'whitespace' }, [BOTH]],
  ['cleanup=scissors', { 'commit.cleanup': 'scissors' }, [BOTH]],
];

describe.each(SETTINGS)('every way to a commit, with the hooks installed and %s', (_, settings, changed) => {
  it.each(Object.entries(FLOWS))('GIT-01 GIT-03 B-51 %s', (way, walk) => {
    const flow = makeFlow(settings);
    walk(flow);
    const { wrong, made, open } = outcome(flow);
    expect([wrong.length > 0, open], wrong.join('\n')).toEqual([changed.includes(way), []]);
    expect(made).toBeGreaterThan(0);
  });
});

describe('conflict markers', () => {
  const FILE = '.forge/notes.txt';

  it('LAY-09 GIT-02 in .forge/ are refused, in a merge too, and the command that is named settles them', () => {
    const flow = makeFlow();
    const { project } = flow;
    const file = '.forge/memory/long-term/features.d/F-1.json';
    const rename = (name: string): void => {
      runBinary(project.dir, ['feature', 'edit', 'F-1', '--name', name]);
      project.git('add', '-A');
      project.git('commit', '-qnm', name);
    };
    runBinary(project.dir, ['feature', 'add', 'F-1', 'First name', '--no-run', '--test', 'true']);
    project.git('add', '-A');
    project.git('commit', '-qnm', 'Add');
    project.git('switch', '-qc', 'side');
    rename('Theirs');
    project.git('switch', '-q', 'trunk');
    rename('Ours');
    expect(flow.git('merge', 'side').exitCode).toBe(1);
    project.git('add', '-A');
    const head = project.git('rev-parse', 'HEAD');
    const { exitCode, stderr } = flow.git('merge', '--continue');
    expect([exitCode, project.git('rev-parse', 'HEAD')]).toEqual([1, head]);
    const command = `git checkout --merge -- ${file}`;
    for (const args of [['ls'], ['doctor']])
      expect(runBinary(project.dir, args)).toMatchObject({
        [args[0] === 'ls' ? 'stderr' : 'stdout']: expect.stringContaining(
          `${command} && forge doctor --fix\n`,
        ),
      });
    expect(stderr).toContain(`nothing was committed\n  ${file}\n    → ${command} && forge doctor --fix\n`);
    project.git(...command.split(' ').slice(1));
    expect(runBinary(project.dir, ['doctor', '--fix']).stdout).toContain('done: merge both sides');
    expect(flow.keep('merge', '--continue')).toMatchObject({ exitCode: 0 });
  });

  it('LAY-09 that were committed before, and those outside of .forge/, stop no commit', () => {
    const flow = makeFlow();
    const markers = `${'<'.repeat(7)} a\n1\n=======\n2\n${'>'.repeat(7)} b\n`;
    change(flow, 'guide.md', markers);
    flow.project.write('.git/other', message('One'));
    expect(flow.git('commit', '-q', '-F', '.git/other')).toMatchObject({ exitCode: 0, stderr: '' });
    change(flow, FILE, markers);
    expect(flow.git('commit', '-q', '-F', '.git/other').stderr).toContain(`\n  ${FILE}\n`);
    flow.project.git('commit', '-qnm', 'By force');
    commit(flow);
  });
});
