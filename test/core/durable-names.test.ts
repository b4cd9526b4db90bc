import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFile, diskError, listFolder, removePath } from '../../src/core/files.js';
import { makeFolder } from '../support/project.js';

const bytes = (text: string): Buffer => Buffer.from(text);

describe('createFile', () => {
  it('B-52 makes a file once, and never over another one', () => {
    const path = join(makeFolder(), 'a');
    expect([createFile(path, bytes('first')), createFile(path, bytes('second'))]).toEqual([true, false]);
    expect(readFileSync(path, 'utf8')).toBe('first');
  });

  it('B-20 does not follow a link to a free name', () => {
    const folder = makeFolder();
    symlinkSync(join(folder, 'target'), join(folder, 'a'));
    expect(createFile(join(folder, 'a'), bytes('x'))).toBe(false);
    expect(readdirSync(folder)).toEqual(['a']);
  });
});

describe('names', () => {
  it('B-68 are listed by code unit, none where there is not a folder', () => {
    const folder = makeFolder();
    for (const name of ['b', 'ä', 'B', '10', '9']) writeFileSync(join(folder, name), '');
    expect(listFolder(folder)).toEqual(['10', '9', 'B', 'b', 'ä']);
    expect(listFolder(join(folder, 'none'))).toEqual([]);
  });

  it('B-20 are removed with what they name, not with what they link to', () => {
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
    ['ENXIO', 4, 'file.kind', '/a is not a regular file; forge reads and writes plain files only.'],
  ])('B-63 says of %s what it means', (code, exit, name, message) => {
    const error = diskError(Object.assign(new Error('oh'), { code }), '/a');
    expect(error).toMatchObject({ exit, code: name, message, details: { file: '/a' } });
  });
});
