import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { commit } from '../support/e2e-hooks.js';
import { type Flow, makeFlow, message } from '../support/flows.js';
import { runBinary } from '../support/forge.js';
import { MESSAGE } from '../support/message.js';
import { makeFolder, run } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';

describe('every way to a commit, with the hooks installed', () => {
  it('GIT-01 leaves a message of nothing, or of remarks alone, to git', () => {
    const { project } = makeFlow({ 'core.commentChar': ';' });
    for (const text of ['', '; only remarks\n']) {
      project.write('.git/COMMIT_EDITMSG', text);
      const checked = runBinary(project.dir, ['hook', 'commit-msg', '.git/COMMIT_EDITMSG']);
      expect(checked).toMatchObject({ exitCode: 0, stderr: '' });
    }
  });

  it('GIT-03 B-49 a hook that times out or is killed lets the commit through and reports it', () => {
    const flow = makeFlow({ 'core.commentChar': ';' });
    const { project } = flow;
    // A git that never answers stands in front of the real one, for what the hook asks alone.
    const folder = makeFolder();
    writeFileSync(join(folder, 'git'), `#!/bin/sh\necho $$ >>'${folder}/pids'\nexec sleep 1000\n`, {
      mode: 0o755,
    });
    onTestFinished(() => {
      for (const pid of readFileSync(join(folder, 'pids'), 'utf8').trim().split('\n'))
        process.kill(Number(pid));
    });
    project.write('.git/COMMIT_EDITMSG', 'no protocol\n');
    const slow = runBinary(project.dir, ['hook', 'commit-msg', '.git/COMMIT_EDITMSG'], {
      env: { PATH: `${folder}:${process.env.PATH}` },
    });
    expect(slow).toMatchObject({
      exitCode: 0,
      stderr: 'forge: commit-msg took longer than 10 s; nothing was checked\n',
    });

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
    expect(existsSync(project.path('.forge/local/lock'))).toBe(false);
  });

  it('GIT-03 B-48 in a submodule and under the environment of an outer git', () => {
    const { project } = makeFlow({ 'core.commentChar': ';' });
    const inner = join(project.dir, 'inner');
    mkdirSync(inner);
    run(inner, 'git', ['init', '-q']);
    const made = run(inner, 'git', ['commit', '-q', '--allow-empty', '-m', 'its own rules']);
    expect(made.exitCode).toBe(0);
    project.write('.git/COMMIT_EDITMSG', message('Fine'));
    const before = project.git('status', '--porcelain');
    const git = join(inner, '.git');
    const leaked = { GIT_DIR: git, GIT_INDEX_FILE: `${git}/index`, GIT_WORK_TREE: inner };
    const checked = runBinary(project.dir, ['hook', 'commit-msg', '.git/COMMIT_EDITMSG'], { env: leaked });
    expect(checked).toMatchObject({ exitCode: 0, stderr: '' });
    expect(project.git('status', '--porcelain')).toBe(before);
  });
});

const SECRET = SAMPLES.secret();
const SCISSORS = `${'-'.repeat(24)} >8 ${'-'.repeat(24)}`;

/** A repository with the hooks, a secret in HEAD, and a working tree where somebody took the secret out. */
function makeRemoval(settings: Record<string, string>): Flow {
  const flow = makeFlow(settings);
  const { project } = flow;
  project.write('settings.txt', `token = ${SECRET}\n`);
  project.git('add', '.');
  project.git('commit', '-q', '--no-verify', '-m', MESSAGE);
  project.write('settings.txt', 'token =\n');
  return flow;
}

/** `git commit` with an editor that puts the message in front of what git wrote. */
function commitInEditor({ project, git }: Flow, message: string, ...args: string[]) {
  project.write('.git/message', message);
  return git('commit', '-q', '-a', ...args);
}

it.each<[string, Record<string, string>]>([
  ['git as it comes', {}],
  ['another comment character', { 'core.commentChar': ';' }],
  ['commit.cleanup=scissors', { 'commit.cleanup': 'scissors' }],
  ['commit.cleanup=verbatim', { 'commit.cleanup': 'verbatim' }],
])('GIT-03 LTM-13 `git commit -v` removes a secret, but stores none in the message: %s', (_, settings) => {
  const flow = makeRemoval(settings);
  const leak = MESSAGE.replace('Rationale for the change', SECRET);
  const refused = commitInEditor(flow, leak, '-v');
  expect([refused.exitCode, refused.stderr.includes(SECRET)]).toEqual([1, false]);
  // Without -v the diff would become part of the message.
  expect(refused.stderr).toContain('git commit -a -v -e -F .git/COMMIT_EDITMSG');
  expect(commitInEditor(flow, MESSAGE, '-v')).toMatchObject({ exitCode: 0, stderr: '' });
  // The editor got the secret, below the scissors line; git stored neither.
  expect(flow.project.read('.git/joined')).toMatch(
    new RegExp(`^\\S ${SCISSORS}\n[\\s\\S]*-token = ${SECRET}`, 'm'),
  );
  const stored = flow.project.git('log', '-1', '--format=%B');
  expect([stored.includes('Rationale for the change'), stored.includes(SCISSORS)]).toEqual([true, false]);
});

it('GIT-03 LTM-13 guards all of a message where git does not cut at a scissors line', () => {
  const flow = makeRemoval({});
  // Without an editor git stores such a line, and what is below.
  const below = commit(flow.project, {}, `${MESSAGE}# ${SCISSORS}\n${SECRET}\n`);
  // With one it cuts at this exact line alone.
  const indented = commitInEditor(flow, `${MESSAGE} # ${SCISSORS}\n${SECRET}\n`);
  for (const { exitCode, stderr } of [below, indented])
    expect([exitCode, stderr.includes(SECRET)]).toEqual([1, false]);
});
