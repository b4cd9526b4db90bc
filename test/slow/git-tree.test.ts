import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { gitIn } from '../../src/git/client.js';
import { findRepository, type Repository } from '../../src/git/repository.js';
import { readTrees, type TreeReader } from '../../src/git/tree.js';
import { differences, snapshot } from '../support/forge-project.js';
import { makeFolder, type Project, projectAt } from '../support/project.js';

/** A repository in a folder whose name needs quoting. */
function makeRepository(): Project {
  const project = projectAt(`${makeFolder()}/a:b "c"`);
  mkdirSync(project.dir);
  project.git('init', '-q');
  project.write('kept.txt', 'one\n');
  project.write('.gitignore', 'ignored\n');
  project.git('add', '.');
  project.git('commit', '-qm', 'Begin');
  return project;
}

const reader = (project: Project, place = join(makeFolder(), 'tree')): TreeReader =>
  readTrees(findRepository(project.dir) as Repository, gitIn(project.dir, process.env), place);

/** What tells git not to look. */
const HIDE: [string, (project: Project) => void][] = [
  ['assume-unchanged', (project) => void project.git('update-index', '--assume-unchanged', 'kept.txt')],
  ['skip-worktree', (project) => void project.git('update-index', '--skip-worktree', 'kept.txt')],
  [
    'both, and a sparse checkout without it',
    (project) => {
      project.git('update-index', '--assume-unchanged', 'kept.txt');
      project.git('update-index', '--skip-worktree', 'kept.txt');
      project.git('config', 'core.sparseCheckout', 'true');
      project.write('.git/info/sparse-checkout', '/other/\n');
    },
  ],
  ['core.ignoreStat', (project) => void project.git('config', 'core.ignoreStat', 'true')],
];

describe('readTrees', () => {
  it('GOV-03 names the working tree as git would store it, and leaves the repository unchanged', async () => {
    const project = makeRepository();
    const trees = reader(project);
    const clean = await trees.read();
    expect(clean).toBe(project.git('rev-parse', 'HEAD^{tree}'));
    project.write('kept.txt', 'two\n');
    project.write('new/é.txt', 'new\n');
    project.write('ignored', 'x\n');
    const before = snapshot(project.dir);
    const changed = await trees.read();
    expect(await trees.changed(clean, changed)).toEqual(['kept.txt', 'new/é.txt']);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
    project.git('add', '.');
    expect(project.git('write-tree')).toBe(changed);
  });

  it('B-93 runs no filter that the command left in the repository', async () => {
    const project = makeRepository();
    const trees = reader(project);
    await trees.read();
    project.git('config', 'filter.bad.clean', `touch '${project.path('ran')}'; cat`);
    project.write('.gitattributes', '*.txt filter=bad\n');
    project.write('kept.txt', 'two\n');
    await trees.read();
    expect(project.has('ran')).toBe(false);
  });

  it.each(HIDE)(
    'GOV-01 sees a change that %s in the repository is to hide, set before or between',
    async (_name, hide) => {
      const [early, late] = [makeRepository(), makeRepository()];
      for (const project of [early, late]) {
        if (project === early) hide(project);
        const trees = reader(project);
        const before = await trees.read();
        if (project === late) hide(project);
        project.write('kept.txt', 'two\n');
        const after = await trees.read();
        expect(await trees.changed(before, after)).toEqual(['kept.txt']);
        rmSync(project.path('kept.txt'));
        expect(await trees.changed(before, await trees.read())).toEqual(['kept.txt']);
      }
    },
  );

  it('GOV-01 detects a change with the same length and time, with any settings', async () => {
    const project = makeRepository();
    const trees = reader(project);
    const [then, long] = [new Date('2026-01-01'), new Date('2026-01-02')];
    utimesSync(project.path('kept.txt'), then, then);
    project.git('update-index', '--refresh');
    utimesSync(project.path('.git/index'), long, long);
    const before = await trees.read();
    project.git('config', 'core.trustctime', 'false');
    project.git('config', 'core.checkStat', 'minimal');
    // Git compares whole seconds.
    await pause(1100);
    project.write('kept.txt', 'two\n');
    utimesSync(project.path('kept.txt'), then, then);
    expect(await trees.changed(before, await trees.read())).toEqual(['kept.txt']);
  });

  it('ignores files that a sparse checkout leaves out', async () => {
    const project = makeRepository();
    project.write('other/a', '1');
    project.git('add', '.');
    project.git('commit', '-qm', 'More');
    project.git('sparse-checkout', 'set', '--no-cone', '/*', '!/other/');
    expect(project.has('other')).toBe(false);
    expect(await reader(project).read()).toBe(project.git('rev-parse', 'HEAD^{tree}'));
  });

  it('GOV-01 has nothing on disk between two snapshots, and removes what a kill left', async () => {
    const project = makeRepository();
    const place = makeFolder();
    mkdirSync(join(place, 'tree.left', 'objects'), { recursive: true });
    const trees = reader(project, join(place, 'tree'));
    project.write('new', '1');
    const before = await trees.read();
    expect(readdirSync(place)).toEqual([]);
    expect(await trees.read()).toBe(before);
    expect(existsSync(join(place, 'tree.left'))).toBe(false);
  });
});
