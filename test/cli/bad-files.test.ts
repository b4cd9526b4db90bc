import { execFileSync } from 'node:child_process';
import { chmodSync, linkSync, lstatSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BIN, forgeError, forgeJson, runForge, startBinary } from '../support/forge.js';
import { makeFolder, projectAt, run } from '../support/project.js';
import {
  CONFIG,
  differences,
  FEATURES,
  KNOWLEDGE,
  makeForge,
  makePlainForge,
  PROGRESS,
  SESSIONS,
  snapshot,
} from './project.js';
import { FILES, prepared } from './state-files.js';

/** Ways in which a name can be no plain file of this folder's own. */
const KINDS: Record<string, (path: string, outside: string) => void> = {
  'a folder': (path) => mkdirSync(path),
  'a FIFO': (path) => execFileSync('mkfifo', [path]),
  'a link to a file outside': (path, outside) => symlinkSync(outside, path),
  'a link to a device': (path) => symlinkSync('/dev/zero', path),
  'a second name of a file outside': (path, outside) => linkSync(outside, path),
};

describe('bad kinds of files', () => {
  it('B-20 a folder, FIFO, link or second name in a state file’s place: exit 4, and nothing outside changes', async () => {
    const project = await prepared(makePlainForge);
    const progress = { path: PROGRESS, read: ['progress', 'show'], write: ['progress', 'add', 'x'] } as const;
    for (const { path, read, write } of [...FILES, progress]) {
      const good = project.path(`${path}.good`);
      renameSync(project.path(path), good);
      // What stands outside is valid, so that only its place is wrong.
      const outside = projectAt(makeFolder());
      for (const [kind, make] of Object.entries(KINDS)) {
        outside.write('target', projectAt('/').read(good));
        make(project.path(path), outside.path('target'));
        const before = [snapshot(project.dir), snapshot(outside.dir)];
        for (const args of [read, write]) {
          const error = await forgeError(project, args);
          expect([path, kind, args, error.exitCode, error.code]).toEqual([path, kind, args, 4, 'file.kind']);
          expect(error.message).toContain(path);
          expect(error.hint).toMatch(/plain file/);
        }
        expect([snapshot(project.dir), snapshot(outside.dir)]).toEqual(before);
        rmSync(project.path(path), { recursive: true });
      }
      renameSync(good, project.path(path));
      expect((await runForge(project, read)).exitCode).toBe(0);
    }
  });

  it('B-20 a folder of .forge/ that leads out of it is not followed, neither to read nor to write', async () => {
    for (const [folder, args] of [
      ['memory', ['feature', 'add', 'A', 'a']],
      ['memory/long-term', ['knowledge', 'add', 'invariant', 'i']],
      ['memory/short-term', ['progress', 'add', 'p']],
      ['memory/short-term', ['focus', 'set', '--task', 't']],
      ['memory/sessions', ['session', 'end', '--no-commit']],
      ['linear', ['next']],
      ['local', ['feature', 'add', 'A', 'a']],
    ] as const) {
      const project = await prepared(makePlainForge);
      const outside = makeFolder();
      renameSync(project.path('.forge', folder), `${outside}/moved`);
      symlinkSync(`${outside}/moved`, project.path('.forge', folder));
      const before = snapshot(outside);
      expect([folder, await forgeError(project, args)]).toEqual([
        folder,
        expect.objectContaining({
          exitCode: 4,
          code: 'file.outside',
          file: expect.stringMatching(`^.forge/${folder}`),
        }),
      ]);
      expect(differences(before, snapshot(outside))).toEqual([]);
    }
  });

  it('B-20 .forge itself as a link is refused', async () => {
    const project = await makeForge();
    const outside = makeFolder();
    renameSync(project.path('.forge'), `${outside}/moved`);
    symlinkSync(`${outside}/moved`, project.path('.forge'));
    const before = snapshot(outside);
    for (const args of [['next'], ['init'], ['feature', 'add', 'A', 'a']])
      expect((await forgeError(project, args)).exitCode).toBe(2);
    expect(differences(before, snapshot(outside))).toEqual([]);
  });

  it('B-20 forge’s own notes in a folder without git neither overwrite a file outside nor wait on a FIFO', async () => {
    const project = await makePlainForge();
    const outside = projectAt(makeFolder());
    for (const name of ['activity', 'session-ids.json', 'intent.json'])
      for (const [kind, make] of Object.entries(KINDS)) {
        outside.write('target', 'precious\n');
        mkdirSync(project.path('.forge/local'), { recursive: true });
        rmSync(project.path('.forge/local', name), { recursive: true, force: true });
        make(project.path('.forge/local', name), outside.path('target'));
        await runForge(project, ['feature', 'list']);
        if (name === 'session-ids.json' || name === 'intent.json')
          expect([name, kind, (await runForge(project, ['session', 'start'])).exitCode]).toEqual([
            name,
            kind,
            4,
          ]);
        expect([name, kind, outside.read('target')]).toEqual([name, kind, 'precious\n']);
        rmSync(project.path('.forge/local', name), { recursive: true });
      }
  });

  it('B-20 a FIFO in the lock’s place is waited for like a lock, not read', async () => {
    const project = await makePlainForge();
    mkdirSync(project.path('.forge/local'), { recursive: true });
    execFileSync('mkfifo', [project.path('.forge/local/lock')]);
    const child = startBinary(project.dir, ['feature', 'add', 'A', 'a']);
    setTimeout(() => rmSync(project.path('.forge/local/lock')), 600);
    expect(await new Promise((done) => child.on('close', done))).toBe(0);
  });
});

