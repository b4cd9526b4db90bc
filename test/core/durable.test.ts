import { execFileSync } from 'node:child_process';
import fs, {
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
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFile, readPlain, readTarget, removeDrafts, replaceFiles } from '../../src/core/files.js';
import { failure } from '../support/failure.js';
import { makeFolder } from '../support/project.js';

const bytes = (text: string): Buffer => Buffer.from(text);

describe('readPlain', () => {
  it('gives the bytes of a file, and null when there is none', () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'a'), Buffer.from([0, 255, 10]));
    expect(readPlain(join(folder, 'a'), 3)).toEqual(Buffer.from([0, 255, 10]));
    expect(readPlain(join(folder, 'b'), 3)).toBeNull();
    expect(readPlain(join(folder, 'no', 'folder'), 3)).toBeNull();
  });

  it.each<[string, (path: string) => unknown, RegExp]>([
    ['a link', (path) => symlinkSync(`${path}-target`, path), /is a symbolic link/],
    ['a link to nowhere', (path) => symlinkSync('/nowhere', path), /is a symbolic link/],
    ['a folder', (path) => mkdirSync(path), /is a folder/],
    [
      'a FIFO, without waiting for a writer',
      (path) => execFileSync('mkfifo', [path]),
      /is not a regular file/,
    ],
  ])('B-20 refuses %s', (_name, make, reason) => {
    const path = join(makeFolder(), 'state.json');
    writeFileSync(`${path}-target`, '{}');
    make(path);
    const error = failure(() => readPlain(path, 100));
    expect(error).toMatchObject({ exit: 4, code: 'file.kind', details: { file: path } });
    expect(error.message).toMatch(reason);
  });

  it('B-20 reads a file with two names', () => {
    const path = join(makeFolder(), 'state.json');
    writeFileSync(`${path}-target`, '{}');
    linkSync(`${path}-target`, path);
    expect(readPlain(path, 100)).toEqual(bytes('{}'));
  });

  it('B-20 refuses a socket and a device', async () => {
    const path = join(makeFolder(), 'socket');
    const server = createServer();
    onTestFinished(() => void server.close());
    await new Promise<void>((done) => server.listen(path, done));
    for (const special of [path, '/dev/null', '/dev/zero'])
      expect(failure(() => readPlain(special, 100))).toMatchObject({ exit: 4, code: 'file.kind' });
  });

  it('B-15 refuses what is too large by its size alone, 5 GB too', () => {
    const path = join(makeFolder(), 'large');
    writeFileSync(path, '');
    truncateSync(path, 5_000_000_000);
    const error = failure(() => readPlain(path, 8_388_608));
    expect(error).toMatchObject({ exit: 4, code: 'file.too_large' });
    expect(error.message).toBe(`${path} has 5000000000 bytes; 8388608 are allowed.`);
  });

  it('B-22 says which part of the path is a file', () => {
    const path = join(makeFolder(), 'a');
    writeFileSync(path, '');
    expect(failure(() => readPlain(join(path, 'b'), 1))).toMatchObject({ exit: 6, code: 'disk.enotdir' });
  });

  it.skipIf(process.getuid?.() === 0)('B-22 names a file that it may not read', () => {
    const path = join(makeFolder(), 'a');
    writeFileSync(path, '', { mode: 0 });
    expect(failure(() => readPlain(path, 1))).toMatchObject({
      exit: 6,
      code: 'disk.eacces',
      details: { file: path },
    });
  });
});

describe('readTarget', () => {
  it('B-87 gives the bytes that a link leads to, and null where it leads nowhere', () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'target'), 'x');
    for (const [name, to] of [
      ['link', 'target'],
      ['lost', 'nothing'],
      ['up', '.'],
    ] as const)
      symlinkSync(join(folder, to), join(folder, name));
    expect(['link', 'lost', 'up', 'none'].map((name) => readTarget(join(folder, name), 9))).toEqual([
      bytes('x'),
      null,
      null,
      null,
    ]);
    expect(failure(() => readTarget(join(folder, 'link'), 0)).code).toBe('file.too_large');
  });
});

