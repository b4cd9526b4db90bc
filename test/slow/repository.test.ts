import { createHash } from 'node:crypto';
import { chownSync, lstatSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { StartedSession } from '../../src/index.js';
import { cloneOf } from '../support/ci.js';
import { featureFile } from '../support/forge-project.js';
import { changedPaths, makeFolder, makePlainProject, type Project, projectAt } from '../support/project.js';
import {
  expectSessionCommit,
  makeForgeRepository,
  typed,
  typedError,
  typedJson,
  workAndEnd,
} from '../support/typed.js';

/** Every file below a folder with its content's digest. */
function fingerprint(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const path = join(folder, name);
      const stat = lstatSync(path);
      const content = stat.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
      return `${name} ${stat.mode} ${content}`;
    });
}

/** Ways to make a folder's git point at somebody else's repository. */
const CRAFTED: [string, (evil: Project, victim: Project) => void][] = [
  ['.git file', (evil: Project, victim: Project) => evil.write('.git', `gitdir: ${victim.path('.git')}\n`)],
  ['.git link', (evil: Project, victim: Project) => symlinkSync(victim.path('.git'), evil.path('.git'))],
  [
    'commondir',
    (evil: Project, victim: Project) => {
      evil.git('init', '-q');
      evil.write('.git/commondir', `${victim.path('.git')}\n`);
    },
  ],
];

describe('without a repository, or in another one', () => {
  it('B-38 LAY-05 finds no forge in a bare or a nested repository: exit 2, and nothing is created', () => {
    const outer = makeForgeRepository();
    const nested = projectAt(outer.path('nested'));
    outer.git('init', '-q', nested.dir);
    const bare = makePlainProject();
    bare.git('init', '-q', '--bare');
    for (const place of [nested, bare]) {
      const before = fingerprint(place.dir);
      for (const args of ['session start', 'progress add x', 'feature list', 'status', 'checkpoint create X'])
        expect(typedError(place, args)).toMatchObject({
          exitCode: 2,
          code: 'not_a_forge',
          hint: 'forge init',
        });
      expect(fingerprint(place.dir)).toEqual(before);
    }
    expect(typedError(bare, ['init'])).toMatchObject({ exitCode: 2, code: 'init.bare' });
  });

  it.each(CRAFTED)('B-41 trusts nothing by a crafted %s, and writes nothing where it leads', (_, craft) => {
    const victim = makeForgeRepository();
    const test = `sh -c 'echo ran >>${makeFolder()}/mark'`;
    typed(victim, ['feature', 'add', '--no-run', 'F-1', 'Trusted here', '--test', test]);
    workAndEnd(victim);
    const evil = makePlainProject();
    typed(evil, ['init', '--yes']);
    evil.write(featureFile('F-1'), victim.read(featureFile('F-1')));
    craft(evil, victim);
    const before = fingerprint(victim.dir);

    expect(typedError(evil, 'feature verify F-1')).toMatchObject({ exitCode: 3, code: 'trust.needed' });
    typed(evil, ['session', 'start']);
    typed(evil, ['progress', 'add', 'x']);
    typed(evil, ['session', 'end']);

    expect(fingerprint(victim.dir)).toEqual(before);
    expect(evil.has('.forge/local')).toBe(true);
  });
});

