import { expect } from 'vitest';
import { diverge } from './fixes.js';
import { type Project, run } from './project.js';

const feature = (id: string, name = id): object => ({ id, name, status: 'in_progress' });

/** A merge that stopped at features.json: both sides renamed A; ours added B, theirs C. */
export async function makeConflict(): Promise<Project> {
  const project = await diverge(
    [feature('A')],
    [feature('A', 'ours'), feature('B')],
    [feature('A', 'theirs'), feature('C')],
  );
  expect(run(project.dir, 'git', ['merge', 'other']).exitCode).toBe(1);
  return project;
}