describe('replaceFiles', () => {
  it('puts new bytes in the place of old ones, several files at once', () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'a'), 'old and longer');
    replaceFiles([
      { path: join(folder, 'a'), bytes: bytes('new') },
      { path: join(folder, 'b'), bytes: bytes('') },
      { path: join(folder, 'c.sh'), bytes: bytes('#!/bin/sh\n'), mode: 0o755 },
    ]);
    expect(readdirSync(folder)).toEqual(['a', 'b', 'c.sh']);
    expect([readFileSync(join(folder, 'a'), 'utf8'), readFileSync(join(folder, 'b'), 'utf8')]).toEqual([
      'new',
      '',
    ]);
    expect(statSync(join(folder, 'c.sh')).mode & 0o100).toBe(0o100);
  });

  it('B-21 leaves every old file, and no draft, when the last look finds something', () => {
    const folder = makeFolder();
    const [a, b] = [join(folder, 'a'), join(folder, 'b')];
    writeFileSync(a, 'old');
    const seen: string[][] = [];
    const look = (): never => {
      seen.push(readdirSync(folder), [readFileSync(a, 'utf8')]);
      throw new Error('changed meanwhile');
    };
    const writes = [a, b].map((path) => ({ path, bytes: bytes('new') }));
    expect(() => replaceFiles(writes, look)).toThrow('changed meanwhile');
    expect(seen).toEqual([['.a.', '.b.', 'a'].map((start) => expect.stringContaining(start)), ['old']]);
    expect([readdirSync(folder), readFileSync(a, 'utf8')]).toEqual([['a'], 'old']);
  });

  it('B-20 does not write through a link: the link goes, its target stays', () => {
    const folder = makeFolder();
    const [path, target] = [join(folder, 'a'), join(folder, 'target')];
    writeFileSync(target, 'theirs');
    symlinkSync(target, path);
    replaceFiles([{ path, bytes: bytes('ours') }]);
    expect([readFileSync(target, 'utf8'), readFileSync(path, 'utf8')]).toEqual(['theirs', 'ours']);
  });

  it('B-20 refuses to take the place of a folder, and leaves no draft', () => {
    const folder = makeFolder();
    const path = join(folder, 'a');
    mkdirSync(path);
    expect(failure(() => replaceFiles([{ path, bytes: bytes('x') }]))).toMatchObject({
      exit: 4,
      code: 'file.kind',
    });
    expect(readdirSync(folder)).toEqual(['a']);
  });

  it('names the file when its folder is gone', () => {
    const path = join(makeFolder(), 'gone', 'a');
    const error = failure(() => replaceFiles([{ path, bytes: bytes('x') }]));
    expect(error).toMatchObject({ exit: 6, code: 'disk.enoent', details: { file: path } });
  });
});

/** Until the test ends the disk fails to confirm, of `kind` alone. */
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

describe('a disk that confirms nothing', () => {
  const WRITERS: [string, (path: string) => unknown][] = [
    ['a replaced file', (path) => replaceFiles([{ path, bytes: bytes('new') }])],
  ];
  it.each(WRITERS)('B-61 of %s is exit 6: the old one stands, and no draft is left', (_name, write) => {
    const path = join(makeFolder(), 'a.json');
    writeFileSync(path, 'old');
    failSync('isFile', 'EIO');
    expect(failure(() => write(path))).toMatchObject({ exit: 6, code: 'disk.eio', details: { file: path } });
    expect([readdirSync(join(path, '..')), readFileSync(path, 'utf8')]).toEqual([['a.json'], 'old']);
  });

  it('B-61 of a new file is exit 6', () => {
    const path = join(makeFolder(), 'a.json');
    failSync('isFile', 'EIO');
    expect(failure(() => createFile(path, bytes('new')))).toMatchObject({ exit: 6, code: 'disk.eio' });
  });

  it.each<[string, (path: string) => unknown]>([
    ...WRITERS,
    ['a new file', (path) => createFile(`${path}.new`, bytes('new'))],
  ])('B-61 of the name of %s is exit 6 as well; a system that cannot is no error', (_name, write) => {
    const path = join(makeFolder(), 'a.json');
    writeFileSync(path, 'old');
    failSync('isDirectory', 'EIO');
    expect(failure(() => write(path))).toMatchObject({ exit: 6, code: 'disk.eio' });
    failSync('isDirectory', 'EINVAL');
    expect(() => write(`${path}2`)).not.toThrow();
  });
});

describe('removeDrafts', () => {
  it('B-19 clears away what a crash left of this file, and nothing else', () => {
    const folder = makeFolder();
    const drafts = ['x.json.tmp', '.x.json.0123456789ab.tmp', '.x.json.tmp', 'x.json.0123456789ab.tmp'];
    const others = [
      'x.json',
      'notes.tmp',
      'xx.json.tmp',
      '.y.json.0123456789ab.tmp',
      'x.json.mine.tmp',
      '.lock.0123456789abcdef.tmp',
    ];
    for (const name of [...drafts, ...others]) writeFileSync(join(folder, name), '{"half": ');
    removeDrafts(join(folder, 'x.json'));
    expect(readdirSync(folder).sort()).toEqual(others.sort());
  });

  it('B-19 B-20 leaves folders and links of such a name alone', () => {
    const folder = makeFolder();
    mkdirSync(join(folder, 'x.json.tmp'));
    symlinkSync('/nowhere', join(folder, '.x.json.tmp'));
    removeDrafts(join(folder, 'x.json'));
    expect(readdirSync(folder)).toHaveLength(2);
  });

  it('has nothing to do in a folder that is not there', () => {
    expect(() => removeDrafts(join(makeFolder(), 'no', 'x.json'))).not.toThrow();
  });
});
