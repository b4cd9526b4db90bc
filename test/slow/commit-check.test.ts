import { describe, expect, it } from 'vitest';
import type { CommitCheck } from '../../src/index.js';
import { checkJson, commit, SECRET } from '../support/commit-checks.js';
import { forgeError, forgeJson, runForge, wordsOf } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { MESSAGE as GOOD } from '../support/message.js';
import { makePlainProject, makeRepository, run } from '../support/project.js';

describe('a commit with the id of a feature', () => {
  it('GIT-01 GIT-07 follows the protocol also after the feature is removed', async () => {
    const project = await makeForge();
    const start = project.git('rev-parse', 'HEAD');
    await forgeJson(project, ['feature', 'add', 'LOGIN-page', 'Log in']);
    project.git('add', '.');
    commit(project, GOOD.replaceAll('SX9-123', 'LOGIN-page').replace('Linear: LOGIN-page', 'Linear: none'));
    await forgeJson(project, ['feature', 'remove', 'LOGIN-page', '--yes']);
    project.git('add', '.');
    const wrong = GOOD.replace('[SX9-123]', '[LOGIN-pag]');
    const last = commit(project, wrong);
    expect(await checkJson(project, ['--range', `${start}..HEAD`])).toMatchObject({
      exitCode: 1,
      commits: [{ sha: last, problems: [{ rule: 'id' }] }, { problems: [] }],
    });
    for (const name of ['HEAD', last.slice(0, 9)])
      expect(await checkJson(project, [name])).toMatchObject({ exitCode: 1, commits: [{ sha: last }] });
  });
});

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
      'The message has no subject.',
      undefined,
    ]);
  });

  it('GIT-01 the session-end commit follows the protocol', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', '--no-run', 'login', 'Login works', '--test', 'true']);
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['feature', 'verify', 'login']);
    await forgeJson(project, ['session', 'end', '--learned', 'x']);
    expect(await checkJson(project, ['--range', 'HEAD~1..HEAD'])).toMatchObject({ ok: true, exitCode: 0 });
  });

  it('B-51 GIT-01 scans a parent field for secrets too', async () => {
    const project = makeRepository();
    const parent = (text: string): string => GOOD.replace(/Parent: .*/, `Parent: ${text}`);
    commit(project, parent('1a2b3c4 (an agreed note)'));
    const card = commit(project, parent('card 4539148803436467 (previous)'));
    const note = commit(project, parent(`1a2b3c4 (${SECRET})`));
    const { stdout } = await runForge(project, ['commit', 'check', '--range', 'HEAD~3..HEAD', '--json']);
    const { commits } = JSON.parse(stdout) as CommitCheck;
    const found = commits.filter(({ problems }) => problems.some(({ rule }) => rule === 'secret'));
    expect(found.map(({ sha }) => sha)).toEqual([note, card]);
  });

  it('GIT-01 an empty range and an unborn branch', async () => {
    const project = makeRepository();
    expect(await checkJson(project, ['--range', 'HEAD..HEAD'])).toEqual({
      ok: true,
      commits: [],
      exitCode: 0,
    });
    const unborn = makePlainProject();
    unborn.git('init', '-q');
    expect(await forgeError(unborn, ['commit', 'check', '--range', 'HEAD'])).toMatchObject({
      code: 'commit.range',
    });
    expect(await forgeError(makePlainProject(), ['commit', 'check', '--range', 'HEAD'])).toMatchObject({
      exitCode: 2,
      code: 'commit.no_git',
    });
  });
});
