import { execFileSync } from 'node:child_process';
import fs, {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createFile,
  diskError,
  listFolder,
  readPlain,
  readTarget,
  removePath,
  replaceFiles,
  unreliableFileSystem,
} from '../../src/core/files.js';
import { readProjectFile, replaceProjectFiles } from '../../src/core/project-file.js';
import { failure } from '../support/failure.js';
import { hasShim, runFaulty } from '../support/faults.js';
import { makeFolder, makePlainProject } from '../support/project.js';
import { makeForgeRepository, typed } from '../support/typed.js';

const bytes = (text: string): Buffer => Buffer.from(text);

describe('readPlain', () => {
  it('returns the bytes of a file, and null for a missing one', () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'a'), Buffer.from([0, 255, 10]));
    linkSync(join(folder, 'a'), join(folder, 'hard-link'));
    expect(['a', 'hard-link'].map((name) => readPlain(join(folder, name), 3)?.length)).toEqual([3, 3]);
    expect(readPlain(join(folder, 'b'), 3)).toBeNull();
    expect(readPlain(join(folder, 'no', 'folder'), 3)).toBeNull();
  });

  it.each<[string, (path: string) => unknown, RegExp]>([
    ['a symlink', (path) => symlinkSync(`${path}-target`, path), /is a symbolic link/],
    ['a dangling symlink', (path) => symlinkSync('/nowhere', path), /is a symbolic link/],
    ['a folder', (path) => mkdirSync(path), /is a folder/],
    ['a FIFO, without waiting', (path) => execFileSync('mkfifo', [path]), /is not a regular file/],
  ])('B-20 refuses %s', (_name, make, reason) => {
    const path = join(makeFolder(), 'state.json');
    writeFileSync(`${path}-target`, '{}');
    make(path);
    const error = failure(() => readPlain(path, 100));
    expect(error).toMatchObject({ exit: 4, code: 'file.kind', details: { file: path } });
    expect(error.message).toMatch(reason);
  });

  it('B-20 refuses a device', () => {
    expect(failure(() => readPlain('/dev/zero', 100))).toMatchObject({ exit: 4, code: 'file.kind' });
  });

  it('B-15 refuses a 5 GB file by its size alone', () => {
    const path = join(makeFolder(), 'large');
    writeFileSync(path, '');
    truncateSync(path, 5_000_000_000);
    const error = failure(() => readPlain(path, 8_388_608));
    expect(error).toMatchObject({ exit: 4, code: 'file.too_large' });
    expect(error.message).toBe(`${path} has 5000000000 bytes; 8388608 are allowed.`);
  });

  it.skipIf(process.getuid?.() === 0)('B-22 names a file that it may not read', () => {
    const path = join(makeFolder(), 'a');
    writeFileSync(path, '', { mode: 0 });
    const expected = { exit: 6, code: 'disk.eacces', details: { file: path } };
    expect(failure(() => readPlain(path, 1))).toMatchObject(expected);
  });
});

it('B-87 readTarget follows a symlink to a file; null for a folder and a dangling symlink', () => {
  const folder = makeFolder();
  writeFileSync(join(folder, 'target'), 'x');
  for (const [name, to] of Object.entries({ link: 'target', lost: 'nothing', up: '.' }))
    symlinkSync(join(folder, to), join(folder, name));
  const read = ['link', 'lost', 'up', 'none'].map((name) => readTarget(join(folder, name), 9));
  expect(read).toEqual([bytes('x'), null, null, null]);
  expect(failure(() => readTarget(join(folder, 'link'), 0)).code).toBe('file.too_large');
});

