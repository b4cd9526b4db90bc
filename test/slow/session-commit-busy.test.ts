import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { gitState } from '../support/checkpoints.js';
import { BIN } from '../support/forge.js';
import { changedPaths, makeFolder, type Project, projectAt, run } from '../support/project.js';
import {
  type Ended,
  expectSessionCommit,
  makeDiverged,
  makeForgeRepository,
  pathsIn,
  typed,
  typedJson,
  workAndEnd,
} from '../support/typed.js';

const OPERATIONS: readonly [name: string, begin: string[], end: string[]][] = [
  ['a merge', ['merge', 'side'], ['merge', '--abort']],
  ['a rebase', ['rebase', 'side'], ['rebase', '--abort']],
  ['a rebase', ['rebase', '--apply', 'side'], ['rebase', '--abort']],
  ['a cherry-pick', ['cherry-pick', 'side'], ['cherry-pick', '--abort']],
  ['a revert', ['revert', '--no-edit', 'side~0'], ['revert', '--abort']],
  ['a bisect', ['bisect', 'start', 'HEAD', 'HEAD~1'], ['bisect', 'reset']],
];

describe('while git is in the middle of something', () => {
  it.each(OPERATIONS)('B-39 SES-06 only archives during %s (git %j) and says so', (name, begin, end) => {
    const project = makeDiverged();
    typed(project, ['session', 'start']);
    run(project.dir, 'git', begin);
    const before = gitState(project);

    expect(typed(project, ['progress', 'add', 'in the middle'])).toContain('in the middle');
    typed(project, ['knowledge', 'add', 'success', 'slowly', '--context', 'merging']);
    const said = typed(project, ['session', 'end', '--next', 'go on']);

    expect(said).toContain(`no commit: ${name} is in progress`);
    // A commit now could hold conflict markers.
    expect(said).not.toContain('forge commit');
    expect(gitState(project)).toEqual(before);
    expect(typed(project, [])).toContain(`git status   # ${name} is in progress`);
    expect(typed(project, ['status'])).not.toContain('forge commit');
    const started = typed(project, ['session', 'start']);
    expect(started).toContain('go on (from');
    expect(started).toContain(`${name.replace('a', 'A')} is in progress (git status)`);
    typed(project, ['progress', 'add', 'afterwards']);

    // Afterwards the next session end commits what waited.
    project.git(...end);
    expectSessionCommit(project, typedJson<Ended>(project, ['session', 'end']));
    expect(project.git('ls-files', '.forge/memory/sessions').match(/\.json/g)).toHaveLength(2);
    expect(changedPaths(project)).toEqual([]);
  });

  it('B-39 SES-06 commits no conflict markers that a stash left in .forge/', () => {
    const project = makeForgeRepository();
    workAndEnd(project);
    project.write('.forge/README.md', 'stashed\n');
    project.git('stash', '-q');
    project.write('.forge/README.md', 'committed\n');
    project.git('commit', '-qam', 'Other text');
    run(project.dir, 'git', ['stash', 'pop']);
    expect(project.read('.forge/README.md')).toContain('<<<<<<<');

    expect(workAndEnd(project).commit_skipped).toBe('.forge/README.md has merge conflicts');

    project.write('.forge/README.md', 'both\n');
    project.git('add', '.forge/README.md');
    expectSessionCommit(project, workAndEnd(project));
  });

  it.each(['.git/index.lock', '.git/refs/heads/main.lock'])(
    'B-39 SES-06 archives without a commit while %s is there, names it, and leaves the index intact',
    (lock) => {
      const project = makeForgeRepository();
      project.write('later.js', 'later\n');
      project.git('add', '--intent-to-add', 'later.js');
      project.write(lock, '');
      const index = readFileSync(project.path('.git/index'));

      const ended = workAndEnd(project);

      expect(readFileSync(project.path('.git/index')).equals(index)).toBe(true);
      expect(ended.commit_skipped).toContain(project.path(lock));
      expect([project.has(ended.archive), project.read(lock)]).toEqual([true, '']);
      rmSync(project.path(lock));
      expectSessionCommit(project, workAndEnd(project));
      expect(changedPaths(project)).toEqual([' A later.js']);
    },
  );

  it('SES-06 says why nothing was committed: .forge/ is ignored, or git does not know who commits', () => {
    const ignored = makeForgeRepository();
    ignored.write('.gitignore', '.forge/\n');
    const why = ".forge/ is ignored by this repository's .gitignore";
    expect(workAndEnd(ignored).commit_skipped).toBe(why);
    expect(changedPaths(ignored)).toEqual(['?? .gitignore']);
    // Also once git has files of it: the new ones stay out.
    ignored.git('add', '-f', '.forge/config.toml');
    ignored.git('commit', '-qm', 'settings');
    expect(workAndEnd(ignored).commit_skipped).toBe(why);

    const nobody = makeForgeRepository();
    nobody.git('config', 'user.useConfigOnly', 'true');
    const config = `${makeFolder()}/gitconfig`;
    writeFileSync(config, '');
    const ended = workAndEnd(nobody, { env: { GIT_CONFIG_GLOBAL: config } });
    expect(ended.commit_skipped).toMatch(/user\.name|user\.email|no email was given/);
    expect(nobody.has(ended.archive)).toBe(true);
    expectSessionCommit(nobody, workAndEnd(nobody));
    expect(changedPaths(nobody)).toEqual([]);
  });
});

