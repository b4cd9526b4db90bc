import { expect } from 'vitest';
import { fixedClock, forgeError, forgeJson, runForge } from './forge.js';
import {
  CONFIG,
  differences,
  FEATURES,
  FOCUS,
  KNOWLEDGE,
  makeForge,
  SESSION,
  snapshot,
} from './forge-project.js';
import { KFR } from './kfrs.js';
import type { Project } from './project.js';

/** Each state file with a command that reads it and one that writes it. */
export const FILES = [
  { path: FEATURES, read: ['feature', 'list'], write: ['feature', 'add', 'A', 'a'] },
  { path: KNOWLEDGE, read: ['knowledge', 'list'], write: ['knowledge', 'add', 'invariant', 'i'] },
  { path: FOCUS, read: ['focus', 'show'], write: ['focus', 'set', '--task', 't'] },
  { path: SESSION, read: ['session', 'status'], write: ['progress', 'add', 'p'] },
  { path: KFR, read: ['kfr', 'list'], write: ['kfr', 'patch', '--add', 'Constraint:c'] },
  { path: CONFIG, read: ['config', 'list'], write: ['config', 'set', 'briefing.budget', '900'] },
] as const;

export async function prepared(make: () => Promise<Project> = makeForge): Promise<Project> {
  const project = await make();
  await forgeJson(project, ['session', 'start', '--task', 'work'], { world: fixedClock() });
  await forgeJson(project, ['kfr', 'patch', '--goal', 'g'], { world: fixedClock() });
  return project;
}

/** Reading and writing end with exit 4 naming the file, which stays as it is. */
export async function expectDamaged(
  project: Project,
  { path, read, write }: (typeof FILES)[number],
  bytes: string | Buffer,
) {
  const good = project.read(path);
  project.write(path, bytes);
  const before = snapshot(project.dir);
  const errors = [await forgeError(project, read), await forgeError(project, write)];
  const shown = bytes.toString().slice(0, 60);
  for (const error of errors)
    expect([path, shown, error.exitCode, error.kind, error.file?.endsWith(path)]).toEqual([
      path,
      shown,
      4,
      'corrupted',
      true,
    ]);
  expect([path, differences(before, snapshot(project.dir))]).toEqual([path, []]);
  project.write(path, good);
  expect((await runForge(project, read)).exitCode).toBe(0);
  return errors[0] as (typeof errors)[0];
}