describe('replaceFiles', () => {
  it('replaces, makes and removes several files, with their folders', () => {
    const folder = makeFolder();
    for (const name of ['a', 'gone']) writeFileSync(join(folder, name), 'old and longer');
    replaceFiles([
      { path: join(folder, 'a'), bytes: bytes('new') },
      { path: join(folder, 'deep', 'b'), bytes: bytes('') },
      { path: join(folder, 'c.sh'), bytes: bytes('#!/bin/sh\n'), mode: 0o755 },
      { path: join(folder, 'gone'), bytes: null },
    ]);
    expect(readdirSync(folder)).toEqual(['a', 'c.sh', 'deep']);
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('new');
    expect(readFileSync(join(folder, 'deep', 'b'), 'utf8')).toBe('');
    expect(statSync(join(folder, 'c.sh')).mode & 0o100).toBe(0o100);
  });

  it('B-21 changes nothing and leaves no draft when one file was changed meanwhile', () => {
    const folder = makeFolder();
    const [a, b] = [join(folder, 'a'), join(folder, 'b')];
    writeFileSync(a, 'old');
    writeFileSync(b, 'theirs');
    const error = failure(() =>
      replaceFiles([
        { path: a, bytes: bytes('new'), expected: bytes('old') },
        { path: b, bytes: bytes('new'), expected: null, name: 'b' },
      ]),
    );
    expect(error).toMatchObject({ exit: 3, code: 'file.changed', details: { file: 'b' } });
    expect([readdirSync(folder), readFileSync(a, 'utf8')]).toEqual([['a', 'b'], 'old']);
  });

  it('B-19 replaces what a crash left of the same file, and does not follow a symlink there', () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'target'), 'theirs');
    symlinkSync(join(folder, 'target'), join(folder, '.a.tmp'));
    symlinkSync(join(folder, 'target'), join(folder, 'a'));
    replaceFiles([{ path: join(folder, 'a'), bytes: bytes('ours') }]);
    expect(readdirSync(folder)).toEqual(['a', 'target']);
    const texts = ['a', 'target'].map((name) => readFileSync(join(folder, name), 'utf8'));
    expect(texts).toEqual(['ours', 'theirs']);
  });

  it('B-20 does not replace a folder', () => {
    const folder = makeFolder();
    mkdirSync(join(folder, 'a'));
    const error = failure(() => replaceFiles([{ path: join(folder, 'a'), bytes: bytes('x') }]));
    expect(error).toMatchObject({ exit: 4, code: 'file.kind' });
    expect(readdirSync(folder)).toEqual(['a']);
  });
});

describe('createFile', () => {
  it('B-52 B-20 takes a free name only, and does not follow a symlink', () => {
    const folder = makeFolder();
    symlinkSync(join(folder, 'target'), join(folder, 'link'));
    const made = ['a', 'a', 'link'].map((name) => createFile(join(folder, name), bytes('x')));
    expect([made, existsSync(join(folder, 'target'))]).toEqual([[true, false, false], false]);
  });
});

/** Makes fsync fail for files or folders until the test ends. */
function failSync(kind: 'isFile' | 'isDirectory', code: string): void {
  const { fsyncSync } = fs;
  fs.fsyncSync = (fd) => {
    if (fs.fstatSync(fd)[kind]()) throw Object.assign(new Error(code), { code });
    fsyncSync(fd);
  };
  syncBuiltinESMExports();
  onTestFinished(() => {
    fs.fsyncSync = fsyncSync;
    syncBuiltinESMExports();
  });
}

describe('a failing fsync', () => {
  const writers: [string, (path: string) => unknown][] = [
    ['a replaced file', (path) => replaceFiles([{ path, bytes: bytes('new') }])],
    ['a new file', (path) => createFile(`${path}.new`, bytes('new'))],
  ];

  it.each(writers)('B-61 of %s is exit 6, and the old file stays', (_name, write) => {
    const path = join(makeFolder(), 'a.json');
    writeFileSync(path, 'old');
    failSync('isFile', 'EIO');
    expect(failure(() => write(path))).toMatchObject({ exit: 6, code: 'disk.eio' });
    expect([existsSync(`${path}.tmp`), readFileSync(path, 'utf8')]).toEqual([false, 'old']);
  });

  it.each(writers)(
    'B-61 of the folder of %s is exit 6, but not where folders cannot be synced',
    (_, write) => {
      const path = join(makeFolder(), 'a.json');
      failSync('isDirectory', 'EIO');
      expect(failure(() => write(path))).toMatchObject({ exit: 6, code: 'disk.eio' });
      failSync('isDirectory', 'EINVAL');
      expect(() => write(`${path}2`)).not.toThrow();
    },
  );
});

