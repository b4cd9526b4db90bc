import { chmodSync, existsSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { aboveScissors, cleanMessage, protectHeadings } from '../../src/commit/message.js';
import type { MadeCommit } from '../../src/index.js';
import { expectChecked, MESSAGE, stage, working } from '../support/commits.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { KNOWLEDGE, makeForge } from '../support/forge-project.js';
import { changedPaths, makeFolder, makeRepository, projectAt, run, writeHook } from '../support/project.js';

describe('forge commit', () => {
  it("GIT-02 runs the user's hooks; if one fails, nothing changes, the line that says why is named, and the message is saved", async () => {
    const project = await working();
    stage(project);
    const output = '\\033[1mlint\\033[m starts\\ntypos: not found\\n\\033[34mdone\\033[m in 1 s\\n';
    writeHook(project, 'pre-commit', `printf '${output}' >&2; exit 1`);
    const before = [project.git('rev-parse', 'HEAD'), project.git('diff', '--cached')];
    const shown = await runForge(project, ['commit', '--learned', 'x']);
    expect(shown.stderr).toContain('lint starts\ntypos: not found\ndone in 1 s\nforge: git made no commit');
    const error = await forgeError(project, ['commit', '--learned', 'x']);
    expect(error).toMatchObject({
      exitCode: 6,
      code: 'commit.failed',
      message: 'git made no commit: typos: not found',
    });
    expect([project.git('rev-parse', 'HEAD'), project.git('diff', '--cached')]).toEqual(before);
    expect(project.json(KNOWLEDGE)).toMatchObject({ patterns: { successful: [] } });
    expect(project.read(MESSAGE)).toMatch(/^\[FORGE-001\] /);
    writeHook(project, 'pre-commit', 'exit 0');
    writeHook(project, 'prepare-commit-msg', 'printf "\\nSigned-off-by: A <a@example.com>\\n" >>"$1"');
    writeHook(project, 'post-commit', 'touch .git/ran');
    project.git('commit', '-q', '--cleanup=verbatim', '-F', MESSAGE);
    await expectChecked(project);
    stage(project, 'b.js');
    const { message } = await forgeJson<MadeCommit>(project, ['commit']);
    expect(message).toMatch(/- Session: .*\n\nSigned-off-by: A <a@example.com>\n$/);
    expect(project.has('.git/ran')).toBe(true);
    await expectChecked(project);
  });

  it('B-39 GIT-02 with an index.lock, names the file and saves the message', async () => {
    const project = await working();
    stage(project);
    project.write('.git/index.lock', '');
    expect(await forgeError(project, ['commit'])).toMatchObject({
      exitCode: 6,
      code: 'commit.failed',
      message: expect.stringMatching(/\/index\.lock'/),
      hint: expect.stringMatching(/^The message is saved\. .* git commit --cleanup=verbatim -F \S+$/),
    });
    expect(project.read(MESSAGE)).toContain('[FORGE-001] Wire the login form');
    rmSync(project.path('.git/index.lock'));
    await forgeJson(project, ['commit']);
    expect(project.has(MESSAGE)).toBe(false);
  });

  it('GIT-02 signs as git is configured, and commits nothing if that fails', async () => {
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

  it('B-39 GIT-02 exit 3 during a merge, rebase, pick or revert', async () => {
    const project = await working();
    stage(project);
    for (const [file, operation] of [
      ['MERGE_HEAD', 'merge'],
      ['CHERRY_PICK_HEAD', 'cherry-pick'],
      ['REVERT_HEAD', 'revert'],
      ['rebase-merge', 'rebase'],
      ['rebase-apply/applying', 'am'],
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

  it('B-38 GIT-02 works in a linked worktree and a submodule, with any GIT_* variables', async () => {
    const project = await working();
    const other = projectAt(`${makeFolder()}/tree`);
    project.git('worktree', 'add', '-q', other.dir, '-b', 'side');
    stage(other);
    const git = project.path('.git');
    const env = { GIT_DIR: git, GIT_INDEX_FILE: `${git}/index`, GIT_WORK_TREE: project.dir };
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
});

describe('forge commit template', () => {
  it('GIT-02 fills in known parts and leaves the rest open, so that it does not pass unfilled', async () => {
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

  it('GIT-02 --pr merges the messages of the branch’s commits into one that passes', async () => {
    const project = await working();
    project.git('switch', '-qc', 'side');
    for (const [name, title, learned] of [
      ['a', 'One', 'first'],
      ['b', 'Two', 'second'],
    ] as const) {
      stage(project, `${name}.js`);
      await forgeJson(
        project,
        `commit -m "[SX9-1] ${title}" --why "${title} is wanted" --learned "${learned}"`,
      );
    }
    const { stdout } = await runForge(project, ['commit', 'template', '--pr']);
    expect(stdout).toContain('## What\n- Add a.js\n- Add b.js\n');
    expect(stdout).toContain('## Why\nOne is wanted\n\nTwo is wanted\n');
    expect(stdout).toContain('- Learned: first\n- Learned: second\n');
    expect(stdout).toContain('- Linear: SX9-1\n');
    expect((await runForge(project, ['commit', 'check', '-'], { stdin: stdout })).exitCode).toBe(0);
  });

  it('GIT-02 --pr has what sessions taught, and each change of a feature', async () => {
    const project = await working();
    project.git('switch', '-qc', 'side');
    await forgeJson(project, ['feature', 'add', 'F-9', 'Sign out', '--test', 'test -e src/out']);
    stage(project, 'a.js');
    project.git('add', '.forge');
    await forgeJson(project, ['commit', '-m', 'Begin', '--why', 'wanted']);
    stage(project, 'src/out');
    await forgeJson(project, ['commit', '-m', 'Sign out', '--why', 'wanted']);
    await forgeJson(project, ['done', 'F-9']);
    await forgeJson(project, ['session', 'end', '--learned', 'the cookie outlives the tab']);
    const { stdout } = await runForge(project, ['commit', 'template', '--pr']);
    expect(stdout).toContain('- Learned: the cookie outlives the tab\n');
    expect(stdout.match(/F-9 \w.*/g)).toContain('F-9 now passing)');
  });

  it('GIT-02 --pr takes what plain commits lack from the ends of sessions', async () => {
    const project = await working();
    const fork = project.git('rev-parse', '--short', 'HEAD');
    project.git('switch', '-qc', 'side');
    for (const name of ['a', 'b']) {
      stage(project, `${name}.js`);
      project.git('commit', '-qnm', `Add ${name}`);
    }
    await forgeJson(project, ['progress', 'add', 'wired both']);
    await forgeJson(project, ['session', 'end']);
    const { stdout } = await runForge(project, ['commit', 'template', '--pr']);
    expect(stdout).toContain('## What\n- Add a\n- Add b\n');
    expect(stdout).toMatch(/## Why\n\S/);
    expect(stdout).toMatch(
      new RegExp(`- Parent: ${fork} \\(.+\\)\n- Linear: .*\n- Session: 20\\S+-session-001\n`),
    );
  });

  it('GIT-02 --pr merges commits of another form too, and leaves out those that forge made', async () => {
    const project = await working();
    await forgeJson(project, ['config', 'set', 'commit.style', 'conventional']);
    project.git('switch', '-qc', 'side');
    for (const [name, message] of [
      ['a', 'feat: one'],
      ['b', 'fix: two\n\nTwo was wrong.'],
      ['c', 'chore: session end: one'],
    ] as const) {
      stage(project, `${name}.js`);
      project.git('commit', '-qm', message);
    }
    const { stdout } = await runForge(project, ['commit', 'template', '--pr']);
    expect(stdout).toMatch(
      /^feat: wire the login form\n\n## What\n- feat: one\n- fix: two\n\n## Why\nTwo was wrong\.\n/,
    );
  });

  it('GIT-02 repeats no line of the log that a commit of another branch has', async () => {
    const project = await working();
    project.git('switch', '-qc', 'side');
    await forgeJson(project, ['progress', 'add', 'wired the side']);
    stage(project, 'a.js');
    const { message } = await forgeJson<{ message: string }>(project, 'commit -m One --why wanted');
    expect(message).toContain('- wired the side\n');
    project.git('switch', '-q', 'main');
    stage(project, 'b.js');
    const { text } = await forgeJson<{ text: string }>(project, ['commit', 'template']);
    expect(text).toMatch(/## What\n- Add b\.js\n/);
  });
});

const SCISSORS = `${'-'.repeat(24)} >8 ${'-'.repeat(24)}`;
const clean = (text: string, comment?: string): string =>
  `${cleanMessage(text, comment)
    .map(({ text: line }) => line)
    .join('\n')}\n`;

/** Texts that an editor may leave. */
const TEXTS: Record<string, string> = {
  plain: '[A-1] one\n\n## What\n- x\n',
  remarks: 'one\n# Please enter\n#\n# On branch main\n',
  blanks: '\n\n one  \n\n\n\ntwo\t\n\n',
  'carriage returns': 'one\r\n\r\ntwo\r\n# three\r\n',
  'no end': 'one\n\n## What',
  'comment first': '# title\none\n',
  'comment between': 'one\n\n# two\n\nthree\n',
  'indented heading': 'one\n\n ## What\n- x\n',
  'only comments': '# a\n#b\n',
  'empty lines': '\n \n\t\n',
};

describe('a message as git stores it', () => {
  it.each(Object.entries(TEXTS))('GIT-01 is exactly what git stores: %s', (_name, text) => {
    const project = makeRepository();
    for (const [cleanup, comment] of [
      ['strip', '#'],
      ['whitespace', '#'],
      ['strip', ';'],
    ] as const) {
      const safe = protectHeadings(text, comment);
      project.write('message', safe);
      project.git('config', 'core.commentChar', comment);
      const args = ['--allow-empty', '--allow-empty-message', `--cleanup=${cleanup}`, '-F', 'message'];
      project.git('commit', '-q', ...args);
      const stored = `${project.git('log', '-1', '--format=%B')}\n`;
      const checked = clean(safe, cleanup === 'strip' ? comment : undefined).replace(/\n{3,}/g, '\n\n');
      expect([cleanup, checked]).toEqual([cleanup, stored]);
    }
  });

  it.each([
    ['git commit -v', `one\n\n# ${SCISSORS}\ndiff --git a/x b/x\n+two\n`, '#'],
    ['another comment character', `one\n# ${SCISSORS}\n; ${SCISSORS}\ntwo\n`, ';'],
    ['two scissors lines', `one\n# ${SCISSORS}\ntwo\n# ${SCISSORS}\nthree\n`, '#'],
    ['the first line', `# ${SCISSORS}\none\n# ${SCISSORS}\n`, '#'],
    ['nothing in front of it', `one\n${SCISSORS}\ntwo\n`, '#'],
    ['a blank in front of it', `one\n # ${SCISSORS}\ntwo\n`, '#'],
    ['a blank behind it', `one\n# ${SCISSORS} \ntwo\n`, '#'],
    ['carriage returns', `one\r\n# ${SCISSORS}\r\ntwo\r\n`, '#'],
    ['no line feed at its end', `one\n# ${SCISSORS}`, '#'],
    ['not UTF-8', `\xfcber\n# ${SCISSORS}\ntwo\n`, '#'],
  ])('GIT-01 LTM-13 cuts at the scissors line where git does: %s', (_name, text, comment) => {
    const project = makeRepository();
    project.write('message', Buffer.from(text, 'latin1'));
    project.git('config', 'core.commentChar', comment);
    project.git('config', 'i18n.commitEncoding', 'ISO-8859-1');
    const args = ['--allow-empty', '--allow-empty-message', '--cleanup=verbatim', '-F', 'message'];
    project.git('commit', '-qv', ...args);
    const commit = run(project.dir, 'sh', ['-c', 'git cat-file commit HEAD | base64']).stdout;
    const stored = Buffer.from(commit, 'base64').toString('latin1');
    const cut = aboveScissors(Buffer.from(text, 'latin1'), comment).toString('latin1');
    expect(cut).toBe(stored.slice(stored.indexOf('\n\n') + 2));
  });
});
