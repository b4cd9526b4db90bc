import { chmodSync } from 'node:fs';
import { expect, it } from 'vitest';
import { commit, forge, MESSAGE, makeCommitted } from '../support/e2e-hooks.js';
import { type Project, run } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';

const SECRET = SAMPLES.secret();
const SCISSORS = `${'-'.repeat(24)} >8 ${'-'.repeat(24)}`;

/** A repository with the hooks, a secret in HEAD, and a working tree where somebody took the secret out. */
function makeRemoval(settings: Record<string, string>): Project {
  const project = makeCommitted();
  project.write('settings.txt', `token = ${SECRET}\n`);
  project.git('add', '.');
  project.git('commit', '-q', '-m', MESSAGE);
  forge(project, 'hooks', 'install');
  for (const [name, value] of Object.entries(settings)) project.git('config', name, value);
  project.write('settings.txt', 'token =\n');
  return project;
}

/** `git commit` with an editor that puts the message in front of what git wrote. */
function commitInEditor(project: Project, message: string, ...args: string[]) {
  project.write('.git/message', message);
  project.write('.git/editor', '#!/bin/sh\ncat .git/message "$1" >.git/joined && cat .git/joined >"$1"\n');
  chmodSync(project.path('.git/editor'), 0o755);
  const env = { GIT_EDITOR: project.path('.git/editor') };
  return run(project.dir, 'git', ['commit', '-q', '-a', ...args], { env });
}

it.each<[string, Record<string, string>]>([
  ['git as it comes', {}],
  ['another comment character', { 'core.commentChar': ';' }],
  ['commit.cleanup=scissors', { 'commit.cleanup': 'scissors' }],
  ['commit.cleanup=verbatim', { 'commit.cleanup': 'verbatim' }],
])('GIT-03 LTM-13 `git commit -v` removes a secret, but stores none in the message: %s', (_, settings) => {
  const project = makeRemoval(settings);
  const leak = MESSAGE.replace('It was asked for.', SECRET);
  const refused = commitInEditor(project, leak, '-v');
  expect([refused.exitCode, refused.stderr.includes(SECRET)]).toEqual([1, false]);
  // Without -v the diff would become part of the message.
  expect(refused.stderr).toContain('git commit -v -e -F .git/COMMIT_EDITMSG');
  expect(commitInEditor(project, MESSAGE, '-v')).toMatchObject({ exitCode: 0, stderr: '' });
  // The editor got the secret, below the scissors line; git stored neither.
  expect(project.read('.git/joined')).toMatch(
    new RegExp(`^\\S ${SCISSORS}\n[\\s\\S]*-token = ${SECRET}`, 'm'),
  );
  const stored = project.git('log', '-1', '--format=%B');
  expect([stored.includes('It was asked for.'), stored.includes(SCISSORS)]).toEqual([true, false]);
});

it('GIT-03 LTM-13 guards all of a message where git does not cut at a scissors line', () => {
  const project = makeRemoval({});
  // Without an editor git stores such a line, and what is below.
  const below = commit(project, {}, `${MESSAGE}# ${SCISSORS}\n${SECRET}\n`);
  // With one it cuts at this exact line alone.
  const indented = commitInEditor(project, `${MESSAGE} # ${SCISSORS}\n${SECRET}\n`);
  for (const { exitCode, stderr } of [below, indented])
    expect([exitCode, stderr.includes(SECRET)]).toEqual([1, false]);
});
