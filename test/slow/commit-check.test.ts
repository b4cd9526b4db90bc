import { describe, expect, it } from 'vitest';
import type { CommitCheck, StartedSession } from '../../src/index.js';
import { create } from '../support/checkpoints.js';
import { checkJson, commit } from '../support/commit-checks.js';
import { expectError, forgeJson, type RunOptions, runForge, wordsOf } from '../support/forge.js';
import { CONFIG, ISSUES, makeForge } from '../support/forge-project.js';
import { MESSAGE as GOOD } from '../support/message.js';
import {
  changedPaths,
  commitAll,
  makePlainProject,
  makeRepository,
  type Project,
  run,
} from '../support/project.js';

describe('forge commit check FILE', () => {
  it("GIT-01 exempts git's own message during a merge, but no other file", async () => {
    const project = makeRepository();
    project.write('message', "Merge branch 'x'\n");
    project.write('.git/MERGE_MSG', "Merge branch 'x'\n");
    expect((await checkJson(project, ['.git/MERGE_MSG'])).ok).toBe(false);
    project.write('.git/MERGE_HEAD', `${'a'.repeat(40)}\n`);
    expect((await checkJson(project, ['.git/MERGE_MSG'])).commits[0]).toMatchObject({ exempt: 'merge' });
    expect((await checkJson(project, ['message'])).ok).toBe(false);
  });
});

describe('forge commit check --range', () => {
  it('GIT-01 exempts merges by their parents, reverts and fixups, not picks', async () => {
    const project = makeRepository();
    const base = project.git('rev-parse', 'HEAD');
    const good = commit(project, GOOD);
    project.git('switch', '-qc', 'side', base);
    project.write('side.txt', 'x\n');
    project.git('add', '.');
    const side = commit(project, GOOD.replaceAll('SX9-123', 'SX9-2'));
    project.git('switch', '-q', 'main');
    project.git('merge', '-q', '--no-ff', '--no-edit', 'side');
    const merge = project.git('rev-parse', 'HEAD');
    const posing = commit(project, "Merge branch 'other'\n");
    project.git('revert', '--no-edit', side);
    const revert = project.git('rev-parse', 'HEAD');
    const fixup = commit(project, 'fixup! [SX9-123] Brief description\n');
    project.git('cherry-pick', side);
    const pick = project.git('rev-parse', 'HEAD');
    const { commits, ok, exitCode } = await checkJson(project, ['--range', `${base}..HEAD`]);
    expect([ok, exitCode]).toEqual([false, 1]);
    const told = Object.fromEntries(
      commits.map(({ sha, exempt, problems }) => [sha, exempt ?? problems.length]),
    );
    expect(told).toEqual({
      [good]: 0,
      [side]: 0,
      [merge]: 'merge',
      [posing]: 5,
      [revert]: 'revert',
      [fixup]: 'fixup',
      [pick]: 0,
    });
    const { stdout } = await runForge(project, ['commit', 'check', '--range', `${base}..HEAD`]);
    expect(stdout).toContain(`✗ ${posing.slice(0, 10)} line 1: The subject is not`);
    expect(stdout).toContain('1 of 7 commits need a new message');
  });

  it('GIT-01 prints the first twenty commits and counts the others', async () => {
    const project = makeRepository();
    for (let i = 0; i < 23; i++) project.git('commit', '-q', '--allow-empty', '-m', `change ${i}`);
    const args = ['commit', 'check', '--range', 'HEAD~23..HEAD'];
    const { stdout } = await runForge(project, args);
    const shown = new Set(stdout.split('\n').flatMap((line) => /^✗ (\w+) /.exec(line)?.[1] ?? []));
    expect(shown.size).toBe(20);
    expect(stdout).toContain('\n… 3 more commits: --json shows all\n23 of 23 commits need a new message\n');
    expect((await checkJson(project, args.slice(2))).commits).toHaveLength(23);
  });

  it('GIT-01 handles git am, other encodings, empty and odd messages', async () => {
    const project = makeRepository();
    const base = project.git('rev-parse', 'HEAD');
    project.write('a.txt', 'a\n');
    project.git('add', '.');
    commit(project, GOOD);
    project.git('format-patch', '-q', '-1', '-o', project.path('.git/patches'));
    project.git('reset', '-q', '--hard', base);
    const patch = run(project.dir, 'sh', ['-c', 'git am -q .git/patches/*']);
    expect([patch.exitCode, project.git('log', '-1', '--format=%s')]).toEqual([0, 'Brief description']);
    expect((await checkJson(project, ['--range', `${base}..HEAD`])).ok).toBe(true);

    const latin = GOOD.replace('Rationale', 'Begründung');
    project.write('.git/latin', Buffer.from(latin, 'latin1'));
    const encoded = wordsOf('-c i18n.commitEncoding=ISO-8859-1 commit -q --allow-empty -F .git/latin');
    project.git(...encoded);
    commit(project, '', '--allow-empty-message');
    commit(project, `${GOOD}# ------------------------ >8 ------------------------\n`);
    const { commits } = await checkJson(project, ['--range', 'HEAD~3..HEAD']);
    expect(commits.map(({ problems }) => problems[0]?.message)).toEqual([
      undefined,
      'The subject is not "[ID] description".',
      undefined,
    ]);
  });

  it('GIT-01 an empty range and an unborn branch', async () => {
    const project = makeRepository();
    const empty = { ok: true, commits: [], exitCode: 0 };
    expect(await checkJson(project, ['--range', 'HEAD..HEAD'])).toEqual(empty);
    const unborn = makePlainProject();
    unborn.git('init', '-q');
    await expectError(unborn, 'commit check --range HEAD', 'commit.range');
    await expectError(makePlainProject(), ['commit', 'check', '--range', 'HEAD'], '2 commit.no_git');
  });
});