describe('inside a git hook', () => {
  /** A linked worktree whose repository runs these forge commands in a pre-commit hook. */
  function makeHooked(commands: string): { main: Project; tree: Project } {
    const main = makeForgeRepository();
    workAndEnd(main);
    const tree = projectAt(`${makeFolder()}/tree`);
    main.git('worktree', 'add', '-q', '-b', 'side', tree.dir);
    const hook = main.path('.git/hooks/pre-commit');
    writeFileSync(hook, `#!/bin/sh\nset -e\nforge() { "${process.execPath}" "${BIN}" "$@"; }\n${commands}\n`);
    chmodSync(hook, 0o755);
    return { main, tree };
  }

  it('B-48 notes progress in its own worktree, and the commit is the one that was staged', () => {
    const { main, tree } = makeHooked('forge log "committing" >hook.out\nforge briefing >>hook.out');
    typed(tree, ['session', 'start']);
    typed(tree, ['progress', 'add', 'x']);
    tree.write('src/app.js', 'staged\n');
    tree.git('add', 'src/app.js');
    tree.write('src/app.js', 'staged\nand more\n');

    tree.git('commit', '-qm', 'Mine');

    expect(tree.git('show', '--format=', '--name-only')).toBe('src/app.js');
    expect(tree.read('.forge/memory/short-term/progress.txt')).toMatch(/\] committing\n/);
    expect(changedPaths(tree)).toEqual([' M src/app.js', '?? hook.out']);
    expect(changedPaths(main)).toEqual([]);
  });

  it.each([
    ['commit', 'tree', ['commit', '-qm', 'Mine']],
    ['commit -a', 'tree', ['commit', '-qam', 'Mine']],
    ['commit PATH', 'tree', ['commit', '-qm', 'Mine', 'src/app.js']],
    ['commit PATH in the main worktree', 'main', ['commit', '-qm', 'Mine', 'src/app.js']],
  ] as const)('B-48 SES-06 ends a session without a commit of its own under git %s', (_, where, args) => {
    const places = makeHooked('forge end --json >.git-hook.out');
    const [project, other] = [places[where], where === 'tree' ? places.main : places.tree];
    typed(project, ['session', 'start']);
    typed(project, ['progress', 'add', 'x']);
    project.write('src/app.js', 'mine\n');
    if (!(args as readonly string[]).includes('-qam')) project.git('add', 'src/app.js');
    const parent = project.git('rev-parse', 'HEAD');

    const outer = run(project.dir, 'git', [...args]);

    expect(outer).toMatchObject({ exitCode: 0 });
    expect(project.git('rev-parse', 'HEAD~1')).toBe(parent);
    expect(pathsIn(project)).toEqual(['src/app.js']);
    const ended = project.json<Ended>('.git-hook.out');
    expect(ended.commit_skipped).toBe('a git hook is running');
    expect(project.has(ended.archive)).toBe(true);
    expect(changedPaths(project).join()).toContain(ended.archive);
    expect(changedPaths(other)).toEqual([]);
  });
});
