import { describe, expect, it } from 'vitest';
import { detectParts, type FolderView, partsFor, stackOf } from '../../src/init/rules.js';

const views = (folders: Record<string, string>): FolderView[] =>
  Object.entries(folders).map(([folder, files]) => ({ folder, files: new Set(files.split(' ')) }));
const found = (folders: Record<string, string>): string[] =>
  detectParts(views(folders)).map(({ stack, folder }) => `${stack} ${folder}`);

describe('the stacks of a project', () => {
  it('LAY-03 LAY-04 are detected by files', () => {
    for (const [file, stack] of [
      ['package.json', 'node'],
      ['pyproject.toml', 'python'],
      ['requirements.txt', 'python'],
      ['setup.py', 'python'],
      ['Cargo.toml', 'rust'],
      ['go.mod', 'go'],
      ['go.work', 'go'],
    ] as const) {
      const parts = detectParts(views({ '.': `README.md ${file}` }));
      expect([parts, stackOf(parts)]).toEqual([[{ stack, folder: '.', by: file }], stack]);
    }
    expect(stackOf(detectParts(views({ '.': 'README.md package.json.bak' })))).toBe('none');
    expect(stackOf(detectParts(views({ '.': 'package.json', api: 'go.mod' })))).toBe('mixed');
  });

  it('LAY-03 members of a workspace belong to it, projects with their own lock file do not', () => {
    expect(
      found({
        '.': 'package.json pnpm-lock.yaml',
        'packages/a': 'package.json',
        website: 'package.json package-lock.json',
      }),
    ).toEqual(['node .', 'node website']);
    expect(found({ '.': 'Cargo.toml Cargo.lock', 'crates/a': 'Cargo.toml' })).toEqual(['rust .']);
    expect(found({ '.': 'pyproject.toml uv.lock', 'libs/a': 'pyproject.toml' })).toEqual(['python .']);
    expect(found({ '.': 'go.work', a: 'go.mod', b: 'go.mod' })).toEqual(['go .']);
    expect(found({ '.': 'go.mod', tools: 'go.mod' })).toEqual(['go .', 'go tools']);
  });

  it('LAY-03 without a project at the top each folder is separate, in path order', () => {
    const folders = { b: 'package.json', 'a/deep': 'package.json', '.': 'Makefile', 'b/in': 'package.json' };
    expect(found(folders)).toEqual(['node a/deep', 'node b']);
    expect(found({ '.': 'pyproject.toml package.json', 'web-2': 'package.json' })).toEqual([
      'node .',
      'python .',
    ]);
    const many = Object.fromEntries(Array.from({ length: 90 }, (_, i) => [`p${i}`, 'package.json']));
    expect(found(many)).toHaveLength(20);
  });

  it('LAY-04 a chosen stack has the detected parts, or one at the top', () => {
    const parts = detectParts(views({ '.': 'README.md', web: 'package.json', api: 'go.mod' }));
    expect(partsFor('node', parts)).toEqual([{ stack: 'node', folder: 'web', by: 'package.json' }]);
    expect(partsFor('rust', parts)).toEqual([{ stack: 'rust', folder: '.', by: '' }]);
    expect([partsFor('none', parts), partsFor('mixed', parts)]).toEqual([[], parts]);
  });
});