/** Hooks, and a session that began where HEAD is. */
async function hooked(): Promise<Project> {
  const project = await makeForge();
  await forgeJson(project, ['hooks', 'install']);
  await again(project);
  return project;
}

/** What a start says, once its session is ended again. */
async function again(project: Project, options: RunOptions = {}): Promise<string[]> {
  const { warnings } = await forgeJson<StartedSession>(project, ['session', 'start'], options);
  await forgeJson(project, ['session', 'end'], options);
  return warnings;
}

function bypass(project: Project, subject: string, ...flags: string[]): string {
  project.git('commit', '-q', '--allow-empty', '--no-verify', '-m', subject, ...flags);
  return project.git('rev-parse', '--short', 'HEAD');
}

const ONE = /1 commit since the last session began does not follow the commit protocol \(the first: (\w+)\)/;

describe('commits that bypassed the hooks', () => {
  it('B-50 reports a commit made with --no-verify once, at the next start', async () => {
    const project = await hooked();
    bypass(project, '[FORGE] As it should be');
    const first = bypass(project, 'no protocol');
    bypass(project, 'none either');
    const [told, ...more] = await again(project);
    expect(more).toEqual([]);
    expect(told).toContain(
      `2 commits since the last session began do not follow the commit protocol (the first: ${first})`,
    );
    const args = told?.replace(/^.*More: forge /, '').split(' ') as string[];
    const { stdout, exitCode } = await runForge(project, [...args, '--json']);
    expect(exitCode).toBe(1);
    const { commits } = JSON.parse(stdout) as CommitCheck;
    expect(commits.filter(({ problems }) => problems[0]?.rule === 'subject').length).toBe(2);
    expect(await again(project)).toEqual([]);
    bypass(project, 'one more');
    const { warnings } = await forgeJson<StartedSession>(project, ['session', 'start']);
    expect(warnings.join()).toMatch(ONE);
    // The same session, started once more by its agent.
    expect((await forgeJson<StartedSession>(project, ['session', 'start'])).warnings).toEqual([]);
  });

  it('B-50 GIT-08 ignores merges, reverts, fixups, exempt commits, those that name a feature removed since, forge’s own, and those that a pull brought', async () => {
    const project = await hooked();
    await forgeJson(project, ['feature', 'add', '--no-run', 'A', 'a', '--test', 'true']);
    project.write(CONFIG, `${project.read(CONFIG)}\n`.replace('#exempt = []', 'exempt = ["Bump .*"]'));
    await create(project, 'Some-name');
    await forgeJson(project, ['feature', 'add', 'login', 'Log in']);
    bypass(project, '[login] Log in');
    await forgeJson(project, ['feature', 'remove', 'login', '--yes']);
    project.git('switch', '-qc', 'side');
    bypass(project, '[FORGE] Side');
    project.git('switch', '-q', '-');
    bypass(project, '[A] Trunk');
    project.git('merge', '-q', '--no-ff', '--no-verify', 'side', '-m', 'Whatever they call it');
    bypass(project, 'fixup! [A] Trunk');
    bypass(project, 'Revert "[A] Trunk"', '-m', 'This reverts commit 0123456.');
    bypass(project, 'Bump x');
    const theirs = project.git('commit-tree', 'HEAD^{tree}', '-p', 'HEAD', '-m', 'no protocol');
    project.git('merge', '-q', '--ff-only', theirs);
    expect(await again(project)).toEqual([]);
  });

  it('B-50 counts commits once, and those of a branch that was left for a while', async () => {
    const project = await hooked();
    project.git('branch', 'side');
    bypass(project, 'reported before');
    await again(project);
    project.git('switch', '-qc', 'topic');
    bypass(project, 'bad');
    project.git('switch', '-q', 'main');
    project.git('switch', '-q', 'topic');
    expect((await again(project)).join()).toMatch(ONE);
  });

  it('B-50 reports nothing without the hooks, or with enforce = "off"', async () => {
    const project = await makeForge();
    await again(project);
    bypass(project, 'no protocol');
    expect(await again(project)).toEqual([]);
    await forgeJson(project, ['hooks', 'install']);
    await forgeJson(project, ['config', 'set', 'commit.enforce', 'off']);
    bypass(project, 'no protocol');
    expect(await again(project)).toEqual([]);
  });
});

