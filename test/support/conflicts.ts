import { expect } from 'vitest';
import { makeForge, putFeatures } from './forge-project.js';
import { type Project, run } from './project.js';

const feature = (id: string, name = id): object => ({ id, name, status: 'in_progress' });

/** A merge that stopped at features.json: both sides renamed A; ours added B, theirs C. */
export async function makeConflict(): Promise<Project> {
  const project = await makeForge();
  const commit = (...features: object[]): void => {
    putFeatures(project, features);
    project.git('add', '-A');
    project.git('commit', '-qm', 'Features');
  };
  commit(feature('A'));
  project.git('switch', '-qc', 'other');
  commit(feature('A', 'theirs'), feature('C'));
  project.git('switch', '-q', '-');
  commit(feature('A', 'ours'), feature('B'));
  expect(run(project.dir, 'git', ['merge', 'other']).exitCode).toBe(1);
  return project;
}
