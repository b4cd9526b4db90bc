import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Ended } from './faults.js';
import { type FailedForge, forgeJson } from './forge.js';
import { expectIntact, expectKept, recordArgs } from './memory-truth.js';
import type { Project } from './project.js';
import { makeForgeRepository, typed } from './typed.js';

/** A repository with one record, whose segments are open. */
export function begun(): Project {
  const project = makeForgeRepository();
  typed(project, recordArgs('first'));
  return project;
}

export const record = (key: string): string[] => recordArgs(key, '--json', '--quiet');
export const segments = (project: Project, tier: string): string[] => {
  const folder = project.path('.forge/memory', `${tier}.d`);
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(folder, name));
};

export const contents = (project: Project, tier: string): string[] =>
  segments(project, tier).map((path) => readFileSync(path, 'utf8'));

/** The error that the binary ended with. */
export function errorOf({ exitCode, stderr, stdout }: Ended): FailedForge {
  expect(stdout).toBe('');
  const line = stderr.trimEnd().split('\n').at(-1) ?? '';
  return { ...(JSON.parse(line) as { error: FailedForge }).error, exitCode };
}

/** The disk works again: the record that failed comes in, and another one. */
export async function expectWorksAgain(project: Project, keys: readonly string[]): Promise<void> {
  await forgeJson(project, recordArgs('afterwards'));
  await expectIntact(project);
  expectKept(project, ['first', 'afterwards', ...keys]);
}
