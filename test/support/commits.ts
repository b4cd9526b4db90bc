import { expect } from 'vitest';
import type { CommitCheck } from '../../src/index.js';
import { forgeJson } from './forge.js';
import type { Project } from './project.js';
import { withFeature } from './session-ends.js';

export const MESSAGE = '.git/forge/COMMIT_MSG';

export async function working(): Promise<Project> {
  const project = await withFeature();
  await forgeJson(project, ['session', 'start', '--task', 'people sign in']);
  await forgeJson(project, ['focus', 'set', '--task', 'FORGE-001: Wire the login form']);
  return project;
}

export function stage(project: Project, name = 'src/login.js'): void {
  project.write(name, `${Math.random()}\n`);
  project.git('add', '--', name);
}

export async function expectChecked(project: Project, range = 'HEAD~1..HEAD'): Promise<void> {
  const { ok, commits } = await forgeJson<CommitCheck>(project, ['commit', 'check', '--range', range]);
  expect([ok, commits.flatMap(({ problems }) => problems)]).toEqual([true, []]);
}
