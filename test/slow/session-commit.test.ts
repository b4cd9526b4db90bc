import {
  appendFileSync,
  chmodSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  changedPaths,
  makeFolder,
  makePlainProject,
  type Project,
  projectAt,
  signHead,
} from '../support/project.js';
import { expectSessionCommit, makeForgeRepository, typed, typedError, workAndEnd } from '../support/typed.js';

describe('the session-end commit and other changes in the index', () => {
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

/** A program that leaves a mark in a folder when somebody runs it, and then fails. */
function makeTrap(): { program: string; sprung(): string[] } {
  const folder = makeFolder('forge-trap-');
  const program = join(folder, 'trap.sh');
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> '${folder}/mark'\nexit 1\n`, { mode: 0o755 });
  const sprung = (): string[] =>
    readdirSync(folder).includes('mark') ? readFileSync(join(folder, 'mark'), 'utf8').trim().split('\n') : [];
  return { program, sprung };
}

/** Every command that asks git something, and the one that commits. */
function useAllOfGit(project: Project): void {
  const ended = workAndEnd(project);
  typed(project, ['briefing']);
  typed(project, ['status']);
  expectSessionCommit(project, ended);
}

/** Git's own client-side hooks, by name. */
const HOOKS = [
  'pre-commit',
  'prepare-commit-msg',
  'commit-msg',
  'post-commit',
  'pre-merge-commit',
  'post-rewrite',
  'post-checkout',
  'post-index-change',
  'reference-transaction',
  'fsmonitor-watchman',
];

describe('the session-end commit and programs of the repository', () => {
  it('B-40 SES-06 runs none of the hooks, wherever they are', () => {
    const trap = makeTrap();
    const project = makeForgeRepository();
    const own = makeFolder();
    for (const hook of HOOKS)
      for (const folder of [project.path('.git/hooks'), own]) {
        writeFileSync(join(folder, hook), `#!/bin/sh\nexec '${trap.program}' ${hook}\n`);
        chmodSync(join(folder, hook), 0o755);
      }

    useAllOfGit(project);
    project.git('config', 'core.hooksPath', own);
    useAllOfGit(project);

    expect(trap.sprung()).toEqual([]);
    project.git('config', '--unset', 'core.hooksPath');
    expect(() => project.git('commit', '--allow-empty', '-qm', 'The hooks do work')).toThrow();
    expect(trap.sprung()).not.toEqual([]);
  });

  it('B-40 SES-06 does not sign, and runs no program from .git/config', () => {
    const trap = makeTrap();
    const project = makeForgeRepository();
    for (const [key, value] of [
      ['commit.gpgSign', 'true'],
      ['gpg.program', trap.program],
      ['gpg.format', 'openpgp'],
      ['log.showSignature', 'true'],
      ['core.fsmonitor', trap.program],
      ['core.editor', trap.program],
      ['core.pager', trap.program],
      ['pager.log', trap.program],
      ['core.sshCommand', trap.program],
      ['core.askPass', trap.program],
      ['credential.helper', trap.program],
      ['diff.external', trap.program],
      ['diff.evil.textconv', trap.program],
      ['diff.evil.command', trap.program],
      ['merge.evil.driver', trap.program],
      ['interactive.diffFilter', trap.program],
      ['trailer.x.command', trap.program],
      ...['status', 'log', 'commit', 'commit-tree', 'update-ref', 'hash-object', 'rev-parse'].map((name) => [
        `alias.${name}`,
        `!${trap.program}`,
      ]),
    ])
      project.git('config', key as string, value as string);
    project.write('.git/info/attributes', '* diff=evil merge=evil\n');
    signHead(project);

    useAllOfGit(project);
    useAllOfGit(project);

    expect(trap.sprung()).toEqual([]);
    expect(project.git('log', '-1', '--no-show-signature', '--format=%G?')).toBe('N');
    project.git('log', '--format=%h');
    expect(trap.sprung()).not.toEqual([]);
  });

  it.each([
    ['in .git/config', 'evil', (project: Project, lines: string) => appendTo(project, 'config', lines)],
    [
      'in a file that .git/config includes',
      'evil',
      (project: Project, lines: string) => {
        project.write('.forge/skills/extra.config', lines);
        project.git('config', 'include.path', '../.forge/skills/extra.config');
      },
    ],
    [
      "in the worktree's own config",
      'evil',
      (project: Project, lines: string) => {
        project.git('config', 'extensions.worktreeConfig', 'true');
        appendTo(project, 'config.worktree', lines);
      },
    ],
    ['with a = in its name', 'a=b', (project: Project, lines: string) => appendTo(project, 'config', lines)],
  ])('B-40 SES-06 runs no filter %s', (_where, name, define) => {
    const trap = makeTrap();
    const project = makeForgeRepository();
    project.write('.git/info/attributes', `* filter=${name}\n`);
    define(
      project,
      `[filter "${name}"]\n\tclean = ${trap.program} clean\n\tsmudge = ${trap.program} smudge\n\tprocess = ${trap.program}\n\trequired = true\n`,
    );
    project.write('.forge/skills/mine.md', 'bytes as they are\n');

    useAllOfGit(project);
    project.write('.forge/skills/mine.md', 'other bytes\n');
    expectSessionCommit(project, workAndEnd(project));

    expect(trap.sprung()).toEqual([]);
    expect(project.git('cat-file', 'blob', 'HEAD:.forge/skills/mine.md')).toBe('other bytes');
    project.write('.forge/skills/mine.md', 'bytes for the filter\n');
    expect(() => project.git('-c', 'core.fsmonitor=false', 'add', '.')).toThrow();
    expect(trap.sprung()).not.toEqual([]);
  });

  it('B-40 fetches no missing objects, because the remote in .git/config may name a program', () => {
    const trap = makeTrap();
    const project = makeForgeRepository();
    project.git('commit', '--allow-empty', '-qm', 'Second');
    const first = project.git('rev-parse', 'HEAD~1');
    for (const [key, value] of [
      ['core.repositoryFormatVersion', '1'],
      ['extensions.partialClone', 'origin'],
      ['remote.origin.promisor', 'true'],
      ['remote.origin.url', makeFolder()],
      ['remote.origin.uploadpack', trap.program],
      ['protocol.file.allow', 'always'],
    ])
      project.git('config', key as string, value as string);
    rmSync(project.path('.git/objects', first.slice(0, 2), first.slice(2)));

    expect(typedError(project, ['session', 'start'])).toMatchObject({ exitCode: 6, code: 'git.failed' });

    expect(trap.sprung()).toEqual([]);
    expect(() => project.git('cat-file', '-p', first)).toThrow();
    expect(trap.sprung()).not.toEqual([]);
  });

  it('SES-06 commits LF for any core.autocrlf, and leaves the tree clean', () => {
    const project = makeForgeRepository();
    project.git('config', 'core.autocrlf', 'true');
    project.git('config', 'core.eol', 'crlf');

    useAllOfGit(project);

    expect(changedPaths(project)).toEqual([]);
    expect(
      project
        .git('ls-files', '--eol', '.forge')
        .split('\n')
        .filter((line) => /crlf|mixed/.test(line.slice(0, 30))),
    ).toEqual([]);
    project.git('rm', '-rqf', '.forge');
    project.git('checkout', '-q', 'HEAD', '--', '.forge');
    expect(project.read('.forge/config.toml')).not.toContain('\r');
    expect(changedPaths(project)).toEqual([]);
  });
});

function appendTo(project: Project, file: string, lines: string): void {
  appendFileSync(project.path('.git', file), lines);
}
