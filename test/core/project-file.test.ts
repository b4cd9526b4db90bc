import { describe, expect, it } from 'vitest';
import { readProjectFile, removeEmptyFolders, replaceProjectFiles } from '../../src/core/project-file.js';
import { failure } from '../support/failure.js';
import { makePlainProject } from '../support/project.js';

describe('a file outside .forge/', () => {
  it('AGT-01 that another program changed meanwhile is left alone, and so are the others', () => {
    const project = makePlainProject();
    for (const name of ['a.json', 'b.json']) project.write(name, 'before');
    const [first, second] = ['a.json', 'b.json'].map((name) => readProjectFile(project.dir, name, false));
    project.write('b.json', 'theirs');
    const bytes = Buffer.from('after');
    const error = failure(() =>
      replaceProjectFiles([
        { file: first as never, bytes },
        { file: second as never, bytes },
      ]),
    );
    expect([error.exit, error.code, error.details.file]).toEqual([3, 'file.changed', 'b.json']);
    expect([project.read('a.json'), project.read('b.json')]).toEqual(['before', 'theirs']);
  });

  it('AGT-01 a home folder that is not there: exit 6', () => {
    const error = failure(() => readProjectFile('/nonexistent/home', '.claude/settings.json', true));
    expect([error.exit, error.code]).toEqual([6, 'disk.enoent']);
  });

  it('AGT-01 folders go from the innermost on, and only empty ones', () => {
    const project = makePlainProject();
    project.write('a/kept', '');
    project.write('a/b/c/gone', '');
    removeEmptyFolders(project.dir, ['a', 'a/b', 'a/b/c']);
    expect(project.has('a/b/c/gone')).toBe(true);
    const { missing, path } = readProjectFile(project.dir, 'x/y/z.json', false);
    expect([missing, path]).toEqual([['x', 'x/y'], project.path('x/y/z.json')]);
  });
});
