import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BIN, fixedClock, forgeError, forgeJson, runForge } from '../support/forge.js';
import { differences, makeForge, makeStarted, PROGRESS, snapshot } from '../support/forge-project.js';
import { makeFolder, type Project, projectAt, run } from '../support/project.js';

/** A line for bash, where `forge` is the built binary; the exit code of the first program of a pipe is printed last. */
function bash(project: Pick<Project, 'dir'>, line: string) {
  const script = `forge() { '${process.execPath}' '${BIN}' "$@"; }\n${line}\necho "exit \${PIPESTATUS[0]}" >&2`;
  const { stdout, stderr } = run(project.dir, 'bash', ['-c', script]);
  const [, said = '', code = ''] = /^([\s\S]*)exit (\d+)\n$/.exec(stderr) ?? [];
  return { stdout, stderr: said, exitCode: Number(code) };
}

const texts = (project: Project): string[] =>
  project
    .read(PROGRESS)
    .split('\n')
    .filter((line) => line.startsWith('['))
    .map((line) => line.slice(8))
    .slice(2);

describe('bad surroundings', () => {
  it('B-09 a closed reader is not an error: the write is complete, and so is its exit code', async () => {
    const project = await makeStarted();
    for (const [n, reader] of ['head -c0', 'true', 'head -c1 >/dev/null'].entries()) {
      expect(bash(project, `forge log "line ${n}" | ${reader}`)).toMatchObject({
        exitCode: 0,
        stderr: '',
      });
      expect(texts(project)[n]).toBe(`line ${n}`);
    }
    // More than a pipe holds.
    const list = Array.from({ length: 400 }, (_, i) => `- Feature ${i} ${'x'.repeat(180)}`).join('\n');
    await forgeJson(project, ['feature', 'import', '-'], { stdin: list });
    expect(bash(project, 'forge ls --json | head -c10')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(bash(project, 'forge ls | cat')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('Feature 399'),
    });
    // A failure stays one, whether anyone reads of it or not.
    expect(bash(project, 'forge feature show nosuch 2>&1 >/dev/null | true').exitCode).toBe(2);
    expect(bash(project, 'forge end --no-commit | true')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(project.read(PROGRESS)).toContain('No session is running');
  });

  it('B-09 KFR-02 closed stdin, stdout and stderr', async () => {
    const project = await makeStarted();
    expect(bash(project, 'forge log one <&-')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('] one'),
    });
    expect(bash(project, 'forge log two >&-')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(bash(project, 'forge log three 2>&- >/dev/null').exitCode).toBe(0);
    expect(bash(project, 'forge log four <&- >&- 2>&-').exitCode).toBe(0);
    expect(texts(project)).toEqual(['one', 'two', 'three', 'four']);
    const nothing = bash(project, 'forge log - <&-');
    expect(nothing).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/^forge: .*empty\.\n.*--help\n$/),
    });
    expect(bash(project, 'forge feature import - <&-').exitCode).toBe(2);
    expect(bash(project, 'forge kfr patch - <&-')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/^forge: The patch is not JSON/),
    });
    expect(bash(project, 'forge feature show nosuch 2>&-').exitCode).toBe(2);
    expect(texts(project)).toHaveLength(4);
  });

  it('B-09 output that a full disk rejects is exit 6 in one line, and the write is complete', async () => {
    const project = await makeStarted();
    for (const [n, flag] of ['', '--json'].entries()) {
      const { stderr, exitCode } = bash(project, `forge log "line ${n}" ${flag} >/dev/full`);
      expect([exitCode, stderr]).toEqual([
        6,
        expect.stringMatching(/^[^\n]*could not be written[^\n]*ENOSPC[^\n]*\n$/),
      ]);
      if (flag)
        expect(JSON.parse(stderr)).toMatchObject({
          error: { kind: 'outside', code: 'output.failed', exit: 6 },
        });
    }
    expect(texts(project)).toEqual(['line 0', 'line 1']);
    expect(bash(project, 'forge feature show nosuch 2>/dev/full').exitCode).toBe(2);
  });

  it('B-09 does not wait for a terminal when it expects data', async () => {
    const project = await makeStarted();
    for (const args of [
      ['progress', 'add', '-'],
      ['focus', 'set', '--task', '-'],
      ['feature', 'import', '-'],
    ])
      expect(await runForge(project, args, { terminal: true, world: fixedClock() })).toMatchObject({
        exitCode: 2,
        stderr: expect.stringMatching(/stdin is a terminal/),
      });
    expect(texts(project)).toEqual([]);
  });

  it('B-09 input without an end is refused, not read to the end', async () => {
    const project = await makeStarted();
    const before = snapshot(project.dir);
    for (const line of [
      'forge log - </dev/zero',
      'yes | forge feature import -',
      'forge feature import /dev/zero',
      'forge feature import <(yes)',
    ]) {
      const { stderr } = bash(project, line);
      expect([line, stderr]).toEqual([
        line,
        expect.stringMatching(/^forge: .*more than \d+ bytes.*\n.*--help\n$/),
      ]);
    }
    expect(differences(before, snapshot(project.dir))).toEqual([]);
    // A file that is a pipe is fine as such.
    expect(bash(project, 'forge feature import <(echo "- piped")')).toMatchObject({
      exitCode: 0,
      stdout: '1 imported, 0 known already\n',
    });
  });

  it('B-10 in / and in the home folder: exit 2 with the path, and nothing is made', async () => {
    const home = process.env.HOME as string;
    const before = [readdirSync('/').sort(), snapshot(home)];
    for (const dir of ['/', home])
      for (const args of [['init'], ['init', '--yes'], ['session', 'start'], ['progress', 'add', 'x']])
        expect(await forgeError({ dir }, args)).toMatchObject({
          exitCode: 2,
          message: expect.stringContaining(dir),
        });
    expect([readdirSync('/').sort(), snapshot(home)]).toEqual(before);
    // A .forge that someone put there is not taken for a project's.
    projectAt(home).write('.forge/config.toml', '');
    mkdirSync(join(home, 'below'));
    try {
      expect((await forgeError({ dir: home }, ['next'])).code).toBe('not_a_forge');
      expect((await forgeError({ dir: join(home, 'below') }, ['next'])).code).toBe('not_a_forge');
    } finally {
      for (const name of ['.forge', 'below']) rmSync(join(home, name), { recursive: true });
    }
  });

  it('B-10 in a deleted folder: exit 2 with the path, and -C still works', async () => {
    const project = await makeForge();
    const gone = makeFolder();
    const line = `cd '${gone}' && rmdir '${gone}' && forge`;
    const { stderr, exitCode } = bash(project, `${line} next`);
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringMatching(/^forge: [^\n]*no longer exists\.\n {2}→ cd [^\n]*\n$/),
    ]);
    expect(stderr).toContain(gone);
    mkdirSync(gone);
    expect(bash(project, `${line} -C '${project.dir}' next`).exitCode).toBe(0);
    mkdirSync(gone);
  });
});
