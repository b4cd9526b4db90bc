import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BIN, fixedClock, forgeError, forgeJson, runForge } from '../support/forge.js';
import {
  CONFIG,
  differences,
  FEATURES,
  KNOWLEDGE,
  makeForge,
  makeStarted,
  PROGRESS,
  SESSION,
  SESSIONS,
  snapshot,
} from '../support/forge-project.js';
import { makeFolder, type Project, projectAt, run } from '../support/project.js';
import { FILES, prepared } from '../support/state-files.js';

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
      expect(bash(project, `forge log "line ${n}" | ${reader}`)).toMatchObject({ exitCode: 0, stderr: '' });
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
    for (const args of ['progress add -', 'focus set --task -', 'feature import -'])
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
      ...['forge log - </dev/zero', 'yes | forge feature import -', 'forge feature import /dev/zero'],
      'forge feature import <(yes)',
    ]) {
      const refusal = expect.stringMatching(/^forge: .*more than \d+ bytes.*\n.*--help\n$/);
      expect([line, bash(project, line).stderr]).toEqual([line, refusal]);
    }
    expect(differences(before, snapshot(project.dir))).toEqual([]);
    // A file that is a pipe is fine as such.
    expect(bash(project, 'forge feature import <(echo "- piped")')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/ piped\n.*1 imported, 0 known already\n$/s),
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

