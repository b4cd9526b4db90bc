import { chmodSync, existsSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { MadeCommit } from '../../src/index.js';
import { expectChecked, MESSAGE, stage, working } from '../support/commits.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { KNOWLEDGE } from '../support/forge-project.js';
import { changedPaths, makeFolder, makeRepository, type Project, projectAt } from '../support/project.js';

function hook(project: Project, name: string, script: string): void {
  const file = project.git('rev-parse', '--git-path', `hooks/${name}`);
  const path = file.startsWith('/') ? file : project.path(file);
  projectAt('/').write(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

describe('forge commit', () => {
  it("GIT-02 runs the user's hooks; if one fails, nothing changes, and the message is saved", async () => {
    const project = await working();
    stage(project);
    hook(project, 'pre-commit', 'echo "lint: no" >&2; exit 1');
    const before = [project.git('rev-parse', 'HEAD'), project.git('diff', '--cached')];
    const shown = await runForge(project, ['commit', '--learned', 'x']);
    expect(shown.stderr).toContain('lint: no\n');
    const error = await forgeError(project, ['commit', '--learned', 'x']);
    expect(error).toMatchObject({
      exitCode: 6,
      code: 'commit.failed',
      message: 'git made no commit: lint: no',
    });
    expect([project.git('rev-parse', 'HEAD'), project.git('diff', '--cached')]).toEqual(before);
    expect(project.json(KNOWLEDGE)).toMatchObject({ patterns: { successful: [] } });
    expect(project.read(MESSAGE)).toMatch(/^\[FORGE-001\] /);
    hook(project, 'pre-commit', 'exit 0');
    hook(project, 'prepare-commit-msg', 'printf "\\nSigned-off-by: A <a@example.com>\\n" >>"$1"');
    hook(project, 'post-commit', 'touch .git/ran');
    project.git('commit', '-q', '--cleanup=verbatim', '-F', MESSAGE);
    await expectChecked(project);
    stage(project, 'b.js');
    const { message } = await forgeJson<MadeCommit>(project, ['commit']);
    expect(message).toMatch(/- Session: .*\n\nSigned-off-by: A <a@example.com>\n$/);
    expect(project.has('.git/ran')).toBe(true);
    await expectChecked(project);
  });

  it('GIT-02 names the line of a hook that says why, and shows its output without colors', async () => {
    const project = await working();
    stage(project);
    const output = '\\033[1mlint\\033[m starts\\ntypos: not found\\n\\033[34mdone\\033[m in 1 s\\n';
    hook(project, 'pre-commit', `printf '${output}' >&2; exit 1`);
    const { stderr } = await runForge(project, ['commit']);
    const shown = 'lint starts\ntypos: not found\ndone in 1 s\n';
    expect(stderr).toContain(`${shown}forge: git made no commit: typos: not found\n`);
  });

  it('B-39 GIT-02 with an index.lock, names the file and saves the message', async () => {
    const project = await working();
    stage(project);
    project.write('.git/index.lock', '');
    expect(await forgeError(project, ['commit'])).toMatchObject({
      exitCode: 6,
      code: 'commit.failed',
      message: expect.stringMatching(/\/index\.lock'/),
      hint: expect.stringMatching(/^The message is saved\. .* git commit --cleanup=verbatim -F \S+$/),
    });
    expect(project.read(MESSAGE)).toContain('[FORGE-001] Wire the login form');
    rmSync(project.path('.git/index.lock'));
    await forgeJson(project, ['commit']);
    expect(project.has(MESSAGE)).toBe(false);
  });

  it('GIT-02 signs as git is configured, and commits nothing if that fails', async () => {
    const project = await working();
    stage(project);
    project.write('.git/sign', '#!/bin/sh\necho "no key" >&2\nexit 1\n');
    chmodSync(project.path('.git/sign'), 0o755);
    project.git('config', 'commit.gpgSign', 'true');
    project.git('config', 'gpg.program', project.path('.git/sign'));
    const before = project.git('rev-parse', 'HEAD');
    const error = await forgeError(project, ['commit']);
    expect(error).toMatchObject({
      exitCode: 6,
      code: 'commit.failed',
      message: expect.stringContaining('gpg failed'),
    });
    expect(project.git('rev-parse', 'HEAD')).toBe(before);
    project.write(
      '.git/sign',
      '#!/bin/sh\ncat >/dev/null\nprintf -- "-----BEGIN PGP SIGNATURE-----\\nx\\n" \nprintf "[GNUPG:] SIG_CREATED \\n" >&2\n',
    );
    await forgeJson(project, ['commit']);
    expect(project.git('cat-file', 'commit', 'HEAD')).toContain('\ngpgsig ');
  });

  it('B-39 GIT-02 exit 3 during a merge, rebase, pick or revert', async () => {
    const project = await working();
    stage(project);
    for (const [file, operation] of [
      ['MERGE_HEAD', 'merge'],
      ['CHERRY_PICK_HEAD', 'cherry-pick'],
      ['REVERT_HEAD', 'revert'],
      ['rebase-merge', 'rebase'],
    ] as const) {
      project.write(`.git/${file}`, '');
      const error = await forgeError(project, ['commit']);
      expect(error).toMatchObject({
        exitCode: 3,
        code: 'commit.operation',
        hint: `git ${operation} --continue`,
      });
      rmSync(project.path('.git', file));
    }
  });

  it('B-39 GIT-02 works on an unborn branch and a detached HEAD', async () => {
    const unborn = projectAt(makeFolder());
    unborn.git('init', '-q');
    await forgeJson(unborn, ['init', '--yes']);
    unborn.git('add', '.');
    const first = await forgeJson<MadeCommit>(unborn, ['commit', '-m', 'Begin', '--why', 'a start']);
    expect(first.message).toContain('- Parent: none\n');
    await expectChecked(unborn, 'HEAD');
    const project = await working();
    project.git('switch', '-q', '--detach');
    stage(project);
    await forgeJson(project, ['commit']);
    await expectChecked(project);
  });

  it('B-38 GIT-02 works in a linked worktree and a submodule, with any GIT_* variables', async () => {
    const project = await working();
    const other = projectAt(`${makeFolder()}/tree`);
    project.git('worktree', 'add', '-q', other.dir, '-b', 'side');
    stage(other);
    const env = {
      GIT_DIR: project.path('.git'),
      GIT_INDEX_FILE: project.path('.git/index'),
      GIT_WORK_TREE: project.dir,
    };
    await forgeJson(other, ['commit', '-m', 'Side', '--why', 'y'], { env });
    expect([other.git('log', '-1', '--format=%s'), changedPaths(other)]).toEqual(['[FORGE] Side', []]);
    expect(project.git('log', '-1', '--format=%s')).toBe('Plan');
    const outer = makeRepository();
    outer.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', project.dir, 'sub');
    const sub = projectAt(outer.path('sub'));
    stage(sub);
    await forgeJson(sub, ['commit', '-m', 'Inner', '--why', 'y']);
    expect(sub.git('log', '-1', '--format=%s')).toBe('[FORGE] Inner');
    expect(existsSync(outer.path('.git/modules/sub/forge/COMMIT_MSG'))).toBe(false);
  });
});
