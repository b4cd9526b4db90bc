import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { CONFIG, makeForge, prepared } from '../support/forge-project.js';
import { commitAll as commit, type Project } from '../support/project.js';
import { backups, files, plan } from '../support/recovery.js';

const TAG = 'checkpoint/APP-v1';

/** Two features, a suite and a command, all proved by a checkpoint. */
const makeProject = prepared(async () => {
  const project = await makeForge();
  project.write('src/app.js', 'exports.login = 1;\n');
  project.write('src/search.js', 'exports.search = 1;\n');
  project.write('lib/util.js', 'exports.util = 1;\n');
  for (const name of 'abcdefg') project.write(`test/${name}.txt`, 'a test\n');
  project.write('suite.sh', 'ls test/*.txt >/dev/null && node --check src/app.js\n');
  await forgeJson(project, 'feature add LOGIN "Log in" --test "grep -q login src/app.js" --no-run');
  await forgeJson(project, 'feature add SEARCH Search --test "grep -q search src/search.js" --no-run');
  await forgeJson(project, ['feature', 'verify', '--all']);
  project.write(CONFIG, project.read(CONFIG).replace('#verify = []', 'verify = ["sh suite.sh"]'));
  await forgeJson(project, ['trust', '--yes'], { terminal: true });
  commit(project, 'It works');
  await forgeJson(project, ['checkpoint', 'create', 'APP']);
  return project;
});

function commitMore(project: Project): void {
  project.write('src/more.js', 'more\n');
  commit(project, 'More');
}

const breakLogin = (project: Project): void => project.write('src/app.js', 'exports.logon = 1;\n');

type Situation = [
  name: string,
  happen: (project: Project) => unknown,
  decision: 'continue' | 'rollback' | 'alert',
  /** What has to stand in the plan. */
  seen: RegExp,
];

const SITUATIONS: Situation[] = [
  [
    'eleven sessions without a changed line',
    async (project) => {
      for (let i = 0; i < 11; i++) {
        await forgeJson(project, ['session', 'start']);
        await forgeJson(project, ['progress', 'add', `Looked around ${i}`]);
        await forgeJson(project, ['session', 'end']);
      }
    },
    'continue',
    /"commits":0/,
  ],
  [
    'main was merged',
    (project) => {
      project.git('checkout', '-qb', 'theirs');
      for (let i = 0; i < 12; i++) {
        project.write(`theirs/${i}/a.js`, `${i}\n`);
        project.write(`theirs/${i}/b.js`, `${i}\n`);
        commit(project, `Theirs ${i}`);
      }
      project.git('checkout', '-q', 'main');
      project.write('ours.js', 'ours\n');
      commit(project, 'Ours');
      project.git('merge', '-q', '--no-edit', 'theirs');
    },
    'continue',
    /"commits":1,/,
  ],
  [
    'a syntax error that nobody verified was committed',
    (project) => {
      project.write('src/app.js', 'exports.login = ;\n');
      commit(project, 'Refactor');
    },
    'rollback',
    /sh suite\.sh: exit code 1/,
  ],
  ['an uncommitted slip breaks one feature', breakLogin, 'continue', /"features_lost":\["LOGIN"\]/],
  [
    'an uncommitted slip breaks one feature, which passed at HEAD and later with uncommitted work',
    async (project) => {
      commitMore(project);
      await forgeJson(project, ['feature', 'verify', '--all']);
      project.write('src/more.js', 'even more\n');
      await forgeJson(project, ['feature', 'verify', '--all']);
      breakLogin(project);
    },
    'continue',
    /"features_lost":\["LOGIN"\]/,
  ],
  [
    'a commit breaks one feature, and it passed only with an uncommitted fix',
    async (project) => {
      breakLogin(project);
      commit(project, 'Rename login');
      project.write('src/app.js', 'exports.login = 2;\n');
      await forgeJson(project, ['feature', 'verify', '--all']);
      project.write('src/app.js', 'exports.logon = 2;\n');
    },
    'rollback',
    /"features_lost":\["LOGIN"\]/,
  ],
  [
    'a new test is red, as at the start of any work',
    (project) => forgeJson(project, ['feature', 'add', 'NEW', 'Later', '--test', 'false']),
    'continue',
    /"features_lost":\[\]/,
  ],
  [
    'a feature was removed on purpose',
    async (project) => {
      await forgeJson(project, ['feature', 'remove', 'SEARCH']);
      rmSync(project.path('src/search.js'));
      commit(project, 'No search any more');
    },
    'continue',
    /"features_lost":\[\]/,
  ],
  [
    'the script that a check runs was deleted',
    (project) => {
      rmSync(project.path('suite.sh'));
      commit(project, 'Clean up');
    },
    'rollback',
    /sh suite\.sh/,
  ],
  [
    'a branch with the checkpoint was squashed into main, and main went on',
    (project) => {
      const tip = project.git('rev-parse', 'HEAD');
      project.git('reset', '-q', '--hard', 'HEAD~3');
      project.git('merge', '-q', '--squash', tip);
      commit(project, 'Squashed (#1)');
      project.write('src/more.js', 'more\n');
      commit(project, 'Go on');
    },
    'continue',
    /"branch":"descendant"/,
  ],
  [
    'the same files fail: something outside git broke',
    async (project) => {
      await forgeJson(project, ['feature', 'edit', 'LOGIN', '--no-run', '--test', 'test -e /nowhere/at/all']);
    },
    'alert',
    /"changes","value":"none"/,
  ],
  [
    'a tool is missing',
    async (project) => {
      await forgeJson(project, ['feature', 'edit', 'LOGIN', '--no-run', '--test', 'no-such-tool-here run']);
    },
    'alert',
    /"state":"not_run","why":"no-such-tool-here run: no-such-tool-here: command not found"/,
  ],
  [
    'a test file is gone',
    async (project) => {
      await forgeJson(project, ['feature', 'edit', 'LOGIN', '--no-run', '--test', 'sh old.test.sh']);
    },
    'alert',
    /"state":"not_run","why":"sh old\.test\.sh: old\.test\.sh does not exist"/,
  ],
  [
    'the manifest of a newer checkpoint is damaged',
    async (project) => {
      commitMore(project);
      await forgeJson(project, ['checkpoint', 'create', 'APP', '--verify', 'true']);
      project.write('.forge/git/checkpoints/APP-v2.json', '{ "tag": ');
    },
    'alert',
    /checkpoint\/APP-v2 is damaged/,
  ],
];

