import { rmSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { changedPaths, makeFolder, makePlainProject, projectAt } from '../support/project.js';
import { expectSessionCommit, makeForgeRepository, typed, workAndEnd } from '../support/typed.js';

describe('the session-end commit and other changes in the index', () => {
  it('SES-06 leaves another staged file staged and out of the commit', () => {
    const project = makeForgeRepository();
    project.write('src/new.js', 'export const staged = 1;\n');
    project.git('add', 'src/new.js');

    expectSessionCommit(project, workAndEnd(project));

    expect(changedPaths(project)).toEqual(['A  src/new.js']);
    expect(project.git('show', ':src/new.js')).toBe('export const staged = 1;');
  });

  it('SES-06 leaves a partly staged file as it is, and staged deletions and renames', () => {
    const project = makeForgeRepository();
    project.write('old.txt', 'old\nname\nof\na\nfile\n');
    project.write('gone.txt', 'gone\n');
    project.git('add', 'old.txt', 'gone.txt');
    project.git('commit', '-qm', 'More');
    project.write('src/app.js', 'staged\n');
    project.git('add', 'src/app.js');
    project.write('src/app.js', 'staged\nand edited\n');
    project.git('mv', 'old.txt', 'renamed.txt');
    project.git('rm', '-q', 'gone.txt');
    const before = project.git('diff', '--cached', '--', '.', ':!.forge');

    expectSessionCommit(project, workAndEnd(project));

    expect(project.git('diff', '--cached')).toBe(before);
    expect(changedPaths(project)).toEqual(['D  gone.txt', 'R  old.txt -> renamed.txt', 'MM src/app.js']);
    expect(project.read('src/app.js')).toBe('staged\nand edited\n');
  });

  it('SES-06 commits deleted files of .forge/ as deleted, and the bytes on disk', () => {
    const project = makeForgeRepository();
    workAndEnd(project);
    rmSync(project.path('.forge/skills/qa-review'), { recursive: true });
    project.write('.forge/README.md', 'staged text\n');
    project.git('add', '.forge/README.md');
    project.write('.forge/README.md', 'text on the disk\n');

    expectSessionCommit(project, workAndEnd(project));

    expect(project.git('ls-files', '.forge/skills/qa-review')).toBe('');
    expect(project.git('show', 'HEAD:.forge/README.md')).toBe('text on the disk');
    expect(changedPaths(project)).toEqual([]);
  });

  it('SES-06 commits symlinks as symlinks, CRLF by its attributes, and no nested repository', () => {
    const project = makeForgeRepository();
    symlinkSync('../../../package.json', project.path('.forge/skills/git-workflow/link.json'));
    symlinkSync('/no/such/file', project.path('.forge/skills/git-workflow/dangling'));
    project.write('.forge/README.md', 'one\r\ntwo\r\n');
    project.git('config', 'core.safecrlf', 'true');
    project.git('init', '-q', project.path('.forge/skills/nested'));
    project.write('.forge/skills/nested/own.md', 'own\n');

    expectSessionCommit(project, workAndEnd(project));

    expect(project.git('show', 'HEAD:.forge/skills/git-workflow/link.json')).toBe('../../../package.json');
    expect(project.git('ls-tree', 'HEAD', '.forge/skills/git-workflow/dangling')).toMatch(/^120000 /);
    expect(project.git('show', 'HEAD:.forge/README.md')).toBe('one\ntwo');
    expect(project.read('.forge/README.md')).toBe('one\r\ntwo\r\n');
    expect(changedPaths(project)).toEqual(['?? .forge/skills/nested/']);
  });
});

describe('the session-end commit in every kind of repository', () => {
  it('SES-06 is the first commit of an unborn branch', () => {
    const project = makePlainProject();
    project.git('init', '-q', '-b', 'first');
    typed(project, ['init', '--yes']);
    project.write('mine.txt', 'staged before the first commit\n');
    project.git('add', 'mine.txt');

    expectSessionCommit(project, workAndEnd(project));

    expect(project.git('log', '--format=%P%D')).toBe('HEAD -> first');
    expect(changedPaths(project)).toEqual(['A  mine.txt']);
  });

  it('SES-06 stays detached on a detached HEAD', () => {
    const project = makeForgeRepository();
    project.git('checkout', '-q', '--detach');
    const main = project.git('rev-parse', 'main');

    expectSessionCommit(project, workAndEnd(project));

    expect(project.git('rev-parse', 'main')).toBe(main);
    expect(project.git('rev-parse', 'HEAD~1')).toBe(main);
    expect(project.git('branch', '--show-current')).toBe('');
  });

  it('SES-06 goes to the branch of the linked worktree it was made in', () => {
    const project = makeForgeRepository();
    workAndEnd(project);
    const main = project.git('rev-parse', 'main');
    const tree = projectAt(`${makeFolder()}/tree`);
    project.git('worktree', 'add', '-q', '-b', 'side', tree.dir);

    expectSessionCommit(tree, workAndEnd(tree));

    expect(tree.git('rev-parse', 'side')).toBe(tree.git('rev-parse', 'HEAD'));
    expect(project.git('rev-parse', 'main')).toBe(main);
    expect([...changedPaths(project), ...changedPaths(tree)]).toEqual([]);
  });

  it('SES-06 finds a .forge/ in a subfolder of the repository', () => {
    const project = makePlainProject();
    const part = projectAt(project.path('apps', 'web shop'));
    part.write('readme.txt', 'x\n');
    typed(part, ['init', '--yes']);
    project.git('init', '-q');
    project.write('top.txt', 'top\n');
    project.git('add', 'top.txt', 'apps/web shop/readme.txt');

    expectSessionCommit(project, workAndEnd(part), 'apps/web shop/.forge');

    expect(changedPaths(project)).toEqual(['A  "apps/web shop/readme.txt"', 'A  top.txt']);
  });
});
