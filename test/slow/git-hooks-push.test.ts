import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runBinary } from '../support/forge.js';
import { HALT } from '../support/memory.js';
import { makeFolder, type Project, run } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';
import { makeForgeRepository } from '../support/typed.js';

/** A repository with a commit from before its hooks, and an empty remote. */
function makePushable(install: string[] = []): Project & { remote: string } {
  const project = makeForgeRepository();
  // All commits are older than the hooks, whose time has seconds only.
  project.git('update-ref', '-d', 'HEAD');
  project.git('add', '-A');
  const env = { GIT_COMMITTER_DATE: '2020-01-01T00:00:00Z' };
  run(project.dir, 'git', ['commit', '-q', '-m', 'forge'], { env });
  expect(runBinary(project.dir, ['hooks', 'install', ...install])).toMatchObject({ exitCode: 0 });
  const remote = makeFolder();
  run(remote, 'git', ['init', '-q', '--bare']);
  project.git('remote', 'add', 'origin', remote);
  return { ...project, remote };
}

const push = ({ dir }: Project, ...args: string[]) => run(dir, 'git', ['push', '-q', ...args]);
const addBad = ({ git }: Project): string =>
  git('commit', '-q', '--no-verify', '--allow-empty', '-m', 'no protocol');

const refused = { exitCode: 1, stderr: expect.stringContaining('nothing was pushed') };
const passed = { exitCode: 0, stderr: '' };

describe('pre-push', () => {
  it('GIT-03 GIT-01 ignores commits from before the hooks, or on another remote', () => {
    const project = makePushable();
    expect(push(project, 'origin', 'HEAD:first')).toMatchObject(passed);
    addBad(project);
    expect(push(project, 'origin', 'HEAD:second')).toMatchObject(refused);
    expect(push(project, project.remote, 'HEAD:second')).toMatchObject(refused);
    push(project, '--no-verify', 'origin', 'HEAD:second');
    const fork = makeFolder();
    run(fork, 'git', ['init', '-q', '--bare']);
    expect(push(project, fork, 'HEAD:second')).toMatchObject(passed);
  });

  it('GIT-03 LTM-05 while memory is halted shows the remedy, and names no commit', () => {
    const project = makePushable();
    project.write(HALT, '{"at":"2026-03-01T10:00:00.000Z","reasons":["a test"],"isDamage":false}');
    const { exitCode, stderr } = push(project, 'origin', 'HEAD');
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /^forge: nothing was pushed\n {2}memory: Memory is halted: [^\n]*\n {4}→ forge memory verify {3}# shows[^\n]*\n {2}To skip all hooks: --no-verify\n/,
    );
    // The hint is of use: nothing is wrong, so the halt ends.
    expect(runBinary(project.dir, ['memory', 'verify'])).toMatchObject({ exitCode: 0 });
    expect(push(project, 'origin', 'HEAD')).toMatchObject({ exitCode: 0 });
  });

  it('GIT-03 B-42 escapes file names, and counts the omitted ones', () => {
    const project = makePushable();
    for (let i = 0; i < 12; i++) project.write(`\u001b[31m${i}`, `${SAMPLES.secret()}\n`);
    project.git('add', '-A');
    project.git('commit', '-q', '--no-verify', '-m', 'x');
    const { exitCode, stderr } = push(project, 'origin', 'HEAD');
    expect([exitCode, stderr.includes('\u001b')]).toEqual([1, false]);
    expect(stderr).toContain('\\033[31m0:1: ');
    expect(stderr).toContain('  … 2 more secrets\n');
  });

  it('GIT-01 B-50 checks a push during a rebase too', () => {
    const project = makePushable();
    addBad(project);
    const env = { GIT_SEQUENCE_EDITOR: 'sed -i 1s/pick/edit/' };
    run(project.dir, 'git', ['rebase', '-q', '-i', 'HEAD~1'], { env });
    expect(existsSync(join(project.dir, '.git/rebase-merge'))).toBe(true);
    expect(push(project, 'origin', 'HEAD:refs/heads/main')).toMatchObject(refused);
  });

  it('GIT-03 LTM-13 refuses secrets even if the settings were deleted', () => {
    const project = makePushable();
    project.write('key.txt', `${SAMPLES.secret()}\n`);
    project.git('add', 'key.txt');
    project.git('commit', '-q', '--no-verify', '-m', 'x');
    rmSync(join(project.dir, '.forge/config.toml'));
    const { exitCode, stderr } = push(project, 'origin', 'HEAD');
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(/config\.toml is missing[\s\S]*key\.txt:1: /),
    ]);
    const commit = run(project.dir, 'git', ['commit', '-q', '--allow-empty', '-m', `x ${SAMPLES.secret()}`]);
    expect([commit.exitCode, commit.stderr]).toEqual([1, expect.stringContaining('contains a secret')]);
    project.git('rm', '-q', '--cached', '.forge/config.toml');
    expect(run(project.dir, 'git', ['commit', '-q', '-m', 'Leave forge'])).toMatchObject(passed);
  });

  it('GIT-03 B-46 in an existing hook: checks the pushed refs, not HEAD, and both hooks can read stdin', () => {
    const project = makePushable();
    runBinary(project.dir, ['hooks', 'uninstall']);
    project.write('.git/hooks/pre-push', '#!/bin/sh\nset -e\ncat >.git/seen\n');
    chmodSync(join(project.dir, '.git/hooks/pre-push'), 0o755);
    runBinary(project.dir, ['hooks', 'install', '--yes']);
    const seen = () => readFileSync(join(project.dir, '.git/seen'), 'utf8');
    expect(push(project, 'origin', 'HEAD:a', 'HEAD:b')).toMatchObject(passed);
    expect(seen()).toMatch(/^HEAD \w+ refs\/heads\/a 0+\nHEAD \w+ refs\/heads\/b 0+\n$/);
    project.git('switch', '-q', '-c', 'bad');
    addBad(project);
    // A deletion brings nothing, whatever HEAD is.
    expect(push(project, 'origin', ':b')).toMatchObject(passed);
    project.git('switch', '-q', '-');
    expect(push(project, 'origin', 'bad')).toMatchObject(refused);
    expect(push(project, 'origin', 'HEAD:a')).toMatchObject(passed);
    expect(seen()).toBe('');
  });
});
