import { describe, expect, it } from 'vitest';
import type { CommitCheck } from '../../src/index.js';
import { checkJson, commit, SECRET } from '../support/commit-checks.js';
import { expectError, forgeError, forgeJson, runForge } from '../support/forge.js';
import { CONFIG, makeForge } from '../support/forge-project.js';
import { MESSAGE as GOOD } from '../support/message.js';
import { makePlainProject, makeRepository } from '../support/project.js';

describe('forge commit check FILE', () => {
  it('GIT-01 needs neither .forge/ nor git', async () => {
    const plain = makePlainProject();
    plain.write('message', GOOD);
    expect(await checkJson(plain, ['message'])).toEqual({
      ok: true,
      commits: [{ subject: '[SX9-123] Brief description', problems: [] }],
      exitCode: 0,
    });
    expect(await checkJson(makeRepository(), ['-'], GOOD)).toMatchObject({ ok: true, exitCode: 0 });
  });

  it('GIT-01 prints one line per problem, and exits 1', async () => {
    const { stdout, exitCode } = await runForge(makeRepository(), 'commit check -', {
      stdin: GOOD.replace('## Why\nRationale for the change\n\n', '').replace('[SX9-123] ', ''),
    });
    expect([exitCode, stdout]).toEqual([
      1,
      '✗ line 1: The subject is not "[ID] description". Write: [FORGE] Brief description  subject\n' +
        '✗ line 13: "## Why" is missing. Write: ## Why ⏎ why it changed  sections\n',
    ]);
  });

  it('GIT-01 shows a heading with the four spaces that allow it, in the hook too', async () => {
    const project = await makeForge();
    project.git('config', 'core.commentChar', ';');
    project.write('message', GOOD.replace('## Memory', '## Notes\n\n## Memory'));
    const message = '"## Notes" is not a heading of the protocol.';
    expect((await runForge(project, 'commit check message')).stdout).toContain(
      `line 9: ${message} Write:     ## Notes  headings`,
    );
    expect((await runForge(project, 'hook commit-msg message')).stderr).toContain(
      `  line 9: ${message}\n    →     ## Notes\n`,
    );
  });

  it('GIT-01 in the style conventional checks a subject only if it begins with an id', async () => {
    const project = await makeForge();
    project.write(CONFIG, '[commit]\nstyle = "conventional"\n');
    const rulesOf = async (subject: string): Promise<string[]> => {
      const text = GOOD.replace('[SX9-123] Brief description', subject);
      const { commits } = await checkJson(project, ['-'], text);
      return commits.flatMap(({ problems }) => problems.map(({ rule }) => rule));
    };
    expect(await rulesOf(`feat: ${'x'.repeat(90)}`)).toEqual([]);
    expect(await rulesOf(`[nope] ${'x'.repeat(90)}`)).toEqual(['id', 'subject-length']);
  });

  it('LTM-13 GIT-01 ignores the text that git cuts off below the scissors line', async () => {
    const project = makeRepository();
    const scissors = `# ${'-'.repeat(24)} >8 ${'-'.repeat(24)}\n`;
    const diff = `${scissors}-token = ${SECRET}\n ## Why\n`;
    expect(await checkJson(project, ['-'], `${GOOD}${diff}`)).toMatchObject({ ok: true, exitCode: 0 });
    const leak = `${GOOD.replace('key insight', SECRET)}${diff}`;
    expect(await checkJson(project, ['-'], leak)).toMatchObject({
      exitCode: 5,
      commits: [{ subject: '…', problems: [{ rule: 'secret', line: 10 }] }],
    });
    project.git('config', 'core.commentChar', ';');
    expect(await checkJson(project, ['-'], `${GOOD}${diff}`)).toMatchObject({ exitCode: 5 });
    expect(await checkJson(project, ['-'], `${GOOD}${diff.replace('#', ';')}`)).toMatchObject({
      exitCode: 0,
    });
  });

  it('GIT-01 uses the features and the settings of config.toml', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'login', 'Login works']);
    const text = GOOD.replace('[SX9-123]', '[login]');
    expect((await checkJson(project, ['-'], text)).ok).toBe(true);
    project.write(CONFIG, "[commit]\nid_pattern = '#\\d+'\nsections = []\nexempt = ['Bump .*']\n");
    expect((await checkJson(project, ['-'], '[#12] x\n')).ok).toBe(true);
    expect((await checkJson(project, ['-'], GOOD)).commits[0]?.problems[0]?.rule).toBe('id');
    expect((await checkJson(project, ['-'], 'Bump a from 1 to 2\n')).commits[0]?.exempt).toBe('pattern');
  });

  it.each([
    ["id_pattern = '(?=a)'", 'commit.id_pattern', 'unsupported Perl syntax: "(?="'],
    ['exempt = ["["]', 'commit.exempt[0]', 'missing closing ]'],
    ['rules_off = ["nul"]', 'commit.rules_off[0]', '"subject" | '],
    ['sections = ["Notes"]', 'commit.sections[0]', '"What" | '],
    ['subject_length = 5', 'commit.subject_length', 'at least 20'],
  ])('GIT-01 rejects the setting %s', async (line, field, words) => {
    const project = await makeForge();
    project.write(CONFIG, `[commit]\n${line}\n`);
    const error = await forgeError(project, ['commit', 'check', '--range', 'HEAD..HEAD']);
    expect(error).toMatchObject({ exitCode: 4, code: 'config.value', field, line: 2 });
    expect(error.message).toContain(words);
  });

  it('B-51 GIT-01 invalid UTF-8 exits 1', async () => {
    const project = makeRepository();
    expect(await checkJson(project, ['-'], Buffer.from(GOOD.replace('key', 'kéy'), 'latin1'))).toMatchObject({
      exitCode: 1,
      commits: [{ problems: [{ rule: 'encoding', line: 10 }] }],
    });
  });

  it('B-51 GIT-01 a secret exits 5 and is never shown', async () => {
    const project = makeRepository();
    for (const text of [GOOD.replace('key insight', SECRET), `[SX9-1] ${SECRET}\n`, `${SECRET}\n`]) {
      const { stdout, stderr, exitCode } = await runForge(project, 'commit check - --json', { stdin: text });
      expect([exitCode, stderr, stdout.includes(SECRET.slice(4, 20))]).toEqual([5, '', false]);
      expect(JSON.parse(stdout)).toMatchObject({ ok: false, commits: [{ problems: [{ rule: 'secret' }] }] });
      const shown = await runForge(project, ['commit', 'check', '-'], { stdin: text });
      expect([shown.exitCode, shown.stdout.includes(SECRET.slice(4, 20))]).toEqual([5, false]);
    }
  });

  it('GIT-01 needs one of a file and a range', async () => {
    const project = makeRepository();
    await expectError(project, ['commit', 'check'], '2 commit.way');
    await expectError(project, 'commit check package.json --range HEAD', '2 commit.way');
    await expectError(project, ['commit', 'check', 'none'], '2 file.unreadable');
    await expectError(project, ['commit', 'check', '../message.txt'], '2 file.unreadable');
  });
});