describe('names', () => {
  it('B-68 are listed by code unit; a missing folder has none', () => {
    const folder = makeFolder();
    for (const name of ['b', 'ä', 'B', '10', '9']) writeFileSync(join(folder, name), '');
    expect(listFolder(folder)).toEqual(['10', '9', 'B', 'b', 'ä']);
    expect(listFolder(join(folder, 'none'))).toEqual([]);
  });

  it('B-20 are removed without following symlinks', () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'kept'), '');
    mkdirSync(join(folder, 'gone'));
    symlinkSync(folder, join(folder, 'gone', 'up'));
    removePath(join(folder, 'gone'));
    removePath(join(folder, 'gone'));
    expect(readdirSync(folder)).toEqual(['kept']);
  });
});

describe('diskError', () => {
  it.each([
    ['ENOSPC', 6, 'disk.enospc', '/a: the disk is full.'],
    ['EDQUOT', 6, 'disk.edquot', '/a: the disk quota is used up.'],
    ['EROFS', 6, 'disk.erofs', '/a: the file system is read-only.'],
    ['EFBIG', 6, 'disk.efbig', '/a: the file size limit is reached.'],
    ['EMFILE', 6, 'disk.emfile', '/a: too many files are open in this process.'],
    ['EIO', 6, 'disk.eio', '/a: the disk reported an error; whether it was written is unknown.'],
    ['EWEIRD', 6, 'disk.eweird', '/a: oh.'],
    ['ELOOP', 4, 'file.kind', '/a is a symbolic link; forge reads and writes plain files only.'],
  ])('B-63 explains %s', (code, exit, name, message) => {
    const error = diskError(Object.assign(new Error('oh'), { code }), '/a');
    expect(error).toMatchObject({ exit, code: name, message, details: { file: '/a' } });
  });
});

describe('an unreliable file system', () => {
  it('B-65 is not reported for a local or a missing folder', () => {
    expect([makeFolder(), '/no/such/folder'].map(unreliableFileSystem)).toEqual([null, null]);
  });

  it.skipIf(!hasShim)('B-65 is named once by session start and by memory verify', () => {
    const project = makeForgeRepository();
    const warning = 'is on NFS, where locks, renames and fsync are not reliable';
    const nfs = { path: '/.forge', statfs: 0x6969 };
    const started = runFaulty(project.dir, ['session', 'start'], nfs);
    expect([started.exitCode, started.stderr]).toEqual([0, expect.stringContaining(`/.forge ${warning}`)]);
    const verified = runFaulty(project.dir, ['memory', 'verify'], { ...nfs, path: '/.git' });
    expect(verified.stderr).toContain(`/.git/forge ${warning}`);
    expect(verified.stderr.match(/NFS/g)).toHaveLength(1);
    expect(typed(project, ['memory', 'verify'])).toContain('intact');
  });
});

describe('a file outside .forge/', () => {
  it('AGT-01 is left alone with all others when another program changed it', () => {
    const project = makePlainProject();
    for (const name of ['a.json', 'b.json']) project.write(name, 'before');
    const files = ['a.json', 'b.json'].map((name) => readProjectFile(project.dir, name, false));
    project.write('b.json', 'theirs');
    const replacements = files.map((file) => ({ file, bytes: bytes('after') }));
    const error = failure(() => replaceProjectFiles(replacements));
    expect(error).toMatchObject({ exit: 3, code: 'file.changed', details: { file: 'b.json' } });
    expect([project.read('a.json'), project.read('b.json')]).toEqual(['before', 'theirs']);
  });

  it('AGT-01 in a home folder that does not exist: exit 6', () => {
    const error = failure(() => readProjectFile('/nonexistent/home', '.claude/settings.json', true));
    expect(error).toMatchObject({ exit: 6, code: 'disk.enoent' });
  });
});