describe('a tree that git changed under a running session', () => {
  it('B-43 SES-02 works on an older commit with an older .forge/, and the live session continues', () => {
    const project = makeForgeRepository();
    workAndEnd(project);
    project.git('rm', '-rq', '.forge/skills', '.forge/linear');
    project.git('commit', '-qm', 'As an older forge left it');
    const older = project.git('rev-parse', 'HEAD');
    typed(project, ['init', '--yes']);
    typed(project, ['feature', 'add', 'F-1', 'Newer']);
    workAndEnd(project);
    const { session } = typedJson<StartedSession>(project, ['session', 'start']);
    typed(project, ['progress', 'add', 'on main']);

    project.git('checkout', '-q', older);
    typed(project, ['progress', 'add', 'on the older commit']);
    expect(typed(project, ['session', 'status'])).toContain(`running  ${session.id}`);
    expect(typedJson<StartedSession>(project, ['session', 'start']).session).toMatchObject({
      id: session.id,
      state: 'running',
    });
    expect(typedJson<{ features: unknown[] }>(project, ['feature', 'list']).features).toEqual([]);
    project.git('checkout', '-q', `${older}~2`);
    expect(typedError(project, ['progress', 'add', 'x']).code).toBe('not_a_forge');
    project.git('checkout', '-q', older);
    expectSessionCommit(project, workAndEnd(project));
    expect(workAndEnd(project).session.id).toMatch(/-session-004$/);

    project.git('checkout', '-q', 'main');
    expect(changedPaths(project)).toEqual([]);
    expect(typed(project, ['session', 'start'])).toContain('Task: F-1: Newer');
  });

  it('B-45 works in a dirty tree, a shallow clone, and a sparse one that has .forge/', () => {
    const origin = makeForgeRepository();
    origin.write('docs/manual.md', 'manual\n');
    origin.git('add', 'docs');
    origin.git('commit', '-qm', 'Manual');
    workAndEnd(origin);
    const clone = cloneOf(origin, '--depth', '1');
    clone.git('sparse-checkout', 'set', '--cone', '.forge', 'src');
    expect(clone.has('docs')).toBe(false);
    clone.write('src/app.js', 'dirty\n');

    expectSessionCommit(clone, workAndEnd(clone));

    expect(changedPaths(clone)).toEqual([' M src/app.js']);
    expect(clone.git('show', 'HEAD:docs/manual.md')).toBe('manual');
  });

  it('B-45 finds no forge if a sparse checkout leaves .forge/ out, and creates none', () => {
    const project = makeForgeRepository();
    workAndEnd(project);
    project.git('sparse-checkout', 'set', '--cone', 'src');
    expect(project.has('.forge/config.toml')).toBe(false);
    const before = fingerprint(project.dir);

    expect(typedError(project, ['session', 'start'])).toMatchObject({
      exitCode: 2,
      code: 'not_a_forge',
      hint: 'git sparse-checkout add .forge',
    });
    expect(typed(project, [])).toMatch(/leaves it out\.\nBegin with: git sparse-checkout add \.forge/);
    expect(typedError(project, ['progress', 'add', 'x'])).toMatchObject({ exitCode: 2, code: 'not_a_forge' });

    expect(fingerprint(project.dir)).toEqual(before);
    project.git('sparse-checkout', 'disable');
    expectSessionCommit(project, workAndEnd(project));
  });

  it('B-45 B-12 names a file that is an LFS pointer, and the commit that has it intact', () => {
    const project = makeForgeRepository();
    typed(project, ['feature', 'add', 'F-1', 'First']);
    workAndEnd(project);
    const good = project.git('rev-parse', 'HEAD').slice(0, 12);
    const path = featureFile('F-1');
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 123\n`;
    project.write(path, pointer);

    for (const args of ['feature list', 'session start', 'briefing', 'feature add F-2 x'])
      expect(typedError(project, args)).toMatchObject({
        exitCode: 4,
        file: path,
        hint: expect.stringContaining(`git restore --source=${good} -- ${path}`),
      });
    expect(project.read(path)).toBe(pointer);
    expect(typed(project, ['session', 'list'])).toContain('ended');
    expect(typed(project, ['knowledge', 'list'])).toContain('Nothing yet');
  });
});

describe.skipIf(process.getuid?.() !== 0)('a repository of another owner', () => {
  it("B-44 is exit 6 with git's remedy, also from a folder of one's own below it; git's safe.directory lets it pass", () => {
    const project = makeForgeRepository();
    typed(project, ['feature', 'add', 'F-1', 'First']);
    const paths = ['.', ...readdirSync(project.dir, { recursive: true, encoding: 'utf8' })];
    for (const name of paths) chownSync(project.path(name), 12_345, 12_345);
    project.write('mine/x', '');
    expect(() => project.git('status')).toThrow(/dubious ownership/);

    const hint = `git config --global --add safe.directory ${project.dir}`;
    const { dir } = project;
    for (const place of [project, projectAt(project.path('mine'))])
      for (const args of [['session', 'start'], ['briefing'], ['feature', 'list'], ['progress', 'add', 'x']])
        expect(typedError(place, args)).toMatchObject({
          exitCode: 6,
          code: 'git.unsafe',
          message: `detected dubious ownership: ${dir}/.forge belongs to another user (12345).`,
          hint,
        });
    // What a repository says of itself does not count.
    project.write('.git/config', `${project.read('.git/config')}[safe]\n\tdirectory = *\n`);
    expect(typedError(project, ['briefing']).code).toBe('git.unsafe');
    project.write('mine/config', `[safe]\n\tdirectory = ${dir}\n`);
    for (const env of [{ GIT_CONFIG_GLOBAL: project.path('mine/config') }, { SUDO_UID: '12345' }])
      expect(typed(project, ['feature', 'list'], { env })).toContain('F-1');
    rmSync(project.dir, { recursive: true });
  });
});
