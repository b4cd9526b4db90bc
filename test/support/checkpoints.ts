import type { Manifest } from '../../src/checkpoint/rules.js';
import type { CheckpointRow, VerifiedCheckpoints } from '../../src/index.js';
import { forgeFound, forgeJson, type RunOptions } from './forge.js';
import type { Project } from './project.js';

export type Made = Manifest & { manifest_commit: string | null };

export const fileOf = (name: string): string => `.forge/git/checkpoints/${name}.json`;

/** A checkpoint that nothing hinders. */
export const create = (project: Pick<Project, 'dir'>, issue: string, ...flags: string[]): Promise<Made> =>
  forgeJson(project, ['checkpoint', 'create', issue, '--verify', 'true', ...flags]);

export const list = async (project: Pick<Project, 'dir'>): Promise<CheckpointRow[]> =>
  (await forgeJson<{ checkpoints: CheckpointRow[] }>(project, ['checkpoint', 'list'])).checkpoints;

export const statesOf = async (project: Pick<Project, 'dir'>): Promise<string[]> =>
  (await list(project)).map(({ tag, state }) => `${tag.replace('checkpoint/', '')} ${state}`);

/** What a verification finds, with its exit code. */
export async function check(
  project: Pick<Project, 'dir'>,
  args: readonly string[] = [],
  options: RunOptions = {},
): Promise<VerifiedCheckpoints & { exitCode: number | null; codes: string[] }> {
  const found = await forgeFound<VerifiedCheckpoints>(project, ['checkpoint', 'verify', ...args], options);
  return { ...found, codes: found.findings.map(({ code }) => code) };
}

/** Where git stands: every ref, HEAD and the index. */
export const gitState = (project: Project): unknown => [
  project.git('for-each-ref'),
  project.git('rev-parse', 'HEAD'),
  project.git('ls-files', '--stage'),
];

/** Without the last line break. */
export const contentsOf = (project: Project, tag: string): string =>
  project.git('for-each-ref', '--format=%(contents)', `refs/tags/${tag}`);