describe('files and other programs', () => {
  it('B-19 what a crash left beside a file is never read, and goes with the next write', async () => {
    const project = await prepared();
    const half = '{"schema_version":"1.0","features":[{"id":"GHOST","name":"g","status":"passing"}';
    const folder = '.forge/memory/long-term';
    for (const name of ['features.json.tmp', '.features.json.0123456789ab.tmp'])
      project.write(`${folder}/${name}`, half);
    project.write(`${SESSIONS}/.2026-03-01-session-009-abcdef.tmp/session.json`, half);
    project.write('.forge/memory/short-term/.progress.txt.0123456789ab.tmp', '[10:00] ghost\n');
    const before = snapshot(project.dir);
    expect((await runForge(project, ['feature', 'list'])).stdout).not.toContain('GHOST');
    expect((await forgeJson<{ sessions: unknown[] }>(project, ['session', 'list'])).sessions).toEqual([]);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
    await forgeJson(project, ['feature', 'add', 'A', 'a']);
    await forgeJson(project, ['progress', 'add', 'x']);
    expect(project.read(FEATURES)).not.toContain('GHOST');
    expect(Object.keys(snapshot(project.path(folder))).sort()).toEqual([
      'architecture.md',
      'features.json',
      'knowledge.json',
    ]);
    expect(
      Object.keys(snapshot(project.path('.forge/memory/short-term'))).some((path) => path.endsWith('.tmp')),
    ).toBe(false);
    expect(project.git('status', '--porcelain')).not.toContain('.tmp');
  });

  it('B-21 a file that another program replaced meanwhile is left alone: exit 3', async () => {
    const project = await prepared();
    for (const { path, write } of FILES.slice(0, 3)) {
      const good = project.read(path);
      const theirs = `${good.trimEnd().slice(0, -1)},"theirs": 1}\n`;
      // The clock is asked between reading and writing: at that moment the other one saves.
      const now = (): Date => {
        project.write(path, theirs);
        return new Date('2026-03-01T10:00:00.000Z');
      };
      const before = snapshot(project.dir);
      const words = path === KNOWLEDGE ? ['knowledge', 'add', 'success', 's'] : [...write];
      const error = await forgeError(project, words, { world: { now } });
      expect([path, error.exitCode, error.code, error.file]).toEqual([path, 3, 'file.changed', path]);
      expect(error.hint).toMatch(/again/);
      expect([path, project.read(path)]).toEqual([path, theirs]);
      expect(differences(before, snapshot(project.dir))).toEqual([path]);
      expect((await runForge(project, words)).exitCode).toBe(0);
      expect(project.json(path)).toMatchObject({ theirs: 1 });
    }
  });

  it('B-18 fields of a newer minor version are kept in every file, and so is its number', async () => {
    const project = await prepared();
    for (const { path } of FILES.slice(0, 4))
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
    for (const { path } of FILES.slice(0, 4))
      expect(project.json(path)).toMatchObject({ schema_version: '1.9', mood: { 'a b': [1, null] } });
    expect(project.read(CONFIG)).toMatch(/\n\[mood\]\nx = \[1, 2\] # kept\n/);
    expect((await runForge(project, ['config', 'list'])).stderr).toMatch(
      /mood\.x is no setting of this forge; it is kept and ignored/,
    );
    const { archive } = await forgeJson<{ archive: string }>(project, ['session', 'end', '--no-commit']);
    for (const name of ['session.json', 'focus.json'])
      expect(project.json(`${archive}/${name}`)).toMatchObject({ mood: { 'a b': [1, null] } });
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
        expect(error.message).toMatch(/format 2.*this forge knows 1/);
      }
      expect([path, project.read(path)]).toEqual([path, newer]);
      project.write(path, good);
    }
  });

  it('B-22 a file or folder that may not be read or written: exit 6 naming it, nothing half done', async () => {
    const project = await prepared();
    const asRoot = process.getuid?.() === 0;
    const person = asRoot ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : ['env'];
    if (asRoot) run('/', 'chown', ['-R', '65534:65534', project.dir]);
    const home = makeFolder();
    chmodSync(home, 0o777);
    const env = { HOME: home, XDG_STATE_HOME: `${home}/state` };
    const forge = (args: readonly string[]) => {
      const [program = '', ...words] = [...person, process.execPath, BIN, ...args];
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
    for (const { path, write } of FILES.slice(0, 4)) {
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
      expect([path, forge(write).exitCode]).toEqual([path, 0]);
    }
    expect(lstatSync(project.path(FEATURES)).mode & 0o777).toBe(0o644);
  });
});
