import { describe, expect, it } from 'vitest';
import { commit, NOWHERE, ready, text } from '../support/ci.js';
import { forgeError, forgeJson } from '../support/forge.js';
import { PASSING_FEATURE, putFeatures } from '../support/forge-project.js';
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

  it('GIT-07 has annotations for GitHub, and plain lines for GitLab', async () => {
    const project = await ready();
    project.write('src/key.js', `${SAMPLES.secret()}\n`);
    const sha = commit(project);
    const github = await text(project, [], { GITHUB_ACTIONS: 'true' });
    expect(github.stdout).toContain(
      `\n::error file=src/key.js,line=1,title=forge guard ${sha.slice(0, 10)}::`,
    );
    const gitlab = await text(project, [], { GITLAB_CI: 'true' });
    expect(gitlab.stdout).toMatch(/^✗ guard.*\n(?: {4}.*\n)+✓ features/m);
  });

  it('GIT-07 --junit writes a complete file, also in a new folder', async () => {
    const project = await ready();
    commit(project, '[FORGE] No <protocol> & "so on"\n\n## Why\nx\n');
    const { exitCode } = await text(project, ['--junit', 'reports/forge.xml']);
    const xml = project.read('reports/forge.xml');
    expect([exitCode, isWellFormed(xml)]).toEqual([1, true]);
    expect(xml).toContain('tests="5" failures="1" errors="0" skipped="0"');
    expect(xml).toContain('<testcase classname="forge ci" name="memory"></testcase>');
    project.write('file', '');
    const error = await forgeError(project, ['ci', '--junit', 'file/forge.xml'], { env: NOWHERE });
    expect(error).toMatchObject({ exitCode: 6, code: 'ci.junit' });
  });
});