describe('files and other programs', () => {
  it('B-19 what a crash left beside a file is never read, and goes with the next write', async () => {
    const project = await prepared();
    const half = '{"schema_version":"1.0","features":[{"id":"GHOST","name":"g","status":"passing"}';
    const folder = '.forge/memory/long-term';
    for (const name of ['.features.json.tmp', 'features.d/.A.json.tmp'])
      project.write(`${folder}/${name}`, half);
    project.write(`${SESSIONS}/.2026-03-01-session-009-abcdef.tmp/session.json`, half);
    project.write('.forge/memory/short-term/.progress.txt.tmp', '[10:00] ghost\n');
    const before = snapshot(project.dir);
    expect((await runForge(project, ['feature', 'list'])).stdout).not.toContain('GHOST');
    expect((await forgeJson<{ sessions: unknown[] }>(project, ['session', 'list'])).sessions).toEqual([]);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
    await forgeJson(project, ['feature', 'add', 'A', 'a']);
    await forgeJson(project, ['progress', 'add', 'x']);
    expect(project.read(FEATURES)).not.toContain('GHOST');
    expect(Object.keys(snapshot(project.path(folder))).sort()).toEqual(
      'architecture.md features.d features.d/A.json features.json knowledge.json'.split(' '),
    );
    const left = Object.keys(snapshot(project.path('.forge/memory/short-term')));
    expect(left.filter((path) => path.endsWith('.tmp'))).toEqual([]);
    expect(project.git('status', '--porcelain')).not.toContain('.tmp');
  });

  it('B-21 a file that another program replaced meanwhile is left alone: exit 3', async () => {
    const project = await prepared();
    const others: string[] = [FEATURES, KNOWLEDGE, SESSION, CONFIG];
    for (const { path, write } of FILES.filter((file) => !others.includes(file.path))) {
      const good = project.read(path);
      let count = 0;
      let theirs = '';
      // The clock is asked between reading and writing: at that moment the other one saves.
      const now = (): Date => {
        theirs = `${good.trimEnd().slice(0, -1)},"theirs": ${++count}}\n`;
        project.write(path, theirs);
        return new Date('2026-03-01T10:00:00.000Z');
      };
      const before = snapshot(project.dir);
      const words = [...write];
      const error = await forgeError(project, words, { world: { now } });
      expect([path, error.exitCode, error.code, error.file]).toEqual([path, 3, 'file.changed', path]);
      expect(error.hint).toMatch(/again/);
      expect([path, project.read(path)]).toEqual([path, theirs]);
      expect(differences(before, snapshot(project.dir))).toEqual([path]);
      expect((await runForge(project, words)).exitCode).toBe(0);
      expect(project.json(path)).toMatchObject({ theirs: count });
    }
  });

  it('B-21 a view that is saved meanwhile stays, and the next command takes it in', async () => {
    const project = await prepared();
    await forgeJson(project, ['feature', 'add', 'A', 'a']);
    const before = project.read(FEATURES);
    let count = 0;
    let theirs = '';
    const now = (): Date => {
      theirs = before.replace('"name": "a"', `"name": "theirs ${++count}"`);
      project.write(FEATURES, theirs);
      return new Date('2026-03-01T10:00:00.000Z');
    };
    await forgeJson(project, ['feature', 'add', 'B', 'b'], { world: { now } });
    expect(project.read(FEATURES)).toBe(theirs);
    await forgeJson(project, ['feature', 'edit', 'A', '--priority', '1']);
    const { features } = project.json<{ features: object[] }>(FEATURES);
    expect(features).toMatchObject([{ id: 'B' }, { id: 'A', name: `theirs ${count}`, priority: 1 }]);
  });

  it('B-18 fields of a newer minor version are kept in every file, and so is its number', async () => {
    const project = await prepared();
    for (const { path } of FILES.slice(0, 5))
      project.write(
        path,
        JSON.stringify({ ...project.json(path), schema_version: '1.9', mood: { 'a b': [1, null] } }),
      );
    project.write(CONFIG, `${project.read(CONFIG)}\n[mood]\nx = [1, 2] # kept\n`);
    for (const { write } of FILES)
      expect([write, (await runForge(project, write)).exitCode]).toEqual([write, 0]);
    await forgeJson(project, ['session', 'start', '--join'], {
      world: { holder: () => ({ pid: 1, started: 's', boot: null, host: 'h' }) },
    });
    for (const { path } of FILES.slice(0, 5))
      expect(project.json(path)).toMatchObject({ schema_version: '1.9', mood: { 'a b': [1, null] } });
    expect(project.read(CONFIG)).toMatch(/\n\[mood\]\nx = \[1, 2\] # kept\n/);
    expect((await runForge(project, ['config', 'list'])).stderr).toMatch(
      /mood\.x is not a setting of this version; it is kept and ignored/,
    );
    const { archive } = await forgeJson<{ archive: string }>(project, ['session', 'end', '--no-commit']);
    const kept = { mood: { 'a b': [1, null] } };
    expect(project.json(archive)).toMatchObject({ ...kept, focus: kept, kfr: kept });
  });

  it('B-17 a newer major version: exit 3 to read and to write, and the file stays', async () => {
    const project = await prepared();
    for (const { path, read, write } of FILES) {
      const good = project.read(path);
      const newer =
        path === CONFIG
          ? 'schema_version = 2\n[briefing]\nbudget = "new"\n'
          : '{"schema_version":"2.0","shape":"new"}';
      project.write(path, newer);
      for (const args of [read, write]) {
        const error = await forgeError(project, args);
        expect([path, args, error.exitCode, error.code]).toEqual([path, args, 3, 'file.newer']);
        expect([error.message, error.hint]).toEqual([
          expect.stringMatching(/format 2.*this forge knows 1/),
          expect.stringMatching(/^Update forge: git pull /),
        ]);
      }
      expect((await runForge(project, ['init'])).exitCode).toBe(0);
      expect([path, project.read(path)]).toEqual([path, newer]);
      project.write(path, good);
    }
  });

  it('B-22 a file or folder that may not be read or written: exit 6 naming it, nothing half done', async () => {
    const project = await prepared();
    const asRoot = process.getuid?.() === 0;
    const person = asRoot ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : ['env'];
    if (asRoot) run('/', 'chown', ['-R', '65534:65534', project.dir]);
    // A copy of the program where anyone may read it, wherever this repository lies.
    const home = makeFolder();
    chmodSync(home, 0o777);
    for (const part of ['bin', 'templates']) run(home, 'cp', ['-R', join(BIN, '../..', part), home]);
    mkdirSync(join(home, 'dist'));
    run(home, 'cp', ['-R', join(BIN, '../../dist/cli'), join(home, 'dist')]);
    const env = { HOME: home, XDG_STATE_HOME: `${home}/state` };
    const forge = (args: readonly string[]) => {
      const [program = '', ...words] = [...person, process.execPath, join(home, 'bin/forge.js'), ...args];
      return run(project.dir, program, words, { env });
    };
    expect(forge(['feature', 'list']).exitCode).toBe(0);
    for (const { path, read } of FILES) {
      chmodSync(project.path(path), 0o000);
      const { exitCode, stderr } = forge(read);
      expect([path, exitCode]).toEqual([path, 6]);
      expect(stderr).toMatch(/^forge: [^\n]*permission denied[^\n]*\n/);
      expect(stderr).toContain(path);
      expect(stderr).not.toMatch(/\n\s+at /);
      chmodSync(project.path(path), 0o644);
    }
    for (const { path, write } of FILES.slice(0, 5)) {
      const folder = project.path(path, '..');
      chmodSync(folder, 0o555);
      const before = snapshot(project.dir);
      const { exitCode, stderr } = forge(write);
      expect([path, exitCode, stderr]).toEqual([
        path,
        6,
        expect.stringMatching(/^forge: [^\n]*permission denied[^\n]*\n/),
      ]);
      expect(differences(before, snapshot(project.dir))).toEqual([]);
      chmodSync(folder, 0o755);
      const again = forge(write);
      expect([path, again.exitCode, again.stderr]).toEqual([path, 0, expect.any(String)]);
    }
    expect(lstatSync(project.path(FEATURES)).mode & 0o777).toBe(0o644);
    for (const [folder, command] of [
      ['.git/forge', 'start'],
      ['.git/forge', 'memory verify'],
      ['.forge/memory/sessions', 'session list'],
    ] as const) {
      chmodSync(project.path(folder), 0o000);
      const { exitCode, stderr } = forge(command.split(' '));
      const parent = project.path(folder, '..');
      expect([folder, exitCode, stderr]).toEqual([
        folder,
        6,
        expect.stringMatching(/^forge: \S+: permission denied\.\n {2}→ ls -la \S+ {3}# .*\n$/),
      ]);
      expect(stderr).toContain(folder);
      expect(stderr).toContain(`→ ls -la ${parent} `);
      const { stdout } = forge(['doctor']);
      expect(stdout).toContain(`type      ls -la ${parent} `);
      expect(stdout).not.toContain('EACCES');
      chmodSync(project.path(folder), 0o755);
    }
  });
});
