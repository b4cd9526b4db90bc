import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, truncateSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { expectError, forgeError, peakTo, runBinary, runForge } from '../support/forge.js';
import {
  CONFIG,
  differences,
  FEATURES,
  FOCUS,
  makeForge,
  makePlainForge,
  PROGRESS,
  snapshot,
} from '../support/forge-project.js';
import { makeFolder, projectAt } from '../support/project.js';
import { expectDamaged, FILES, prepared } from '../support/state-files.js';

/** Ways in which a name can be no plain file of this folder's own. */
const KINDS: Record<string, (path: string, outside: string) => void> = {
  'a folder': (path) => mkdirSync(path),
  'a FIFO': (path) => execFileSync('mkfifo', [path]),
  'a link to a file outside': (path, outside) => symlinkSync(outside, path),
  'a link to a device': (path) => symlinkSync('/dev/zero', path),
};

describe('bad kinds of files', () => {
  it('B-20 a folder, FIFO or symlink in place of a state file: exit 4, and nothing outside changes', async () => {
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

  it('B-15 B-66 a sparse file of 4 GB does not delay a prompt, and is one clear line for commands that read it', async () => {
    const project = await prepared(makeForge);
    await runForge(project, ['session', 'end', '--no-commit', '--next', 'x']);
    const folder = project.path('.forge/memory/sessions');
    const archive = readdirSync(folder).find((name) => /^\d/.test(name)) as string;
    for (const path of [...FILES.map((file) => file.path), `.forge/memory/sessions/${archive}`]) {
      if (!project.has(path)) continue;
      const bytes = project.read(path);
      truncateSync(project.path(path), 4 * 1024 ** 3);
      expect([path, (await runForge(project, ['status', '--short'])).exitCode]).toEqual([path, 0]);
      if (path.includes(archive))
        expect(await forgeError(project, ['session', 'list'])).toMatchObject({
          exitCode: 4,
          code: 'file.too_large',
          message: expect.stringMatching(/has 4294967296 bytes; \d+ are allowed\.$/),
        });
      project.write(path, bytes);
    }
  });

  it('B-20 memory behind a symlink is neither intact nor written to, because git would not see it', async () => {
    const project = await makeForge();
    renameSync(project.path('.forge/memory'), project.path('.forge/other'));
    symlinkSync('other', project.path('.forge/memory'));
    for (const args of ['memory verify', 'note add x']) await expectError(project, args, '4 file.outside');
    rmSync(project.path('.forge/memory'));
    renameSync(project.path('.forge/other'), project.path('.forge/memory'));
    expect((await runForge(project, ['memory', 'verify'])).exitCode).toBe(0);
  });

  it('B-20 does not follow a folder of .forge/ that leads out of it, for reading or writing', async () => {
    for (const [folder, args] of [
      ['memory', ['feature', 'add', 'A', 'a']],
      ['memory/long-term', ['knowledge', 'add', 'invariant', 'i']],
      ['memory/short-term', ['progress', 'add', 'p']],
      ['memory/short-term', ['focus', 'set', '--task', 't']],
      ['memory/sessions', ['session', 'end', '--no-commit']],
      ['linear', ['next']],
      ['local', ['feature', 'add', 'A', 'a']],
      ['memory/ledger', ['note', 'add', 'n']],
      ['memory/ledger', ['memory', 'log']],
      ['memory/ledger', ['memory', 'verify']],
    ] as const) {
      const project = await prepared(makePlainForge);
      mkdirSync(project.path('.forge', folder), { recursive: true });
      const outside = makeFolder();
      renameSync(project.path('.forge', folder), `${outside}/moved`);
      symlinkSync(`${outside}/moved`, project.path('.forge', folder));
      const before = snapshot(outside);
      const file = expect.stringMatching(`^.forge/${folder}`);
      expect(await forgeError(project, args)).toMatchObject({ exitCode: 4, code: 'file.outside', file });
      expect(differences(before, snapshot(outside))).toEqual([]);
    }
  });

  it('B-20 refuses a .forge that is a symlink', async () => {
    const project = await makeForge();
    const outside = makeFolder();
    renameSync(project.path('.forge'), `${outside}/moved`);
    symlinkSync(`${outside}/moved`, project.path('.forge'));
    const before = snapshot(outside);
    for (const args of [['next'], ['init'], ['feature', 'add', 'A', 'a']])
      expect((await forgeError(project, args)).exitCode).toBe(2);
    expect(differences(before, snapshot(outside))).toEqual([]);
  });

  it('B-20 without git, forge’s own files neither overwrite a file outside nor wait on a FIFO', async () => {
    const project = await makePlainForge();
    const outside = projectAt(makeFolder());
    for (const name of ['activity', 'session-ids.json'])
      for (const [kind, make] of Object.entries(KINDS)) {
        outside.write('target', 'precious\n');
        mkdirSync(project.path('.forge/local'), { recursive: true });
        rmSync(project.path('.forge/local', name), { recursive: true, force: true });
        make(project.path('.forge/local', name), outside.path('target'));
        await runForge(project, ['feature', 'list']);
        if (name === 'session-ids.json')
          expect([name, kind, (await runForge(project, 'session start')).exitCode]).toEqual([name, kind, 4]);
        expect([name, kind, outside.read('target')]).toEqual([name, kind, 'precious\n']);
        rmSync(project.path('.forge/local', name), { recursive: true });
      }
  });

  it('B-54 writes nothing after the lock was taken over', async () => {
    const project = await makeForge();
    const before = project.read(FOCUS);
    const lock = '.forge/local/lock';
    // The clock is asked while the lock is held.
    const now = (): Date => {
      if (project.has(lock)) {
        rmSync(project.path(lock));
        project.write(lock, 'of another process');
      }
      return new Date();
    };
    const error = await forgeError(project, ['focus', 'set', '--task', 'x'], { world: { now } });
    expect(error).toMatchObject({ exitCode: 3, code: 'lock.lost' });
    expect([project.read(FOCUS), project.read(lock)]).toEqual([before, 'of another process']);
  });
});

const JSON_FILES = FILES.filter(({ path }) => path !== CONFIG);
/** Too deep, too long, and with more keys than a file may have. */
const hugeJson = (): string[] => [
  '{"a":'.repeat(100_000),
  `{"schema_version":"1.0","x":"${'a'.repeat(50_000_000)}"}`,
  ...[250_000, 1_000_000].map((length) => `{${Array.from({ length }, (_, i) => `"${i}":1`).join(',')}}`),
];

describe('bad bytes in state files', () => {
  it('B-13 a byte-order mark, UTF-16 and bytes that are no UTF-8: exit 4 with the byte offset', async () => {
    const project = await prepared(makePlainForge);
    for (const file of FILES) {
      const good = Buffer.from(project.read(file.path));
      for (const [bytes, offset] of [
        [Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), good]), 0],
        [Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(good.toString(), 'utf16le')]), 0],
        [Buffer.concat([good.subarray(0, 30), Buffer.from([0xe9]), good.subarray(30)]), 30],
        [Buffer.concat([good, Buffer.from([0xc3])]), good.length],
        [Buffer.concat([Buffer.from('"\ufffd'), Buffer.from([0xed, 0xa0, 0x80])]), 4],
      ] as const) {
        const error = await expectDamaged(project, file, bytes);
        expect([file.path, error.code, error.offset]).toEqual([file.path, 'file.encoding', offset]);
        expect(error.message).toContain(`byte ${offset}`);
      }
    }
  });

  it('B-13 the same bytes as input are exit 2, and nothing is written', async () => {
    const project = await prepared();
    const before = snapshot(project.dir);
    for (const [stdin, offset] of [
      [Buffer.from('\ufefftext', 'utf16le'), 0],
      [Buffer.from([0x61, 0x62, 0xff, 0x63]), 2],
    ] as const)
      for (const args of [
        ...['progress add -', 'knowledge add invariant -', 'feature add A -', 'feature import -'],
        'focus set --task -',
      ]) {
        const error = await forgeError(project, args, { stdin });
        expect(error).toMatchObject({ exitCode: 2, code: 'input.encoding', offset });
      }
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

  it('B-14 a key that is duplicated or reaches the prototype: exit 4', async () => {
    const project = await prepared(makePlainForge);
    for (const file of JSON_FILES) {
      const good = project.read(file.path).trimEnd().slice(0, -1);
      for (const [more, words] of [
        ['"schema_version": "1.0"', /"schema_version" is duplicated/],
        ['"x": {"a": 1, "\\u0061": 2}', /"a" is duplicated/],
        ['"__proto__": {"polluted": true}', /"__proto__" is not allowed/],
        ['"x": [{"\\u005f_proto__": 1}]', /"__proto__" is not allowed/],
        ['"constructor": {"prototype": {}}', /"constructor" is not allowed/],
      ] as const)
        expect((await expectDamaged(project, file, `${good},${more}}`)).message).toMatch(words);
    }
    const config = FILES[4];
    await expectDamaged(project, config, 'schema_version = 1\nschema_version = 1\n');
    await expectDamaged(project, config, '[briefing]\nbudget = 900\n[briefing]\nbudget = 901\n');
    for (const name of ['__proto__', 'constructor']) {
      project.write(CONFIG, `[${name}]\npolluted = true\n`);
      expect(await runForge(project, ['config', 'list'])).toMatchObject({
        exitCode: 0,
        stderr: expect.stringContaining(name),
      });
    }
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('B-16 a number that cannot be written back as it was: exit 4, as input exit 2', async () => {
    const project = await prepared(makePlainForge);
    for (const file of JSON_FILES) {
      const good = project.read(file.path).trimEnd().slice(0, -1);
      for (const number of ['1e400', '-1e400', '9007199254740993', '-0', '-0.0', '1e21'])
        expect((await expectDamaged(project, file, `${good},"x":[${number}]}`)).message).toContain(number);
    }
    for (const value of ['1e400', '9007199254740993', '-0'])
      await expectDamaged(project, FILES[4], `[briefing]\nbudget = ${value}\n`);
    for (const number of ['1e400', '9007199254740993', '-0', '1.5', '-1']) {
      const stdin = `[{"name":"a","priority":${number}}]`;
      expect((await forgeError(project, 'feature import -', { stdin })).exitCode).toBe(2);
    }
  });

  it('B-15 depth, length and number of keys are refused before parsing', async () => {
    const project = await prepared(makePlainForge);
    const parse = vi.spyOn(JSON, 'parse');
    onTestFinished(() => parse.mockRestore());
    const million = Array.from({ length: 1_000_000 }, (_, i) => i);
    const json = ['['.repeat(100_000), ...hugeJson()];
    const toml = [
      `a = ${'['.repeat(100_000)}`,
      `a${'.a'.repeat(100_000)} = 1`,
      `a = "${'a'.repeat(50_000_000)}"`,
      million.map((i) => `k${i} = 1`).join('\n'),
      `[${'a.'.repeat(100_000)}a]`,
    ];
    for (const file of FILES) {
      const huge = file.path === CONFIG ? toml : json;
      const good = project.read(file.path);
      for (const [n, text] of huge.entries()) {
        project.write(file.path, text);
        const { exitCode, stderr } = await runForge(project, file.read);
        expect([file.path, n, exitCode, stderr.length < 400]).toEqual([file.path, n, 4, true]);
        expect(parse.mock.calls.filter(([given]) => given === text)).toHaveLength(0);
      }
      project.write(file.path, good);
    }
  });

  it('B-15 nor does it take memory: below 100 MB in all', async () => {
    const project = await prepared(makePlainForge);
    const env = peakTo(project.path('peak'));
    for (const text of hugeJson()) {
      project.write(FEATURES, text);
      expect(runBinary(project.dir, ['feature', 'list'], { env }).exitCode).toBe(4);
      expect(Number(project.read('peak')) / 1024).toBeLessThan(100);
    }
  });
});
