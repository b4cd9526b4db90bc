import type { EndedSession } from '../../src/index.js';
import { forgeJson } from './forge.js';
import { makeForge } from './forge-project.js';
import { commitAll, type Project } from './project.js';

/** Of a session in which something happened. */
export type Ended = EndedSession & { archive: string };

export async function withFeature(): Promise<Project> {
  const project = await makeForge();
  await forgeJson(project, ['feature', 'add', 'FORGE-001', 'Login works', '--test', 'true', '--no-run']);
  commitAll(project, 'Plan');
  return project;
}
