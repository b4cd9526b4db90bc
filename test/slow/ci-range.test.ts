import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { ci, cloneOf, commit, failed, githubEvent, ready, ZEROS } from '../support/ci.js';
import type { Project } from '../support/project.js';

describe('forge ci: the range', () => {
  /** A clone on a branch with two commits of its own. */
  async function branched(): Promise<{ clone: Project; base: string; first: string }> {
    const remote = await ready();
    const clone = cloneOf(remote);
    const base = clone.git('rev-parse', 'HEAD');
    clone.git('switch', '-qc', 'feature/one');
    const first = commit(clone);
    commit(clone);
    return { clone, base, first };
  }

  const seen = async (project: Project, env: NodeJS.ProcessEnv, args: string[] = []) => {
    const { range, range_from, checks } = await ci(project, args, env);
    return [range, range_from, checks[0]?.detail.match(/^\d+/)?.[0] ?? checks[0]?.detail];
  };

  it('GIT-07 of a branch: the commits since it left the default one, unless --range is given', async () => {
    const { clone, base } = await branched();
    const own = [`${base.slice(0, 12)}..HEAD`, 'where it left origin/main', '2'];
    expect(await seen(clone, {})).toEqual(own);
    expect(await seen(clone, {}, ['--range', 'HEAD~1..HEAD'])).toEqual(['HEAD~1..HEAD', '--range', '1']);
    // As actions/checkout leaves it.
    clone.git('remote', 'set-head', 'origin', '-d');
    expect(await seen(clone, {})).toEqual(own);
  });

  it('GIT-07 of a branch whose clone has no other: the last commit, with a warning that says what to fetch', async () => {
    const { clone } = await branched();
    clone.git('switch', '-q', 'main');
    const single = cloneOf(clone, '--single-branch', '--branch', 'feature/one');
    // As a pipeline leaves it.
    single.git('switch', '-q', '--detach');
    single.git('branch', '-q', '-D', 'feature/one');
    const { range_from, notes, exitCode } = await ci(single);
    expect([range_from, exitCode]).toEqual(['the last commit', 0]);
    const [, fix = ''] =
      /^Only the last commit was checked: .*default branch\. (git fetch .*)$/.exec(notes[0] ?? '') ?? [];
    execFileSync('sh', ['-c', fix], { cwd: single.dir, stdio: 'ignore' });
    expect(await seen(single, {})).toEqual([expect.anything(), 'where it left origin/main', '2']);
  });

  it('GIT-07 of a branch whose remote is not called origin', async () => {
    const clone = cloneOf(await ready(), '-o', 'up');
    const own = [`${clone.git('rev-parse', '--short=12', 'HEAD')}..HEAD`, 'where it left up/main', '2'];
    clone.git('switch', '-qc', 'topic');
    commit(clone);
    commit(clone);
    expect(await seen(clone, {})).toEqual(own);
    expect((await seen(clone, { GITHUB_ACTIONS: 'true', GITHUB_BASE_REF: 'main' }))[0]).toBe('up/main..HEAD');
    // With several remotes, the branch's own decides.
    clone.git('remote', 'add', 'another', 'https://example.com/x.git');
    expect((await seen(clone, {}))[1]).toBe('the last commit');
    clone.git('branch', '-q', '-u', 'up/main');
    expect(await seen(clone, {})).toEqual(own);
    clone.git('pack-refs', '--all');
    expect(await seen(clone, {})).toEqual(own);
  });

  it('GIT-07 GitHub: a pull request by its base, a push by the commit before it', async () => {
    const { clone, first, base } = await branched();
    const pull = { GITHUB_ACTIONS: 'true', GITHUB_BASE_REF: 'main' };
    expect(await seen(clone, pull)).toEqual(['origin/main..HEAD', 'GITHUB_BASE_REF', '2']);
    const pushed = [`${first.slice(0, 12)}..HEAD`, 'GITHUB_EVENT_PATH (before)', '1'];
    expect(await seen(clone, githubEvent({ before: first }))).toEqual(pushed);
    const forked = [`${base.slice(0, 12)}..HEAD`, 'where it left origin/main', '2'];
    expect(await seen(clone, githubEvent({ before: ZEROS }))).toEqual(forked);
    // After a forced push, no clone has that commit.
    expect(await seen(clone, githubEvent({ before: 'a'.repeat(40) }))).toEqual(forked);
    expect(await seen(clone, githubEvent({}))).toEqual(forked);
    expect(await seen(clone, { GITHUB_EVENT_PATH: '/nowhere/event.json' })).toEqual(forked);
    expect(await seen(clone, { GITHUB_BASE_REF: '--output=x' })).toEqual(forked);
    clone.git('switch', '-q', 'main');
    expect((await seen(clone, githubEvent({ before: 'a'.repeat(40) })))[1]).toBe('the last commit');
  });

  it('GIT-07 GitLab: a merge request by its base, a push by the commit before it', async () => {
    const { clone, first, base } = await branched();
    const env = { GITLAB_CI: 'true', CI_COMMIT_BEFORE_SHA: ZEROS };
    expect(await seen(clone, { ...env, CI_MERGE_REQUEST_DIFF_BASE_SHA: base })).toEqual([
      `${base.slice(0, 12)}..HEAD`,
      'CI_MERGE_REQUEST_DIFF_BASE_SHA',
      '2',
    ]);
    // In a pipeline of merged results, HEAD has the target branch's commits too.
    const merged = { CI_MERGE_REQUEST_DIFF_BASE_SHA: base, CI_MERGE_REQUEST_TARGET_BRANCH_SHA: first };
    expect((await seen(clone, { ...env, ...merged })).slice(1)).toEqual([
      'CI_MERGE_REQUEST_TARGET_BRANCH_SHA',
      '1',
    ]);
    const pushed = [`${first.slice(0, 12)}..HEAD`, 'CI_COMMIT_BEFORE_SHA', '1'];
    expect(await seen(clone, { ...env, CI_COMMIT_BEFORE_SHA: first })).toEqual(pushed);
    expect((await seen(clone, env))[1]).toBe('where it left origin/main');
  });

  it('GIT-07 a base that was not fetched fails: the range is not known', async () => {
    const report = await ci((await branched()).clone, [], { GITHUB_BASE_REF: 'nowhere' });
    expect([report.exitCode, failed(report)]).toEqual([6, ['commits outside', 'guard outside']]);
    expect(report.checks[0]?.findings[0]?.fix).toMatch(/^git fetch origin/);
  });

  it('GIT-07 a shallow clone that lacks a part of the range fails, and the other checks are made', async () => {
    const { clone, base } = await branched();
    for (const env of [{}, { GITLAB_CI: 'true', CI_MERGE_REQUEST_DIFF_BASE_SHA: base }]) {
      const shallow = cloneOf(clone, '--depth', '1');
      const report = await ci(shallow, [], env);
      expect([report.exitCode, failed(report)]).toEqual([6, ['commits outside', 'guard outside']]);
      expect(report.checks[0]?.findings[0]?.fix).toMatch(/^git fetch --unshallow/);
      shallow.git('fetch', '-q', '--unshallow');
      expect((await ci(shallow, [], env)).exitCode).toBe(0);
    }
    const one = cloneOf(clone, '--depth', '1', '--branch', 'feature/one');
    const pull = { GITHUB_ACTIONS: 'true', GITHUB_BASE_REF: 'main' };
    const report = await ci(one, [], pull);
    expect([report.exitCode, failed(report)]).toEqual([6, ['commits outside', 'guard outside']]);
    const fix = report.checks[0]?.findings[0]?.fix ?? '';
    execFileSync('sh', ['-c', fix], { cwd: one.dir, stdio: 'ignore' });
    expect((await ci(one, [], pull)).exitCode).toBe(0);
    const deep = cloneOf(clone, '--depth', '2');
    expect((await ci(deep, ['--range', 'HEAD~1..HEAD'])).exitCode).toBe(0);
    expect((await ci(deep, ['--range', 'HEAD~2..HEAD'])).exitCode).toBe(6);
    expect((await ci(deep, ['--range', 'HEAD'])).exitCode).toBe(6);
  });
});
