import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runBinary } from '../support/forge.js';
import { MESSAGE } from '../support/message.js';
import { makeFolder, type Project, run } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';
import { makeForgeRepository } from './typed.js';

/** Every way to a commit that git has: what it stores in the end follows the protocol, and nobody is stopped half-way. */

const message = (title: string): string => MESSAGE.replace('Brief description', title);

interface Flow {
  project: Project;
  /** git with the editor that puts the message in front of what git wrote. */
  git: (...args: string[]) => ReturnType<typeof run>;
  /** With an editor that writes the message alone. */
  write: (...args: string[]) => ReturnType<typeof run>;
  /** With an editor that leaves everything as it is. */
  keep: (...args: string[]) => ReturnType<typeof run>;
}

let count = 0;

function change({ project }: Flow, name = 'a.txt', text = `${++count}\n`): void {
  project.write(name, text);
  project.git('add', '.');
}

/** A commit in the protocol. */
function commit(flow: Flow, title = 'One', name = 'a.txt'): void {
  change(flow, name);
  flow.project.write('.git/other', message(title));
  expect(flow.git('commit', '-q', '-F', '.git/other')).toMatchObject({ exitCode: 0, stderr: '' });
}

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

function makeFlow(commentChar: boolean): Flow {
  const project = makeForgeRepository();
  project.git('add', '-A');
  project.git('commit', '-qm', 'begin');
  project.git('branch', '-M', 'trunk');
  runBinary(project.dir, ['hooks', 'install', ...(commentChar ? ['--comment-char'] : [])]);
  project.write('.git/message', message('In an editor'));
  project.write('.git/editor', '#!/bin/sh\ncat .git/message "$1" >.git/joined && cat .git/joined >"$1"\n');
  chmodSync(project.path('.git/editor'), 0o755);
  const with_ =
    (editor: string) =>
    (...args: string[]) =>
      run(project.dir, 'git', args, { env: { GIT_EDITOR: editor, GIT_SEQUENCE_EDITOR: undefined } });
  return {
    project,
    git: with_(project.path('.git/editor')),
    write: with_('cp .git/message'),
    keep: with_('true'),
  };
}

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

  it('GIT-01 B-50 --no-verify goes past, and the push finds it', () => {
    const flow = makeFlow(true);
    change(flow);
    expect(flow.git('commit', '-q', '-m', 'no protocol')).toMatchObject({ exitCode: 1 });
    expect(readFileSync(flow.project.path('.git/COMMIT_EDITMSG'), 'utf8')).toBe('no protocol\n');
    expect(flow.git('commit', '-q', '--no-verify', '-m', 'no protocol')).toMatchObject({ exitCode: 0 });
    const remote = makeFolder();
    run(remote, 'git', ['init', '-q', '--bare']);
    flow.project.git('remote', 'add', 'origin', remote);
    const refused = flow.git('push', '-q', 'origin', 'HEAD');
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain('no protocol');
    expect(run(remote, 'git', ['for-each-ref']).stdout).toBe('');
  });

  it('GIT-01 B-51 a secret in a message: exit 5 without the value; NUL, 5 MB, no UTF-8', () => {
    const { project } = makeFlow(true);
    const check = (text: string | Buffer) => {
      writeFileSync(project.path('.git/COMMIT_EDITMSG'), text);
      return runBinary(project.dir, ['hook', 'commit-msg', '.git/COMMIT_EDITMSG']);
    };
    const key = SAMPLES.secret();
    const secret = check(message(`Use ${key}`));
    expect(secret.exitCode).toBe(5);
    expect(secret.stderr).toContain('what must not be kept');
    expect(secret.stderr).not.toContain(key);
    expect(check(message('a\0b'))).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('NUL') });
    expect(check(Buffer.concat([Buffer.from(message('a')), Buffer.from([0xff, 0xfe])]))).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('not valid UTF-8'),
    });
    expect(check(`${message('Long')}${'long line of text\n'.repeat(300_000)}`).exitCode).toBeLessThan(2);
    expect(check('')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(check('; only remarks\n')).toMatchObject({ exitCode: 0 });
  });

  it('GIT-03 B-49 a hook that takes too long, and one that is killed, let the commit through and say so', () => {
    const flow = makeFlow(true);
    const { project } = flow;
    // A git that never answers stands in front of the real one, for what the hook asks alone.
    const folder = makeFolder();
    writeFileSync(join(folder, 'git'), '#!/bin/sh\nsleep 30\n', { mode: 0o755 });
    project.write('.git/COMMIT_EDITMSG', 'no protocol\n');
    const begun = Date.now();
    const slow = runBinary(project.dir, ['hook', 'commit-msg', '.git/COMMIT_EDITMSG'], {
      env: { PATH: `${folder}:${process.env.PATH}` },
    });
    expect(slow).toMatchObject({
      exitCode: 0,
      stderr: 'forge: commit-msg took longer than 10 s; nothing was checked\n',
    });
    expect(Date.now() - begun).toBeLessThan(15_000);

    const script = project.path('.git/forge/hook');
    const killed = readFileSync(script, 'utf8').replace(
      /^forge_program=.*$/m,
      `forge_program='${folder}/killed.js'`,
    );
    writeFileSync(join(folder, 'killed.js'), "process.kill(process.pid, 'SIGKILL');\n");
    writeFileSync(script, killed);
    const commit = flow.git('commit', '-q', '--allow-empty', '-m', 'no protocol');
    expect(commit.exitCode).toBe(0);
    expect(commit.stderr).toMatch(/forge: its commit-msg hook failed \(exit 137\), so nothing was checked/);
    expect(existsSync(project.path('.git/index.lock'))).toBe(false);
    expect(existsSync(project.path('.git/forge/lock'))).toBe(false);
  });

  it('GIT-03 B-48 in a submodule and under the environment of an outer git', () => {
    const { project } = makeFlow(true);
    const inner = join(project.dir, 'inner');
    mkdirSync(inner);
    run(inner, 'git', ['init', '-q']);
    const made = run(inner, 'git', ['commit', '-q', '--allow-empty', '-m', 'its own rules']);
    expect(made.exitCode).toBe(0);
    project.write('.git/COMMIT_EDITMSG', message('Fine'));
    const before = project.git('status', '--porcelain');
    const leaked = {
      GIT_DIR: join(inner, '.git'),
      GIT_INDEX_FILE: join(inner, '.git/index'),
      GIT_WORK_TREE: inner,
    };
    const checked = runBinary(project.dir, ['hook', 'commit-msg', '.git/COMMIT_EDITMSG'], { env: leaked });
    expect(checked).toMatchObject({ exitCode: 0, stderr: '' });
    expect(project.git('status', '--porcelain')).toBe(before);
  });
});
