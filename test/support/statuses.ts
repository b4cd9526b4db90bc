import type { Status } from '../../src/index.js';
import { forgeJson, type RunOptions } from './forge.js';
import type { Project } from './project.js';

export const statusOf = (project: Project, options: RunOptions = {}): Promise<Status> =>
  forgeJson<Status>(project, ['status'], options);

export type Told = { color: string; reasons: string[]; fix: string[] };
export async function component(project: Project, name: string, options: RunOptions = {}): Promise<Told> {
  const { components } = await statusOf(project, options);
  return components.find((one) => one.name === name) as Told;
}

export { commitAll } from './project.js';
