import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runBinary } from '../support/forge.js';
import { FEATURES, snapshot } from '../support/forge-project.js';
import { MESSAGE } from '../support/message.js';
import { changedPaths, makeFolder, type Project, projectAt, run } from '../support/project.js';
import { makeForgeRepository, typed } from '../support/typed.js';

/** A repository with work under way, and the hook on request. */
function makePrepared(): Project {
  const project = makeForgeRepository();
  project.git('add', '-A');
  project.git('commit', '-q', '-m', 'Begin');
  typed(project, ['session', 'start', '--task', 'people sign in']);
  typed(project, ['focus', 'set', '--task', 'Wire the form', '--issue', 'SX9-5']);
  typed(project, ['progress', 'add', 'wired it']);
  typed(project, ['hooks', 'install', '--prepare']);
  return project;
}

/** An editor that keeps what it was given, and changes nothing. */
function edit(project: Project, args: string[], env: NodeJS.ProcessEnv = {}) {
  const seen = join(makeFolder(), 'seen');
  const editor = `cp "$(git rev-parse --git-path COMMIT_EDITMSG)" '${seen}' && true`;
  const { exitCode, stderr } = run(project.dir, 'git', args, { env: { GIT_EDITOR: editor, ...env } });
  return { exitCode, stderr, seen: existsSync(seen) ? readFileSync(seen, 'utf8') : null };
}

const stored = (project: Project): string => `${project.git('log', '-1', '--format=%B')}\n`;
const draft = (project: Project, mark: string, parent: string, ...files: string[]): string =>
  `[SX9-5] Wire the form

${mark} What
- wired it
- Files: ${files.join(', ')}

${mark} Why
people sign in

${mark} Memory
- Learned: none

${mark} Backtrace
- Parent: ${parent} (${project.git('log', '-1', '--format=%s', parent)})
- Linear: SX9-5
- Session: ${new Date().toISOString().slice(0, 10)}-session-001
`;
const parentOf = (project: Project): string => project.git('rev-parse', '--short', 'HEAD~1');

function stage(project: Project, name: string): void {
  project.write(name, `${Math.random()}\n`);
  project.git('add', '--', name);
}

