import fs, {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  type Stats,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  changedBy,
  createFile,
  diskError,
  readTarget,
  removePath,
  replaceFiles,
  unreliableFileSystem,
} from '../../src/core/files.js';
import { readProjectFile, replaceProjectFiles } from '../../src/core/project-file.js';
import { failure } from '../support/failure.js';
import { makeFolder, makePlainProject } from '../support/project.js';

const bytes = (text: string): Buffer => Buffer.from(text);

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

  it.each(writers)('B-61 of the folder of %s is exit 6, but not where folders cannot sync', (_, write) => {
    const path = join(makeFolder(), 'a.json');
    failSync('isDirectory', 'EIO');
    expect(failure(() => write(path))).toMatchObject({ exit: 6, code: 'disk.eio' });
    failSync('isDirectory', 'EINVAL');
    expect(() => write(`${path}2`)).not.toThrow();
  });
});

describe('names', () => {
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
    ['ENOSPC', 6, 'disk.enospc', '/a: the disk is full, or has no free inode.'],
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

it('EXM-03 a file system that cuts times to seconds may have changed a file up to 2 s later', () => {
  const at = (ctimeMs: number) => changedBy({ ctimeMs } as Stats);
  expect([at(5000), at(5000.25), at(5001)]).toEqual([7000, 5000.25, 5001]);
});