describe('forge commit check --range', () => {
  it('B-51 GIT-01 a secret in one of many exits 5, names only that commit, and no value', async () => {
    const project = makeRepository();
    const parent = (text: string): string => GOOD.replace(/Parent: .*/, `Parent: ${text}`);
    commit(project, parent('1a2b3c4 (an agreed note)'));
    const bad = [
      GOOD.replace('key insight', SECRET),
      parent('card 4539148803436467 (previous)'),
      parent(`1a2b3c4 (${SECRET})`),
    ].map((text) => commit(project, text));
    commit(project, GOOD);
    const { stdout, exitCode } = await runForge(project, 'commit check --range "HEAD~5..HEAD" --json');
    expect([exitCode, stdout.includes(SECRET.slice(4, 20))]).toEqual([5, false]);
    const { commits } = JSON.parse(stdout) as CommitCheck;
    const found = commits.filter(({ problems }) => problems.some(({ rule }) => rule === 'secret'));
    expect(found.map(({ sha }) => sha)).toEqual(bad.reverse());
    expect(found.at(-1)).toMatchObject({ subject: '…', problems: [{ rule: 'secret', line: 10 }] });
  });

  it.each([
    ...['--output=/tmp/x', '-p', 'no-such..HEAD', 'HEAD..no-such', '', 'a b'],
    `${'x'.repeat(2000)}`,
    'HEAD^{tree}..nope',
  ])('B-04 GIT-01 %j is not a range: exit 2, one line, nothing is written', async (range) => {
    const error = await forgeError(makeRepository(), ['commit', 'check', `--range=${range}`]);
    expect(error).toMatchObject({ exitCode: 2, code: 'commit.range', hint: expect.stringContaining('A..B') });
    expect(error.message.length).toBeLessThan(200);
  });
});
