import { writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { CiReport } from '../../src/index.js';
import { forgeFound, type RunOptions, runForge } from './forge.js';
import { makeForge } from './forge-project.js';
import { MESSAGE as GOOD } from './message.js';
import { makeFolder, type Project, projectAt, run } from './project.js';

export { GOOD };

export const ZEROS = '0'.repeat(40);
/** As outside of any pipeline, wherever these tests run. */
export const NOWHERE = {
  GITHUB_ACTIONS: undefined,
  GITHUB_BASE_REF: undefined,
  GITHUB_EVENT_PATH: undefined,
  GITLAB_CI: undefined,
};

export function commit(project: Project, message: string = GOOD): string {
  writeFileSync(project.path('.git/message'), message);
  project.git('add', '.');
  project.git('commit', '-q', '--allow-empty', '--cleanup=verbatim', '-F', '.git/message');
  return project.git('rev-parse', 'HEAD');
}

/** A repository in which nothing is wrong with the last commit. */
export async function ready(): Promise<Project> {
  const project = await makeForge();
  project.write('src/more.js', 'export const more = 1;\n');
  commit(project);
  return project;
}

export async function ci(
  project: Pick<Project, 'dir'>,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
  options: RunOptions = {},
): Promise<CiReport & { exitCode: number | null; states: string[] }> {
  const report = await forgeFound<CiReport>(project, ['ci', ...args], {
    ...options,
    env: { ...NOWHERE, ...env },
  });
  return { ...report, states: report.checks.map(({ state }) => state) };
}

export const text = async (project: Pick<Project, 'dir'>, args: string[], env: NodeJS.ProcessEnv = {}) =>
  runForge(project, ['ci', ...args], { env: { ...NOWHERE, ...env } });

export const failed = ({ checks }: CiReport): string[] =>
  checks.filter(({ state }) => state === 'failed').map(({ name, cause }) => `${name} ${cause}`);

export const messages = ({ checks }: CiReport): string[] =>
  checks.flatMap(({ findings }) => findings.map(({ message }) => message));

/** An event of GitHub's, in a file as the runner has it. */
export function githubEvent(event: unknown): NodeJS.ProcessEnv {
  const file = `${makeFolder()}/event.json`;
  writeFileSync(file, JSON.stringify(event));
  return { GITHUB_ACTIONS: 'true', GITHUB_EVENT_PATH: file };
}

/** A clone as a pipeline has it, with forge's own trust of nothing. */
export function cloneOf(project: Project, ...args: string[]): Project {
  const clone = projectAt(makeFolder());
  const { exitCode, stderr } = run(clone.dir, 'git', ['clone', '-q', ...args, `file://${project.dir}`, '.']);
  expect([exitCode, stderr]).toEqual([0, '']);
  return clone;
}
