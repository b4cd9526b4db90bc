import { describe, expect, it } from 'vitest';
import { create } from '../support/checkpoints.js';
import {
  ci,
  cloneOf,
  commit,
  failed,
  GOOD,
  githubEvent,
  messages,
  NOWHERE,
  ready,
  text,
} from '../support/ci.js';
import { forgeError, forgeJson } from '../support/forge.js';
import { CONFIG, PASSING_FEATURE, putFeatures } from '../support/forge-project.js';
import { containerOf, record } from '../support/memory.js';
import type { Project } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';
import { isWellFormed } from '../support/xml.js';

describe('forge ci: the log', () => {
  const HOSTILE = '::error::x ##[error]y ##vso[task]z \u001b[31mred %0A';

  it('GIT-07 no text of a commit, a file or a test starts a command or moves the cursor', async () => {
    const project = await ready();
    const name = '::error file=a,line=1::x ##[add-mask]y.js';
    project.write(name, `${SAMPLES.secret()}\n`);
    commit(project, `${HOSTILE}\n`);
    commit(project, `fixup! ${HOSTILE}\n`);
    const tests = [`sh -c 'printf "%s\n" ::error::t " ##[error]t"; exit 1'`];
    putFeatures(project, [{ ...PASSING_FEATURE, tests }]);
    await forgeJson(project, ['trust', '--yes'], { terminal: true });
    for (const format of ['github', 'gitlab', 'plain']) {
      const args = ['--range', 'HEAD~2..HEAD', '--run', '--format', format, '--junit', 'ci.xml'];
      const { stdout, stderr } = await text(project, args, { GITHUB_ACTIONS: 'true' });
      expect(stdout).toContain('      | ::error::t\n      | # #[error]t\n');
      const lines = `${stdout}\n${stderr}`.split(/\r\n|[\r\n]/);
      const own = /^::error (?:file=[^:,]+,(?:line=\d+,)?)?title=forge \w+(?: [0-9a-f]{10})?::/;
      const commands = lines.filter((line) => line.trimStart().startsWith('::') && !own.test(line));
      expect([format, commands]).toEqual([format, []]);
      expect([format, lines.filter((line) => /##\w*\[/.test(line))]).toEqual([format, []]);
      expect([format, stdout.replaceAll('\u001b[0K', '').includes('\u001b')]).toEqual([format, false]);
      expect([format, lines.some((line) => own.test(line))]).toEqual([format, format === 'github']);
      expect(isWellFormed(project.read('ci.xml'))).toBe(true);
    }
    const { stdout } = await text(project, ['--range', 'HEAD~2..HEAD', '--json']);
    expect(stdout).not.toMatch(/##\w*\[/);
    expect(JSON.parse(stdout).checks[2].findings[0].file).toBe(name);
  });

  it('GIT-07 --junit makes the folder of its file', async () => {
    const project = await ready();
    await text(project, ['--junit', 'reports/forge.xml']);
    expect(isWellFormed(project.read('reports/forge.xml'))).toBe(true);
    project.write('file', '');
    const error = await forgeError(project, ['ci', '--junit', 'file/forge.xml'], { env: NOWHERE });
    expect(error).toMatchObject({ exitCode: 6, code: 'ci.junit' });
  });
});

const BROKEN = GOOD.replace('Rationale for the change\n', '');
const AGENT = 'Fix it\n\nCo-Authored-By: Claude <noreply@anthropic.com>\n';

/** The exit code of `forge ci` for one commit, and the state and findings of its check of messages. */
async function judged(message: string, settings = '', env: NodeJS.ProcessEnv = {}) {
  const project = await ready();
  if (settings !== '') project.write(CONFIG, `[commit]\n${settings}\n`);
  commit(project, message);
  const { exitCode, states, checks } = await ci(project, [], env);
  return [exitCode, states[0], checks[0]?.findings.length];
}

/** A pull request, with the repository of its branch. */
const request = (head: string): NodeJS.ProcessEnv =>
  githubEvent({
    before: undefined,
    pull_request: { base: { repo: { full_name: 'a/b' } }, head: { repo: { full_name: head } } },
  });

describe('forge ci: whose messages are checked', () => {
  it.each<[string, string, string, unknown[]]>([
    ['a stranger’s message', 'Quick fix\n', '', [0, 'ok', 0]],
    ['a broken message with a heading of the protocol', BROKEN, '', [1, 'failed', 1]],
    ['an agent without forge', AGENT, '', [0, 'warned', 1]],
    ['an agent, with who = agents', AGENT, "who = 'agents'", [1, 'failed', 1]],
    ['a stranger, with who = agents', 'Quick fix\n', "who = 'agents'", [0, 'ok', 0]],
    ['anybody, with who = all', 'Quick fix\n', "who = 'all'", [1, 'failed', 1]],
    ['anybody, with enforce = warn', BROKEN, "who = 'all'\nenforce = 'warn'", [0, 'warned', 1]],
    ['a squashed pull request', 'Fix it (#12)\n', "who = 'all'", [0, 'ok', 0]],
  ])('GIT-07 GIT-08 %s', async (_name, message, settings, expected) => {
    expect(await judged(message, settings)).toEqual(expected);
  });

  it('GIT-08 a pull request from a fork never fails for its messages', async () => {
    expect(await judged(BROKEN, '', request('a/b'))).toEqual([1, 'failed', 1]);
    expect(await judged(BROKEN, '', request('stranger/b'))).toEqual([0, 'warned', 1]);
    const ids = { CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '7', CI_MERGE_REQUEST_PROJECT_ID: '8' };
    expect(await judged(BROKEN, '', { GITLAB_CI: 'true', ...ids })).toEqual([0, 'warned', 1]);
    expect(await judged(BROKEN, "who = 'all'", request('stranger/b'))).toEqual([1, 'failed', 1]);
  });

  it('GIT-07 marks a warning in the log and in its annotation', async () => {
    const project = await ready();
    const sha = commit(project, AGENT);
    commit(project, 'Quick fix\n');
    const github = { GITHUB_ACTIONS: 'true' };
    const { stdout } = await text(project, ['--range', 'HEAD~2..HEAD'], github);
    expect(stdout).toMatch(
      /^! commits {6}2 commits in HEAD~2\.\.HEAD \(--range\), 1 need not follow the protocol\n/,
    );
    expect(stdout).toContain(`\n::warning title=forge commits ${sha.slice(0, 10)}::`);
    expect(stdout).toContain('\nforge ci: no problems, 1 warning\n');
  });
});

describe('forge ci: problems that the author cannot fix', () => {
  it('GIT-07 a record that a commit removed is a warning', async () => {
    const project = await ready();
    for (let i = 0; i < 2; i++) await record(project);
    commit(project);
    project.git('rm', '-q', containerOf(project));
    commit(project);
    const report = await ci(cloneOf(project));
    expect([report.exitCode, report.states[1]]).toEqual([0, 'warned']);
    expect(messages(report).join()).toMatch(/commit [0-9a-f]{7} \(.*\) removed 2 records/);
  });

  async function withoutTag(): Promise<Project> {
    const project = await ready();
    await create(project, 'X');
    project.git('tag', '-d', 'checkpoint/X-v1');
    project.git('remote', 'add', 'upstream', '/nowhere');
    return project;
  }

  it('GIT-07 a missing tag fails the range that added its manifest, and is a warning elsewhere', async () => {
    const project = await withoutTag();
    const own = await ci(project, ['--range', 'HEAD~2..HEAD']);
    expect([own.exitCode, failed(own)]).toEqual([1, ['checkpoints findings']]);
    expect(messages(own)).toEqual([
      expect.stringMatching(
        / Ada Tester, who created it, has to push it: git push upstream checkpoint\/X-v1$/,
      ),
    ]);
    commit(project);
    const later = await ci(project);
    expect([later.exitCode, later.states[4], messages(later).length]).toEqual([0, 'warned', 1]);
    expect(later.checks[4]?.findings[0]?.fix).toMatch(/^git fetch upstream tag /);
    // There the author of the oldest commit would be named.
    const shallow = cloneOf(project, '--depth=2');
    shallow.git('config', 'log.showRoot', 'false');
    const [message] = messages(await ci(shallow, ['--range', 'HEAD~1..HEAD']));
    expect(message).toMatch(/ Its author has to push it: git push origin checkpoint\/X-v1$/);
  });

  it('GIT-07 a missing tag is a warning in a pull request from a fork, whose author cannot push it', async () => {
    const project = await withoutTag();
    const gitlab = { CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '7', CI_MERGE_REQUEST_PROJECT_ID: '8' };
    const report = await ci(project, ['--range', 'HEAD~2..HEAD'], gitlab);
    expect([report.exitCode, report.states[4]]).toEqual([0, 'warned']);
    expect(messages(report)).toEqual([
      expect.stringMatching(
        / It is in the fork; .* fetches it from there: git push upstream checkpoint\/X-v1$/,
      ),
    ]);
    const own = await ci(project, ['--range', 'HEAD~2..HEAD'], {
      ...gitlab,
      CI_MERGE_REQUEST_PROJECT_ID: '7',
    });
    expect([own.exitCode, failed(own)]).toEqual([1, ['checkpoints findings']]);
  });

  it('GIT-07 a missing tag is a warning after a squash too', async () => {
    const project = await withoutTag();
    project.git('reset', '-q', '--soft', 'HEAD~2');
    commit(project);
    commit(project);
    const clone = cloneOf(project);
    const report = await ci(clone);
    expect([report.exitCode, report.states[4], messages(report)]).toEqual([
      0,
      'warned',
      [expect.stringContaining('has to push it: git push origin checkpoint/X-v1')],
    ]);
  });
});