const HISTORY = '.forge/linear/history';

interface Refs {
  branch: string | null;
  commits: string[];
}

function putIssues(project: Project, ...ids: string[]): void {
  const issues = ids.map((linear_id) => ({ linear_id, title: `Title of ${linear_id}` }));
  for (const issue of issues)
    project.write(`.forge/linear/active.d/${issue.linear_id}.json`, `${JSON.stringify(issue, null, 2)}\n`);
  commitAll(project, 'Plan');
}

const refsOf = (project: Project, id: string): Refs | undefined =>
  project
    .json<{ issues: { linear_id: string; git_refs?: Refs }[] }>(ISSUES)
    .issues.find(({ linear_id }) => linear_id === id)?.git_refs;

describe('commits that name an issue', () => {
  it('LIN-04 are in its git_refs at the end of a session, oldest first, and nothing is left to commit', async () => {
    const project = await makeForge();
    putIssues(project, 'SX9-123', 'SX9-12', 'SX9-9');
    const own = commit(project, GOOD);
    const plain = commit(project, 'Mend the login (SX9-123)');
    commit(project, '[FORGE] About nothing, and SX9-1234, xSX9-12, SX9-12x');
    const traced = commit(
      project,
      GOOD.replace('[SX9-123]', '[FORGE]').replace('Linear: SX9-123', 'Linear: SX9-12'),
    );
    expect(changedPaths(project)).toEqual([]);
    await again(project);
    expect(refsOf(project, 'SX9-123')).toEqual({ branch: null, commits: [own, plain] });
    expect(refsOf(project, 'SX9-12')).toEqual({ branch: null, commits: [traced] });
    expect(refsOf(project, 'SX9-9')).toBeUndefined();
    expect(changedPaths(project)).toEqual([]);
    expect(project.git('show', 'HEAD:.forge/linear/active.d/SX9-123.json')).toContain(plain);
    // A branch and other fields of git_refs stay.
    project.write(
      ISSUES,
      project.read(ISSUES).replace(/("SX9-123"[^}]*"branch": )null/, '$1"feature/x", "more": 1'),
    );
    const last = commit(project, GOOD);
    await again(project);
    const refs = { branch: 'feature/x', more: 1, commits: [own, plain, last] };
    expect([refsOf(project, 'SX9-123'), refsOf(project, 'SX9-12')?.commits]).toEqual([refs, [traced]]);
  });

  it('LIN-04 made by forge commit, and by the end of a session itself, are found the next time', async () => {
    const project = await makeForge();
    putIssues(project, 'SX9-123');
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['focus', 'set', '--task', 'Login', '--issue', 'SX9-123']);
    project.write('src/login.js', '1\n');
    project.git('add', '.');
    const { commit: made } = await forgeJson<{ commit: { hash: string } }>(project, ['commit', '--why', 'x']);
    expect(changedPaths(project)).toEqual([]);
    const ended = await forgeJson<{ commit: { hash: string } }>(project, ['session', 'end']);
    expect(refsOf(project, 'SX9-123')?.commits).toEqual([made.hash]);
    await again(project);
    expect(refsOf(project, 'SX9-123')?.commits).toEqual([made.hash, ended.commit.hash]);
  });

  it('LIN-04 a checkpoint includes them', async () => {
    const project = await makeForge();
    putIssues(project, 'SX9-123');
    const own = commit(project, GOOD);
    const made = await create(project, 'SX9-123');
    expect(refsOf(project, 'SX9-123')?.commits).toEqual([own]);
    expect(project.git('show', `${made.commit}:.forge/linear/active.d/SX9-123.json`)).toContain(own);
    expect(changedPaths(project)).toEqual([]);
  });

  it('LIN-04 of a done issue go to its file in history', async () => {
    const project = await makeForge();
    const done = (id: string) => `${HISTORY}/${id}.json`;
    for (const id of ['SX9-123', 'SX9-7'])
      project.write(
        done(id),
        `${JSON.stringify({ schema_version: '1.0', linear_id: id, title: 't', state: 'done' })}\n`,
      );
    commitAll(project, 'Done');
    const own = commit(project, GOOD);
    const untouched = project.read(done('SX9-7'));
    await again(project);
    expect(project.json(done('SX9-123'))).toMatchObject({ state: 'done', git_refs: { commits: [own] } });
    expect(project.read(done('SX9-7'))).toBe(untouched);
  });
});
