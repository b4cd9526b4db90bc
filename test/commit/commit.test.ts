import { describe, expect, it } from 'vitest';
import type { MadeCommit } from '../../src/index.js';
import { expectChecked, MESSAGE, stage, working } from '../support/commits.js';
import { expectError, forgeError, forgeJson, runForge, wordsOf } from '../support/forge.js';
import { CONFIG, featureFile, KNOWLEDGE, makeForge, makePlainForge } from '../support/forge-project.js';
import { changedPaths, commitAll, makeFolder, type Project, projectAt } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';

const BODY =
  '## What\n- a\n\n## Why\nwanted\n\n## Memory\n- Learned: none\n\n## Backtrace\n- Parent: none\n- Linear: none\n- Session: none\n';

const stored = (project: Project): string => `${project.git('log', '-1', '--format=%B')}\n`;

describe('forge commit', () => {
  it.each([
    ['staged', [], 'forge guard scan --staged\n'],
    ['in a tracked file that -a takes', ['-a'], 'forge guard scan\n'],
  ])('GIT-02 LTM-13 refuses a secret %s: exit 5, nothing is committed', async (_, flags, scan) => {
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
      hint: expect.stringContaining(scan),
    });
    expect(project.git('rev-parse', 'HEAD')).toBe(before);
  });

  it('GIT-02 reads a text that is "-" from stdin', async () => {
    const project = await working();
    stage(project);
    const args = ['commit', '-m', 'Add it', '--why', 'it is needed', '--learned', '-'];
    expect((await runForge(project, args, { stdin: 'dates are UTC\n' })).exitCode).toBe(0);
    expect(stored(project)).toContain('\n- Learned: dates are UTC\n');
  });

  it('GIT-02 GIT-04 a secret in the subject of a plain commit blocks nothing, and is not repeated', async () => {
    const project = await working();
    project.git('commit', '-q', '--allow-empty', '-m', `Try ${SAMPLES.secret()}`);
    const parent = project.git('rev-parse', '--short', 'HEAD');
    stage(project);
    const { message } = await forgeJson<MadeCommit>(project, ['commit']);
    expect(message).toContain(`\n- Parent: ${parent}\n`);
    const { stderr } = await runForge(project, ['session', 'end']);
    expect(stderr).not.toContain('not up to date');
    expect(project.read('.forge/git/commits.log')).toMatch(/ Try <[\w-]+>\n/);
  });

  it('GIT-02 VIS-01 a squash merge names what its branch made pass and learned, and is no foreign edit', async () => {
    const project = await working();
    stage(project);
    await forgeJson(project, ['session', 'end']);
    commitAll(project, 'all');
    const topic = projectAt(`${makeFolder()}/topic`);
    project.git('worktree', 'add', '-qb', 'topic', topic.dir);
    await forgeJson(topic, ['session', 'start', '--task', 'login']);
    await forgeJson(topic, ['feature', 'verify', 'FORGE-001']);
    await forgeJson(topic, ['session', 'end', '--learned', 'the form needs a CSRF token']);
    project.git('commit', '-q', '--allow-empty', '-m', 'Go on');
    project.git('merge', '-q', '--squash', 'topic');
    expect((await runForge(project, 'doctor')).stdout).not.toContain('edited outside forge');
    const { message } = await forgeJson<MadeCommit>(project, [
      'commit',
      '-m',
      'Merge it',
      '--why',
      'it works',
    ]);
    expect(message).toContain('- Learned: the form needs a CSRF token\n');
    expect(message).toContain('- Updated: features.json (FORGE-001 now passing)\n');
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

  it('GIT-02 names what failed as failed, and leaves out what forge recorded of a turn', async () => {
    const project = await working();
    stage(project);
    await forgeJson(project, ['learn', 'a cache for rates', '--as', 'failure']);
    for (const line of ['Ran: npm test (exit 1)', 'Committed 1a2b3c4: Wire', 'cut the cap'])
      await forgeJson(project, ['log', line]);
    const { message } = await forgeJson<MadeCommit>(project, ['commit']);
    expect(message).toContain('- Learned: This failed: a cache for rates\n');
    expect(message).toContain('- cut the cap\n');
    expect(message).not.toMatch(/Ran: |Committed /);
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

  it.each(['[SX9-12] Readme Line of API', 'fix(api): A thing', 'Readme Line of API'])(
    'GIT-02 --amend in the style conventional keeps the subject: %s',
    async (subject) => {
      const project = await makeForge();
      await forgeJson(project, ['config', 'set', 'commit.style', 'conventional']);
      project.git('commit', '-qam', 'chore: settings');
      stage(project, 'README.md');
      const before = `${subject}\n\n${BODY.replace('Linear: none', 'Linear: SX9-7')}`;
      project.git('commit', '-qm', before, '--cleanup=verbatim');
      await forgeJson(project, ['commit', '--amend']);
      const after = stored(project);
      expect(after.split('\n')[0]).toBe(subject);
      expect(after).toContain('\n- Linear: SX9-7\n');
      // A word in brackets that is no id becomes none.
      const { message } = await forgeJson<MadeCommit>(project, ['commit', '--amend', '-m', '[BUG] Say it']);
      expect(message).toMatch(/^docs: say it\n/);
      expect(message).toContain('\n- Linear: SX9-7\n');
    },
  );

  it.each(['protocol', 'conventional'])(
    'GIT-02 --amend leaves the subject of a fixup alone, so that git squashes it (%s)',
    async (style) => {
      const project = await makeForge();
      await forgeJson(project, ['config', 'set', 'commit.style', style]);
      project.git('commit', '-qam', 'Settings');
      stage(project, 'a');
      await forgeJson(project, ['commit', '-m', 'Wire it', '--why', 'w']);
      const [subject = ''] = stored(project).split('\n');
      stage(project, 'b');
      project.git('commit', '-q', '--fixup', 'HEAD');
      stage(project, 'c');
      await forgeJson(project, ['commit', '--amend', '--why', 'w']);
      expect(stored(project).split('\n')[0]).toBe(`fixup! ${subject}`);
      project.git('-c', 'sequence.editor=:', 'rebase', '-q', '-i', '--autosquash', 'HEAD~2');
      expect(project.git('log', '-2', '--format=%s')).toBe(`${subject}\nSettings`);
    },
  );

  it('GIT-02 --amend with another title keeps the issue that only the old one named', async () => {
    const project = await makeForge();
    await forgeJson(project, ['config', 'set', 'commit.style', 'conventional']);
    project.git('commit', '-qam', `[SX9-12] Readme\n\n${BODY}`, '--cleanup=verbatim');
    const amend = async (title: string): Promise<string> => {
      const { message } = await forgeJson<MadeCommit>(project, ['commit', '--amend', '-m', title]);
      return message.replace(/\n[\s\S]*(?=\n- Linear)|\n- Session[\s\S]*/g, '');
    };
    expect(await amend('Better')).toBe('chore: better\n- Linear: SX9-12');
    expect(await amend('[SX9-13] Best')).toBe('chore: best\n- Linear: SX9-13');
    expect(await amend('good')).toBe('chore: good\n- Linear: SX9-13');
  });

  it('GIT-02 --amend keeps what stands outside of the sections, and names a feature that is given', async () => {
    const project = await makeForge();
    const message = `[FORGE] Readme\n\nSee ADR-7.\n\n## Testing\nran it twice\n\n${BODY}`;
    stage(project, 'README.md');
    project.git('commit', '-q', '-m', message, '--cleanup=verbatim');
    await forgeJson(project, ['commit', '--amend']);
    expect(stored(project)).toMatch(
      /^\[FORGE\] Readme\n\nSee ADR-7\.\n\nTesting:\nran it twice\n\n## What\n/,
    );
    await expectChecked(project);
    await forgeJson(project, ['config', 'set', 'commit.style', 'conventional']);
    await forgeJson(project, ['feature', 'add', 'F-1', 'Login']);
    await forgeJson(project, ['commit', '--amend', '-m', 'Login form', '--issue', 'F-1']);
    expect(stored(project)).toContain('\n- Linear: F-1\n');
  });

  it('GIT-02 without a reason, names the same command with it', async () => {
    const project = await makeForge();
    project.git('commit', '-q', '--allow-empty', '-m', 'unprotocol');
    const hint = async (...args: string[]) => (await forgeError(project, ['commit', ...args])).hint;
    expect(await hint('--amend')).toBe('forge commit --amend --why "TEXT"');
    expect(await hint('--amend', '-m', '[SX9-1] Two words')).toBe(
      `forge commit --amend -m '[SX9-1] Two words' --why "TEXT"`,
    );
    project.write('src/app.js', 'changed\n');
    expect(await hint('-a')).toBe('forge commit -a -m "TEXT" --why "TEXT"');
    expect(await hint('-a', '-m', 'x')).toBe('forge commit -a -m x --why "TEXT"');
  });

  it('GIT-02 passes its own check however short git prints hashes', async () => {
    const project = await working();
    project.git('config', 'core.abbrev', '4');
    stage(project);
    await forgeJson<MadeCommit>(project, ['commit']);
    await expectChecked(project);
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
    await expectError(project, ['commit', '-am', 'x'], 'commit.nothing');
    stage(project);
    await expectError(project, ['commit'], '2 commit.title');
    await expectError(project, 'commit -m x', '2 commit.why');
    await expectError(await makePlainForge(), ['commit'], 'commit.no_git');
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
});