describe('prepare-commit-msg', () => {
  it('GIT-03 is installed on request alone, stays with the next install, and goes without a trace', () => {
    const project = makeForgeRepository();
    const hooks = () => snapshot(project.path('.git/hooks'));
    const before = hooks();
    const names = (...args: string[]): string[] =>
      JSON.parse(runBinary(project.dir, ['hooks', ...args, '--json']).stdout).hooks.map(
        ({ name, state }: { name: string; state: string }) => `${name} ${state}`,
      );
    names('install');
    expect(existsSync(project.path('.git/hooks/prepare-commit-msg'))).toBe(false);
    expect(names('status')).toHaveLength(5);
    expect(names('install', '--prepare')).toContain('prepare-commit-msg new');
    expect(names('install')).toContain('prepare-commit-msg installed');
    expect(names('status')).toContain('prepare-commit-msg installed');
    expect(names('uninstall')).toContain('prepare-commit-msg removed');
    expect(hooks()).toEqual(before);
  });

  it.each([
    ['indents the headings where git would drop them', ' ##', '#'],
    ['leaves them where another comment character is set', '##', ';'],
  ])('GIT-02 GIT-03 fills a message in as forge commit would: it %s', (_, mark, comment) => {
    const project = makePrepared();
    project.git('config', 'core.commentChar', comment);
    stage(project, 'src/form.js');
    project.write('src/app.js', 'not staged\n');
    const { exitCode, seen } = edit(project, ['commit', '-v']);
    const text = draft(project, mark, parentOf(project), 'src/form.js');
    expect([exitCode, stored(project)]).toEqual([0, text]);
    expect(seen?.startsWith(`${text}\n${comment} Filled in by forge. `)).toBe(true);
    expect(seen).toContain(`\n${comment} Please enter the commit message`);
    expect(seen).toContain('+++ b/src/form.js');
    expect(changedPaths(project)).toEqual([' M src/app.js']);
    expect(typed(project, ['commit', 'check', '--range', 'HEAD~1..HEAD'])).toContain('1');
  });

  it('GIT-03 names the files of the commit that is being made: -a, paths, a linked worktree', () => {
    const project = makePrepared();
    project.write('src/app.js', 'changed\n');
    expect(edit(project, ['commit', '-a']).exitCode).toBe(0);
    expect(stored(project)).toContain('- Files: src/app.js\n');
    stage(project, 'src/staged.js');
    project.write('src/app.js', 'again\n');
    expect(edit(project, ['commit', 'src/app.js']).exitCode).toBe(0);
    expect(stored(project)).toContain('Change src/app.js\n');
    expect(stored(project)).not.toContain('staged');
    const side = projectAt(join(makeFolder(), 'a b'));
    project.git('worktree', 'add', '-q', side.dir, '-b', 'side');
    stage(side, 'side.js');
    expect(edit(side, ['commit']).seen).toContain('Add side.js\n');
  });

  it('GIT-03 leaves a given message alone, and those of git operations', () => {
    const project = makePrepared();
    typed(project, ['config', 'set', 'commit.enforce', 'off']);
    project.git('commit', '-qam', 'Settings');
    const filled = (...args: string[]): boolean => {
      stage(project, 'src/more.js');
      const { seen, exitCode, stderr } = edit(project, args);
      if (exitCode !== 0) throw new Error(stderr);
      return `${seen}${stored(project)}`.includes('Wire the form');
    };
    project.write('.git/text', MESSAGE);
    expect(filled('commit', '-m', 'x')).toBe(false);
    expect(filled('commit', '-e', '-m', 'x')).toBe(false);
    expect(filled('commit', '-F', '.git/text')).toBe(false);
    expect(filled('commit', '-C', 'HEAD~1')).toBe(false);
    expect(filled('commit', '-c', 'HEAD~1')).toBe(false);
    expect(filled('commit', '--amend')).toBe(false);
    expect(filled('commit', '--fixup', 'HEAD')).toBe(false);
    expect(filled('commit', '--squash', 'HEAD')).toBe(false);
    expect(filled('commit', '--allow-empty-message', '--no-edit')).toBe(false);
    project.git('revert', '--no-edit', 'HEAD');
    expect(stored(project)).toContain('This reverts');
    const base = project.git('rev-parse', 'HEAD');
    stage(project, 'src/pick.js');
    project.git('commit', '-qm', 'Pick');
    const pick = project.git('rev-parse', 'HEAD');
    project.git('switch', '-qc', 'side', base);
    project.git('commit', '-q', '--allow-empty', '-m', 'Side');
    expect(edit(project, ['cherry-pick', '-e', pick]).seen).toMatch(/^Pick\n/);
    expect(edit(project, ['merge', '--no-ff', '--edit', '-']).exitCode).toBe(0);
    expect(stored(project)).toMatch(/^Merge branch/);
    project.git('config', 'commit.template', '.git/text');
    expect(edit(project, ['commit', '--allow-empty']).seen).toMatch(/^\[SX9-123\]/);
    project.git('config', '--unset', 'commit.template');
    // Stopped in a rebase, a commit of one's own is not forge's to word.
    for (const name of ['One', 'Two']) {
      stage(project, `src/${name}.js`);
      project.git('commit', '-qm', name);
    }
    const stop = { GIT_SEQUENCE_EDITOR: 'sed -i 1s/pick/edit/' };
    expect(edit(project, ['rebase', '-i', 'HEAD~2'], stop).exitCode).toBe(0);
    expect(existsSync(project.path('.git/rebase-merge'))).toBe(true);
    expect(edit(project, ['commit', '--allow-empty']).seen).not.toContain('Wire');
    expect(edit(project, ['rebase', '--continue']).exitCode).toBe(0);
    expect(filled('commit')).toBe(true);
  });

  it('GIT-03 B-46 lives in a script that is there, and adds nothing to its text', () => {
    const project = makePrepared();
    typed(project, ['hooks', 'uninstall']);
    const own = project.path('.git/hooks/prepare-commit-msg');
    const text = '#!/bin/sh\n[ -z "$2" ] && [ -n "$TICKET" ] && sed -i "1s/^/$TICKET /" "$1"\nexit 0\n';
    writeFileSync(own, text);
    chmodSync(own, 0o755);
    const hooks = snapshot(project.path('.git/hooks'));
    expect(typed(project, ['hooks', 'install'])).not.toContain('prepare');
    const refusal = runBinary(project.dir, ['hooks', 'install', '--prepare']);
    expect([refusal.exitCode, refusal.stderr]).toEqual([3, expect.stringContaining('hooks install --yes')]);
    typed(project, ['hooks', 'install', '--prepare', '--yes']);
    stage(project, 'a.js');
    expect(edit(project, ['commit'], { TICKET: 'first' }).seen).toMatch(/^first \[SX9-5\] Wire the form\n/);
    typed(project, ['hooks', 'uninstall']);
    expect(snapshot(project.path('.git/hooks'))).toEqual(hooks);
    const call = 'sh "$(git rev-parse --git-common-dir)/forge/hook" prepare-commit-msg "$@"\n';
    writeFileSync(own, text.replace('exit 0\n', call));
    expect(typed(project, ['hooks', 'install'])).toContain('prepare-commit-msg');
    stage(project, 'b.js');
    expect(edit(project, ['commit', '--no-verify'], { TICKET: 'first' }).seen).not.toContain('Wire');
  });

  it('GIT-03 B-47 never keeps a commit from being made: damaged state, no forge', () => {
    const project = makePrepared();
    const good = project.read(FEATURES);
    project.write(FEATURES, '{');
    stage(project, 'a.js');
    const editor = { GIT_EDITOR: `cp '${project.path('.git/text')}'` };
    project.write('.git/text', MESSAGE);
    const damaged = edit(project, ['commit', '-q'], editor);
    expect([damaged.exitCode, damaged.stderr]).toEqual([
      0,
      expect.stringMatching(/^forge: nothing was filled in: .*features\.json.*\n$/),
    ]);
    project.write(FEATURES, good);
    rmSync(project.path('.git/forge/hook'));
    stage(project, 'c.js');
    const gone = edit(project, ['commit', '-q'], editor);
    const told =
      'forge: .git/forge/hook is missing, so nothing was checked; to fix this: forge hooks install\n';
    expect([gone.exitCode, gone.stderr]).toEqual([0, told]);
  });
});
