import { mkdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { gitIn } from '../../src/adapters/git.js';
import { readTrees, type TreeReader } from '../../src/adapters/git-tree.js';
import { findRepository, type Repository } from '../../src/adapters/repository.js';
import { differences, snapshot } from '../cli/project.js';
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

const reader = (project: Project): TreeReader =>
  readTrees(findRepository(project.dir) as Repository, gitIn(project.dir, process.env), makeFolder());

describe('readTrees', () => {
  it('GOV-03 names the working tree as git would store it, and leaves the repository as it is', async () => {
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

  it('works before the first commit', async () => {
    const project = projectAt(makeFolder());
    project.git('init', '-q');
    const trees = reader(project);
    const empty = await trees.read();
    project.write('a', '1');
    expect(await trees.changed(empty, await trees.read())).toEqual(['a']);
  });
});
