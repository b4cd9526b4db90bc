import { describe, expect, it } from 'vitest';
import { expectError, forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeForge, makeStarted, SESSION } from '../support/forge-project.js';
import { makeRepository } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';

describe('incidental characters in text', () => {
  it('LTM-13 are removed on input and reported once; hidden characters are still refused', async () => {
    const project = await makeForge();
    const text = '\ufeff\u001b[31mred\u001b[0m\r\nto @\u200bacme';
    for (const [args, stdin] of [
      [['note', 'add', text], undefined],
      [['note', 'add', '-'], text],
    ] as const) {
      const { stderr, exitCode } = await runForge(project, args, stdin === undefined ? {} : { stdin });
      expect(exitCode, stderr).toBe(0);
      expect(stderr.match(/Removed from the text/g)).toHaveLength(1);
      expect(stderr).toContain(
        'Removed from the text: terminal colors, carriage returns, a byte order mark, zero-width spaces.',
      );
    }
    const notes = await forgeJson<{ notes: { text: string }[] }>(project, ['note', 'list']);
    expect(JSON.stringify(notes)).toContain('red\\nto @acme');
    await expectError(project, ['note', 'add', 'a\u202eb'], '2');
    await expectError(project, ['note', 'add', 'a\u200bb'], '2');
  });
});

describe('a message', () => {
  const token = SAMPLES.secret();
  const password = 'Xk9#mQ2vLp8$Rt5nWz3yBc7dFg1hJk4mTq6sVu0wYz8bDe2f';

  it('LTM-13 shows no part of a secret from stdin or an option', async () => {
    const project = await makeForge();
    const patch = JSON.stringify({ operations: [{ op: `password = ${password}` }] });
    for (const [args, stdin] of [
      [['kfr', 'patch', '-'], patch],
      [['kfr', 'patch', '-'], patch.slice(0, -3)],
      [['status', `--${token}`], ''],
      [['status', '--unknown', `password=${password}`], ''],
      [['memory', 'show', `password=${password}`], ''],
    ] as const) {
      const { stdout, stderr, exitCode } = await runForge(project, args, { stdin });
      expect(exitCode, stderr).not.toBe(0);
      for (const part of [token.slice(-12), password.slice(0, 10)])
        expect(`${stdout}${stderr}`, args.join(' ')).not.toContain(part);
    }
  });

  it('LTM-13 masks text from a file before it is truncated', async () => {
    const project = await makeStarted();
    const filler = 'a'.repeat(150);
    const session = JSON.parse(project.read(SESSION)) as Record<string, unknown>;
    project.write(SESSION, JSON.stringify({ ...session, goal: [`${filler} password = ${password}`] }));
    const { stdout, stderr } = await runForge(project, ['progress', 'add', 'x']);
    expect(`${stdout}${stderr}`).not.toContain(password.slice(0, 10));
  });
});

describe('git', () => {
  it('LTM-13 a secret in a branch name or a subject is in no briefing and no file', async () => {
    const project = await makeForge();
    const secret = SAMPLES.secret();
    project.git('switch', '-qc', `feature/${secret}`);
    project.git('commit', '-q', '--allow-empty', '--no-verify', '-m', `Use ${secret}`);
    const { stdout, exitCode } = await runForge(project, ['session', 'start', '--json']);
    expect(exitCode).toBe(0);
    expect(stdout).not.toContain(secret);
    expect((await runForge(project, ['briefing'])).stdout).not.toContain(secret);
    expect(project.read(SESSION)).not.toContain(secret);
  });

  it('LTM-13 guard scan skips lock files, binaries and vendored folders by name', async () => {
    const project = makeRepository();
    const line = `token = ${SAMPLES.secret()}\n`;
    for (const file of 'yarn.lock go.sum vendor/a.go web/node_modules/b.js logo.png src/a.go'.split(' '))
      project.write(file, line);
    const files = async (...args: string[]): Promise<string[]> => {
      const { stdout } = await runForge(project, ['guard', 'scan', '--json', ...args]);
      return (JSON.parse(stdout) as { findings: { file: string }[] }).findings.map(({ file }) => file);
    };
    expect(await files()).toEqual(['src/a.go']);
    expect(await files('vendor/a.go')).toEqual(['vendor/a.go']);
    project.git('add', '-Af');
    expect(await files('--staged')).toEqual(['src/a.go']);
    const unknown = await forgeError(project, ['guard', 'scan', '--range', 'no..where']);
    expect(unknown).toMatchObject({ exitCode: 2, code: 'scan.range' });
  });
});
