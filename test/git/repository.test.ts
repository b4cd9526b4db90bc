import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findRepository, identityOf, otherRoots, type Repository } from '../../src/git/repository.js';
import { makeFolder, makePlainProject, makeRepository, type Project } from '../support/project.js';

const identity = (folder: string): string => identityOf(folder, findRepository(folder));

describe('findRepository', () => {
  it('B-38 finds a git dir kept elsewhere, and none in a bare repository or a plain folder', () => {
    const project = makePlainProject();
    const gitDir = join(makeFolder(), 'kept.git');
    project.git('init', '-q', `--separate-git-dir=${gitDir}`);
    expect(findRepository(project.dir)).toMatchObject({ gitDir, kind: 'elsewhere' });
    expect(identity(project.dir)).toBe(project.dir);

    const bare = makePlainProject();
    bare.git('init', '-q', '--bare');
    expect(findRepository(bare.dir)).toBeNull();
    expect(findRepository(makeFolder())).toBeNull();
    expect(findRepository(project.path('no', 'such', 'folder'))).toMatchObject({ root: project.dir });
  });

  it.each<[string, (evil: Project, victim: Project) => void]>([
    ['a relative .git file', (evil, { path }) => evil.write('.git', `gitdir: ../../${path('.git')}\n`)],
    [
      'a git dir of its own that claims to be a worktree',
      (evil, victim) => {
        mkdirSync(evil.path('worktrees'));
        evil.git('init', '-q', `--separate-git-dir=${evil.path('worktrees', 'w')}`);
        evil.write('worktrees/w/commondir', `${victim.path('.git')}\n`);
        evil.write('worktrees/w/gitdir', `${evil.path('.git')}\n`);
      },
    ],
    [
      "another folder's worktree",
      (evil, victim) => {
        victim.git('worktree', 'add', '-q', join(makeFolder(), 'side'));
        evil.write('.git', `gitdir: ${victim.path('.git/worktrees/side')}\n`);
      },
    ],
    [
      "another folder's submodule",
      (evil, victim) => {
        victim.git('submodule', '--quiet', 'add', makeRepository().dir, 'lib');
        evil.write('.git', `gitdir: ${victim.path('.git/modules/lib')}\n`);
      },
    ],
    ['nothing', (evil) => evil.write('.git', 'gitdir: /no/such/folder\n')],
    ['a link to nothing', (evil) => symlinkSync('/no/such/folder', evil.path('.git'))],
    ['something else', (evil) => evil.write('.git', 'anything\n')],
  ])('B-41 believes no pointer to %s', (_name, craft) => {
    const [evil, victim] = [makePlainProject(), makeRepository()];
    craft(evil, victim);
    expect(findRepository(evil.dir)).toBeNull();
    expect(identity(evil.dir)).toBe(evil.dir);
  });
});

describe('identityOf', () => {
  it('B-38 is shared by linked worktrees, and by nothing else', () => {
    const main = makeRepository();
    const tree = join(makeFolder(), 'tree');
    main.git('worktree', 'add', '-q', tree);
    const clone = join(makeFolder(), 'clone');
    main.git('clone', '-q', main.dir, clone);
    main.git('submodule', '--quiet', 'add', clone, 'lib');
    expect(identity(main.dir)).toBe(main.path('.git'));
    expect(identity(tree)).toBe(main.path('.git'));
    expect(identity(clone)).toBe(join(clone, '.git'));
    expect(identity(main.path('lib'))).toBe(main.path('lib'));
    expect(identityOf(main.path('src'), findRepository(main.dir))).toBe(main.path('src'));
  });
});

describe('otherRoots', () => {
  it('B-38 finds the other worktrees, also by a relative pointer', () => {
    const main = makeRepository();
    const tree = join(makeFolder(), 'tree');
    main.git('worktree', 'add', '-q', tree);
    const roots = (dir: string): string[] => otherRoots(findRepository(dir) as Repository);
    expect([roots(main.dir), roots(tree)]).toEqual([[tree], [main.dir]]);
    // As `git worktree add --relative-paths` writes it.
    const folder = main.path('.git/worktrees/tree');
    writeFileSync(join(folder, 'gitdir'), `${relative(folder, join(tree, '.git'))}\n`);
    expect([roots(main.dir), roots(tree)]).toEqual([[tree], [main.dir]]);
  });
});
