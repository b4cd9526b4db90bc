import { describe, expect, it } from 'vitest';
import { parseMessage } from '../../src/commit/message.js';
import type { MadeCommit } from '../../src/index.js';
import { expectChecked, MESSAGE, stage, working } from '../support/commits.js';
import { fixedClock, forgeError, forgeJson, runForge, wordsOf } from '../support/forge.js';
import { CONFIG, featureFile, KNOWLEDGE, makeForge, makePlainForge } from '../support/forge-project.js';
import { changedPaths, type Project } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';

const stored = (project: Project): string => `${project.git('log', '-1', '--format=%B')}\n`;

describe('forge commit', () => {
  it.each([
    ['staged', []],
    ['in a tracked file that -a takes', ['-a']],
  ])('GIT-02 LTM-13 refuses a secret %s: exit 5, nothing is committed', async (_, flags) => {
    const project = await working();
    stage(project);
    project.git('commit', '-qm', 'before');
    const before = project.git('rev-parse', 'HEAD');
    const [path = ''] = project.git('ls-files', 'src').split('\n');
    project.write(path, `key = ${SAMPLES.secret()}\n`);
    if (flags.length === 0) project.git('add', path);
    const refused = await forgeError(project, ['commit', '-m', 'Add it', '--why', 'it is needed', ...flags]);
    expect(refused).toMatchObject({
      exitCode: 5,
      message: expect.stringMatching(new RegExp(`^${path}:1: .*; nothing was committed\\.$`)),
    });
    expect(project.git('rev-parse', 'HEAD')).toBe(before);
  });

  it('GIT-02 commits the index with a message from focus, log, features and learnings', async () => {
    const project = await working();
    const parent = project.git('rev-parse', '--short', 'HEAD');
    await forgeJson(project, ['progress', 'add', 'wired the form']);
    await forgeJson(project, 'knowledge add success "the form needs a CSRF token" --context login');
    await forgeJson(project, 'knowledge add invariant "money is counted in cents"');
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
- Learned: money is counted in cents
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

    // Nothing is repeated from the last message.
    stage(project, 'src/logout.js');
    const next = await forgeJson<MadeCommit>(project, ['commit']);
    expect(next.message).toContain('## What\n- Add src/logout.js\n');
    expect(next.message).toContain('## Memory\n- Learned: none\n');
  });

  it('GIT-02 uses the options, saves learnings, and names the issue', async () => {
    const project = await working();
    stage(project);
    const args = wordsOf('-m "Sign in" --why because --what one --what two --learned known --issue SX9-7');
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

  it('GIT-02 never repeats a progress line, even with several commits in a minute', async () => {
    const project = await working();
    const what = async (text: string): Promise<string> => {
      await forgeJson(project, ['progress', 'add', text]);
      stage(project);
      const { message } = await forgeJson<MadeCommit>(project, ['commit']);
      return /## What\n([\s\S]*?)\n\n/.exec(message)?.[1] ?? '';
    };
    for (const text of ['one', 'two', 'three'])
      expect(await what(text)).toBe(`- ${text}\n- Files: src/login.js`);
    // What the end of an agent's turn recorded says no more than the list of files.
    expect(await what('Changed: src/login.js')).toBe('- Change src/login.js');
  });

  it('GIT-02 --amend keeps the parts of the last message that are not given', async () => {
    const project = await working();
    const parent = project.git('rev-parse', '--short', 'HEAD');
    stage(project);
    await forgeJson(project, ['commit', '--why', 'because', '--learned', 'known']);
    const sign = 'Signed-off-by: Ada <ada@example.com>';
    project.git('commit', '-q', '--amend', '--cleanup=verbatim', '-m', `${stored(project)}\n${sign}`);
    stage(project, 'src/more.js');
    const { message } = await forgeJson<MadeCommit>(project, ['commit', '--amend', '-m', 'Sign in']);
    expect(message).toBe(`[FORGE-001] Sign in

## What
- Add src/login.js

## Why
because

## Memory
- Learned: known

## Backtrace
- Parent: ${parent} (Plan)
- Linear: none
- Session: ${new Date().toISOString().slice(0, 10)}-session-001

${sign}
`);
    expect(project.git('show', '--name-only', '--format=', 'HEAD')).toBe('src/login.js\nsrc/more.js');
    expect(project.git('rev-parse', '--short', 'HEAD^')).toBe(parent);
    await expectChecked(project);
    // A later pass is not part of this commit.
    await forgeJson(project, ['feature', 'verify', 'FORGE-001']);
    const again = await forgeJson<MadeCommit>(project, ['commit', '--amend']);
    expect(again.message).not.toContain('now passing');
  });

  it('GIT-02 names the feature that passed, if the task was done before', async () => {
    const project = await working();
    await forgeJson(project, ['feature', 'verify', 'FORGE-001']);
    stage(project);
    await forgeJson(project, ['commit']);
    await forgeJson(project, ['feature', 'add', 'FORGE-002', 'Logout', '--test', 'true', '--no-run']);
    await forgeJson(project, ['feature', 'verify', 'FORGE-002']);
    stage(project, 'src/logout.js');
    const { message } = await forgeJson<MadeCommit>(project, ['commit', '-m', 'Take the session away']);
    expect(message).toMatch(/^\[FORGE-002\] Take the session away\n/);
    expect(message).not.toContain('FORGE-001 now');
    // Run again, they pass as before: nothing to report.
    project.git('add', '.forge');
    project.git('commit', '-qm', 'Memory');
    await forgeJson(project, ['feature', 'verify', '--all']);
    project.git('add', '.forge');
    stage(project, 'src/session.js');
    const again = await forgeJson<MadeCommit>(project, ['commit', '-m', 'Keep it', '--why', 'needed']);
    expect(again.message).not.toContain('now passing');
    await forgeJson(project, ['feature', 'verify', '--all']);
    await forgeJson(project, ['session', 'end']);
    expect(project.git('log', '-1', '--format=%B')).not.toContain('now passing');
  });

  it('GIT-02 does not cut the words of a person', async () => {
    const project = await working();
    const before = project.git('rev-parse', 'HEAD');
    stage(project);
    const title = `Wire the login form ${'so that people can sign in '.repeat(3)}again`;
    expect(await forgeError(project, ['commit', '-m', title])).toMatchObject({
      exitCode: 1,
      message: `line 1: The subject has ${title.length + 12} characters with its id; 72 are allowed.`,
      hint: expect.stringMatching(
        /Write: \[FORGE-001\] Wire the login form so that people can sign in so that$/,
      ),
    });
    expect(project.git('rev-parse', 'HEAD')).toBe(before);
  });

  it('GIT-02 --amend restores headings that a squash lost, and completes any other message', async () => {
    const project = await working();
    stage(project);
    await forgeJson(project, ['commit', '--why', 'because', '--learned', 'known']);
    const whole = stored(project);
    project.git('commit', '-q', '--amend', '-m', whole.replace(/^## .*\n/gm, ''));
    const { message } = await forgeJson<MadeCommit>(project, ['commit', '--amend']);
    expect(message).toBe(whole);
    project.git('commit', '-q', '--amend', '-m', 'Quick fix', '-m', 'It was slow.');
    const made = await forgeJson<MadeCommit>(project, ['commit', '--amend']);
    expect(made.message).toMatch(/^\[FORGE-001\] Quick fix\n\n## What\n.*\n\n## Why\nIt was slow\.\n/);
    await expectChecked(project);
    const unborn = await makePlainForge();
    unborn.git('init', '-q');
    expect(await forgeError(unborn, ['commit', '--amend'])).toMatchObject({ code: 'commit.nothing' });
  });

  it('GIT-04 without hooks, writes commits.log and branches.json as the hooks do', async () => {
    const project = await working();
    stage(project);
    await forgeJson(project, ['commit']);
    const files = () => [
      project.read('.forge/git/commits.log'),
      project.json('.forge/git/branches.json') as unknown,
    ];
    const own = files();
    expect(own[0]).toMatch(/^[0-9a-f]{7,} \d{4}-\d\d-\d\dT\S+ \[FORGE-001\] Wire the login form\n/);
    await forgeJson(project, ['hooks', 'install']);
    project.git('switch', '-qc', 'other');
    project.git('switch', '-q', '-');
    project.git('branch', '-q', '-D', 'other');
    project.git('switch', '-q', '--detach');
    project.git('switch', '-q', '-');
    expect(files()).toEqual(own);
  });

  it('GIT-02 leaves the subject alone if its rule is off', async () => {
    const project = await working();
    await forgeJson(project, ['config', 'set', 'commit.id_pattern', 'X-\\d+']);
    project.write(CONFIG, project.read(CONFIG).replace('[commit]', '[commit]\nrules_off = ["subject"]'));
    stage(project);
    const { message } = await forgeJson<MadeCommit>(project, ['commit', '-m', 'feat(login): wire the form']);
    expect(message).toMatch(/^feat\(login\): wire the form\n\n## What\n/);
    await expectChecked(project);
  });

  it('GIT-02 writes messages that commitlint accepts in a project that uses it', async () => {
    const project = await working();
    await forgeJson(project, ['config', 'set', 'commit.id_pattern', 'X-\\d+']);
    await forgeJson(project, ['config', 'set', 'commit.style', 'conventional']);
    const long = `looked at ${'another file, '.repeat(20)}and wired it`;
    await forgeJson(project, ['progress', 'add', long]);
    stage(project);
    const { message = '' } = await forgeJson<MadeCommit>(project, ['commit', '--why', long]);
    await expectChecked(project);
    await forgeJson(project, ['session', 'end']);
    const ended = project.git('log', '-1', '--format=%B');
    expect(message).toMatch(/^feat: wire the login form\n\n## What\n/);
    expect(ended).toMatch(/^chore: session end: \S/);
    for (const line of [message, ended].join('\n').split('\n')) expect(line.length).toBeLessThanOrEqual(100);
    // A line that was broken is one item again.
    expect(parseMessage(message).what).toContain(long);
  });

  it('GIT-02 writes only the sections that are asked for; without any, the reason as plain text', async () => {
    const project = await working();
    const write = async (sections: string): Promise<string> => {
      project.write(CONFIG, project.read(CONFIG).replace(/^#?sections = .*$/m, `sections = ${sections}`));
      stage(project);
      const args = ['commit', '-m', 'fix: wire the form', '--why', 'People sign in.\n\nOn two lines.'];
      return (await forgeJson<MadeCommit>(project, args)).message ?? '';
    };
    await forgeJson(project, ['config', 'set', 'commit.style', 'conventional']);
    expect(await write('["Why"]')).toMatch(
      /^fix: wire the form\n\n## Why\nPeople sign in\.\n\nOn two lines\.\n/,
    );
    project.write('more.txt', 'more');
    expect(await write('[]')).toMatch(/^fix: wire the form\n\nPeople sign in\.\n\nOn two lines\.\n(?!\n## )/);
    await expectChecked(project);
    await forgeJson(project, ['progress', 'add', 'tried two cookies']);
    await forgeJson(project, ['session', 'end']);
    const ended = project.git('log', '-1', '--format=%B');
    expect(ended).not.toContain('## ');
    expect(ended).toContain('\n- tried two cookies');
  });

  it('GIT-02 -a commits changed files that git tracks, and no others', async () => {
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
      hint: 'git add -A\nforge commit -a   # changed files only',
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

  it('B-42 GIT-02 file names with line breaks, quotes and escapes stay on their line', async () => {
    const project = await working();
    for (const name of ['a\nb.txt', '"q".txt', '-x', '\u001b[31m.txt', 'é ü.txt', '## What'])
      stage(project, name);
    const { message } = await forgeJson<MadeCommit>(project, ['commit']);
    expect(message).toContain('- Add a b.txt\n');
    expect(message).toContain('- Add <U+001B>[31m.txt\n');
    await expectChecked(project);
  });

  it('GIT-02 saves a message that breaks a rule, and names the file', async () => {
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

  it("GIT-02 --edit opens git's editor at a terminal, and checks the result", async () => {
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

  it('GIT-02 asks for the reason only at a terminal', async () => {
    const project = await working();
    stage(project);
    const { exitCode } = await runForge(project, ['commit', '--no-input'], { terminal: true });
    expect(exitCode).toBe(0);
    expect(stored(project)).toContain('## Why\npeople sign in\n');
  });

  it('LTM-12 GIT-02 a builder’s learning is in its commit, but not in knowledge', async () => {
    const project = await working();
    stage(project);
    await forgeJson(project, ['commit', '--learned', 'x'], { env: { FORGE_ROLE: 'builder' } });
    expect(stored(project)).toContain('- Learned: x\n');
    expect(project.json(KNOWLEDGE)).toMatchObject({ patterns: { successful: [] } });
  });

  it('GIT-02 names the ledger heads if the commit contains the ledger', async () => {
    const project = await working();
    await forgeJson(project, ['note', 'add', 'a note']);
    stage(project);
    const without = await forgeJson<MadeCommit>(project, ['commit', '-n']);
    expect(without.message).not.toContain('Forge-Ledger');
    project.git('add', '.forge');
    const { message } = await forgeJson<MadeCommit>(project, ['commit']);
    expect(message).toMatch(/\nForge-Ledger: 2 [0-9a-f]{64}\n/);
    expect((await runForge(project, ['memory', 'verify'])).exitCode).toBe(0);
  });

  it('GIT-02 lists the features that it contains, with their status', async () => {
    const project = await working();
    await forgeJson(project, ['feature', 'edit', 'FORGE-001', '--status', 'in_progress']);
    project.git('add', featureFile('FORGE-001'));
    const { message } = await forgeJson<MadeCommit>(project, ['commit']);
    expect(message).toContain('- Updated: features.json (FORGE-001 now in progress)\n');
    expect(message).toContain(`## What\n- Change ${featureFile('FORGE-001')}\n`);
    await forgeJson(project, ['feature', 'add', 'FORGE-003', 'A new one']);
    project.git('add', featureFile('FORGE-003'));
    const { message: next } = await forgeJson<MadeCommit>(project, ['commit']);
    expect(next).toContain('- Updated: features.json (FORGE-003 not implemented yet)\n');
  });

  it('GIT-02 uses only log lines since the last commit, even past midnight', async () => {
    const project = await makeForge();
    const world = fixedClock('2020-01-01T23:50:00Z');
    await forgeJson(project, ['session', 'start', '--task', 'g'], { world });
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
