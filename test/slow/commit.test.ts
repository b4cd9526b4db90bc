import { describe, expect, it } from 'vitest';
import { parseMessage } from '../../src/commit/message.js';
import type { MadeCommit } from '../../src/index.js';
import { expectChecked, MESSAGE, stage, working } from '../support/commits.js';
import { expectError, fixedClock, forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeForge, makePlainForge } from '../support/forge-project.js';
import type { Project } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';

const stored = (project: Project): string => `${project.git('log', '-1', '--format=%B')}\n`;

describe('forge commit', () => {
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
    // The lines recorded at the end of an agent's turn only repeat the list of files.
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
    // A lesson stays, even if an earlier commit has the same one.
    stage(project, 'src/same.js');
    project.git('commit', '-qnm', stored(project));
    const { message: same } = await forgeJson<MadeCommit>(project, ['commit', '--amend']);
    expect(same).toContain('- Learned: known\n');
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
    // Without a task, too.
    await forgeJson(project, ['feature', 'add', 'FORGE-003', 'Stay in', '--test', 'true', '--no-run']);
    await forgeJson(project, ['feature', 'verify', 'FORGE-003']);
    stage(project, 'src/stay.js');
    const third = await forgeJson<MadeCommit>(project, ['commit', '--why', 'needed']);
    expect(third.message).toMatch(/^\[FORGE-003\] Stay in\n/);
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
    await expectError(unborn, ['commit', '--amend'], 'commit.nothing');
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

  it("GIT-02 --edit opens git's editor at a terminal, and checks the result", async () => {
    const project = await working();
    stage(project);
    await expectError(project, 'commit --edit', '2 commit.edit');
    const edit = (editor: string) =>
      runForge(project, ['commit', '--edit'], { terminal: true, env: { GIT_EDITOR: editor } });
    expect((await edit('sed -i s/people/persons/')).exitCode).toBe(0);
    expect(stored(project)).toContain('persons sign in');
    stage(project, 'b.js');
    expect((await edit('sed -i /Why/d')).stderr).toContain('"## Why" is missing');
    expect((await edit('true >')).stderr).toContain('The message is empty');
    // The error says where the text is that was written before the editor failed.
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
