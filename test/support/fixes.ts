import { readdirSync } from 'node:fs';
import type { Diagnosis, Fixed } from '../../src/index.js';
import { forgeFound, type RunOptions } from './forge.js';
import { makeForge, putFeatures, type StoredFeature, storedFeature } from './forge-project.js';
import { commitAll, type Project, run } from './project.js';

export type Answer = Diagnosis & Fixed;
export const KEPT = '.git/forge/conflicts';

export const fix = (
  project: Project,
  options: RunOptions = {},
): Promise<Answer & { exitCode: number | null }> => forgeFound<Answer>(project, ['doctor', '--fix'], options);

export const findings = async (project: Project): Promise<string[]> => {
  const { findings: all } = await forgeFound<Diagnosis>(project, ['doctor']);
  return all
    .filter(({ observed }) => /conflict|resolved/.test(observed))
    .map(({ severity, observed, commands }) => `${severity}: ${observed} → ${commands.join(' | ')}`);
};

export const feature = (id: string, change: object = {}): StoredFeature => ({
  id,
  name: id.toLowerCase(),
  status: 'not_implemented',
  tests: ['true'],
  ...change,
});

export function commit(project: Project, ...features: object[]): void {
  putFeatures(project, features);
  commitAll(project, 'Features');
}

/** Two branches; the one that is checked out is `ours`. */
export async function diverge(base: object[], ours: object[], theirs: object[]): Promise<Project> {
  const project = await makeForge();
  commit(project, ...base);
  project.git('switch', '-qc', 'other');
  commit(project, ...theirs);
  project.git('switch', '-q', '-');
  commit(project, ...ours);
  return project;
}

/** A merge that stopped at the features: both sides renamed A; ours added B, theirs C. */
export async function makeConflict(): Promise<Project> {
  const named = (id: string, name = id): object => ({ id, name, status: 'in_progress' });
  const project = await diverge(
    [named('A')],
    [named('A', 'ours'), named('B')],
    [named('A', 'theirs'), named('C')],
  );
  if (git(project, 'merge', 'other') !== 1) throw new Error('The merge met no conflict.');
  return project;
}

export const git = (project: Project, ...args: string[]): number | null =>
  run(project.dir, 'git', args).exitCode;

export const BASE = [feature('A'), feature('B')];
export const OURS = [feature('A', { name: 'ours' }), feature('B'), feature('C')];
export const THEIRS = [feature('A', { status: 'blocked' }), feature('D')];
export const MERGED = [feature('A', { name: 'ours', status: 'blocked' }), feature('C'), feature('D')];

export const stored = (project: Project): StoredFeature[] =>
  readdirSync(project.path('.forge/memory/long-term/features.d')).map(
    (name) => storedFeature(project, name.replace(/\.json$/, '')) as StoredFeature,
  );

export const unmerged = (project: Project): string => project.git('ls-files', '-u');
