import { chmodSync, existsSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { CommitCheck, MadeCommit } from '../../src/index.js';
import { fixedClock, forgeError, forgeJson, runForge } from '../support/forge.js';
import { changedPaths, makeFolder, makeRepository, type Project, projectAt } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';
import { differences, FEATURES, KNOWLEDGE, makeForge, makePlainForge, snapshot } from './project.js';

const MESSAGE = '.git/forge/COMMIT_MSG';

async function working(): Promise<Project> {
  const project = await makeForge();
  await forgeJson(project, ['feature', 'add', 'FORGE-001', 'Login works', '--test', 'true']);
  project.git('commit', '-qam', 'Plan');
  await forgeJson(project, ['session', 'start', '--goal', 'people sign in']);
  await forgeJson(project, ['focus', 'set', '--task', 'FORGE-001: Wire the login form']);
  return project;
}

function stage(project: Project, name = 'src/login.js'): void {
  project.write(name, `${Math.random()}\n`);
  project.git('add', '--', name);
}

function hook(project: Project, name: string, script: string): void {
  const file = project.git('rev-parse', '--git-path', `hooks/${name}`);
  const path = file.startsWith('/') ? file : project.path(file);
  projectAt('/').write(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

const stored = (project: Project): string => `${project.git('log', '-1', '--format=%B')}\n`;

async function expectChecked(project: Project, range = 'HEAD~1..HEAD'): Promise<void> {
  const { ok, commits } = await forgeJson<CommitCheck>(project, ['commit', 'check', '--range', range]);
  expect([ok, commits.flatMap(({ problems }) => problems)]).toEqual([true, []]);
}

describe('forge commit', () => {
  it('GIT-02 writes the message from focus, log, features and what was learned, and commits the index', async () => {
    const project = await working();
    const parent = project.git('rev-parse', '--short', 'HEAD');
    await forgeJson(project, ['progress', 'add', 'wired the form']);
    await forgeJson(project, [
      'knowledge',
      'add',
      'success',
      'the form needs a CSRF token',
      '--context',
      'login',
    ]);
    await forgeJson(project, ['feature', 'verify', 'FORGE-001']);
    stage(project);
    project.write('src/app.js', 'not staged\n');
    const made = await forgeJson<MadeCommit>(project, ['commit']);
    const session = new Date().toISOString().slice(0, 10);
    expect(made.message).toBe(`[FORGE-001] Wire the login form

## What
- wired the form
- Files: src/login.js

## Why
people sign in

## Memory
- Learned: the form needs a CSRF token
- Updated: features.json (FORGE-001 now passing)

## Backtrace
- Parent: ${parent} (Plan)
- Linear: none
- Session: ${session}-session-001
`);
    expect(stored(project)).toBe(made.message);
    expect(made.commit).toEqual({
      hash: project.git('rev-parse', 'HEAD'),
      short: project.git('rev-parse', '--short', 'HEAD'),
      subject: '[FORGE-001] Wire the login form',
    });
    expect(project.git('show', '--name-only', '--format=', 'HEAD')).toBe('src/login.js');
    expect(changedPaths(project)).toContain(' M src/app.js');
    expect(project.has(MESSAGE)).toBe(false);
    await expectChecked(project);

    // What the last message said is not said again.
    stage(project, 'src/logout.js');
    const next = await forgeJson<MadeCommit>(project, ['commit']);
    expect(next.message).toContain('## What\n- Add src/logout.js\n');
    expect(next.message).toContain('## Memory\n- Learned: none\n');
  });

  it('GIT-02 says what it was told, keeps what was learned, and names the issue', async () => {
    const project = await working();
    stage(project);
    const args = [
      '-m',
      'Sign in',
      '--why',
      'because',
      '--what',
      'one',
      '--what',
      'two',
      '--learned',
      'known',
      '--issue',
      'SX9-7',
    ];
    const { message } = await forgeJson<MadeCommit>(project, ['commit', ...args]);
    expect(message).toMatch(
      /^\[SX9-7\] Sign in\n\n## What\n- one\n- two\n\n## Why\nbecause\n\n## Memory\n- Learned: known\n/,
    );
    expect(message).toContain('- Linear: SX9-7\n');
    expect(project.json(KNOWLEDGE)).toMatchObject({
      patterns: { successful: [{ context: 'FORGE-001: Wire the login form', approach: 'known' }] },
    });
    stage(project, 'b.js');
    const typed = await forgeJson<MadeCommit>(project, ['commit', '-m', '[SX9-8] Sign out']);
    expect(typed.message).toMatch(/^\[SX9-8\] Sign out\n.*- Linear: SX9-8\n/s);
    expect(typed.message).not.toContain('Learned: known');
    await expectChecked(project, 'HEAD~2..HEAD');
  });

  it('GIT-02 -a takes what git knows and has changed, and no more', async () => {
    const project = await working();
    project.write('src/app.js', 'changed\n');
    project.write('new.js', 'new\n');
    const { message } = await forgeJson<MadeCommit>(project, ['commit', '-a', '--issue', 'FORGE-001']);
    expect(message).toContain('## What\n- Change src/app.js\n');
    expect(message).toContain('- Linear: none\n');
    expect(changedPaths(project)).toEqual(['?? new.js']);
  });

  it('GIT-02 nothing staged, no title, no reason: exit 2 with the next command', async () => {
    const project = await makeForge();
    expect(await forgeError(project, ['commit', '-m', 'x', '--why', 'y'])).toMatchObject({
      exitCode: 2,
      code: 'commit.nothing',
      hint: 'git add FILE …  or  forge commit -a',
    });
    expect(await forgeError(project, ['commit', '-am', 'x'])).toMatchObject({ code: 'commit.nothing' });
    stage(project);
    expect(await forgeError(project, ['commit'])).toMatchObject({ exitCode: 2, code: 'commit.title' });
    expect(await forgeError(project, ['commit', '-m', 'x'])).toMatchObject({
      exitCode: 2,
      code: 'commit.why',
    });
    expect(await forgeError(await makePlainForge(), ['commit'])).toMatchObject({ code: 'commit.no_git' });
    const { message } = await forgeJson<MadeCommit>(project, ['commit', '-m', 'x', '--why', 'y']);
    expect(message).toMatch(/^\[FORGE\] x\n/);
    expect(message).toContain('- Session: none\n');
  });

  it('GIT-02 --dry-run shows the message and writes nothing', async () => {
    const project = await working();
    stage(project);
    const before = snapshot(project.dir);
    const made = await forgeJson<MadeCommit>(project, ['commit', '--learned', 'x', '-n']);
    expect(Object.keys(made)).toEqual(['message']);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

  it("GIT-02 runs the person's hooks; one that fails leaves everything as it was, and the message in a file", async () => {
    const project = await working();
    stage(project);
    hook(project, 'pre-commit', 'echo "lint: no" >&2; exit 1');
    const before = [project.git('rev-parse', 'HEAD'), project.git('diff', '--cached')];
    const shown = await runForge(project, ['commit', '--learned', 'x']);
    expect(shown.stderr).toContain('lint: no\n');
    const error = await forgeError(project, ['commit', '--learned', 'x']);
    expect(error).toMatchObject({
      exitCode: 6,
      code: 'commit.failed',
      message: 'git made no commit: lint: no',
    });
    expect([project.git('rev-parse', 'HEAD'), project.git('diff', '--cached')]).toEqual(before);
    expect(project.json(KNOWLEDGE)).toMatchObject({ patterns: { successful: [] } });
    expect(project.read(MESSAGE)).toMatch(/^\[FORGE-001\] /);
    hook(project, 'pre-commit', 'exit 0');
    hook(project, 'prepare-commit-msg', 'printf "\\nSigned-off-by: A <a@example.com>\\n" >>"$1"');
    hook(project, 'post-commit', 'touch .git/ran');
    project.git('commit', '-q', '--cleanup=verbatim', '-F', MESSAGE);
    await expectChecked(project);
    stage(project, 'b.js');
    const { message } = await forgeJson<MadeCommit>(project, ['commit']);
    expect(message).toMatch(/- Session: .*\n\nSigned-off-by: A <a@example.com>\n$/);
    expect(project.has('.git/ran')).toBe(true);
    await expectChecked(project);
  });

  it('B-39 GIT-02 behind an index.lock says which file it is, and keeps the message', async () => {
    const project = await working();
    stage(project);
    project.write('.git/index.lock', '');
    expect(await forgeError(project, ['commit'])).toMatchObject({
      exitCode: 6,
      code: 'commit.failed',
      hint: expect.stringMatching(
        /^Wait for the other git, or remove \S+\/index\.lock if none runs\. The message is kept; .* git commit --cleanup=verbatim -F \S+$/,
      ),
    });
    expect(project.read(MESSAGE)).toContain('[FORGE-001] Wire the login form');
    rmSync(project.path('.git/index.lock'));
    await forgeJson(project, ['commit']);
    expect(project.has(MESSAGE)).toBe(false);
  });

  it('GIT-02 signs as git is told to, and commits nothing where that fails', async () => {
    const project = await working();
    stage(project);
    project.write('.git/sign', '#!/bin/sh\necho "no key" >&2\nexit 1\n');
    chmodSync(project.path('.git/sign'), 0o755);
    project.git('config', 'commit.gpgSign', 'true');
    project.git('config', 'gpg.program', project.path('.git/sign'));
    const before = project.git('rev-parse', 'HEAD');
    const error = await forgeError(project, ['commit']);
    expect(error).toMatchObject({
      exitCode: 6,
      code: 'commit.failed',
      message: expect.stringContaining('gpg failed'),
    });
    expect(project.git('rev-parse', 'HEAD')).toBe(before);
    project.write(
      '.git/sign',
      '#!/bin/sh\ncat >/dev/null\nprintf -- "-----BEGIN PGP SIGNATURE-----\\nx\\n" \nprintf "[GNUPG:] SIG_CREATED \\n" >&2\n',
    );
    await forgeJson(project, ['commit']);
    expect(project.git('cat-file', 'commit', 'HEAD')).toContain('\ngpgsig ');
  });

  it('B-39 GIT-02 in the middle of a merge, rebase, pick or revert git goes on: exit 3', async () => {
    const project = await working();
    stage(project);
    for (const [file, operation] of [
      ['MERGE_HEAD', 'merge'],
      ['CHERRY_PICK_HEAD', 'cherry-pick'],
      ['REVERT_HEAD', 'revert'],
      ['rebase-merge', 'rebase'],
    ] as const) {
      project.write(`.git/${file}`, '');
      const error = await forgeError(project, ['commit']);
      expect(error).toMatchObject({
        exitCode: 3,
        code: 'commit.operation',
        hint: `git ${operation} --continue`,
      });
      rmSync(project.path('.git', file));
    }
  });

  it('B-39 GIT-02 works on an unborn branch and a detached HEAD', async () => {
    const unborn = projectAt(makeFolder());
    unborn.git('init', '-q');
    await forgeJson(unborn, ['init', '--yes']);
    unborn.git('add', '.');
    const first = await forgeJson<MadeCommit>(unborn, ['commit', '-m', 'Begin', '--why', 'a start']);
    expect(first.message).toContain('- Parent: none\n');
    await expectChecked(unborn, 'HEAD');
    const project = await working();
    project.git('switch', '-q', '--detach');
    stage(project);
    await forgeJson(project, ['commit']);
    await expectChecked(project);
  });

  it('B-38 GIT-02 works in a linked worktree and in a submodule, whatever another git left in the environment', async () => {
    const project = await working();
    const other = projectAt(`${makeFolder()}/tree`);
    project.git('worktree', 'add', '-q', other.dir, '-b', 'side');
    stage(other);
    const env = {
      GIT_DIR: project.path('.git'),
      GIT_INDEX_FILE: project.path('.git/index'),
      GIT_WORK_TREE: project.dir,
    };
    await forgeJson(other, ['commit', '-m', 'Side', '--why', 'y'], { env });
    expect([other.git('log', '-1', '--format=%s'), changedPaths(other)]).toEqual(['[FORGE] Side', []]);
    expect(project.git('log', '-1', '--format=%s')).toBe('Plan');
    const outer = makeRepository();
    outer.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', project.dir, 'sub');
    const sub = projectAt(outer.path('sub'));
    stage(sub);
    await forgeJson(sub, ['commit', '-m', 'Inner', '--why', 'y']);
    expect(sub.git('log', '-1', '--format=%s')).toBe('[FORGE] Inner');
    expect(existsSync(outer.path('.git/modules/sub/forge/COMMIT_MSG'))).toBe(false);
  });

  it('B-42 GIT-02 file names with line breaks, quotes and escapes stay on their line', async () => {
    const project = await working();
    for (const name of ['a\nb.txt', '"q".txt', '-x', '\u001b[31m.txt', 'é ü.txt', '## What'])
      stage(project, name);
    const { message } = await forgeJson<MadeCommit>(project, ['commit']);
    expect(message).toContain('- Add a b.txt\n');
    expect(message).toContain('- Add <U+001B>[31m.txt\n');
    await expectChecked(project);
  });

  it('GIT-02 a message that breaks a rule is kept in a file, which the error names', async () => {
    const project = await working();
    stage(project);
    const error = await forgeError(project, ['commit', '--issue', 'odd']);
    expect(error).toMatchObject({
      exitCode: 1,
      code: 'commit.protocol',
      hint: expect.stringContaining('COMMIT_MSG'),
    });
    expect(error).toMatchObject({ problems: [{ rule: 'id', line: 1 }] });
    expect(project.read(MESSAGE)).toMatch(/^\[odd\] /);
    expect(project.git('log', '-1', '--format=%s')).toBe('Plan');
  });

  it("GIT-02 --edit opens git's editor on a terminal; what is left there is checked", async () => {
    const project = await working();
    stage(project);
    expect(await forgeError(project, ['commit', '--edit'])).toMatchObject({
      exitCode: 2,
      code: 'commit.edit',
    });
    const edit = (editor: string) =>
      runForge(project, ['commit', '--edit'], { terminal: true, env: { GIT_EDITOR: editor } });
    expect((await edit('sed -i s/people/persons/')).exitCode).toBe(0);
    expect(stored(project)).toContain('persons sign in');
    stage(project, 'b.js');
    expect((await edit('sed -i /Why/d')).stderr).toContain('"## Why" is missing');
    expect((await edit('true >')).stderr).toContain('The message is empty');
    // What was written before the editor failed is there, and the error says where.
    const failed = await edit('sh -c \'sed -i s/people/everybody/ "$1"; kill -9 $$\' -');
    expect([failed.exitCode, failed.stderr]).toEqual([6, expect.stringContaining('ended with 137')]);
    expect(failed.stderr).toContain('git commit -e --cleanup=verbatim -F ');
    expect(project.read(MESSAGE)).toContain('everybody');
    expect((await edit('no-such-editor')).stderr).toContain('ended with 127');
    const secret = SAMPLES.secret();
    const refused = await edit(`sed -i 's|people|${secret}|'`);
    expect([refused.exitCode, refused.stderr.includes(secret)]).toEqual([5, false]);
    expect(project.git('rev-list', '--count', 'HEAD')).toBe('4');
  });

  it('GIT-02 asks why on a terminal only', async () => {
    const project = await working();
    stage(project);
    const { exitCode } = await runForge(project, ['commit', '--no-input'], { terminal: true });
    expect(exitCode).toBe(0);
    expect(stored(project)).toContain('## Why\npeople sign in\n');
  });

  it('LTM-12 GIT-02 a builder commits, and decides nothing that is known', async () => {
    const project = await working();
    stage(project);
    await forgeJson(project, ['commit', '--learned', 'x'], { env: { FORGE_ROLE: 'builder' } });
    expect(stored(project)).toContain('- Learned: x\n');
    expect(project.json(KNOWLEDGE)).toMatchObject({ patterns: { successful: [] } });
  });

  it('GIT-02 names the heads of the ledgers that the commit holds, and no others', async () => {
    const project = await working();
    await forgeJson(project, ['note', 'add', 'a note']);
    stage(project);
    const without = await forgeJson<MadeCommit>(project, ['commit', '-n']);
    expect(without.message).not.toContain('Forge-Ledger');
    project.git('add', '.forge');
    const { message } = await forgeJson<MadeCommit>(project, ['commit']);
    expect(message).toMatch(/\nForge-Ledger: notes 2 [0-9a-f]{64}\n/);
    expect((await runForge(project, ['memory', 'verify'])).exitCode).toBe(0);
  });

  it('GIT-02 says every change of a status that it holds', async () => {
    const project = await working();
    await forgeJson(project, ['feature', 'edit', 'FORGE-001', '--status', 'in_progress']);
    project.git('add', FEATURES);
    const { message } = await forgeJson<MadeCommit>(project, ['commit']);
    expect(message).toContain('- Updated: features.json (FORGE-001 now in progress)\n');
    expect(message).toContain('## What\n- Change .forge/memory/long-term/features.json\n');
  });

  it('GIT-02 a log over midnight: only lines since the last commit', async () => {
    const project = await makeForge();
    const world = fixedClock('2020-01-01T23:50:00Z');
    await forgeJson(project, ['session', 'start', '--goal', 'g'], { world });
    await forgeJson(project, ['progress', 'add', 'before'], { world });
    process.env.GIT_COMMITTER_DATE = '2020-01-01T23:58:30Z';
    try {
      project.git('commit', '-q', '--allow-empty', '-m', 'Between');
    } finally {
      delete process.env.GIT_COMMITTER_DATE;
    }
    world.set('2020-01-02T00:10:00Z');
    await forgeJson(project, ['progress', 'add', 'after'], { world });
    stage(project);
    const { message } = await forgeJson<MadeCommit>(project, ['commit', '-m', 'x'], { world });
    expect(message).toContain('## What\n- after\n- Files: src/login.js\n');
  });
});

describe('forge commit template', () => {
  it('GIT-02 fills in what is known, and leaves open what is not: unfilled it does not pass', async () => {
    const empty = await makeForge();
    const { text } = await forgeJson<{ text: string }>(empty, ['commit', 'template']);
    expect(text).toMatch(/^\[FORGE\]\n\n## What\n\n\n## Why\n\n\n## Memory\n- Learned: none\n/);
    expect((await runForge(empty, ['commit', 'check', '-'], { stdin: text })).exitCode).toBe(1);
    const project = await working();
    stage(project);
    const filled = await runForge(project, ['commit', 'template']);
    expect(filled.stdout).toMatch(/^\[FORGE-001\] Wire the login form\n\n## What\n- Add src\/login.js\n/);
    expect((await runForge(project, ['commit', 'check', '-'], { stdin: filled.stdout })).exitCode).toBe(0);
  });

  it('GIT-02 --pr gathers what the commits of the branch say, and passes as one message', async () => {
    const project = await working();
    project.git('switch', '-qc', 'side');
    for (const [name, title, learned] of [
      ['a', 'One', 'first'],
      ['b', 'Two', 'second'],
    ] as const) {
      stage(project, `${name}.js`);
      await forgeJson(project, [
        'commit',
        '-m',
        `[SX9-1] ${title}`,
        '--why',
        `${title} is wanted`,
        '--learned',
        learned,
      ]);
    }
    const { stdout } = await runForge(project, ['commit', 'template', '--pr']);
    expect(stdout).toContain('## What\n- Add a.js\n- Add b.js\n');
    expect(stdout).toContain('## Why\nOne is wanted\n\nTwo is wanted\n');
    expect(stdout).toContain('- Learned: first\n- Learned: second\n');
    expect(stdout).toContain('- Linear: SX9-1\n');
    expect((await runForge(project, ['commit', 'check', '-'], { stdin: stdout })).exitCode).toBe(0);
  });
});