describe('what forge recover decides', () => {
  it.each(SITUATIONS)('GIT-06 %s', async (_name, happen, decision, seen) => {
    const project = await makeProject();
    await happen(project);
    const before = files(project);
    const planned = await plan(project);
    expect([planned.decision, JSON.stringify(planned)]).toEqual([decision, expect.stringMatching(seen)]);
    const { exitCode } = await runForge(project, ['recover', '--yes', '--json']);
    expect(exitCode).toBe(decision === 'alert' ? 1 : 0);
    const kept = (await backups(project)).backups.filter(({ subject }) =>
      subject.startsWith('Before the rollback'),
    );
    expect(kept).toHaveLength(decision === 'rollback' ? 1 : 0);
    if (decision === 'rollback')
      expect(project.git('diff', '--name-only', TAG, '--', '.', ':!.forge')).toBe('');
    else expect(files(project)).toEqual(before);
  });

  it('B-39 GIT-06 a rebase in progress is refused, and nothing is paused or recorded', async () => {
    const project = await makeProject();
    breakLogin(project);
    const ledger = project.git('status', '--porcelain', '.forge');
    project.write('.git/rebase-merge/done', '');
    expect(await forgeError(project, ['recover', '--yes'])).toMatchObject({
      exitCode: 3,
      code: 'recover.place',
      message: 'Nothing can be recovered now: a rebase is in progress.',
    });
    expect((await plan(project)).rules.find(({ rule }) => rule === 'operation')?.value).toBe('a rebase');
    expect(project.git('status', '--porcelain', '.forge')).toBe(ledger);
    rmSync(project.path('.git/rebase-merge'), { recursive: true });
    expect(await forgeJson(project, ['recover', '--yes'])).toMatchObject({ decision: 'continue' });
  });

  it('GIT-06 HEAD was set back below the checkpoint: the command that goes forward to it is named', async () => {
    const project = await makeProject();
    const older = project.git('rev-parse', 'HEAD');
    project.write('src/app.js', 'exports.login = 2;\n');
    await forgeJson(project, ['note', 'add', 'a note']);
    commit(project, 'More');
    await forgeJson(project, ['checkpoint', 'create', 'APP']);
    project.git('reset', '-q', '--hard', older);
    const forward = 'git merge --ff-only checkpoint/APP-v2';
    const alert = await runForge(project, ['recover', '--to', 'APP-v2', '--json']);
    expect(JSON.parse(alert.stdout).next).toEqual([expect.stringContaining(forward)]);
    project.git(...forward.split(' ').slice(1));
    expect((await plan(project)).decision).toBe('continue');
  });

  it('GIT-06 shows the next step: make a checkpoint, fix a named check, or settle what was not tested', async () => {
    const project = await makeProject();
    const nextOf = async (): Promise<string> => {
      const { stdout } = await runForge(project, ['recover', '--yes', '--json']);
      return (JSON.parse(stdout) as { next: string[] }).next.join('\n');
    };
    expect(await nextOf()).toBe('forge checkpoint create');
    breakLogin(project);
    expect(await nextOf()).toMatch(/^fix LOGIN: grep -q login src\/app\.js: exit code 1\ngit diff/);
    await forgeJson(project, ['trust', '--revoke'], { terminal: true });
    expect(await nextOf()).toMatch(/^not tested: sh suite\.sh: not approved on this machine: forge trust$/m);
    const shown = await runForge(project, ['recover', '--yes']);
    expect(shown.stdout).toMatch(/\? {2}LOGIN +not run/);
    expect(shown.stdout).toMatch(/alert: a human has to look first; nothing is done/);
  });
});
