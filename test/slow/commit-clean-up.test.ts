import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { aboveScissors } from '../../src/commit/message.js';
import { checkMessage } from '../../src/commit/protocol.js';
import type { MessageState } from '../../src/commit/rules.js';
import { makeRules } from '../../src/commit/rules.js';
import { MESSAGE } from '../support/message.js';
import { makeRepository, type Project, run } from '../support/project.js';

/** The settings of git that change what is stored. */
const SETTINGS: Record<string, Record<string, string>> = {
  'git as it comes': {},
  'another comment character': { 'core.commentChar': ';' },
  'cleanup=strip': { 'commit.cleanup': 'strip' },
  'cleanup=whitespace': { 'commit.cleanup': 'whitespace' },
  'cleanup=scissors': { 'commit.cleanup': 'scissors' },
};

type Step = (git: (...args: string[]) => void, project: Project) => void;

function change(project: Project, name: string, text = `${Math.random()}\n`): void {
  project.write(name, text);
  project.git('add', '.');
}

/** Two branches that both changed a file; the other one's message is in the protocol. */
const diverge: Step = (git, project) => {
  project.git('switch', '-qc', 'side');
  change(project, 'a.txt', 'side\n');
  git('commit', '-q', '-F', '.git/message');
  project.git('switch', '-q', 'main');
  change(project, 'a.txt', 'main\n');
  git('commit', '-q', '-m', 'Main');
};

const resolve = (project: Project): void => change(project, 'a.txt', 'both\n');

/** Ways to a commit in which commit-msg runs. */
const FLOWS: Record<string, Step> = {
  'commit -F': (git, project) => {
    change(project, 'a.txt');
    git('commit', '-q', '-F', '.git/message');
  },
  'commit in an editor': (git, project) => {
    change(project, 'a.txt');
    git('commit', '-q');
  },
  'commit -v': (git, project) => {
    change(project, 'a.txt', '## Why\nnot this one\n');
    git('commit', '-q', '-v');
  },
  'commit -t': (git, project) => {
    change(project, 'a.txt');
    git('commit', '-q', '-t', '.git/template');
  },
  'amend --no-edit': (git, project) => {
    change(project, 'a.txt');
    git('commit', '-q', '-F', '.git/message');
    git('commit', '-q', '--amend', '--no-edit');
  },
  'amend in an editor': (git, project) => {
    change(project, 'a.txt');
    git('commit', '-q', '-m', 'x');
    git('commit', '-q', '--amend');
  },
  'rebase, reword': (git, project) => {
    change(project, 'a.txt');
    git('commit', '-q', '-m', 'x');
    git('-c', 'sequence.editor=sed -i s/^pick/reword/', 'rebase', '-q', '-i', 'HEAD~1');
  },
  'merge -F': (git, project) => {
    diverge(git, project);
    project.git('reset', '-q', '--hard', 'HEAD~1');
    git('merge', '-q', '--no-ff', '-F', '.git/message', 'side');
  },
  'merge in an editor': (git, project) => {
    diverge(git, project);
    project.git('reset', '-q', '--hard', 'HEAD~1');
    git('merge', '-q', '--no-ff', '--edit', 'side');
  },
  'merge with a conflict': (git, project) => {
    diverge(git, project);
    git('merge', '-q', 'side');
    resolve(project);
    git('commit', '-q');
  },
  'cherry-pick with a conflict, --continue': (git, project) => {
    diverge(git, project);
    git('cherry-pick', 'side');
    resolve(project);
    git('cherry-pick', '--continue');
  },
  'cherry-pick with a conflict, commit --no-edit': (git, project) => {
    diverge(git, project);
    git('cherry-pick', 'side');
    resolve(project);
    git('commit', '-q', '--no-edit');
  },
  'cherry-pick -n': (git, project) => {
    diverge(git, project);
    project.git('reset', '-q', '--hard', 'HEAD~1');
    git('cherry-pick', '-n', 'side');
    git('commit', '-q', '-F', '.git/message');
  },
};

/** `hook` works on the file after it was kept as git handed it over. */
function walk(flow: Step, settings: Record<string, string>, hook = ''): { raw: Buffer; stored: string } {
  const project = makeRepository();
  for (const [name, value] of Object.entries(settings)) project.git('config', name, value);
  project.write('.git/message', MESSAGE);
  project.write('.git/template', '\n');
  project.write('.git/editor', '#!/bin/sh\ncat .git/message "$1" >.git/joined && cat .git/joined >"$1"\n');
  project.write('.git/hooks/commit-msg', `#!/bin/sh\ncp "$1" .git/raw\n${hook}\n`);
  for (const name of ['editor', 'hooks/commit-msg']) chmodSync(project.path('.git', name), 0o755);
  const env = { GIT_EDITOR: project.path('.git/editor') };
  const before = project.git('rev-parse', 'HEAD');
  flow((...args) => {
    rmSync(project.path('.git/raw'), { force: true });
    run(project.dir, 'git', args, { env });
  }, project);
  expect(project.git('rev-parse', 'HEAD')).not.toBe(before);
  return {
    raw: readFileSync(project.path('.git/raw')),
    stored: `${project.git('log', '-1', '--format=%B')}\n`,
  };
}

const rules = makeRules();
const passes = (bytes: Buffer, state: MessageState): boolean =>
  checkMessage(bytes, rules, state).problems.length === 0;

describe.each(Object.entries(SETTINGS))('what commit-msg is handed, with %s', (_name, settings) => {
  const comment = settings['core.commentChar'] ?? '#';
  const protect = 'sed -E -i "s/^## (What|Why|Memory|Backtrace)$/ &/" "$1"';

  it.each(Object.entries(FLOWS))('GIT-01 passes, and is stored with its headings: %s', (_flow, flow) => {
    const { raw, stored } = walk(flow, settings, protect);
    expect([stored, passes(Buffer.from(stored), { stored: true })]).toEqual([stored, true]);
    expect(passes(aboveScissors(raw, comment), { comment, strips: true })).toBe(true);
  });
});
